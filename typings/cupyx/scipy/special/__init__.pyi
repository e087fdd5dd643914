from cupy._core import _Pair, _Smooth, _Smooth2, ufunc
from cupy._math.rounding import round as round
from cupyx.scipy.special._gammaln import multigammaln as multigammaln
from cupyx.scipy.special._lambertw import lambertw as lambertw
from cupyx.scipy.special._logsoftmax import log_softmax as log_softmax
from cupyx.scipy.special._logsumexp import logsumexp as logsumexp
from cupyx.scipy.special._polygamma import polygamma as polygamma
from cupyx.scipy.special._softmax import softmax as softmax
from cupyx.scipy.special._sph_harm import sph_harm_y as sph_harm_y
from cupyx.scipy.special._spherical_bessel import spherical_yn as spherical_yn

bdtr: ufunc
bdtrc: ufunc
bdtri: ufunc
beta: _Smooth2
betainc: ufunc
betaincinv: ufunc
betaln: _Smooth2
binom: _Smooth2
boxcox: _Smooth2
boxcox1p: _Smooth2
cbrt: _Smooth
chdtr: _Smooth2
chdtrc: _Smooth2
chdtri: _Smooth2
cosdg: _Smooth
cosm1: _Smooth
cotdg: _Smooth
digamma: _Smooth
ellipeinc: _Smooth2
ellipj: ufunc
ellipk: _Smooth
ellipkinc: _Smooth2
ellipkm1: _Smooth
entr: _Smooth
erf: _Smooth
erfc: _Smooth
erfcinv: _Smooth
erfcx: _Smooth
erfinv: _Smooth
exp1: _Smooth
exp10: _Smooth
exp2: _Smooth
expi: _Smooth
expit: _Smooth
expm1: _Smooth
expn: _Smooth2
exprel: _Smooth
fdtr: ufunc
fdtrc: ufunc
fdtri: ufunc
gamma: _Smooth
gammainc: _Smooth2
gammaincc: _Smooth2
gammainccinv: _Smooth2
gammaincinv: _Smooth2
gammaln: _Smooth
gammasgn: _Smooth
gdtr: ufunc
gdtrc: ufunc
huber: _Smooth2
i0: _Smooth
i0e: _Smooth
i1: _Smooth
i1e: _Smooth
inv_boxcox: _Smooth2
inv_boxcox1p: _Smooth2
j0: _Smooth
j1: _Smooth
k0: _Smooth
k0e: _Smooth
k1: _Smooth
k1e: _Smooth
kl_div: _Smooth2
log1p: _Smooth
log_expit: _Smooth
log_ndtr: _Smooth
loggamma: _Smooth
logit: _Smooth
lpmv: ufunc
nbdtr: ufunc
nbdtrc: ufunc
nbdtri: ufunc
ndtr: _Smooth
ndtri: _Smooth
pdtr: _Smooth2
pdtrc: _Smooth2
pdtri: _Smooth2
poch: _Smooth2
pseudo_huber: _Smooth2
psi: _Smooth
radian: ufunc
rel_entr: _Smooth2
rgamma: _Smooth
shichi: _Pair
sici: _Pair
sinc: _Smooth
sindg: _Smooth
tandg: _Smooth
wright_bessel: ufunc
xlog1py: _Smooth2
xlogy: _Smooth2
y0: _Smooth
y1: _Smooth
yn: _Smooth2
zeta: _Smooth2
zetac: _Smooth
