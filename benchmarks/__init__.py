"""Benchmarks that compare gradwrap with gradients written by hand, and with four other libraries.

``python -m benchmarks`` prints one table, ``python -m benchmarks.overhead`` a smaller one;
``python -m benchmarks.gpu`` is for machines with a GPU.

Importing the package limits every library to one thread, and JAX to the CPU. That must come first,
because BLAS and XLA read these variables when they are loaded. The benchmarks for GPUs undo it.
"""

import os

ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "BLIS_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "NPROC": "1",  # the size of XLA's thread pool
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
}

os.environ.update(ONE_THREAD)
