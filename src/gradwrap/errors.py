"""Every error that gradwrap raises itself: one class per cause.

Each derives from the built-in exception that NumPy, PyTorch or JAX users expect in its place.
"""


class GradwrapError(Exception):
    """The base of all errors raised by gradwrap itself."""


class ArgnumsError(GradwrapError, TypeError, ValueError):
    """`argnums` is out of range or names no parameter."""


class NonDifferentiableInputError(GradwrapError, TypeError, RuntimeError):
    """An integer, bool or object array was to be differentiated."""


class NonScalarOutputError(GradwrapError, TypeError, RuntimeError):
    """A gradient was asked of an output that is not a real scalar."""


class NotAnArrayError(GradwrapError, TypeError):
    """Something that is not an array stands where one is needed."""


class TrackedValueError(GradwrapError, TypeError):
    """A tracked value was about to leave the graph unnoticed."""


class OutArgumentError(GradwrapError, TypeError):
    """`out=` names a buffer that cannot hold a tracked result."""


class PytreeError(GradwrapError, TypeError, ValueError):
    """A class cannot be registered as a pytree."""


class NoRuleError(GradwrapError, NotImplementedError):
    """An operation has no rule for a tracked argument."""


class RuleDefinitionError(GradwrapError, TypeError, ValueError):
    """A rule does not fit the function it is defined for."""


class RuleResultError(GradwrapError, RuntimeError, TypeError, ValueError):
    """A user's rule returned a cotangent of the wrong shape, dtype or number."""


class TangentError(GradwrapError, TypeError, ValueError):
    """A tangent does not belong to the space of its primal."""


class MixedLibrariesError(GradwrapError, TypeError):
    """Arrays of two libraries met in one operation."""


class MixedDevicesError(GradwrapError, ValueError):
    """Arrays of two devices met in one operation."""


class MissingToolError(GradwrapError, ImportError, RuntimeError):
    """A package or a program that is needed is not installed."""


class InPlaceError(GradwrapError, RuntimeError, TypeError, ValueError):
    """An in-place change that cannot be recorded."""


class GraphFreedError(GradwrapError, RuntimeError):
    """A second backward through a graph that the first one has freed."""


class HookResultError(GradwrapError, RuntimeError, TypeError):
    """A hook returned something that cannot stand for the gradient it was given."""


class SavedArrayError(GradwrapError, RuntimeError, TypeError, ValueError):
    """`saved_tensors_hooks` was given no functions, or `unpack` gave back another array."""


class BufferChangedError(GradwrapError, RuntimeError):
    """An array that backward needs was overwritten after an operation had saved it."""


class AnomalyError(GradwrapError, FloatingPointError, RuntimeError):
    """A backward pass made a NaN or an infinity under `detect_anomaly`.

    `op` is the name of the operation whose derivative did, `stack` the lines of the call that
    recorded it, as text; empty if it was recorded outside of `detect_anomaly`.
    """

    def __init__(self, message: str, op: str = "", stack: str = "") -> None:
        super().__init__(message)
        self.op = op
        self.stack = stack


class CheckpointError(GradwrapError, RuntimeError):
    """A checkpointed function did something else when it was run again in backward."""


class BackwardError(GradwrapError, RuntimeError, ValueError):
    """`backward` was called on, or with, something it cannot start from."""


class BatchedValueError(GradwrapError, TypeError, ValueError):
    """One value was asked of an array that `vmap` maps over."""


class VmapAxesError(GradwrapError, ValueError, TypeError):
    """`in_axes` or `out_axes` do not fit the arrays, or the arrays each other."""


class VmapFallbackError(GradwrapError, NotImplementedError):
    """An operation under `vmap(..., fallback="error")` has no batching rule."""


class VmapFallbackWarning(GradwrapError, UserWarning):  # noqa: N818  it is a warning
    """An operation under `vmap` has no batching rule, and runs example by example."""
