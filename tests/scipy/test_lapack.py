"""Functions of LAPACK and BLAS, and of `cython_special`, with their flags, in adapted code."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

import gradwrap as gw
from gradwrap.errors import NoRuleError
from lambdas import fn

# The types of SciPy know no options of these functions.
np: Any = importlib.import_module("numpy")
sl: Any = importlib.import_module("scipy.linalg")
L: Any = importlib.import_module("scipy.linalg.lapack")
B: Any = importlib.import_module("scipy.linalg.blas")
cs: Any = importlib.import_module("scipy.special.cython_special")
dpotrf, dtrtrs = L.dpotrf, L.dtrtrs
get_lapack_funcs, get_blas_funcs = sl.get_lapack_funcs, sl.get_blas_funcs
gs: Any = importlib.import_module("gradwrap.scipy.linalg")
gi: Any = importlib.import_module("gradwrap.scipy.interpolate")
X = np.array([0.5, 1.5])
RNG = np.random.default_rng(0)
R = RNG.normal(size=(3, 3))
S = R @ R.T + 3 * np.eye(3)
V = RNG.normal(size=3)
W = RNG.normal(size=(3, 3))


def mat(x: Any) -> Any:
    return S + x[0] * (R + R.T) * 0.1 + x[1] * np.diag([1.0, 2, 3]) + x[0] * x[1] * np.triu(R) * 0.1


def w(*v: Any) -> Any:
    t = 0.0
    for one in v:
        a = np.asarray(one).reshape(-1)
        t = t + np.sum(a * np.cos(np.arange(a.shape[0]) + 0.3))
    return t


def diagonal(x: Any) -> Any:
    return np.diagonal(S) * x[0] + 3.0


def low(x: Any) -> Any:
    return x[1] * V[:2]


def bands(x: Any) -> Any:
    """A matrix with one diagonal below and above, and a row for the fill of its factors."""
    rows = [np.append(0.0, low(x)), diagonal(x), np.append(low(x), 0.0)]
    return np.stack([np.zeros(3), *rows])


CASES: dict[str, Any] = {}
for lo in (0, 1):
    for cl in (0, 1):
        CASES[f"potrf{lo}{cl}"] = lambda x, lo=lo, cl=cl: w(dpotrf(mat(x), lower=lo, clean=cl)[0])
    CASES[f"potrs{lo}"] = lambda x, lo=lo: w(
        L.dpotrs(L.dpotrf(mat(x), lower=lo)[0], V * x[0], lo)[0]
    )
    CASES[f"potri{lo}"] = lambda x, lo=lo: w(
        L.dpotri(L.dpotrf(mat(x), lower=lo, clean=0)[0], lo)[0]
    )
    CASES[f"posv{lo}"] = lambda x, lo=lo: w(*L.dposv(mat(x), W, lower=lo)[:2])
    for un in (0, 1):
        CASES[f"trtri{lo}{un}"] = lambda x, lo=lo, un=un: w(
            L.dtrtri(mat(x), lower=lo, unitdiag=un)[0]
        )
        for tr in (0, 1, 2):
            CASES[f"trtrs{lo}{un}{tr}"] = lambda x, lo=lo, un=un, tr=tr: w(
                dtrtrs(mat(x), W * x[1], lower=lo, unitdiag=un, trans=tr)[0]
            )
            CASES[f"trsv{lo}{un}{tr}"] = lambda x, lo=lo, un=un, tr=tr: w(
                B.dtrsv(mat(x), V * x[0], lower=lo, diag=un, trans=tr)
            )
            CASES[f"trmv{lo}{un}{tr}"] = lambda x, lo=lo, un=un, tr=tr: w(
                B.dtrmv(mat(x), V * x[0], lower=lo, diag=un, trans=tr)
            )
            for sd in (0, 1):
                CASES[f"trsm{lo}{un}{tr}{sd}"] = lambda x, lo=lo, un=un, tr=tr, sd=sd: w(
                    B.dtrsm(x[0], mat(x), W * x[1], lower=lo, diag=un, trans_a=tr, side=sd)
                )
                CASES[f"trmm{lo}{un}{tr}{sd}"] = lambda x, lo=lo, un=un, tr=tr, sd=sd: w(
                    B.dtrmm(x[0], mat(x), W * x[1], lower=lo, diag=un, trans_a=tr, side=sd)
                )
    CASES[f"syev{lo}"] = lambda x, lo=lo: (
        w(L.dsyev(mat(x), lower=lo)[0]) + w(np.abs(L.dsyevd(mat(x), lower=lo)[1]))
    )
    CASES[f"syevn{lo}"] = lambda x, lo=lo: w(L.dsyev(mat(x), 0, lower=lo)[0])
    CASES[f"symv{lo}"] = lambda x, lo=lo: w(
        B.dsymv(x[0], mat(x), V, beta=2.0, y=x[[0, 1, 0]], lower=lo)
    )
    for sd in (0, 1):
        CASES[f"symm{lo}{sd}"] = lambda x, lo=lo, sd=sd: w(
            B.dsymm(x[0], mat(x), W, beta=x[1], c=W.T, lower=lo, side=sd)
        )
    for tr in (0, 1):
        CASES[f"syrk{lo}{tr}"] = lambda x, lo=lo, tr=tr: (
            w(B.dsyrk(x[0], mat(x)[:, :2], lower=lo, trans=tr))
            + w(B.dsyrk(x[0], mat(x), beta=x[1], c=W, lower=lo, trans=tr))
        )
CASES.update(
    {
        "getrf": lambda x: w(L.dgetrf(mat(x) @ W)[0]),
        "getrs": lambda x: sum(
            w(L.dgetrs(*L.dgetrf(mat(x) @ W)[:2], V * x[0], trans=t)[0]) for t in (0, 1, 2)
        ),
        "getri": lambda x: w(L.dgetri(*L.dgetrf(mat(x) @ W)[:2])[0]),
        "gesv": lambda x: w(L.dgesv(mat(x) @ W, W)[0], L.dgesv(mat(x) @ W, W)[2]),
        "svd": lambda x: (
            w(L.dgesdd(mat(x) @ W)[1])
            + w(np.abs(L.dgesvd((mat(x) @ W)[:, :2], full_matrices=0)[0]))
            + w(L.dgesdd(mat(x), 0)[1])
        ),
        "gemm": lambda x: sum(
            w(B.dgemm(x[0], mat(x), W @ mat(x), trans_a=a, trans_b=b, beta=x[1], c=W))
            for a in (0, 1)
            for b in (0, 1)
        ),
        "gemv": lambda x: (
            sum(w(B.dgemv(x[0], mat(x), V * x[1], trans=a)) for a in (0, 1))
            + w(
                B.dgemv(
                    1.5,
                    mat(x),
                    np.repeat(V * x[0], 2),
                    incx=2,
                    beta=x[1],
                    y=np.repeat(V, 2),
                    offy=1,
                    incy=2,
                )
            )
        ),
        "gemv2": lambda x: w(B.dgemv(1.5, mat(x), V, offy=1, incy=2)),
        "ger": lambda x: w(B.dger(x[0], mat(x)[0], V, a=mat(x))),
        "dot": lambda x: B.ddot(mat(x)[0], V) + B.ddot(np.ones(5) * x[0], V, n=2, incx=2, offx=1),
        "axpy": lambda x: w(B.daxpy(mat(x)[0], mat(x)[1].copy(), a=x[0])),
        "nrm2": lambda x: (
            B.dnrm2(mat(x)[0]) * B.dasum(mat(x)[0] - 4) + w(B.dscal(x[0], mat(x)[0].copy()))
        ),
        "funcs": lambda x: (
            w(get_lapack_funcs(("potrf",), (mat(x),))[0](mat(x))[0])
            + get_blas_funcs("nrm2", (mat(x),))(mat(x)[0])
            + w(sl.get_lapack_funcs("getrf", dtype=float)(mat(x))[0])
        ),
        "zgemm": lambda x: (
            w(B.zgemm(1.0, mat(x) * (1 + 1j), W * (1 - 2j), trans_a=2, trans_b=1).imag)
            + B.zdotc(mat(x)[0] * 1j, V * (2 + 1j)).real
        ),
        "zpotrf": lambda x: w(L.zpotrf(mat(x) * (1 + 0j) + 1j * x[0] * (R - R.T) * 0.1)[0].imag),
        "cs": lambda x: (
            cs.gamma(x[0]) * cs.erf(x[1]) + cs.jv(0, x[0]) + cs.expit(x[1]) + cs.betaln(x[0], x[1])
        ),
        "gecon": lambda x: (
            L.dgecon(L.dgetrf(mat(x))[0], np.linalg.norm(mat(x), 1))[0]
            + L.dgecon(L.dgetrf(mat(x))[0], x[0], norm="I")[0]
            + L.dpocon(L.dpotrf(mat(x))[0], np.linalg.norm(mat(x), 1))[0]
            + L.dpocon(L.dpotrf(mat(x), lower=1)[0], x[1], uplo="L")[0]
        ),
        "norms": lambda x: (
            sum(L.dlange(one, mat(x)) * (k + 1) for k, one in enumerate(("M", "1", b"I", "f")))
            + L.dlantr("1", mat(x)) * L.dlantr("F", mat(x), uplo="L", diag="U")
            + get_lapack_funcs("lange", (mat(x),))("O", mat(x)) * L.zlange("E", mat(x) * (1 + 1j))
            + L.dlangb("1", 1, 1, bands(x)[1:]) * L.dlangb("E", 1, 1, bands(x)[1:])
        ),
        "trcon": lambda x: (
            L.dtrcon(mat(x))[0] + L.dtrcon(mat(x), norm="I", uplo="L")[0] * L.ztrcon(mat(x) + 0j)[0]
        ),
        "gtsv": lambda x: (
            w(L.dgtsv(low(x), diagonal(x), low(x)[::-1], W * x[0])[3])
            + w(get_lapack_funcs("gtsv", dtype="d")(low(x), diagonal(x), V[:2], V)[3])
        ),
        "zgtsv": lambda x: w(
            np.abs(L.zgtsv(1j * low(x), diagonal(x), low(x) * (1 - 1j), V * (1 + 0j))[3])
        ),
        "ptsv": lambda x: (
            w(L.dptsv(diagonal(x), low(x), V)[2])
            + w(np.abs(L.zptsv(diagonal(x), low(x) * (1 + 0.5j), W + 1j * V)[2]))
        ),
        "gbsv": lambda x: w(L.dgbsv(1, 1, bands(x), V * x[0])[2]),
        "pbsv": lambda x: sum(
            w(*L.dpbsv(bands(x)[1 + lo : 3 + lo], V, lower=lo)[:2]) for lo in (0, 1)
        ),
        "pbtrs": lambda x: w(L.dpbtrs(L.dpbtrf(bands(x)[1:3])[0], V)[0]),
        "tbtrs": lambda x: (
            w(L.dtbtrs(bands(x)[1:3], W)[0], L.dtbtrs(bands(x)[2:], W, uplo="L", trans="T")[0])
            + w(L.dtbtrs(bands(x)[1:3], W, trans="C", diag="U")[0])
        ),
        "pttrs": lambda x: (
            w(*L.dpttrf(diagonal(x), low(x))[:2])
            + w(L.dpttrs(*L.dpttrf(diagonal(x), low(x))[:2], W * x[0])[0])
        ),
        "zpttrs": lambda x: sum(
            w(np.abs(L.zpttrs(*L.zpttrf(diagonal(x), low(x) * 1j)[:2], W * (1 + 1j), lower=lo)[0]))
            for lo in (0, 1)
        ),
        "sysv": lambda x: sum(
            w(L.dsysv(mat(x), V * x[0], lower=lo)[2])
            + w(np.abs(L.zsysv(mat(x) * (1 + 0.1j), W + 0j, lower=lo)[2]))
            + w(np.abs(L.zhesv(mat(x) + 0.1j * R, W + 0j, lower=lo)[2]))
            for lo in (0, 1)
        ),
        "fails": lambda x: L.dpotrf(mat(x) - 100 * np.eye(3))[1] * x[0],
        "const": lambda x: x[0] * L.dpotrf(S)[0][0, 0] + x[1] * B.dnrm2(V),
    }
)


@pytest.mark.parametrize("name", CASES)
def test_functions_with_their_flags(name: str) -> None:
    function = CASES[name]
    steps = 1e-6 * np.eye(2)
    expected = [float(function(X + e) - function(X - e)) / 2e-6 for e in steps]
    adapted = gw.adapting(function)
    value, backward = gw.value_and_grad(adapted)(X)
    assert np.allclose(value, function(X))
    assert np.allclose(backward, expected, rtol=1e-5)
    if name[-1] in "0v":
        assert np.allclose([gw.jvp(adapted, (X,), (e,))[1] for e in np.eye(2)], expected, rtol=1e-5)


ROTATIONS: dict[str, Any] = {
    "rotg": lambda x: w(*B.drotg(x[0], x[1])),
    "rotg of a sign": lambda x: w(*B.drotg(-x[1], x[0])),
    "lartg": lambda x: w(*L.dlartg(x[0], x[1])),
    "lartg of a sign": lambda x: w(*L.dlartg(-x[1], x[0])),
    "chosen": lambda x: w(*get_lapack_funcs("lartg", (x,))(x[0], -x[1])),
    "rot": lambda x: w(*B.drot(x[0] * V, W[0], x[0], x[1])),
    "rot of parts": lambda x: w(*B.drot(x[0] * V, W[0] * x[1], 0.6, 0.8, n=2, offx=1, incy=2)),
    "larfg": lambda x: w(*L.dlarfg(3, x[0], x[1] * V[:2])),
    "larfg of a sign": lambda x: w(*L.dlarfg(3, -x[0], x[1] * V[:2])),
}


@pytest.mark.parametrize("name", ROTATIONS)
def test_rotations_and_reflections(name: str) -> None:
    function = ROTATIONS[name]
    expected = [float(function(X + e) - function(X - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
    value, gradient = gw.value_and_grad(gw.adapting(function))(X)
    assert np.allclose(value, function(X))
    assert np.allclose(gradient, expected, rtol=1e-6)
    pushed = [gw.jvp(gw.adapting(function), (X,), (e,))[1] for e in np.eye(2)]
    assert np.allclose(pushed, expected, rtol=1e-6)


def test_rotations_of_zeros_are_refused() -> None:
    with pytest.raises(NoRuleError, match="a rotation of two zeros has no derivative"):
        gw.grad(gw.adapting(fn(lambda x: B.drotg(0.0 * x[0], 0.0)[0])))(X)
    with pytest.raises(NoRuleError, match="a reflection of a vector with one element"):
        gw.grad(gw.adapting(fn(lambda x: L.dlarfg(2, x[0], [0.0 * x[1]])[0])))(X)


def test_what_has_no_rule_is_refused() -> None:
    with pytest.raises(NoRuleError, match=r"dgeev has no derivative.*scipy\.linalg"):
        gw.grad(gw.adapting(fn(lambda x: w(L.dgeev(mat(x))[0]))))(X)
    with pytest.raises(NoRuleError, match=r"linalg\.lapack\.dgtsv"):
        gw.grad(gw.adapting(fn(lambda x: w(L.dgtsv(low(x), diagonal(x), low(x), V)[1]))))(X)
    with pytest.raises(NoRuleError, match="negative step"):
        gw.grad(gw.adapting(fn(lambda x: B.dnrm2(x, incx=-1))))(X)


def test_an_array_that_is_written_to_after_the_call() -> None:
    def solved(x: Any) -> Any:
        k = S + np.eye(3)
        found = gs.solve(k, x[0] * V, assume_a="pos")
        k += 100.0
        return np.sum(found) + x[1]

    k = S + np.eye(3)
    assert np.allclose(gw.grad(solved)(X), [sl.solve(k, V).sum(), 1.0])


def test_interpolation_of_scattered_values() -> None:
    points, inside = RNG.uniform(size=(12, 2)), [[0.5, 0.5]]
    corners = np.array([[-1.0, -1.0], [2.0, -1.0], [-1.0, 2.0], [2.0, 2.0]])
    points = np.concatenate([points, corners])
    values = np.cos(points[:, 0]) + points[:, 1]

    def f(x: Any) -> Any:
        return gi.griddata(points, values * x[0] + x[1] ** 2, inside, method="cubic")[0]

    whole = gi.griddata(points, values, inside, method="cubic")[0]
    assert np.allclose(gw.grad(f)(X), [whole, 2 * X[1]], rtol=1e-5)


H = np.array([[2.0 + 1j, 0.3 + 0.1j], [0.3 - 0.1j, 1.5 - 2j]])
OTHER_DTYPES: dict[str, Any] = {
    "dpotrf": lambda m, x: m.lapack.dpotrf(x[:2, :2])[0],
    "spotrf": lambda m, x: m.lapack.spotrf(x[:2, :2])[0],
    "dgemm": lambda m, x: m.blas.dgemm(1.0, x, x),
    "sgemv": lambda m, x: m.blas.sgemv(1.0, x, x[0]),
    "dznrm2": lambda m, x: m.blas.dznrm2(x[0] * (1 + 2j)),
    "scasum": lambda m, x: m.blas.scasum(x[0] * (1 + 2j)),
    "zhemv": lambda m, x: m.blas.zhemv(1.0, H, x[0, :2]),  # the diagonal counts as real
    "zsyrk": lambda m, x: m.blas.zsyrk(1 + 2j, H * x[0, 0], beta=0.5j, c=H * x[1, 1], trans=1),
    "zherk": lambda m, x: m.blas.zherk(1.5, H * x[0, 0], beta=0.5, c=H * x[1, 1], lower=1),
    "cherk": lambda m, x: m.blas.cherk(1.5, H * x[0, 0], trans=2),
    "zsymm": lambda m, x: m.blas.zsymm(1 - 1j, H * x[0, 0], H.T * x[1, 1], side=1),
    "csymm": lambda m, x: m.blas.csymm(1.0, H * x[0, 0], H, beta=2j, c=H * x[1, 1], lower=1),
    "zgerc": lambda m, x: m.blas.zgerc(1 + 2j, H[0] * x[0, 0], H[1] * x[0, 1], a=H * x[1, 1]),
    "zgeru": lambda m, x: m.blas.zgeru(1 + 2j, H[0] * x[0, 0], H[1] * x[0, 1]),
    "spotri": lambda m, x: m.lapack.spotri(x)[0],
    "strmv": lambda m, x: m.blas.strmv(x, x[0]),
    "cgesvd": lambda m, x: m.lapack.cgesvd(x * 1j, compute_uv=0)[0],
    # of four elements, two whole steps fit into the last three, and one step of three into four
    "ddot": lambda m, x: m.blas.ddot(x.ravel()[:4], x.ravel(), incx=2, offx=1),
    "dnrm2": lambda m, x: m.blas.dnrm2(x.ravel()[:4], incx=3),
    "daxpy": lambda m, x: m.blas.daxpy(x.ravel()[:4], x.ravel() * 1.0, a=0.5, incx=2, incy=3),
}


@pytest.mark.parametrize("given", ["float32", "float64"])
@pytest.mark.parametrize("name", OTHER_DTYPES)
def test_the_dtype_and_the_value_are_those_of_scipys_function(name: str, given: str) -> None:
    function, x = OTHER_DTYPES[name], np.asarray(S, given)
    wanted = np.asarray(function(sl, x))

    found = np.asarray(gw.vjp(fn(lambda x: function(gs, x)), x)[0])

    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    np.testing.assert_allclose(found, wanted, rtol=1e-5)


@pytest.mark.parametrize("name", ["zsyrk", "zherk", "zsymm", "csymm", "zgerc", "zgeru"])
def test_gradients_of_complex_products(name: str) -> None:
    def total(x: Any) -> Any:
        return np.sum(np.abs(OTHER_DTYPES[name](gs, S * x[:, None])) ** 2 * H.real)

    x = np.array([0.7, 1.1, 0.4])
    steps = (3e-2 if name[0] == "c" else 1e-6) * np.eye(3)  # in float32, of a polynomial
    expected = [(total(x + e) - total(x - e)) / (2 * e.max()) for e in steps]
    np.testing.assert_allclose(gw.grad(total)(x), expected, rtol=1e-2 if name[0] == "c" else 1e-6)


def test_an_unknown_or_doubled_option_is_refused() -> None:
    x = gw.wrap(V, requires_grad=True)
    dgemv = gs.blas.dgemv
    for args, options in (((1.0, S, x), {"transposed": 1}), ((1.0, S, x), {"x": V})):
        with pytest.raises(TypeError, match=r"dgemv takes alpha, a, x, beta, .* each once"):
            dgemv(*args, **options)


def test_a_vector_that_is_too_short_is_refused_as_scipy_does() -> None:
    x = gw.wrap(V, requires_grad=True)
    text = r"takes 2 elements of a vector of 3, from element 2 in steps of 2. Fix: pass a smaller n"
    with pytest.raises(ValueError, match=text):
        gs.blas.dasum(x, n=2, offx=2, incx=2)
    with pytest.raises(NoRuleError, match=r"this step or start has no derivative"):
        gs.blas.dger(1.0, x, V, incx=2)


def test_beta_of_zero_leaves_the_other_operand_unread() -> None:
    nothing = np.full((3, 3), np.nan)

    def f(x: Any) -> Any:
        product = B.dgemm(x[0], mat(x), W, beta=0.0, c=nothing)
        return np.sum(product) + np.sum(B.dgemv(x[1], mat(x), V, beta=0.0, y=nothing[0]))

    x = np.array([0.7, 1.3])
    steps = 1e-6 * np.eye(2)
    expected = np.array([(f(x + e) - f(x - e)) / 2e-6 for e in steps])

    assert np.all(np.isfinite(expected))
    np.testing.assert_allclose(gw.grad(gw.adapting(f))(x), expected, rtol=1e-6)


def test_a_basis_of_a_null_space_is_a_choice() -> None:
    rows, weights = RNG.normal(size=(2, 5)), RNG.normal(size=(5, 5))

    def projection(a: Any) -> Any:
        basis = gs.null_space(a)
        return np.sum(weights * (basis @ basis.T))

    gw.testing.check_grads(projection, (rows,), order=1)
    gw.testing.check_grads(gs.null_space, (R[:2],), order=1)  # one vector: a choice of sign
    with pytest.warns(gw.errors.DegeneracyWarning, match=r"scipy.linalg.null_space: .*projection"):
        slope = gw.grad(lambda a: np.sum(weights[:, :3] * gs.null_space(a)))(rows)
    assert np.isnan(slope).all()
    assert gs.null_space(gw.wrap(S, requires_grad=True)).shape == (3, 0)


def test_an_estimate_that_is_not_the_condition_number_is_refused() -> None:
    """LAPACK's estimate of the norm of an inverse is a lower bound: 0.3 for 0.25."""
    adapted = gw.adapting(fn(lambda x: L.dtrcon(np.array([[x[0], x[0]], [0.0, x[1]]]))[0]))
    x = np.array([1.0, 1.0])
    assert abs(adapted(x) - 0.25) > 0.01  # SciPy's
    remedy = r"estimated a condition number.*Fix: 1 / \(np\.linalg\.norm\(A, 1\) \* "
    with pytest.raises(NoRuleError, match=remedy):
        gw.grad(adapted)(x)
    exact = gw.adapting(fn(lambda x: condition(np.array([[x[0], x[0]], [0.0, x[1]]]))))
    assert np.allclose(gw.grad(exact)(np.array([1.0, 1.5])), [-0.12, 0.08])  # b/2(a+b)
    unknown = gw.adapting(fn(lambda x: L.dsycon(*L.dsytrf(S)[:2], x[0])[0]))
    with pytest.raises(NoRuleError, match=r"dsycon has no derivative\. Fix: 1 / "):
        gw.grad(unknown)(X)


def condition(A: Any) -> Any:
    return 1 / (np.linalg.norm(A, 1) * np.linalg.norm(np.linalg.inv(A), 1))
