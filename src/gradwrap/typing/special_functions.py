"""More functions of the extension `special`, by the chapters of the table."""

from __future__ import annotations

from typing import Protocol

from gradwrap.typing.arguments import In_contra, Out_co

__all__ = [
    "BesselFunctions",
    "DistributionFunctions",
    "ElementaryFunctions",
    "HypergeometricFunctions",
    "IntegralFunctions",
]


class DistributionFunctions(Protocol[In_contra, Out_co]):
    """The incomplete gamma and beta functions in more forms, and distribution functions."""

    def bdtr(self, k: In_contra | float, n: In_contra | float, p: In_contra | float, /) -> Out_co:
        """The binomial distribution function."""

    def bdtrc(self, k: In_contra | float, n: In_contra | float, p: In_contra | float, /) -> Out_co:
        """`1 - bdtr(k, n, p)`."""

    def bdtri(self, k: In_contra | float, n: In_contra | float, y: In_contra | float, /) -> Out_co:
        """The inverse of `bdtr` in `p`."""

    def betainccinv(
        self, a: In_contra | float, b: In_contra | float, y: In_contra | float, /
    ) -> Out_co:
        """The inverse of `betaincc` in its third argument."""

    def btdtria(
        self, p: In_contra | float, b: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The inverse of `betainc` in `a`."""

    def btdtrib(
        self, a: In_contra | float, p: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The inverse of `betainc` in `b`."""

    def chdtri(self, v: In_contra | float, p: In_contra | float, /) -> Out_co:
        """The inverse of `chdtrc` in `x`."""

    def chdtriv(self, p: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The inverse of `chdtr` in `v`."""

    def chndtr(
        self, x: In_contra | float, df: In_contra | float, nc: In_contra | float, /
    ) -> Out_co:
        """The noncentral chi-square distribution function."""

    def chndtrinc(
        self, x: In_contra | float, df: In_contra | float, p: In_contra | float, /
    ) -> Out_co:
        """The inverse of `chndtr` in `nc`."""

    def chndtrix(
        self, p: In_contra | float, df: In_contra | float, nc: In_contra | float, /
    ) -> Out_co:
        """The inverse of `chndtr` in `x`."""

    def fdtr(
        self, dfn: In_contra | float, dfd: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The F distribution function."""

    def fdtrc(
        self, dfn: In_contra | float, dfd: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """`1 - fdtr(dfn, dfd, x)`."""

    def fdtri(
        self, dfn: In_contra | float, dfd: In_contra | float, p: In_contra | float, /
    ) -> Out_co:
        """The inverse of `fdtr` in `x`."""

    def fdtridfd(
        self, dfn: In_contra | float, p: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The inverse of `fdtr` in `dfd`."""

    def gdtr(self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The gamma distribution function of rate `a` and shape `b`."""

    def gdtrc(self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /) -> Out_co:
        """`1 - gdtr(a, b, x)`."""

    def gdtria(self, p: In_contra | float, b: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The inverse of `gdtr` in `a`."""

    def gdtrib(self, a: In_contra | float, p: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The inverse of `gdtr` in `b`."""

    def gdtrix(self, a: In_contra | float, b: In_contra | float, p: In_contra | float, /) -> Out_co:
        """The inverse of `gdtr` in `x`."""

    def nbdtr(self, k: In_contra | float, n: In_contra | float, p: In_contra | float, /) -> Out_co:
        """The negative binomial distribution function."""

    def nbdtrc(self, k: In_contra | float, n: In_contra | float, p: In_contra | float, /) -> Out_co:
        """`1 - nbdtr(k, n, p)`."""

    def nbdtri(self, k: In_contra | float, n: In_contra | float, y: In_contra | float, /) -> Out_co:
        """The inverse of `nbdtr` in `p`."""

    def pdtr(self, k: In_contra | float, m: In_contra | float, /) -> Out_co:
        """Poisson's distribution function of mean `m`."""

    def pdtrc(self, k: In_contra | float, m: In_contra | float, /) -> Out_co:
        """`1 - pdtr(k, m)`."""

    def pdtri(self, k: In_contra | float, y: In_contra | float, /) -> Out_co:
        """The inverse of `pdtr` in `m`."""

    def stdtridf(self, p: In_contra | float, t: In_contra | float, /) -> Out_co:
        """The inverse of `stdtr` in `df`."""

    def stdtrit(self, df: In_contra | float, p: In_contra | float, /) -> Out_co:
        """The inverse of `stdtr` in `t`."""


class IntegralFunctions(Protocol[In_contra, Out_co]):
    """Exponential, trigonometric and elliptic integrals, and functions that are defined by them."""

    def dawsn(self, x: In_contra, /) -> Out_co:
        """Dawson's integral."""

    def ellipe(self, x: In_contra, /) -> Out_co:
        """The complete elliptic integral of the second kind of parameter `x`."""

    def ellipeinc(self, phi: In_contra | float, m: In_contra | float, /) -> Out_co:
        """The incomplete elliptic integral of the second kind."""

    def ellipj(
        self, u: In_contra | float, m: In_contra | float, /
    ) -> tuple[Out_co, Out_co, Out_co, Out_co]:
        """Jacobi's functions sn, cn and dn, and the amplitude."""

    def ellipk(self, x: In_contra, /) -> Out_co:
        """The complete elliptic integral of the first kind of parameter `x`."""

    def ellipkinc(self, phi: In_contra | float, m: In_contra | float, /) -> Out_co:
        """The incomplete elliptic integral of the first kind."""

    def ellipkm1(self, x: In_contra, /) -> Out_co:
        """`ellipk(1 - x)`, accurate near 0."""

    def elliprc(self, x: In_contra | float, y: In_contra | float, /) -> Out_co:
        """Carlson's degenerate elliptic integral."""

    def elliprd(
        self, x: In_contra | float, y: In_contra | float, z: In_contra | float, /
    ) -> Out_co:
        """Carlson's symmetric elliptic integral of the second kind."""

    def elliprf(
        self, x: In_contra | float, y: In_contra | float, z: In_contra | float, /
    ) -> Out_co:
        """Carlson's symmetric elliptic integral of the first kind."""

    def erfi(self, x: In_contra, /) -> Out_co:
        """The imaginary error function."""

    def exp1(self, x: In_contra, /) -> Out_co:
        """The exponential integral E1."""

    def expi(self, x: In_contra, /) -> Out_co:
        """The exponential integral Ei."""

    def expn(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The exponential integral of integer order `n`."""

    def fresnel(self, x: In_contra, /) -> tuple[Out_co, Out_co]:
        """Fresnel's integrals S and C."""

    def it2i0k0(self, x: In_contra, /) -> tuple[Out_co, Out_co]:
        """The integrals of `(i0(t) - 1) / t` and `k0(t) / t`."""

    def it2j0y0(self, x: In_contra, /) -> tuple[Out_co, Out_co]:
        """The integrals of `(1 - j0(t)) / t` and `y0(t) / t`."""

    def it2struve0(self, x: In_contra, /) -> Out_co:
        """The integral of Struve's function of order 0 over `t`, from `x`."""

    def itairy(self, x: In_contra, /) -> tuple[Out_co, Out_co, Out_co, Out_co]:
        """The integrals of the Airy functions from 0, at `x` and at `-x`."""

    def iti0k0(self, x: In_contra, /) -> tuple[Out_co, Out_co]:
        """The integrals of `i0` and `k0` from 0."""

    def itj0y0(self, x: In_contra, /) -> tuple[Out_co, Out_co]:
        """The integrals of `j0` and `y0` from 0."""

    def itmodstruve0(self, x: In_contra, /) -> Out_co:
        """The integral of the modified Struve function of order 0."""

    def itstruve0(self, x: In_contra, /) -> Out_co:
        """The integral of Struve's function of order 0."""

    def kolmogi(self, p: In_contra, /) -> Out_co:
        """The inverse of `kolmogorov`."""

    def kolmogorov(self, x: In_contra, /) -> Out_co:
        """The limit of the probability of Kolmogorov's statistic above `x`."""

    def owens_t(self, h: In_contra | float, a: In_contra | float, /) -> Out_co:
        """Owen's T function."""

    def shichi(self, x: In_contra, /) -> tuple[Out_co, Out_co]:
        """The hyperbolic sine and cosine integrals."""

    def sici(self, x: In_contra, /) -> tuple[Out_co, Out_co]:
        """The sine and the cosine integral."""

    def spence(self, x: In_contra, /) -> Out_co:
        """Spence's function, the dilogarithm of `1 - x`."""

    def voigt_profile(
        self, x: In_contra | float, sigma: In_contra | float, gamma: In_contra | float, /
    ) -> Out_co:
        """Voigt's profile: a normal density convolved with Cauchy's."""

    def wofz(self, x: In_contra, /) -> Out_co:
        """Faddeeva's function `exp(-x**2) * erfc(-1j * x)`, complex."""


class BesselFunctions(Protocol[In_contra, Out_co]):
    """Bessel functions of more kinds, and Airy, Struve and parabolic cylinder functions."""

    def airy(self, x: In_contra, /) -> tuple[Out_co, Out_co, Out_co, Out_co]:
        """The Airy functions Ai and Bi, each with its derivative."""

    def airye(self, x: In_contra, /) -> tuple[Out_co, Out_co, Out_co, Out_co]:
        """The Airy functions, scaled by exponentials."""

    def hankel1(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """The Hankel function of the first kind, complex."""

    def hankel1e(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """`exp(-1j * z) * hankel1(v, z)`."""

    def hankel2(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """The Hankel function of the second kind, complex."""

    def hankel2e(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """`exp(1j * z) * hankel2(v, z)`."""

    def ive(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """`exp(-abs(x)) * iv(v, x)`."""

    def jve(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """`jv(v, z)`, which is scaled for complex `z`."""

    def kn(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The modified Bessel function of the second kind of integer order."""

    def kve(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """`exp(z) * kv(v, z)`."""

    def modstruve(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The modified Struve function of order `v`."""

    def pbdv(self, v: In_contra | float, x: In_contra | float, /) -> tuple[Out_co, Out_co]:
        """The parabolic cylinder function D, with its derivative."""

    def pbvv(self, v: In_contra | float, x: In_contra | float, /) -> tuple[Out_co, Out_co]:
        """The parabolic cylinder function V, with its derivative."""

    def pbwa(self, a: In_contra | float, x: In_contra | float, /) -> tuple[Out_co, Out_co]:
        """The parabolic cylinder function W, with its derivative."""

    def struve(self, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """Struve's function of order `v`."""

    def yn(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Bessel function of the second kind of integer order."""

    def yve(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """`yv(v, z)`, which is scaled for complex `z`."""


class HypergeometricFunctions(Protocol[In_contra, Out_co]):
    """Hypergeometric functions and orthogonal polynomials."""

    def eval_chebyc(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Chebyshev polynomial of the first kind on (-2, 2)."""

    def eval_chebys(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Chebyshev polynomial of the second kind on (-2, 2)."""

    def eval_chebyt(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Chebyshev polynomial of the first kind."""

    def eval_chebyu(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Chebyshev polynomial of the second kind."""

    def eval_gegenbauer(
        self, n: In_contra | float, alpha: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The Gegenbauer polynomial."""

    def eval_genlaguerre(
        self, n: In_contra | float, alpha: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The generalized Laguerre polynomial."""

    def eval_hermite(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The physicists' Hermite polynomial."""

    def eval_hermitenorm(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The probabilists' Hermite polynomial."""

    def eval_jacobi(
        self,
        n: In_contra | float,
        alpha: In_contra | float,
        beta: In_contra | float,
        x: In_contra | float,
        /,
    ) -> Out_co:
        """The Jacobi polynomial."""

    def eval_laguerre(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Laguerre polynomial."""

    def eval_legendre(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The Legendre polynomial."""

    def eval_sh_chebyt(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The shifted Chebyshev polynomial of the first kind."""

    def eval_sh_chebyu(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The shifted Chebyshev polynomial of the second kind."""

    def eval_sh_jacobi(
        self,
        n: In_contra | float,
        p: In_contra | float,
        q: In_contra | float,
        x: In_contra | float,
        /,
    ) -> Out_co:
        """The shifted Jacobi polynomial."""

    def eval_sh_legendre(self, n: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The shifted Legendre polynomial."""

    def hyp0f1(self, v: In_contra | float, z: In_contra | float, /) -> Out_co:
        """The confluent hypergeometric limit function."""

    def hyp1f1(self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /) -> Out_co:
        """Kummer's confluent hypergeometric function."""

    def hyp2f1(
        self,
        a: In_contra | float,
        b: In_contra | float,
        c: In_contra | float,
        x: In_contra | float,
        /,
    ) -> Out_co:
        """Gauss' hypergeometric function."""

    def hyperu(self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /) -> Out_co:
        """Tricomi's confluent hypergeometric function."""

    def log_wright_bessel(
        self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The logarithm of `wright_bessel`."""

    def lpmv(self, m: In_contra | float, v: In_contra | float, x: In_contra | float, /) -> Out_co:
        """The associated Legendre function of integer order `m`."""

    def wright_bessel(
        self, a: In_contra | float, b: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """Wright's generalized Bessel function."""


class ElementaryFunctions(Protocol[In_contra, Out_co]):
    """Powers, losses and angles, and functions of inverses."""

    def agm(self, a: In_contra | float, b: In_contra | float, /) -> Out_co:
        """The arithmetic-geometric mean."""

    def binom(self, x: In_contra | float, y: In_contra | float, /) -> Out_co:
        """The binomial coefficient, for real arguments."""

    def boxcox(self, x: In_contra | float, lmbda: In_contra | float, /) -> Out_co:
        """`(x**lmbda - 1) / lmbda`, and `log(x)` for 0."""

    def boxcox1p(self, x: In_contra | float, lmbda: In_contra | float, /) -> Out_co:
        """`boxcox(1 + x, lmbda)`, accurate near 0."""

    def cosdg(self, x: In_contra, /) -> Out_co:
        """The cosine of an angle in degrees."""

    def cosm1(self, x: In_contra, /) -> Out_co:
        """`cos(x) - 1`, accurate near 0."""

    def cotdg(self, x: In_contra, /) -> Out_co:
        """The cotangent of an angle in degrees."""

    def huber(self, delta: In_contra | float, r: In_contra | float, /) -> Out_co:
        """Huber's loss: a parabola up to `delta`, then a line."""

    def inv_boxcox(self, y: In_contra | float, lmbda: In_contra | float, /) -> Out_co:
        """The inverse of `boxcox` in `x`."""

    def inv_boxcox1p(self, y: In_contra | float, lmbda: In_contra | float, /) -> Out_co:
        """The inverse of `boxcox1p` in `x`."""

    def ndtri_exp(self, y: In_contra, /) -> Out_co:
        """The inverse of `log_ndtr`."""

    def nrdtrimn(
        self, p: In_contra | float, std: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The mean of a normal distribution of which `x` is a quantile."""

    def nrdtrisd(
        self, mn: In_contra | float, p: In_contra | float, x: In_contra | float, /
    ) -> Out_co:
        """The deviation of a normal distribution of which `x` is a quantile."""

    def poch(self, z: In_contra | float, m: In_contra | float, /) -> Out_co:
        """`gamma(z + m) / gamma(z)`."""

    def powm1(self, x: In_contra | float, y: In_contra | float, /) -> Out_co:
        """`x**y - 1`, accurate near 0."""

    def pseudo_huber(self, delta: In_contra | float, r: In_contra | float, /) -> Out_co:
        """A smooth form of Huber's loss."""

    def radian(self, d: In_contra | float, m: In_contra | float, s: In_contra | float, /) -> Out_co:
        """Degrees, minutes and seconds in radians."""

    def rgamma(self, x: In_contra, /) -> Out_co:
        """The reciprocal of the gamma function."""

    def sindg(self, x: In_contra, /) -> Out_co:
        """The sine of an angle in degrees."""

    def tandg(self, x: In_contra, /) -> Out_co:
        """The tangent of an angle in degrees."""

    def tklmbda(self, x: In_contra | float, lmbda: In_contra | float, /) -> Out_co:
        """Tukey's lambda distribution function."""

    def wrightomega(self, x: In_contra, /) -> Out_co:
        """Wright's omega function, Lambert's W of `exp(x)`."""

    def zetac(self, x: In_contra, /) -> Out_co:
        """Riemann's zeta function, minus 1."""
