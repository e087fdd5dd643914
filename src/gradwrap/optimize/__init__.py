"""Minimisation and fitting over containers of arrays, with derivatives computed here.

`minimize` and `least_squares` are SciPy's, and need it; `sgd`, `adam` and `rmsprop` are plain loops
over the arrays of any library. It is imported when it is asked for.
"""

from gradwrap.optimize.accumulating import accumulate_gradients as accumulate_gradients
from gradwrap.optimize.batches import minibatches as minibatches
from gradwrap.optimize.descending import Descent as Descent
from gradwrap.optimize.descending import adam as adam
from gradwrap.optimize.descending import rmsprop as rmsprop
from gradwrap.optimize.descending import sgd as sgd
from gradwrap.optimize.fitting import least_squares as least_squares
from gradwrap.optimize.minimizing import minimize as minimize
from gradwrap.optimize.results import OptimizeResult as OptimizeResult
