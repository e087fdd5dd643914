"""A seventh sample, drawn on 2026-11-23 after the sixth, and written down before any was tried.

gradwrap has no mechanism that was made for one of them. Each case is a function of one vector.
"""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import numpy as np

from .fresh import SERIES
from .functions import Sample, module, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .functions import Case

SEVENTH = Sample()
package = SEVENTH.package
STRESS = [3.0, 0.4, 0.2, 0.4, 2.0, 0.5, 0.2, 0.5, 1.0]
"""A symmetric matrix of three rows."""
POSITIVE = [abs(value) + 0.3 for value in SERIES]


@package("openskill", "ratings")
def openskill() -> Iterator[Case]:
    m = module("openskill.models")

    def numbers(teams: Any) -> Any:
        return [part for team in teams for one in team for part in (one.mu, one.sigma)]

    def rated(model: Any) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            a, b = model.rating(mu=x[0], sigma=x[1]), model.rating(mu=x[2], sigma=x[3])
            return numbers(model.rate([[a], [b, model.rating(mu=24.0, sigma=6.0)]]))

        return function

    def win(x: Any) -> Any:
        model = m.PlackettLuce()
        return model.predict_win([[model.rating(mu=x[0], sigma=x[1])], [model.rating()]])

    point = [27.0, 6.0, 22.0, 7.0]
    yield "PlackettLuce.rate", rated(m.PlackettLuce()), point
    yield "BradleyTerryFull.rate", rated(m.BradleyTerryFull()), point
    yield "ThurstoneMostellerFull.rate", rated(m.ThurstoneMostellerFull()), point
    yield "PlackettLuce.predict_win", win, point[:2]


@package("glicko2", "chess ratings")
def glicko2() -> Iterator[Case]:
    m = module("glicko2")

    def updated(x: Any) -> Any:
        player = m.Player(rating=x[0], rd=x[1], vol=0.06)
        player.update_player([1400.0, 1550.0, 1700.0], [30.0, 100.0, 300.0], [1, 0, 0])
        return [player.rating, player.rd]

    def rested(x: Any) -> Any:
        player = m.Player(rating=x[0], rd=x[1], vol=x[2])
        player.did_not_compete()
        return [player.rating, player.rd]

    def opponents(x: Any) -> Any:
        player = m.Player(rating=1500.0, rd=200.0)
        player.update_player([x[0], x[1]], [x[2], x[3]], [1, 0])
        return [player.rating, player.rd]

    yield "update_player", updated, [1500.0, 200.0]
    yield "did_not_compete", rested, [1500.0, 200.0, 0.06]
    yield "update_player by opponents", opponents, [1400.0, 1550.0, 30.0, 100.0]


@package("rcpchgrowth", "child growth")
def rcpchgrowth() -> Iterator[Case]:
    m = module("rcpchgrowth.global_functions")
    mid = module("rcpchgrowth.mid_parental_height")

    def score(x: Any) -> Any:
        return m.sds_for_measurement("uk-who", x[0], "height", x[1], "female")

    def height(x: Any) -> Any:
        return m.measurement_from_sds("uk-who", x[0], "height", "male", x[1])

    yield "sds_for_measurement", score, [7.3, 120.0]
    yield "measurement_from_sds", height, [0.7, 7.3]
    yield "centile", lambda x: m.centile(x[0]), [0.7]
    yield "mid_parental_height_z", spread(mid.mid_parental_height_z), [164.0, 178.0]


@package("decotengu", "diving")
def decotengu() -> Iterator[Case]:
    m, engine = module("decotengu.model"), module("decotengu.engine")

    def loaded(x: Any) -> Any:
        model = m.ZH_L16B_GF()
        data = model.load(x[0], x[1], engine.GasMix(0, 32, 68, 0), 0.0, model.init(1.013))
        return [part for tissue in data.tissues for part in tissue]

    def ceiling(x: Any) -> Any:
        model = m.ZH_L16C_GF()
        data = model.load(x[0], x[1], engine.GasMix(0, 21, 79, 0), 0.0, model.init(1.013))
        return model.ceiling_limit(data, x[2])

    yield "load", loaded, [4.0, 25.0]
    yield "ceiling_limit", ceiling, [4.0, 25.0, 0.3]
    yield "eq_gf_limit", spread(m.eq_gf_limit), [0.3, 2.5, 0.4, 0.7, 0.8, 0.9, 0.7]


@package("brewday", "brewing")
def brewday() -> Iterator[Case]:
    abv, sugar = module("brew.utilities.abv"), module("brew.utilities.sugar")
    hops, warm = module("brew.utilities.hops"), module("brew.utilities.temperature")
    tinseth = hops.HopsUtilizationGlennTinseth
    yield "alcohol_by_volume_alternative", spread(abv.alcohol_by_volume_alternative), [1.06, 1.01]
    yield "refractometer_adjustment", spread(sugar.refractometer_adjustment), [1.065, 1.03]
    yield "hydrometer_adjustment", spread(sugar.hydrometer_adjustment), [1.05, 70.0]
    yield "get_percent_utilization", spread(tinseth.get_percent_utilization), [1.057, 60.0]
    yield "mash_infusion", spread(warm.mash_infusion), [152.0, 110.0, 8.0, 3.0]


