"""Every compiled function of these tests is verified: its programs, and each of its calls."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _verified(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "unverified" not in request.keywords:
        monkeypatch.setenv("GRADWRAP_CHECK", "1")
