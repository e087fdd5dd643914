"""The checks, each in an environment of its own: `nox`, `nox -s tests-3.12`, `nox -s lint`."""

from __future__ import annotations

import nox

nox.options.sessions = ["lint", "types", "tests"]

# Types are checked, and the peers installed, on the oldest version that is supported.
OLDEST = "3.11"
NEWEST = "3.14"
DOWNSTREAM = ("tests/tools/test_typing.py", "tests/tools/test_downstream.py")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """Run all tests, the docs' examples included; arguments after `--` go to pytest."""
    session.install("-e", ".[test]")
    session.run("pytest", *session.posargs)


@nox.session(python=OLDEST)
def lint(session: nox.Session) -> None:
    """Check style and layout."""
    session.install("-e", ".[lint]")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")


@nox.session(python=OLDEST)
def types(session: nox.Session) -> None:
    """Check the types with both checkers."""
    session.install("-e", ".[examples,test,types]")
    session.run("mypy", "--strict")
    session.run("pyright")
    session.run("pytest", *DOWNSTREAM)


@nox.session(python=OLDEST)
def types_oldest(session: nox.Session) -> None:
    """Check what a downstream project sees, with the stubs of the oldest NumPy."""
    session.install("-e", ".[test,types]", "numpy==2.0.*")
    session.run("pytest", *DOWNSTREAM)


@nox.session(python=NEWEST)
def types_newest(session: nox.Session) -> None:
    """The same with the newest Python and NumPy."""
    session.install("-e", ".[test,types]")
    session.run("pytest", *DOWNSTREAM)


@nox.session(python=OLDEST)
def peers(session: nox.Session) -> None:
    """Compare with JAX, PyTorch, HIPS autograd and MyGrad."""
    session.install("-e", ".[test,peers]")
    session.run("pytest", "-m", "peers", *session.posargs)


@nox.session(python=OLDEST)
def oldest(session: nox.Session) -> None:
    """Run all tests with the lowest versions of the dependencies that pyproject.toml allows."""
    others = ("bottleneck", "jax", "pandas")
    session.install("-e", ".[test,distributed,xarray]", *others, "-c", ".ci/oldest.txt")
    session.run("pytest", *session.posargs, env={"PANDAS_COPY_ON_WRITE": "1"})


@nox.session(python=OLDEST)
def cupy(session: nox.Session) -> None:
    """Run the tests of CuPy's arrays, which need no GPU, and compare its stubs with it."""
    session.install("-e", ".[cupy,test,types]")
    session.run("pytest", "-m", "not gpu", "tests", "-k", "cupy or stub", *session.posargs)