@package("py-ballisticcalc", "ballistics")
def ballistics() -> Iterator[Case]:
    m, helpers = module("py_ballisticcalc"), module("py_ballisticcalc.helpers")

    def air(x: Any) -> Any:
        found = m.Atmo(m.Distance.Foot(x[0]), m.Pressure.hPa(x[1]), m.Temperature.Celsius(x[2]))
        return [found.density_ratio, found.density_metric]

    def shot(x: Any) -> Any:
        model = m.DragModel(bc=float(x[0]), drag_table=m.TableG7)
        ammo = m.Ammo(dm=model, mv=m.Velocity.MPS(float(x[1])))
        found = m.Calculator().fire(m.Shot(ammo=ammo), m.Distance.Meter(300))
        return [found.records[-1].velocity.raw_value, found.records[-1].time]

    def reached(x: Any) -> Any:
        return helpers.vacuum_range(x[0], x[1])

    yield "Atmo", air, [1500.0, 950.0, 12.0]
    yield "Calculator.fire", shot, [0.22, 800.0]
    yield "vacuum_range", reached, [300.0, 20.0]
    yield "vacuum_angle_to_zero", spread(helpers.vacuum_angle_to_zero), [300.0, 700.0]


@package("mercantile", "web maps")
def mercantile() -> Iterator[Case]:
    m = module("mercantile")
    yield "xy", spread(m.xy), [-105.0, 40.0]
    yield "lnglat", spread(m.lnglat), [-1.1e7, 4.8e6]
    yield "truncated xy", lambda x: m.xy(x[0], x[1], truncate=True), [-105.0, 40.0]


@package("pynmeagps", "navigation")
def pynmeagps() -> Iterator[Case]:
    m = module("pynmeagps")
    places = [51.23, -2.41, 51.21, -2.34]
    yield "haversine", spread(m.haversine), places
    yield "bearing", spread(m.bearing), places
    yield "planar", spread(m.planar), places
    yield "ecef2llh", spread(m.ecef2llh), [3822566.3, -144427.5, 5086857.2]


@package("GeodePy", "surveying")
def geodepy() -> Iterator[Case]:
    c, g = module("geodepy.convert"), module("geodepy.geodesy")
    s, survey = module("geodepy.statistics"), module("geodepy.survey")

    def grid(x: Any) -> Any:
        return c.geo2grid(x[0], x[1])[2:]

    def ellipse(x: Any) -> Any:
        return s.error_ellipse(x.reshape(3, 3))

    def corrected(x: Any) -> Any:
        found = survey.first_vel_params(0.85, 4.871e6, 1.0002818, 10.0)
        return survey.first_vel_corrn(x[0], found, x[1], x[2], rel_humidity=60.0)

    yield "geo2grid", grid, [-37.95, 144.42]
    yield "vincinv", spread(g.vincinv), [-37.95, 144.42, -37.65, 143.93]
    yield "vincdir", spread(g.vincdir), [-37.95, 144.42, 306.87, 54972.27]
    yield "error_ellipse", ellipse, STRESS
    yield "first_vel_corrn", corrected, [1000.0, 20.0, 1010.0]


@package("beyond", "flight dynamics")
def beyond() -> Iterator[Case]:
    o, d = module("beyond.orbits"), module("beyond.dates")
    leo, matrix = module("beyond.utils.leo"), module("beyond.utils.matrix")
    day = d.Date(2020, 3, 1)
    orbit = [7.2e6, 0.01, 0.9, 0.3, 0.7, 0.4]

    def cartesian(x: Any) -> Any:
        return np.asarray(o.StateVector(x, day, "keplerian", "EME2000").copy(form="cartesian"))

    def infos(x: Any) -> Any:
        found = o.StateVector(x, day, "keplerian", "EME2000").infos
        return [found.energy, found.rp, found.va]

    yield "copy(form=cartesian)", cartesian, orbit
    yield "infos", infos, orbit
    yield "sso", lambda x: leo.sso(a=x[0], e=x[1]), [7.2e6, 0.001]
    yield "rot3", lambda x: matrix.rot3(x[0]) @ matrix.rot1(x[1]), [0.3, 0.7]


@package("pythtb", "tight binding")
def pythtb() -> Iterator[Case]:
    m = module("pythtb")

    def graphene(x: Any) -> Any:
        lattice, places = [[1.0, 0.0], [0.5, 0.75**0.5]], [[1 / 3, 1 / 3], [2 / 3, 2 / 3]]
        model = m.tb_model(2, 2, lattice, places)
        model.set_onsite([-x[0], x[0]])
        for cell in ([0, 0], [-1, 0], [0, -1]):
            model.set_hop(x[1], 0, 1, cell)
        return model

    def at(k: Any) -> Any:
        model = graphene([0.3, -1.0])
        return model.solve_one(k)

    def path(x: Any) -> Any:
        return graphene(x).solve_all([[0.1, 0.2], [0.3, 0.4]])

    yield "solve_one", lambda x: graphene(x).solve_one([0.1, 0.2]), [0.3, -1.0]
    yield "solve_all", path, [0.3, -1.0]
    yield "solve_one by k", at, [0.1, 0.2]


