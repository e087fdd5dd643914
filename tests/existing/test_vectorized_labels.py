"""`apply_ufunc(vectorize=True)` of xarray, with functions of packages that know plain arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from modes import check_modes
from packages import written

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("xarray")
pytestmark = pytest.mark.filterwarnings("ignore::gradwrap.errors.CompileWarning")
SOURCE = """
    import xarray as xr
    TIMES = np.arange(12.0).reshape(2, 6)
    def efficiency(simulated, observed):
        is_known = ~np.isnan(simulated) & ~np.isnan(observed)
        simulated, observed = simulated[is_known], observed[is_known]
        r = np.corrcoef(simulated, observed)[0, 1]
        parts = r - 1, simulated.std() / observed.std() - 1, simulated.mean() / observed.mean() - 1
        return 1 - math.sqrt(sum(part**2 for part in parts))
    def mean(x):
        simulated = xr.DataArray(np.sin(TIMES * x[0]) + TIMES * x[1], dims=("i", "t"))
        observed = xr.DataArray(np.cos(TIMES) + TIMES, dims=("i", "t"))
        options = {"input_core_dims": [["t"], ["t"]], "vectorize": True, "output_dtypes": [float]}
        return xr.apply_ufunc(efficiency, simulated, observed, **options).mean().item()
    def power(a, p): return np.sum(np.asarray(a, dtype=float) ** p)
    def with_option(x):
        data = xr.DataArray(TIMES[:, 1:3] * x[0], dims=("i", "t"))
        options = {"input_core_dims": [["t"]], "vectorize": True, "kwargs": {"p": x[1]}}
        return float(xr.apply_ufunc(power, data, **options).sum())
    def of_groups(x):
        coords = {"t": [0, 0, 1, 1]}
        data = xr.DataArray(np.array([1.0, 2.0, 3.0, 4.0]) * x[0] + x[1], dims="t", coords=coords)
        found = xr.apply_ufunc(lambda a: np.sum(a) * a[0], data.groupby("t"),
                               input_core_dims=[["t"]], vectorize=True)
        return float((found**2).sum())
    """


@pytest.mark.parametrize("name", ["mean", "with_option", "of_groups"])
def test_functions_of_plain_vectors(name: str, tmp_path: Path) -> None:
    check_modes(getattr(written(tmp_path, SOURCE), name), np.array([1.3, 0.7]))
