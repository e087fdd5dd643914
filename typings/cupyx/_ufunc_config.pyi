from contextlib import AbstractContextManager
from typing import Any

def errstate(
    *,
    divide: Any = None,
    over: Any = None,
    under: Any = None,
    invalid: Any = None,
    linalg: Any = None,
) -> AbstractContextManager[None]: ...
def geterr() -> dict[str, Any]: ...
def seterr(
    *,
    divide: Any = None,
    over: Any = None,
    under: Any = None,
    invalid: Any = None,
    linalg: Any = None,
) -> dict[str, Any]: ...