@package("nmrsim", "nuclear magnetic resonance")
def nmrsim() -> Iterator[Case]:
    m, d, shapes = module("nmrsim.qm"), module("nmrsim.discrete"), module("nmrsim.math")
    first = module("nmrsim.firstorder")
    axis = np.linspace(90.0, 110.0, 6)

    def system(x: Any) -> Any:
        couplings = [[0.0, x[2]], [x[2], 0.0]]
        return m.qm_spinsystem([x[0], x[1]], couplings, cache=False, sparse=False)

    def lines(x: Any) -> Any:
        return shapes.add_lorentzians(axis, [(x[0], x[1]), (x[2], x[3])], 1.5)

    yield "AB", spread(d.AB), [7.1, 12.0, 150.0]
    yield "multiplet", lambda x: first.multiplet((x[0], 1.0), [(x[1], 2), (x[2], 1)]), [100, 7, 3.1]
    yield "qm_spinsystem", system, [100.0, 112.0, 7.0]
    yield "add_lorentzians", lines, [98.0, 1.0, 103.0, 0.5]


@package("mechkit", "continuum mechanics")
def mechkit() -> Iterator[Case]:
    m = module("mechkit")

    def isotropic(x: Any) -> Any:
        found = m.material.Isotropic(E=x[0], nu=x[1])
        return [found.stiffness_mandel6, found.K]

    def orthotropic(x: Any) -> Any:
        return m.material.Orthotropic(
            E1=x[0], E2=x[1], E3=7.0, nu12=0.3, nu13=0.25, nu23=x[2], G12=3.0, G13=2.5, G23=2.0
        ).stiffness_mandel6

    def notation(x: Any) -> Any:
        return m.notation.Converter().to_mandel6(x.reshape(3, 3))

    def deviator(x: Any) -> Any:
        return m.operators.dev(x.reshape(3, 3), order=2)

    yield "Isotropic", isotropic, [200.0, 0.3]
    yield "Orthotropic", orthotropic, [12.0, 9.0, 0.2]
    yield "to_mandel6", notation, STRESS
    yield "dev", deviator, STRESS


@package("elasticipy", "elasticity")
def elasticipy() -> Iterator[Case]:
    t = module("elasticipy.tensors.elasticity").StiffnessTensor
    s = module("elasticipy.tensors.stress_strain").StressTensor

    def averaged(x: Any) -> Any:
        found = t.cubic(C11=x[0], C12=x[1], C44=x[2])
        return [found.Hill_average().C11, found.universal_anisotropy]

    def stressed(x: Any) -> Any:
        return s(x.reshape(3, 3), force_symmetry=True).vonMises()

    def strained(x: Any) -> Any:
        stiff = t.isotropic(E=x[0], nu=x[1])
        return (stiff.inv() * s(np.array(STRESS).reshape(3, 3))).matrix * 1e3

    yield "Hill_average", averaged, [186.0, 134.0, 77.0]
    yield "vonMises", stressed, STRESS
    yield "strain", strained, [210.0, 0.3]
    yield (
        "principal_stresses",
        lambda x: s(x.reshape(3, 3), force_symmetry=True).principal_stresses(),
        STRESS,
    )


@package("structuralcodes", "concrete")
def structuralcodes() -> Iterator[Case]:
    a, b = module("structuralcodes.codes.ec2_2004"), module("structuralcodes.codes.mc2010")

    def shear(x: Any) -> Any:
        return a.VRdc(
            fck=x[0], d=x[1], Asl=x[2], bw=200.0, NEd=x[3], Ac=5e4, fcd=20.0, k1=0.15, gamma_c=1.5
        )

    def crack(x: Any) -> Any:
        strain = a.eps_sm_eps_cm(x[0], 5.25, x[1], 0.6, 2.6, 200000.0)
        return a.wk(a.sr_max_close(x[2], 8.0, x[1], 0.8, 0.5), strain)

    yield "VRdc", shear, [30.0, 450.0, 600.0, 1000.0]
    yield "wk", crack, [180.0, 0.02, 25.0]
    yield "fctm, Ecm", lambda x: [a.fctm(x[0]), a.Ecm(a.fcm(x[0]))], [35.0]
    yield "Gf", lambda x: [b.Gf(x[0]), b.eps_c1(x[0])], [35.0]


@package("gearpy", "gears")
def gearpy() -> Iterator[Case]:
    u, o = module("gearpy.units"), module("gearpy.mechanical_objects")

    def torque(x: Any) -> Any:
        inertia, speed = u.InertiaMoment(x[0], "kgm^2"), u.AngularSpeed(x[1], "rpm")
        motor = o.DCMotor("motor", inertia, speed, u.Torque(x[2], "Nm"))
        motor.angular_speed = u.AngularSpeed(500.0, "rpm")
        motor.compute_torque()
        return motor.driving_torque.value

    def ratio(x: Any) -> Any:
        return (u.Torque(x[0], "kNm") / u.InertiaMoment(x[1], "kgm^2")).value

    def length(x: Any) -> Any:
        return (u.Length(x[0], "mm") + u.Length(x[1], "cm")).to("m").value

    yield "DCMotor.compute_torque", torque, [3.0, 2000.0, 5.0]
    yield "Torque / InertiaMoment", ratio, [3.0, 2.0]
    yield "Length", length, [3.0, 2.0]


