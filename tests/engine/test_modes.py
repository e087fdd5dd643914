"""Recording modes: as context managers and decorators, per thread and per task.

Each of the programs states what it gives; where PyTorch is installed it is run there too.
"""

# The decorators of a `Side` are those of two libraries, so they have no type.
# mypy: disable-error-code="untyped-decorator"

from __future__ import annotations

import asyncio
import contextvars
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import gradwrap as gw
from side_by_side import Side, gradwrap_side, torch_side

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable, Generator, Iterator

X = np.array([0.3, -1.2, 2.0])


def leaf(data: Any = X) -> Any:
    return gw.wrap(data.copy(), requires_grad=True)


# Programs for gradwrap and PyTorch ----------------------------------------------------------------


def nested_modes(side: Side) -> Any:
    lib, seen = side.lib, list[Any]()
    with lib.no_grad():
        seen.append(lib.is_grad_enabled())
        with lib.enable_grad():
            seen.append(lib.is_grad_enabled())
            with lib.set_grad_enabled(False):
                seen.append(lib.is_grad_enabled())
            seen.append(lib.is_grad_enabled())
        seen.append(lib.is_grad_enabled())
    seen.append(lib.is_grad_enabled())
    return seen


def what_results_require(side: Side) -> Any:
    lib, x = side.lib, side.leaf([1.0, 2.0])
    results = [x * 2]
    with lib.no_grad():
        results += [x * 2, x, results[0] * 2, side.leaf([1.0])]
        with lib.enable_grad():
            results += [x * 2, results[1] * 2]
    return [y.requires_grad for y in results]


def set_grad_enabled_as_a_function(side: Side) -> Any:
    lib, seen = side.lib, list[Any]()
    for mode in (False, True):
        lib.set_grad_enabled(mode)
        seen.append(lib.is_grad_enabled())
    with lib.no_grad():
        lib.set_grad_enabled(True)
        seen.append(lib.is_grad_enabled())
    seen.append(lib.is_grad_enabled())
    return seen


def decorated_functions(side: Side) -> Any:
    lib = side.lib
    enabled = lib.is_grad_enabled

    @lib.no_grad()
    def without() -> Any:
        return enabled()

    @lib.no_grad
    def bare() -> Any:
        return enabled()

    @lib.enable_grad
    def bare_with() -> Any:
        return enabled()

    @lib.set_grad_enabled(False)
    def set_without() -> Any:
        return enabled()

    seen = [enabled(), without(), bare(), bare_with(), set_without(), enabled()]
    with lib.no_grad():
        seen += [bare_with(), lib.enable_grad()(enabled)(), enabled()]
    return seen


def a_decorated_recursion(side: Side) -> Any:
    lib = side.lib

    @lib.no_grad()
    def deep(n: int) -> list[bool]:
        if n == 0:
            return [lib.is_grad_enabled()]
        with lib.enable_grad():
            return [*deep(n - 1), lib.is_grad_enabled()]

    return [*deep(2), lib.is_grad_enabled()]


def a_decorated_generator(side: Side) -> Any:
    lib, seen = side.lib, list[Any]()
    enabled = lib.is_grad_enabled

    @lib.no_grad()
    def steps() -> Generator[Any, Any, None]:
        try:
            sent = yield enabled()
            while True:
                sent = yield sent, enabled()
        except ValueError:
            yield "caught", enabled()
        finally:
            seen.append(("closed", enabled()))

    generator: Any = steps()
    for step in (
        lambda: next(generator),
        lambda: generator.send(3),
        lambda: generator.throw(ValueError),
        generator.close,
    ):
        seen += [step(), enabled()]
    return seen


def what_a_decorated_generator_returns(side: Side) -> Any:
    lib = side.lib

    @lib.no_grad()
    def inner() -> Generator[bool, None, Any]:
        yield lib.is_grad_enabled()
        return "returned", lib.is_grad_enabled()

    def outer() -> Any:
        steps: Generator[bool, None, Any] = inner()
        returned = yield from steps
        yield returned, lib.is_grad_enabled()

    return list(outer())


def a_generator_consumed_in_another_mode(side: Side) -> Any:
    lib, seen = side.lib, list[Any]()

    @lib.enable_grad()
    def steps() -> Iterator[bool]:
        for _ in range(2):
            yield lib.is_grad_enabled()

    with lib.no_grad():
        seen += [(inside, lib.is_grad_enabled()) for inside in steps()]
    seen.append(lib.is_grad_enabled())
    return seen


