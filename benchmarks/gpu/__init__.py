"""Benchmarks on a GPU: gradwrap on CuPy's arrays, gradients by hand, PyTorch and JAX.

``python -m benchmarks.gpu`` runs the tests that need a GPU and the benchmarks, and enters a dated
record in ``docs/gpu.md``.
"""