@package("pygfunction", "ground heat")
def pygfunction() -> Iterator[Case]:
    pipes, heat = module("pygfunction.pipes"), module("pygfunction.heat_transfer")
    borehole = module("pygfunction.boreholes").Borehole
    fluid = [0.3, 0.013, 4e-3, 1000.0, 0.5, 4000.0]

    def source(x: Any) -> Any:
        one, two = borehole(x[0], 4.0, 0.075, 0.0, 0.0), borehole(150.0, 4.0, 0.075, x[1], 0.0)
        return heat.finite_line_source(4 * 168 * 3600.0, x[2] * 1e-6, one, two)

    def many(x: Any) -> Any:
        times, distances = np.array([1e6, 1e7, 1e8]), np.array([5.0, 7.5])
        return heat.finite_line_source_vectorized(
            times, x[0] * 1e-6, distances, x[1], 4.0, 150.0, 4.0, approximation=True
        )

    def resistances(x: Any) -> Any:
        places = [(-0.05, 0.0), (0.05, 0.0)]
        return pipes.thermal_resistances(places, 0.0211, 0.075, x[0], x[1], x[2], J=1)[1]

    def convection(x: Any) -> Any:
        return pipes.convective_heat_transfer_coefficient_circular_pipe(*x, 1e-6)

    yield "finite_line_source", source, [150.0, 5.0, 1.0]
    yield "finite_line_source_vectorized", many, [1.0, 140.0]
    yield "thermal_resistances", resistances, [2.0, 1.0, 0.12]
    yield "convective_heat_transfer_coefficient", convection, fluid


@package("waveresponse", "naval engineering")
def waveresponse() -> Iterator[Case]:
    m = module("waveresponse")
    omega = np.linspace(0.2, 2.0, 6)
    directions = np.linspace(0.0, 2 * np.pi, 5)[:-1]

    def moments(x: Any) -> Any:
        values = (1.0 + x.reshape(3, 4) ** 2) / 5.0
        found = m.WaveSpectrum(np.array([0.3, 0.7, 1.1]), directions, values, degrees=False)
        return [found.hs, found.tz, found.var()]

    def response(x: Any) -> Any:
        rao = m.RAO(np.array([0.3, 0.7, 1.1]), directions, x.reshape(3, 4) + 0.5j, degrees=False)
        sea = m.WaveSpectrum(np.array([0.3, 0.7, 1.1]), directions, np.ones((3, 4)), degrees=False)
        return m.calculate_response(rao, sea, 0.3, heading_degrees=False).std()

    yield "JONSWAP", lambda x: m.JONSWAP(omega)(x[0], x[1], gamma=x[2])[1], [3.5, 10.0, 2.0]
    yield "OchiHubble", lambda x: m.OchiHubble(omega)(x[0], x[1], q=x[2])[1], [3.5, 10.0, 2.0]
    yield "WaveSpectrum", moments, SERIES
    yield "calculate_response", response, SERIES


@package("MoorPy", "mooring lines")
def moorpy() -> Iterator[Case]:
    m = module("moorpy")

    def line(x: Any) -> Any:
        found = m.catenary(x[0], x[1], x[2], x[3] * 1e8, x[4], Tol=1e-10)
        return [*found[0:4]]

    yield "catenary", line, [800.0, 200.0, 850.0, 7.0, 1500.0]
    yield "catenary on the bed", line, [750.0, 200.0, 850.0, 7.0, 1500.0]


@package("petbox-dca", "petroleum")
def petbox() -> Iterator[Case]:
    m = module("petbox.dca")
    times = np.array([1.0, 30.0, 365.0, 3650.0])
    yield "MH", lambda x: m.MH(x[0], x[1], x[2], 0.05).rate(times), [700.0, 0.8, 1.2]
    yield "MH.cum", lambda x: m.MH(x[0], x[1], x[2], 0.05).cum(times) / 1e3, [700.0, 0.8, 1.2]
    yield "PLE", lambda x: m.PLE(*x).rate(times), [700.0, 0.1, 0.005, 0.4]
    yield (
        "THM",
        lambda x: m.THM(x[0], x[1], 2.0, x[2], x[3], 0.0, 0.0).rate(times),
        [700.0, 0.8, 0.8, 30.0],
    )


@package("electricpy", "electrical engineering")
def electricpy() -> Iterator[Case]:
    m, passive = module("electricpy"), module("electricpy.passive")
    fault, convert = module("electricpy.fault"), module("electricpy.conversions")

    def sequence(x: Any) -> Any:
        return convert.abc_to_seq(x[:3] + 1j * x[3:])

    def short(x: Any) -> Any:
        return fault.single_phase_to_ground_fault(x[0], [1j * x[1], 1j * x[2], 0.3j])

    yield "bridge_impedance", spread(m.bridge_impedance), [10.0, 20.0, 30.0, 15.0, 25.0]
    yield "abc_to_seq", sequence, SERIES[:6]
    yield "vcapdischarge", spread(passive.vcapdischarge), [0.3, 12.0, 1e3, 5e-4]
    yield "single_phase_to_ground_fault", short, [1.0, 0.2, 0.4]