def a_mode_ends_with_an_exception(side: Side) -> Any:
    lib = side.lib

    @lib.no_grad()
    def fail() -> None:
        raise KeyError

    with suppress(KeyError), lib.no_grad():
        raise KeyError
    with suppress(KeyError):
        fail()
    return lib.is_grad_enabled()


def a_thread_starts_with_recording_on(side: Side) -> Any:
    lib, seen = side.lib, list[Any]()
    with lib.no_grad():
        thread = threading.Thread(target=lambda: seen.append(lib.is_grad_enabled()))
        thread.start()
        thread.join()
    return seen


EXPECTED: dict[Callable[[Side], Any], Any] = {
    nested_modes: [False, True, False, True, False, True],
    what_results_require: [True, False, True, False, True, True, False],
    set_grad_enabled_as_a_function: [False, True, True, True],
    decorated_functions: [True, False, False, True, False, True, True, True, False],
    a_decorated_recursion: [False, True, True, True],
    a_decorated_generator: [
        *(False, True),
        *((3, False), True),
        *(("caught", False), True),
        *(("closed", False), None, True),
    ],
    what_a_decorated_generator_returns: [False, (("returned", False), True)],
    a_generator_consumed_in_another_mode: [(True, False), (True, False), True],
    a_mode_ends_with_an_exception: True,
    a_thread_starts_with_recording_on: [True],
}

PROGRAMS = pytest.mark.parametrize("program", EXPECTED, ids=lambda f: f.__name__)


@PROGRAMS
def test_modes_are_what_is_expected(program: Callable[[Side], Any]) -> None:
    assert program(gradwrap_side()) == EXPECTED[program]
    assert gw.is_grad_enabled()


@pytest.mark.peers
@PROGRAMS
def test_modes_are_those_of_torch(program: Callable[[Side], Any]) -> None:
    assert program(torch_side()) == EXPECTED[program]


# Of gradwrap alone --------------------------------------------------------------------------------


def test_no_grad() -> None:
    x = leaf()
    with gw.no_grad():
        assert not gw.is_grad_enabled()
        y = x * 2.0
        with gw.enable_grad():
            assert gw.is_grad_enabled()
            z = x * 2.0
        assert not gw.is_grad_enabled()
    assert gw.is_grad_enabled()
    assert not y.requires_grad
    assert z.requires_grad


def test_a_mode_ends_when_an_exception_passes() -> None:
    with pytest.raises(KeyError), gw.no_grad():
        raise KeyError
    assert gw.is_grad_enabled()


def test_one_mode_object_may_be_entered_twice() -> None:
    mode = gw.no_grad()
    with mode, mode:
        assert not gw.is_grad_enabled()
    assert gw.is_grad_enabled()


def test_set_grad_enabled_acts_at_once() -> None:
    gw.set_grad_enabled(False)
    assert not gw.is_grad_enabled()
    gw.set_grad_enabled(True)
    assert gw.is_grad_enabled()
    with gw.set_grad_enabled(False):
        assert not gw.is_grad_enabled()
    assert gw.is_grad_enabled()


def test_modes_decorate_functions() -> None:
    @gw.no_grad()
    def without(x: Any) -> Any:
        """Double."""
        return x * 2.0

    @gw.set_grad_enabled(False)
    def also_without(x: Any) -> Any:
        return x * 2.0

    @gw.enable_grad()
    def with_grad(x: Any) -> Any:
        return x * 2.0

    x = leaf()
    assert gw.is_grad_enabled()
    assert not without(x).requires_grad
    assert not also_without(x).requires_grad
    assert without.__name__ == "without"
    assert without.__doc__ == "Double."
    with gw.no_grad():
        assert with_grad(x).requires_grad


def test_modes_decorate_generators() -> None:
    @gw.no_grad()
    def steps(x: Any) -> Generator[Any, Any, None]:
        try:
            sent = yield x * 2.0
            while True:
                assert not gw.is_grad_enabled()
                sent = yield x * sent
        except ValueError:
            assert not gw.is_grad_enabled()
            yield x * 5.0
        finally:
            assert not gw.is_grad_enabled()

    x = leaf()
    generator: Any = steps(x)
    for value in (next(generator), generator.send(3.0), generator.throw(ValueError)):
        assert not value.requires_grad
        assert gw.is_grad_enabled()
        assert (x * 2.0).requires_grad
    generator.close()
    assert gw.is_grad_enabled()
    assert [v.requires_grad for v in _two(x)] == [False, False]


