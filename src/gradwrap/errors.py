"""The errors that gradwrap raises itself, one class per cause.

Each derives from the built-in exception that users of NumPy, PyTorch or JAX expect in its place.
"""


class GradwrapError(Exception):
    """The base of all errors raised by gradwrap itself."""


class ArgnumsError(GradwrapError, TypeError, ValueError):
    """`argnums` is out of range or names no parameter."""


class NonDifferentiableInputError(GradwrapError, TypeError, RuntimeError):
    """A derivative was requested with respect to an integer, bool or object array."""


class NonScalarOutputError(GradwrapError, TypeError, RuntimeError):
    """A gradient was requested of an output that is not a real scalar."""


class NotAnArrayError(GradwrapError, TypeError):
    """A value that is not an array was given where an array is needed."""


class TrackedValueError(GradwrapError, TypeError, ValueError):
    """A tracked value was about to leave the graph silently.

    It is a ValueError too: that is what NumPy raises for `a[i] = x`, where `a` is a plain array.
    """


class TrackedCodeError(GradwrapError, TypeError):
    """Code that was given tracked values raised a TypeError of its own, which is the cause."""


class TrackedAttributeError(GradwrapError, AttributeError, TypeError):
    """An attribute that arrays of NumPy have, and tracked values have not, was asked for or set."""


class NoLengthError(GradwrapError, TypeError, AttributeError):
    """A number has no length; it is an AttributeError so that `hasattr(x, "__len__")` is false."""


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
    """One operation was given arrays of two libraries."""


class MixedDevicesError(GradwrapError, ValueError):
    """One operation was given arrays on two devices."""


class MissingToolError(GradwrapError, ImportError, RuntimeError):
    """A required package or program is not installed."""


class InPlaceError(GradwrapError, RuntimeError, TypeError, ValueError):
    """An in-place change cannot be recorded."""


class GraphFreedError(GradwrapError, RuntimeError):
    """Backward was called again on a graph that the first call has freed."""


class HookResultError(GradwrapError, RuntimeError, TypeError):
    """A hook returned a value that cannot replace the gradient it was given."""


class SavedArrayError(GradwrapError, RuntimeError, TypeError, ValueError):
    """`saved_tensors_hooks` was not given functions, or `unpack` returned an array that differs."""


class BufferChangedError(GradwrapError, RuntimeError):
    """An array that backward needs was overwritten after an operation saved it."""


class AnomalyError(GradwrapError, FloatingPointError, RuntimeError):
    """A backward pass created a NaN or an infinity under `detect_anomaly`.

    `op` is the name of the operation whose derivative created it. `stack` has the lines of the call
    that recorded it, as text; it is empty if that happened outside `detect_anomaly`.
    """

    def __init__(self, message: str, op: str = "", stack: str = "") -> None:
        super().__init__(message)
        self.op = op
        self.stack = stack


class CheckpointError(GradwrapError, RuntimeError):
    """A checkpointed function behaved differently when it was run again in backward."""


class ConvergenceError(GradwrapError, RuntimeError):
    """An iteration did not converge."""


class BackwardError(GradwrapError, RuntimeError, ValueError):
    """`backward` cannot start from the value it was called on, or the gradient it was given."""


class BatchedValueError(GradwrapError, TypeError, ValueError):
    """A single value was requested from an array that `vmap` maps over."""


class BatchedIndexError(BatchedValueError):
    """A function of NumPy's was about to convert an index that `vmap` maps over."""


class BatchedExceptionError(BatchedValueError):
    """Some of the examples that `vmap` maps over raise an exception, and others do not."""


class VmapAxesError(GradwrapError, ValueError, TypeError):
    """`in_axes` or `out_axes` do not match the arrays, or the arrays do not match each other."""


class VmapFallbackError(GradwrapError, NotImplementedError):
    """Under `vmap`, an operation has no batching rule, and `fallback="error"` was given."""


class SparsityError(GradwrapError, ValueError):
    """The sparsity pattern of a Jacobian has another shape, or lacks an entry that is not zero."""


class DegeneracyWarning(GradwrapError, RuntimeWarning, UserWarning):  # noqa: N818  it is a warning
    """A derivative depends on equal eigenvalues (singular values) and on their vectors.

    It lacks a term if the vectors and values make up a function of the matrix, `V f(w) V^H`.
    """


class VmapFallbackWarning(GradwrapError, UserWarning):  # noqa: N818  it is a warning
    """An operation under `vmap` has no batching rule, and runs example by example."""


class AdaptationError(GradwrapError, TypeError, ValueError):
    """Code of another package cannot be adapted, or does not work with tracked values."""


class TrackedTextWarning(GradwrapError, UserWarning):  # noqa: N818  it is a warning
    """Code that is differentiated made text of a tracked value."""


class SteeredNumberWarning(GradwrapError, UserWarning):  # noqa: N818  it is a warning
    """Code that is differentiated found a number by comparisons alone: it has no derivative."""


class CompileError(GradwrapError, RuntimeError):
    """A compiled function has no program to show, or its program differs from the function."""


class CompileWarning(GradwrapError, UserWarning):  # noqa: N818  it is a warning
    """A function cannot be compiled as asked: it runs eagerly, or on another engine."""