@package("itur", "radio propagation")
def itur() -> Iterator[Case]:
    gas, rain = module("itur.models.itu676"), module("itur.models.itu838")
    air, index = module("itur.models.itu835"), module("itur.models.itu453")

    def attenuation(x: Any) -> Any:
        return gas.gamma_exact(x[0], x[1], x[2], x[3]).value

    def rainy(x: Any) -> Any:
        return rain.rain_specific_attenuation(x[0], x[1], x[2], 45.0).value

    def refractive(x: Any) -> Any:
        return index.wet_term_radio_refractivity(x[0], x[1]).value

    yield "gamma_exact", attenuation, [28.0, 1013.0, 7.5, 288.0]
    yield "rain_specific_attenuation", rainy, [30.0, 28.0, 20.0]
    yield "standard_pressure", lambda x: air.standard_pressure(x[0]).value, [5.0]
    yield "wet_term_radio_refractivity", refractive, [10.0, 290.0]


@package("softpotato", "electrochemistry")
def softpotato() -> Iterator[Case]:
    m = module("softpotato.analytical")
    steps = np.array([-0.1, 0.05, 0.2])
    yield "nernst", lambda x: m.nernst(x[0], x[1], E0=0.2, T=x[2]), [1e-3, 2e-3, 300.0]
    yield "butler_volmer", lambda x: m.butler_volmer(steps, x[0], alpha=x[1]), [1.5, 0.4]
    yield "levich", lambda x: m.levich(x[0], D=x[1] * 1e-5, c_bulk=1e-3) * 1e3, [100.0, 1.3]
    yield "koutecky_levich", lambda x: m.koutecky_levich(x[0], i_k=x[1]) * 1e3, [100.0, 0.01]


@package("hitran-api", "molecular spectra")
def hitran() -> Iterator[Case]:
    m = module("hapi")
    grid = np.linspace(999.0, 1001.0, 6)
    yield "PROFILE_VOIGT", lambda x: m.PROFILE_VOIGT(*x, 0.01, grid), [1000.0, 0.3, 0.2]
    yield "PROFILE_LORENTZ", lambda x: m.PROFILE_LORENTZ(*x, grid), [1000.0, 0.3, 0.02]
    yield "PROFILE_DOPPLER", lambda x: m.PROFILE_DOPPLER(*x, grid), [1000.0, 0.3]
    yield (
        "PROFILE_HT",
        lambda x: m.PROFILE_HT(*x, 0.1, 0.2, grid),
        [1000.0, 0.3, 0.2, 0.02, 0.03, 0.01],
    )


@package("fair", "climate")
def fair() -> Iterator[Case]:
    ghg, ebm = module("fair.forcing.ghg"), module("fair.energy_balance_model")
    ones, before = np.ones((1, 1, 1, 3)), np.array([277.0, 731.0, 273.0]).reshape(1, 1, 1, 3)
    efficiency = np.array([1.3e-2, 3.9e-4, 3.2e-3]).reshape(1, 1, 1, 3)

    def forced(name: str) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            return getattr(ghg, name)(
                x.reshape(1, 1, 1, 3), before, ones, efficiency, [0], [1], [2], []
            )

        return function

    def responses(x: Any) -> Any:
        model = ebm.EnergyBalanceModel(x[:3], x[3:], deep_ocean_efficacy=1.3)
        model.emergent_parameters()
        return [model.ecs, model.tcr]

    def boxes(x: Any) -> Any:
        model = ebm.EnergyBalanceModel(x[:3], x[3:], timestep=1, n_timesteps=4)
        model.add_forcing(np.array([0.5, 1.0, 1.5, 2.0]), timestep=1)
        model.run()
        return model.temperature

    point = [8.0, 100.0, 80.0, 1.3, 2.0, 0.9]
    yield "meinshausen2020", forced("meinshausen2020"), [410.0, 1870.0, 332.0]
    yield "myhre1998", forced("myhre1998"), [410.0, 1870.0, 332.0]
    yield "emergent_parameters", responses, point
    yield "run", boxes, point


@package("meteocalc", "weather")
def meteocalc() -> Iterator[Case]:
    m = module("meteocalc")

    def dew(x: Any) -> Any:
        return m.dew_point(temperature=m.Temp(x[0], "c"), humidity=x[1]).c

    def heat(x: Any) -> Any:
        return m.heat_index(temperature=m.Temp(x[0], "f"), humidity=x[1]).f

    def sum_of(x: Any) -> Any:
        return (m.Temp(x[0], "c") + m.Temp(x[1], "f")).k

    yield "dew_point", dew, [20.0, 56.0]
    yield "heat_index", heat, [95.0, 60.0]
    yield "Temp", sum_of, [20.0, 59.0]


@package("PCSE", "crops")
def pcse() -> Iterator[Case]:
    m = module("pcse.util")
    day = dt.date(2021, 6, 15)
    table = m.Afgen([0.0, 1.0, 10.0, 3.0, 25.0, 3.5])

    def monteith(x: Any) -> Any:
        return m.penman_monteith(day, 52.0, 10.0, x[0], x[1], x[2] * 1e6, x[3], x[4])

    def penman(x: Any) -> Any:
        return m.penman(day, 52.0, 10.0, x[0], x[1], x[2] * 1e6, x[3], x[4], 0.25, 0.5)

    weather = [11.0, 22.0, 18.0, 12.5, 2.5]
    yield "penman_monteith", monteith, weather
    yield "penman", penman, weather
    yield "angstrom", lambda x: m.angstrom(day, x[0], x[1], 0.25, 0.5), [52.0, 7.0]
    yield "Afgen", lambda x: table(x[0]), [12.0]


