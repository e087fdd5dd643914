"""The public names of SciPy without a row, grouped by the reason.

A test compares these names and the rows with the installed SciPy. It fails for a public name that
is neither listed here nor in a row.
"""

NAMES: dict[str, dict[str, str]] = {
    "linalg": {
        "errors and warnings": "LinAlgError LinAlgWarning",
        "modules": (
            "basic blas cython_blas cython_lapack decomp decomp_cholesky decomp_lu "
            "decomp_qr decomp_schur decomp_svd lapack matfuncs misc special_matrices"
        ),
        "no rule: tried by its array-API path, then by its own source": (
            "dft find_best_blas_type get_blas_funcs get_lapack_funcs hadamard helmert "
            "hilbert invhilbert invpascal pascal qr_delete qr_insert qr_update "
            "solve_lyapunov"
        ),
    },
    "special": {
        "ufuncs": (
            "agm airy airye bdtr bdtrc bdtri bdtrik bdtrin bei beip ber berp besselpoly beta "
            "betainc betaincc betainccinv betaincinv betaln binom boxcox boxcox1p btdtria btdtrib "
            "cbrt chdtr chdtrc chdtri chdtriv chndtr chndtridf chndtrinc chndtrix cosdg cosm1 "
            "cotdg dawsn digamma ellipe ellipeinc ellipj ellipk ellipkinc ellipkm1 elliprc "
            "elliprd elliprf elliprg elliprj entr erf erfc erfcinv erfcx erfi erfinv eval_chebyc "
            "eval_chebys eval_chebyt eval_chebyu eval_gegenbauer eval_genlaguerre eval_hermite "
            "eval_hermitenorm eval_jacobi eval_laguerre eval_legendre eval_sh_chebyt "
            "eval_sh_chebyu eval_sh_jacobi eval_sh_legendre exp1 exp10 exp2 expi expit expm1 expn "
            "exprel fdtr fdtrc fdtri fdtridfd fresnel gamma gammainc gammaincc gammainccinv "
            "gammaincinv gammaln gammasgn gdtr gdtrc gdtria gdtrib gdtrix hankel1 hankel1e "
            "hankel2 hankel2e huber hyp0f1 hyp1f1 hyp2f1 hyperu i0 i0e i1 i1e inv_boxcox "
            "inv_boxcox1p it2i0k0 it2j0y0 it2struve0 itairy iti0k0 itj0y0 itmodstruve0 itstruve0 "
            "iv ive j0 j1 jn jv jve k0 k0e k1 k1e kei keip kelvin ker kerp kl_div kn kolmogi "
            "kolmogorov kv kve log1p log_expit log_ndtr log_wright_bessel loggamma logit lpmv "
            "mathieu_a mathieu_b mathieu_cem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 "
            "mathieu_modsem2 mathieu_sem modfresnelm modfresnelp modstruve nbdtr nbdtrc nbdtri "
            "nbdtrik nbdtrin ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf "
            "nctdtrinc nctdtrit ndtr ndtri ndtri_exp nrdtrimn nrdtrisd obl_ang1 obl_ang1_cv "
            "obl_cv obl_rad1 obl_rad1_cv obl_rad2 obl_rad2_cv owens_t pbdv pbvv pbwa pdtr pdtrc "
            "pdtri pdtrik poch powm1 pro_ang1 pro_ang1_cv pro_cv pro_rad1 pro_rad1_cv pro_rad2 "
            "pro_rad2_cv pseudo_huber psi radian rel_entr rgamma round shichi sici sindg smirnov "
            "smirnovi spence stdtr stdtridf stdtrit struve tandg tklmbda voigt_profile wofz "
            "wright_bessel wrightomega xlog1py xlogy y0 y1 yn yv yve zetac"
        ),
        "no rule: tried by its array-API path, then by its own source": (
            "ai_zeros assoc_laguerre bei_zeros beip_zeros ber_zeros bernoulli berp_zeros "
            "bi_zeros c_roots cg_roots chebyc chebys chebyt chebyu ellip_harm ellip_harm_2 "
            "ellip_normal erf_zeros euler fresnel_zeros fresnelc_zeros fresnels_zeros "
            "gegenbauer genlaguerre geterr h1vp h2vp h_roots he_roots hermite hermitenorm "
            "ivp j_roots jacobi jn_zeros jnjnp_zeros jnp_zeros jnyn_zeros js_roots jvp "
            "kei_zeros keip_zeros kelvin_zeros ker_zeros kerp_zeros kvp l_roots la_roots "
            "laguerre lambertw legendre lmbda lqmn lqn mathieu_even_coef mathieu_odd_coef "
            "obl_cv_seq p_roots pbdn_seq pbdv_seq pbvv_seq pro_cv_seq ps_roots riccati_jn "
            "riccati_yn roots_chebyc roots_chebys roots_chebyt roots_chebyu "
            "roots_gegenbauer roots_genlaguerre roots_hermite roots_hermitenorm "
            "roots_jacobi roots_laguerre roots_legendre roots_sh_chebyt roots_sh_chebyu "
            "roots_sh_jacobi roots_sh_legendre s_roots seterr sh_chebyt sh_chebyu sh_jacobi "
            "sh_legendre softplus stirling2 t_roots ts_roots u_roots us_roots y0_zeros "
            "y1_zeros y1p_zeros yn_zeros ynp_zeros yvp zeta"
        ),
        "classes of plain data": "errstate",
        "functions of NumPy": "sinc",
        "objects of plain data": (
            "assoc_legendre_p_all legendre_p_all sph_harm_y_all sph_legendre_p sph_legendre_p_all"
        ),
        "errors and warnings": ("SpecialFunctionError SpecialFunctionWarning"),
    },
    "stats": {
        "classes of plain data": (
            "Binomial BootstrapMethod CensoredData Covariance Logistic Mixture "
            "MonteCarloMethod Normal PermutationMethod Uniform"
        ),
        "errors and warnings": (
            "ConstantInputWarning DegenerateDataWarning FitError NearConstantInputWarning"
        ),
        "no rule: tried by its array-API path, then by its own source": (
            "abs anderson anderson_ksamp barnard_exact bayes_mvs binomtest bootstrap "
            "boschloo_exact boxcox_normmax boxcox_normplot chi2_contingency cramervonmises cumfreq "
            "directional_stats dunnett ecdf estimated_cdf exp expectile fisher_exact fit "
            "goodness_of_fit ks_1samp kstest log logrank make_distribution mode monte_carlo_test "
            "multiscale_graphcorr mvsdist obrientransform order_statistic permutation_test "
            "pmean poisson_means_test power ppcc_max ppcc_plot probplot quantile_test "
            "relfreq shapiro siegelslopes sigmaclip sobol_indices spearmanrho theilslopes "
            "trim1 trimboth truncate tukey_hsd wasserstein_distance_nd yeojohnson_normmax "
            "yeojohnson_normplot"
        ),
        "modules": (
            "biasedurn contingency distributions kde morestats mstats mstats_basic "
            "mstats_extras mvn qmc stats"
        ),
        "objects of plain data": (
            "matrix_t multivariate_hypergeom normal_inverse_gamma "
            "ortho_group random_correlation random_table special_ortho_group "
            "uniform_direction unitary_group"
        ),
    },
    "signal": {
        "errors and warnings": "BadCoefficients",
        "classes of plain data": (
            "CZT StateSpace TransferFunction ZerosPolesGain ZoomFFT dlti lti"
        ),
        "no rule: tried by its array-API path, then by its own source": (
            "abcd_normalize band_stop_obj besselap bode buttap buttord "
            "cheb1ap cheb1ord cheb2ap cheb2ord closest_STFT_dual_window "
            "cont2discrete cspline2d czt_points dbode dfreqresp dimpulse dlsim dstep "
            "ellipap ellipord findfreqs firls firwin2 firwin_2d freqresp gammatone "
            "get_window iircomb iirdesign invres invresz "
            "kaiser_atten kaiser_beta kaiserord place_poles qspline2d "
            "remez residue residuez savgol_coeffs spline_filter square ss2zpk "
            "symiirorder1 symiirorder2 unique_roots unit_impulse whittaker_henderson zpk2ss"
        ),
        "modules": "windows",
    },
    "fft": {
        "no rule: tried by its array-API path, then by its own source": (
            "get_workers register_backend set_backend set_global_backend set_workers skip_backend"
        ),
    },
    "fftpack": {
        "no rule: tried by its array-API path, then by its own source": (
            "diff tilbert itilbert hilbert ihilbert sc_diff cs_diff cc_diff ss_diff shift fftfreq "
            "rfftfreq fftshift ifftshift next_fast_len"
        ),
    },
    "integrate": {
        "classes of plain data": ("DenseOutput OdeSolution OdeSolver complex_ode"),
        "errors and warnings": "IntegrationWarning ODEintWarning",
        "modules": "dop lsoda odepack quadpack vode",
    },
    "interpolate": {
        "classes of plain data": (
            "BivariateSpline LSQBivariateSpline "
            "LSQSphereBivariateSpline NdPPoly RectSphereBivariateSpline "
            "SmoothBivariateSpline SmoothSphereBivariateSpline interp2d"
        ),
        "modules": ("fitpack fitpack2 interpnd interpolate ndgriddata polyint rbf"),
    },
    "optimize": {
        "classes of plain data": (
            "BFGS Bounds BroydenFirst HessianUpdateStrategy InverseJacobian KrylovJacobian "
            "LbfgsInvHessProduct LinearConstraint NonlinearConstraint OptimizeResult "
            "RootResults SR1"
        ),
        "errors and warnings": "NoConvergence OptimizeWarning",
        "modules": (
            "cobyla lbfgsb linesearch minpack minpack2 moduleTNC nonlin optimize slsqp tnc zeros"
        ),
        "no rule: tried by its array-API path, then by its own source": (
            "linprog_verbose_callback show_options"
        ),
    },
    "spatial": {
        "errors and warnings": "QhullError",
        "classes of plain data": "Rectangle",
        "modules": "ckdtree distance kdtree qhull transform",
        "no rule: tried by its array-API path, then by its own source": (
            "convex_hull_plot_2d delaunay_plot_2d voronoi_plot_2d"
        ),
    },
    "sparse": {
        "errors and warnings": "SparseEfficiencyWarning SparseWarning",
        "modules": (
            "base bsr compressed construct coo csc csgraph csr data dia dok extract lil "
            "linalg sparsetools sputils"
        ),
        "no rule: tried by its array-API path, then by its own source": (
            "get_index_dtype load_npz matrix_transpose safely_cast_index_arrays save_npz"
        ),
        "classes of plain data": ("sparray spmatrix"),
    },
    "cluster": {
        "modules": "hierarchy vq",
    },
    "constants": {
        "numbers": (
            "Avogadro Boltzmann Btu Btu_IT Btu_th G Julian_year N_A Planck R Rydberg "
            "Stefan_Boltzmann Wien acre alpha angstrom arcmin arcminute arcsec arcsecond "
            "astronomical_unit atm atmosphere atomic_mass atto au bar barrel bbl blob c "
            "calorie calorie_IT calorie_th carat centi day deci degree degree_Fahrenheit "
            "deka dyn dyne e eV electron_mass electron_volt elementary_charge epsilon_0 erg "
            "exa exbi femto fermi fine_structure fluid_ounce fluid_ounce_US fluid_ounce_imp "
            "foot g gallon gallon_US gallon_imp gas_constant gibi giga golden golden_ratio "
            "grain gram gravitational_constant h hbar hectare hecto horsepower hour hp inch "
            "k kgf kibi kilo kilogram_force kmh knot lb lbf light_year liter litre long_ton "
            "m_e m_n m_p m_u mach mebi mega metric_ton micro micron mil mile milli minute "
            "mmHg mph mu_0 nano nautical_mile neutron_mass ounce oz parsec pebi peta "
            "physical_constants pi pico point pound pound_force proton_mass psi pt quecto "
            "quetta ronna ronto short_ton sigma slinch slug speed_of_light speed_of_sound "
            "stone survey_foot survey_mile tebi tera ton_TNT torr troy_ounce troy_pound u "
            "week yard year yobi yocto yotta zebi zepto zero_Celsius zetta"
        ),
        "errors and warnings": "ConstantWarning",
        "modules": "codata constants",
        "no rule: tried by its array-API path, then by its own source": "find precision unit value",
    },
    "sparse.linalg": {
        "errors and warnings": ("ArpackError ArpackNoConvergence MatrixRankWarning"),
        "classes of plain data": "LaplacianNd LinearOperator SuperLU",
        "no rule: tried by its array-API path, then by its own source": (
            "eigs funm_multiply_krylov "
            "is_sptriangular lobpcg matrix_power onenormest "
            "spbandwidth spilu use_solver"
        ),
        "modules": "dsolve eigen interface isolve matfuncs",
    },
    "sparse.csgraph": {
        "no rule: tried by its array-API path, then by its own source": (
            "construct_dist_matrix csgraph_from_dense csgraph_from_masked "
            "csgraph_masked_from_dense csgraph_to_dense csgraph_to_masked "
            "maximum_flow reconstruct_path yen"
        ),
        "errors and warnings": "NegativeCycleError",
    },
    "cluster.hierarchy": {
        "classes of plain data": "ClusterNode DisjointSet",
        "errors and warnings": "ClusterWarning",
        "no rule: tried by its array-API path, then by its own source": (
            "dendrogram from_mlab_linkage set_link_color_palette to_mlab_linkage"
        ),
    },
    "signal.windows": {
        "no rule: tried by its array-API path, then by its own source": (
            "barthann bartlett blackman blackmanharris bohman boxcar chebwin cosine dpss "
            "exponential flattop gaussian general_cosine general_gaussian "
            "get_window hamming hann kaiser_bessel_derived lanczos nuttall parzen "
            "taylor triang"
        ),
    },
    "stats.qmc": {
        "no rule: tried by its array-API path, then by its own source": (
            "discrepancy geometric_discrepancy scale update_discrepancy"
        ),
        "classes of plain data": (
            "Halton LatinHypercube MultinomialQMC MultivariateNormalQMC PoissonDisk QMCEngine Sobol"
        ),
    },
}
