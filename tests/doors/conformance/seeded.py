"""A plugin for pytest: the same random numbers for every namespace the suite is run on.

The suite draws special values by `example()` of Hypothesis, which shuffles by `random`. Failing
examples are not made smaller: it takes minutes, and only whether a test passes is compared.
"""

from __future__ import annotations

import random

import pytest
from hypothesis import Phase, settings

__all__ = ["pytest_configure", "pytest_runtest_setup"]

PROFILE = "array-api-tests"


@pytest.hookimpl(trylast=True)
def pytest_configure() -> None:
    """Extend the profile that the suite has loaded."""
    phases = (Phase.explicit, Phase.generate)
    settings.register_profile("compared", settings.get_profile(PROFILE), phases=phases)
    settings.load_profile("compared")


def pytest_runtest_setup(item: pytest.Item) -> None:
    seed = item.config.getoption("--hypothesis-seed", default=None)
    random.seed(f"{seed} {item.nodeid}")