@package("prosail", "vegetation")
def prosail() -> Iterator[Case]:
    m, leaves = module("prosail"), module("prosail.FourSAIL")

    def leaf(x: Any) -> Any:
        return m.run_prospect(x[0], x[1], x[2], 0.0, x[3], x[4], prospect_version="5")[1][::300]

    def canopy(x: Any) -> Any:
        return m.run_prosail(
            1.5, x[0], 8.0, 0.0, 0.01, 0.009, x[1], -0.35, 0.01, x[2], 10.0, 0.0,
            typelidf=1, lidfb=-0.15, rsoil=1.0, psoil=1.0,
        )[::300]  # fmt: skip

    yield "run_prospect", leaf, [1.5, 40.0, 8.0, 0.01, 0.009]
    yield "run_prosail", canopy, [40.0, 3.0, 30.0]
    yield "volscatt", spread(leaves.volscatt), [30.0, 10.0, 20.0, 45.0]
    yield "verhoef_bimodal", spread(leaves.verhoef_bimodal, 18), [-0.35, -0.15]


@package("girth", "item response theory")
def girth() -> Iterator[Case]:
    m, common = module("girth"), module("girth.common")
    answers = np.array([[1, 0, 1, 1, 0], [0, 1, 1, 0, 0], [1, 1, 0, 0, 1], [0, 0, 1, 1, 0]])
    difficulty = np.array([-0.5, 0.2, 0.4, 0.9])

    def able(x: Any) -> Any:
        return m.ability_eap(answers, x[:4], x[4:])

    def likely(x: Any) -> Any:
        return m.ability_mle(answers, x, 1.2)

    yield "ability_eap", able, [*difficulty, 1.1, 0.8, 1.3, 0.9]
    yield "ability_mle", likely, [float(value) for value in difficulty]
    yield "cronbach_alpha", lambda x: common.cronbach_alpha(x.reshape(3, 4)), POSITIVE


@package("actuarialmath", "life insurance")
def actuarial() -> Iterator[Case]:
    laws, force = module("actuarialmath.mortalitylaws"), module("actuarialmath.constantforce")
    rate = module("actuarialmath.interest").Interest

    def annuity(x: Any) -> Any:
        return rate(i=x[0]).annuity(t=10)

    def makeham(x: Any) -> Any:
        return laws.Makeham(A=x[0] * 1e-4, B=x[1] * 1e-6, c=x[2]).p_x(50, t=5)

    def constant(x: Any) -> Any:
        life = force.ConstantForce(mu=x[0])
        return life.set_interest(delta=x[1]).whole_life_insurance(50, discrete=False)

    yield "annuity", annuity, [0.05]
    yield "Makeham", makeham, [2.2, 2.7, 1.124]
    yield "ConstantForce", constant, [0.02, 0.05]


@package("pysabr", "interest rates")
def pysabr() -> Iterator[Case]:
    m, n = module("pysabr.models.hagan_2002_lognormal_sabr"), module("pysabr")
    black = module("pysabr.black")

    def normal(x: Any) -> Any:
        return n.Hagan2002NormalSABR(f=x[0], v_atm_n=x[1], rho=-0.2, volvol=0.3).normal_vol(0.02)

    point = [0.02, 0.025, 1.0, 0.03, 0.5, -0.2, 0.3]
    yield "lognormal_vol", spread(m.lognormal_vol), point
    yield "alpha", lambda x: m.alpha(x[0], x[1], 1.0, *x[2:]), [0.2, 0.025, 0.5, -0.2, 0.3]
    yield "normal_call", spread(black.normal_call), [0.02, 0.025, 1.0, 0.0075, 0.01]
    yield "Hagan2002NormalSABR", normal, [0.025, 0.0075]


@package("synergy", "drug combinations")
def synergy() -> Iterator[Case]:
    single, m = module("synergy.single"), module("synergy.combination")
    doses = np.array([0.1, 0.7, 3.0])

    def hill(x: Any) -> Any:
        return single.Hill(E0=x[0], Emax=x[1], h=x[2], C=x[3]).E(doses)

    def combined(x: Any) -> Any:
        model = m.MuSyC(
            E0=1.0, E1=x[0], E2=x[1], E3=0.1, h1=x[2], h2=1.2, C1=x[3], C2=1.5,
            alpha12=2.0, alpha21=1.0, gamma12=1.0, gamma21=1.0,
        )  # fmt: skip
        return model.E(doses, doses[::-1])

    def inverted(x: Any) -> Any:
        return single.Hill(E0=1.0, Emax=0.0, h=x[0], C=x[1]).E_inv(np.array([0.3, 0.6]))

    yield "Hill.E", hill, [1.0, 0.1, 1.5, 0.6]
    yield "Hill.E_inv", inverted, [1.5, 0.6]
    yield "MuSyC.E", combined, [0.4, 0.3, 1.5, 0.6]


