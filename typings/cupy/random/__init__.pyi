import builtins
from cupy.random._bit_generator import (
    MRG32k3a as MRG32k3a,
    XORWOW as XORWOW,
    BitGenerator as BitGenerator,
    Philox4x3210 as Philox4x3210,
)
from cupy.random._distributions import (
    beta as beta,
    binomial as binomial,
    chisquare as chisquare,
    dirichlet as dirichlet,
    exponential as exponential,
    f as f,
    gamma as gamma,
    geometric as geometric,
    gumbel as gumbel,
    hypergeometric as hypergeometric,
    laplace as laplace,
    logistic as logistic,
    lognormal as lognormal,
    logseries as logseries,
    multivariate_normal as multivariate_normal,
    negative_binomial as negative_binomial,
    noncentral_chisquare as noncentral_chisquare,
    noncentral_f as noncentral_f,
    normal as normal,
    pareto as pareto,
    poisson as poisson,
    power as power,
    rayleigh as rayleigh,
    standard_cauchy as standard_cauchy,
    standard_exponential as standard_exponential,
    standard_gamma as standard_gamma,
    standard_normal as standard_normal,
    standard_t as standard_t,
    triangular as triangular,
    uniform as uniform,
    vonmises as vonmises,
    wald as wald,
    weibull as weibull,
    zipf as zipf,
)
from cupy.random._generator import (
    RandomState as RandomState,
    get_random_state as get_random_state,
    reset_states as reset_states,
    seed as seed,
    set_random_state as set_random_state,
)
from cupy.random._permutations import (
    permutation as permutation,
    shuffle as shuffle,
)
from cupy.random._sample import (
    choice as choice,
    multinomial as multinomial,
    rand as rand,
    randint as randint,
    randn as randn,
    random_integers as random_integers,
    random_sample as random_sample,
)
from cupy.random._generator_api import Generator as Generator

def bytes(length: int) -> builtins.bytes: ...
def default_rng(seed: object = None) -> Generator: ...

random = random_sample
ranf = random_sample
sample = random_sample