@gw.no_grad()
def _two(x: Any) -> Iterator[Any]:
    yield x * 1.5
    yield x * 2.5


def test_modes_decorate_coroutines() -> None:
    @gw.no_grad()
    async def step(x: Any) -> Any:
        await asyncio.sleep(0)
        return x * 2.0

    x = leaf()

    async def main() -> tuple[Any, Any]:
        task = asyncio.create_task(step(x))
        await asyncio.sleep(0)  # the task is inside of its no_grad now
        return x * 2.0, await task

    outside, inside = asyncio.run(main())
    assert outside.requires_grad
    assert not inside.requires_grad


def test_modes_decorate_asynchronous_generators() -> None:
    @gw.no_grad()
    async def steps(x: Any) -> AsyncIterator[Any]:
        yield x * 2.0
        await asyncio.sleep(0)
        yield x * 3.0

    x = leaf()

    async def main() -> list[bool]:
        seen: list[bool] = []
        async for value in steps(x):
            seen.append(value.requires_grad)
            assert gw.is_grad_enabled()
        return seen

    assert asyncio.run(main()) == [False, False]


def test_a_task_that_waits_in_a_mode_leaves_others_alone() -> None:
    """PyTorch's modes are per thread: there, tasks of one loop disturb each other."""

    @gw.no_grad()
    async def quiet(entered: asyncio.Event, leave: asyncio.Event) -> bool:
        entered.set()
        await leave.wait()
        return gw.is_grad_enabled()

    async def main() -> list[bool]:
        entered, leave = asyncio.Event(), asyncio.Event()
        task = asyncio.create_task(quiet(entered, leave))
        await entered.wait()
        outside = gw.is_grad_enabled()
        leave.set()
        return [outside, await task, gw.is_grad_enabled()]

    assert asyncio.run(main()) == [True, False, True]


def test_a_task_starts_in_the_mode_of_its_maker() -> None:
    async def enabled() -> bool:
        return gw.is_grad_enabled()

    async def main() -> list[bool]:
        with gw.no_grad():
            task = asyncio.create_task(enabled())
        return [await task, gw.is_grad_enabled()]

    assert asyncio.run(main()) == [False, True]


def test_an_asynchronous_generator_is_sent_to_thrown_into_and_closed() -> None:
    seen: list[Any] = []

    @gw.no_grad()
    async def steps() -> AsyncGenerator[Any, Any]:
        try:
            sent = yield gw.is_grad_enabled()
            await asyncio.sleep(0)
            sent = yield sent, gw.is_grad_enabled()
        except ValueError:
            yield "caught", gw.is_grad_enabled()
        finally:
            seen.append(("closed", gw.is_grad_enabled()))

    async def main() -> None:
        generator: Any = steps()
        for step in (
            generator.__anext__(),
            generator.asend(3),
            generator.athrow(ValueError),
            generator.aclose(),
        ):
            seen.extend((await step, gw.is_grad_enabled()))

    asyncio.run(main())
    assert seen == [
        *(False, True),
        *((3, False), True),
        *(("caught", False), True),
        *(("closed", False), None, True),
    ]


def test_a_cancelled_coroutine_ends_its_mode() -> None:
    @gw.no_grad()
    async def forever() -> None:
        await asyncio.Event().wait()

    async def main() -> bool:
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(forever(), 0.01)
        return gw.is_grad_enabled()

    assert asyncio.run(main())


def test_a_generator_may_be_closed_in_another_context() -> None:
    def steps() -> Iterator[bool]:
        with gw.no_grad():
            yield gw.is_grad_enabled()

    generator = steps()
    assert contextvars.copy_context().run(next, generator) is False
    generator.close()  # type: ignore[attr-defined]  # an iterator that is a generator
    assert gw.is_grad_enabled()


def test_a_mode_reaches_into_a_transform_that_is_running() -> None:
    def fun(x: Any) -> Any:
        with gw.no_grad():
            constant = x * x
        return (constant * x).sum()

    np.testing.assert_allclose(gw.grad(fun)(X), X**2)


def test_a_transform_that_starts_in_a_mode_records() -> None:
    with gw.no_grad():
        np.testing.assert_allclose(gw.grad(lambda x: (x * x).sum())(X), 2 * X)


def test_a_decorator_keeps_name_and_documentation() -> None:
    @gw.no_grad
    def function() -> None:
        """What it does."""

    assert (function.__name__, function.__doc__) == ("function", "What it does.")