@package("EoN", "epidemics on networks")
def eon() -> Iterator[Case]:
    m = module("EoN")

    def mean(x: Any) -> Any:
        return m.SIR_homogeneous_meanfield(97.0, 3.0, 0.0, 4.0, x[0], x[1], tmax=5, tcount=6)[1:]

    def pairs(x: Any) -> Any:
        return m.SIS_homogeneous_pairwise(
            97.0, 3.0, 11.0, 370.0, 4.0, x[0], x[1], tmax=5, tcount=6
        )[1:]

    def sizes(x: Any) -> Any:
        return m.Attack_rate_discrete({1: x[0], 2: x[1], 3: 1.0 - x[0] - x[1]}, 0.6)

    yield "SIR_homogeneous_meanfield", mean, [0.2, 0.5]
    yield "SIS_homogeneous_pairwise", pairs, [0.2, 0.5]
    yield "Attack_rate_discrete", sizes, [0.3, 0.3]


@package("circadian", "chronobiology")
def circadian() -> Iterator[Case]:
    m = module("circadian.models")
    times = np.linspace(0.0, 3.0, 7)

    def slope(x: Any) -> Any:
        return m.Hannay19().derv(0.0, x, np.array([200.0]))

    def integrated(name: str, start: list[float]) -> Callable[[Any], Any]:
        def function(x: Any) -> Any:
            model = getattr(m, name)()
            return model.integrate(times, np.array(start), x[0] * np.ones(7)).states

        return function

    def parameters(x: Any) -> Any:
        model = m.Forger99()
        model.parameters = {**model.parameters, "taux": x[0], "mu": x[1]}
        return model.derv(0.0, np.array([-0.08, -1.0, 0.5]), np.array([200.0]))

    yield "Hannay19.derv", slope, [0.8, 1.2, 0.3]
    yield "Forger99.integrate", integrated("Forger99", [-0.08, -1.0, 0.5]), [200.0]
    yield "Jewett99.integrate", integrated("Jewett99", [-0.1, -1.1, 0.5]), [200.0]
    yield "Forger99 by parameters", parameters, [24.2, 0.23]


@package("sfs", "sound fields")
def sfs() -> Iterator[Case]:
    m, u = module("sfs.fd.source"), module("sfs.util")
    grid = u.xyz_grid([-1.0, 1.0], [0.5, 1.5], 0.0, spacing=1.0)

    def dipole(x: Any) -> Any:
        return m.point_dipole(x[3], x[:3], [0.0, 1.0, 0.0], grid)

    point = [0.1, 0.2, 0.7, 600.0]
    yield "point", lambda x: m.point(x[3], x[:3], grid), point
    yield "point_dipole", dipole, point
    yield "plane", lambda x: m.plane(x[3], [0.0, 0.0, 0.0], x[:3], grid), point
    yield "line", lambda x: m.line(x[2], x[:2], grid), [0.1, 0.2, 600.0]


@package("scoringrules", "forecast scores")
def scoringrules() -> Iterator[Case]:
    m = module("scoringrules")
    seen = np.array([2.3, 3.1, 2.9])

    def energy(x: Any) -> Any:
        return m.es_ensemble(seen[:2], x.reshape(6, 2))

    yield "crps_ensemble", lambda x: m.crps_ensemble(seen, x.reshape(3, 4)), SERIES
    yield "crps_gamma", lambda x: m.crps_gamma(seen, x[0], x[1]), [2.5, 0.7]
    yield "crps_gev", lambda x: m.crps_gev(seen, x[0], x[1], x[2]), [0.2, 2.0, 0.7]
    yield "es_ensemble", energy, SERIES
    yield "logs_normal", lambda x: m.logs_normal(seen, x[0], x[1]), [2.5, 0.7]


@package("delicatessen", "M-estimation")
def delicatessen() -> Iterator[Case]:
    m, e = module("delicatessen"), module("delicatessen.estimating_equations")
    design = np.array([[1.0, 0.2], [1.0, 0.7], [1.0, 1.1], [1.0, 1.9]])

    def regression(x: Any) -> Any:
        return e.ee_regression(x, design, np.array([0.3, 0.9, 1.4, 2.2]), model="linear")

    def logistic(x: Any) -> Any:
        return e.ee_regression(x, design, np.array([0.0, 0.0, 1.0, 1.0]), model="logistic")

    def estimated(x: Any) -> Any:
        def moments(theta: Any) -> Any:
            return e.ee_mean_variance(theta, x)

        found = m.MEstimator(moments, init=[0.5, 0.5])
        found.estimate(solver="lm")
        return found.theta

    yield "ee_regression", regression, [0.3, 0.8]
    yield "ee_regression, logistic", logistic, [0.3, 0.8]
    yield "ee_mean_robust", lambda x: e.ee_mean_robust(x, np.array(POSITIVE), k=2.0), [0.6]
    yield "MEstimator", estimated, POSITIVE


@package("pwlf", "piecewise lines")
def pwlf() -> Iterator[Case]:
    m = module("pwlf").PiecewiseLinFit
    at = np.linspace(0.0, 11.0, 12)

    def fitted(x: Any) -> Any:
        found = m(at, x)
        found.fit_with_breaks([0.0, 4.0, 11.0])
        return found.predict(np.array([1.5, 7.2]))

    def error(x: Any) -> Any:
        found = m(at, x)
        found.fit_with_breaks([0.0, 4.0, 11.0])
        return found.r_squared()

    yield "predict", fitted, SERIES
    yield "r_squared", error, SERIES
    yield "fit_with_breaks", lambda x: m(at, np.array(SERIES)).fit_with_breaks(x), [0.0, 4.3, 11.0]


