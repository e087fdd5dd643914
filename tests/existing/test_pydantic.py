"""Models of pydantic, whose validators are compiled, with tracked values in adapted code."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import numpy as np
import pytest

import gradwrap as gw

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.peers
try:
    pydantic: Any = importlib.import_module("pydantic")
except ImportError:
    pytest.skip("pydantic is not installed", allow_module_level=True)
dataclasses: Any = importlib.import_module("pydantic.dataclasses")

X = np.array([0.3, 0.5, -0.2, 0.7])
ARRAYS = {"arbitrary_types_allowed": True}


class Beam(pydantic.BaseModel):  # type: ignore[misc]  # of no known type
    length: float
    load: Annotated[float, pydantic.Field(gt=0)]
    count: int = 3

    def moment(self) -> Any:
        return self.load * self.length**2 / 8 * self.count


class Frame(pydantic.BaseModel):  # type: ignore[misc]  # its classes have no types here
    beams: list[Beam]
    factors: dict[str, float]
    pair: tuple[float, int | float]


class Checked(pydantic.BaseModel):  # type: ignore[misc]  # its classes have no types here
    model_config: ClassVar[Any] = {**ARRAYS, "validate_assignment": True}
    values: np.ndarray[Any, Any]
    more: np.ndarray[Any, Any] | None = None
    total: float = 0.0

    @pydantic.field_validator("values")  # type: ignore[untyped-decorator]  # likewise
    @classmethod
    def _doubled(cls, values: Any) -> Any:
        return 2 * values

    @pydantic.model_validator(mode="after")  # type: ignore[untyped-decorator]  # likewise
    def _summed(self) -> Any:
        self.__dict__["total"] = np.sum(self.values)
        return self


@dataclasses.dataclass
class Spring:
    stiffness: float
    length: Annotated[float, pydantic.Field(le=10)] = 1.0


spring: Any = Spring


@pydantic.validate_call  # type: ignore[untyped-decorator]  # likewise
def product(a: float, b: float = 2.0) -> Any:
    return a * b


def nested(x: Any) -> Any:
    frame = Frame(
        beams=[Beam(length=x[0], load=x[1]), {"length": x[2] + 1, "load": x[1]}],
        factors={"safety": x[3]},
        pair=(x[0], x[2]),
    )
    return sum(one.moment() for one in frame.beams) * frame.factors["safety"] * frame.pair[1]


def assigned(x: Any) -> Any:
    made = Checked(values=x)
    made.more = made.values * made.total
    return np.sum(made.more)


def out_of_bounds(x: Any) -> Any:
    try:
        return Beam(length=x[0], load=-x[1]).moment()
    except ValueError as error:
        return x[0] ** 2 * len(error.errors())  # type: ignore[attr-defined]  # of pydantic


def dumped(x: Any) -> Any:
    values = Beam.model_validate({"length": x[0], "load": x[1]}).model_dump()
    return values["length"] * values["load"]


CASES: dict[str, Callable[[Any], Any]] = {
    "numbers": lambda x: Beam(length=x[0], load=x[1]).moment(),
    "arrays": lambda x: np.sum(Checked(values=x, more=x**2).more * x),
    "functions that check": lambda x: Checked(values=x).total * x[1],
    "nested": nested,
    "assigned": assigned,
    "out of bounds": out_of_bounds,
    "dumped": dumped,
    "dataclass": lambda x: spring(x[0], length=x[1]).stiffness * x[2],
    "arguments": lambda x: product(x[0], b=x[3]),
    "adapter": lambda x: np.prod(pydantic.TypeAdapter(list[float]).validate_python(list(x))),
}


def differences(fun: Callable[[Any], Any]) -> Any:
    return np.array([(fun(X + e) - fun(X - e)) / 2e-5 for e in 1e-5 * np.eye(4)])


@pytest.mark.parametrize("name", CASES)
def test_derivatives_are_those_of_differences(name: str) -> None:
    fun = CASES[name]
    adapted = gw.adapting(fun)
    expected = differences(fun)
    np.testing.assert_allclose(gw.grad(adapted)(X), expected, atol=1e-8)
    forward = [gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(4)]
    np.testing.assert_allclose(forward, expected, atol=1e-8)
    assert fun(X) == adapted(X)


@pytest.mark.filterwarnings("error::gradwrap.errors.CompileWarning")
@pytest.mark.parametrize("name", ["numbers", "functions that check", "nested", "dataclass"])
def test_compiled(name: str) -> None:
    gradient = gw.grad(gw.adapting(CASES[name]))
    compiled = gw.compile(gradient)
    for x in (X, 1.1 * X):
        np.testing.assert_allclose(compiled(x), gradient(x), rtol=1e-13)


def test_a_value_of_another_kind_is_refused_by_the_model() -> None:
    """The error is that of plain values."""
    with pytest.raises(pydantic.ValidationError, match="greater than 0"):
        gw.grad(gw.adapting(lambda x: Beam(length=x[0], load=-x[1]).moment()))(X)
    with pytest.raises(pydantic.ValidationError, match="instance of ndarray"):
        gw.grad(gw.adapting(lambda x: Checked(values=x[0]).total))(X)


def test_text_drops_the_gradient() -> None:
    with pytest.raises(gw.errors.TrackedValueError, match="model_dump_json"):
        gw.grad(gw.adapting(lambda x: len(Beam(length=x[0], load=x[1]).model_dump_json())))(X)
