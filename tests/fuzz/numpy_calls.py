"""The arguments that every function and method of NumPy is called with, as text."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.expressions import sections

_CALLS = sections(Path(__file__).parent / "calls.txt")


def lines(table: str) -> dict[str, list[str]]:
    """Return the arguments of each line of a table, by its name."""
    found: dict[str, list[str]] = {}
    for line in _CALLS[table]:
        name, _, rest = line.partition(": ")
        found[name] = [part.strip() for part in rest.split(" | ")]
    return found


ARRAYS = {name: source for name, (source,) in lines("arrays").items()}
"""Arrays with a derivative."""
PLAIN = {name: source for name, (source,) in lines("plain arrays").items()}
"""Arrays without one."""
FUNCTIONS = lines("functions")
METHODS = lines("methods")
METHODS_OF_UFUNCS = lines("methods of ufuncs")

UNARY = "x1 | v1 | e1 | c1 | z1 | f1 | q1.T | x1[:, ::-2]"
BINARY = "x1, y1 | x1, v1 | x1, 0.4 | 0.4, x1 | e1, v1 | c1, x1 | z1, w1 | f1, 2 | q1, x1 | x1, k1"
UFUNC_KEYWORDS = (
    "dtype=np.float32",
    "dtype=complex",
    "casting='unsafe'",
    "order='F'",
    "subok=False",
)
SHIFTED = {  # a ufunc that wants other values than those between 0 and 1
    "arccosh": "{} + 1.3",
    "acosh": "{} + 1.3",
}
INTEGERS_ONLY = (
    "bitwise_and bitwise_count bitwise_invert bitwise_left_shift bitwise_not bitwise_or"
    " bitwise_right_shift bitwise_xor gcd invert isnat lcm left_shift right_shift"
)

OTHERS: dict[str, str] = {
    "settings, text and files": (
        "array2string array_repr array_str binary_repr format_float_positional"
        " format_float_scientific from_dlpack frombuffer fromfile fromregex fromstring genfromtxt"
        " get_include get_printoptions getbufsize geterr geterrcall info load loadtxt printoptions"
        " save savetxt savez savez_compressed set_printoptions setbufsize seterr seterrcall"
        " show_config show_runtime test typename errstate linalg.test fft.test"
    ),
    "dates": "busday_count busday_offset datetime_as_string datetime_data is_busday busdaycalendar",
    "tests and facts of types": (
        "isscalar iterable base_repr isdtype issubdtype promote_types finfo iinfo dtype"
    ),
    "take only numbers": (
        "bartlett blackman diag_indices empty eye hamming hanning identity indices kaiser"
        " mask_indices ones tri tril_indices triu_indices zeros fft.fftfreq fft.rfftfreq"
    ),
    "classes": (
        "bool bool_ broadcast byte bytes_ cdouble character clongdouble complex128 complex256"
        " complex64 complexfloating csingle datetime64 double flatiter flexible float128 float16"
        " float32 float64 floating generic half inexact int16 int32 int64 int8 int_ intc integer"
        " intp long longdouble longlong matrix memmap ndarray ndenumerate ndindex nditer number"
        " object_ poly1d recarray record short signedinteger single str_ timedelta64 ubyte ufunc"
        " uint uint16 uint32 uint64 uint8 uintc uintp ulong ulonglong unsignedinteger ushort"
        " vectorize void linalg.LinAlgError"
    ),
}
"""Names that take no array with a derivative, and why."""

ACCEPTED = frozenset(
    {
        "np.isin(v1, w1, kind='stable')",
        "np.isin(x1, 0.31, kind='stable')",
        "np.unstack(x1, axis=None)",
        "np.unstack(x1, axis=(0, 1))",
        "np.linalg.multi_dot([s1, x1, v1], out=out)",
        "np.fft.fft2(x1, (2, 3), out=out)",
        "np.fft.fft2(x1, (2, 3), out=out, norm='forward')",
        "np.fft.fft2(x1, (2, 3), norm='forward', out=out)",
        "np.fft.fft2(x1, (2, 3), out=out, norm='ortho')",
    }
)
"""Calls that NumPy refuses, the last five for reasons of its own, and that give results here."""

OTHER_METHODS: dict[str, str] = {
    "deliberate ways out of the graph": "item tolist",
    "attributes without a derivative": (
        "ctypes data device dtype flags itemsize nbytes ndim shape size strides"
    ),
    "files, and other readings of the same bytes": "byteswap dump dumps",
}
"""The methods and attributes that are not called, and why."""