@package("baryrat", "rational interpolation")
def baryrat() -> Iterator[Case]:
    m = module("baryrat")
    nodes = np.array([0.0, 0.5, 1.1, 1.9, 2.4])
    at = np.array([0.3, 1.5, 2.2])
    yield "floater_hormann", lambda x: m.floater_hormann(nodes, x, 2)(at), SERIES[:5]
    yield "interpolate_rat", lambda x: m.interpolate_rat(nodes, x)(at), SERIES[:5]
    yield "eval_deriv", lambda x: m.interpolate_poly(nodes, x).eval_deriv(at), SERIES[:5]
    yield "interpolate_poly by x", m.interpolate_poly(nodes, np.array(SERIES[:5])), [0.3, 1.5]


@package("pyhank", "Hankel transforms")
def pyhank() -> Iterator[Case]:
    m = module("pyhank")

    def transform(x: Any) -> Any:
        return m.HankelTransform(order=0, max_radius=3.0, n_points=12).qdht(x)

    def inverse(x: Any) -> Any:
        return m.HankelTransform(order=1, max_radius=3.0, n_points=12).iqdht(x)

    def shot(x: Any) -> Any:
        return m.qdht(np.linspace(0.0, 3.0, 12), x)[1]

    yield "HankelTransform.qdht", transform, SERIES
    yield "HankelTransform.iqdht", inverse, SERIES
    yield "qdht", shot, SERIES


@package("nfft", "Fourier transforms")
def nfft() -> Iterator[Case]:
    m = module("nfft")
    places = np.array([-0.4, -0.1, 0.05, 0.2, 0.33])
    waves = np.array(SERIES)
    yield "ndft", lambda x: m.ndft(x, waves), [-0.4, -0.1, 0.05, 0.2]
    yield "nfft", lambda x: m.nfft(places, x), SERIES
    yield "nfft_adjoint", lambda x: m.nfft_adjoint(places, x, 8), SERIES[:5]
    yield "nfft, exact", lambda x: m.nfft(x, waves, use_fft=False, truncated=False), [-0.4, -0.1]


@package("DendroPy", "phylogenetics")
def dendropy() -> Iterator[Case]:
    s, p = module("dendropy.calculate.statistics"), module("dendropy.calculate.probability")
    tree = module("dendropy").Tree

    def lengths(x: Any) -> Any:
        found = tree.get(data="((A:1,B:1):1,(C:1,D:1):1);", schema="newick")
        for value, edge in zip(x, found.postorder_edge_iter(), strict=False):
            edge.length = value
        return [found.length(), found.max_distance_from_root()]

    yield "mean_and_sample_variance", s.mean_and_sample_variance, POSITIVE
    yield "median", lambda x: s.median(list(x)), POSITIVE
    yield "exp_pdf", spread(p.exp_pdf), [0.7, 1.3]
    yield "Tree.length", lengths, POSITIVE[:6]


@package("crystals", "crystallography")
def crystals() -> Iterator[Case]:
    m = module("crystals").Lattice
    affine = module("crystals.affine")
    cell = [4.0, 5.0, 6.0, 80.0, 95.0, 105.0]
    yield "volume", lambda x: m.from_parameters(*x).volume, cell
    yield "reciprocal_vectors", lambda x: m.from_parameters(*x).reciprocal_vectors, cell
    yield "lattice_parameters", lambda x: m(x.reshape(3, 3)).lattice_parameters, STRESS
    yield "rotation_matrix", lambda x: affine.rotation_matrix(x[0], x[1:]), [0.3, 0.1, 0.5, 0.7]


@package("xraydb", "X-rays")
def xraydb() -> Iterator[Case]:
    m = module("xraydb")

    def mirror(x: Any) -> Any:
        return m.mirror_reflectivity("Si", x * 1e-3, 12000.0, density=2.33)

    def width(x: Any) -> Any:
        return m.darwin_width(x[0], "Si", (1, 1, 1)).theta_offset * 1e6

    yield "f0", lambda x: m.f0("Fe", x), [0.1, 0.4, 0.9]
    yield "mu_elam", lambda x: m.mu_elam("Cu", x), [9100.0, 12000.0]
    yield "mirror_reflectivity", mirror, [1.5, 2.5, 3.5]
    yield "darwin_width", width, [9100.0]


@package("FreeGS", "fusion")
def freegs() -> Iterator[Case]:
    m, coils = module("freegs.gradshafranov"), module("freegs.coil")
    point = [1.0, 0.2, 1.5, 0.7]

    def coil(x: Any) -> Any:
        found = coils.Coil(x[0], x[1], current=x[2])
        return [found.psi(1.5, 0.7), found.Br(1.5, 0.7), found.Bz(1.5, 0.7)]

    yield "Greens", spread(m.Greens), point
    yield "GreensBr", spread(m.GreensBr), point
    yield "Coil", coil, [1.0, 0.2, 1.3]
