"""Types to annotate with: the standard's namespace, of variables and of native arrays.

Nothing here does anything at run time, and `import gradwrap` does not import it.
"""

from gradwrap.typing.about import Capabilities as Capabilities
from gradwrap.typing.about import DefaultDTypes as DefaultDTypes
from gradwrap.typing.about import FInfo as FInfo
from gradwrap.typing.about import IInfo as IInfo
from gradwrap.typing.about import NamespaceInfo as NamespaceInfo
from gradwrap.typing.fft import FFTNamespace as FFTNamespace
from gradwrap.typing.namespace import ArrayNamespace as ArrayNamespace
from gradwrap.typing.namespace import LinalgNamespace as LinalgNamespace
from gradwrap.typing.namespace import Namespace as Namespace
from gradwrap.typing.namespace import NativeNamespace as NativeNamespace
from gradwrap.typing.results import QR as QR
from gradwrap.typing.results import SVD as SVD
from gradwrap.typing.results import Eig as Eig
from gradwrap.typing.results import Eigh as Eigh
from gradwrap.typing.results import SlogDet as SlogDet
from gradwrap.typing.results import UniqueAll as UniqueAll
from gradwrap.typing.results import UniqueCounts as UniqueCounts
from gradwrap.typing.results import UniqueInverse as UniqueInverse
from gradwrap.typing.special import SpecialNamespace as SpecialNamespace
