"""The AR(P) process: closed forms, printed numbers, random stationary processes."""

import numpy as np
import pytest

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.process import (
    LARGEST,
    partial_from_coefficients,
    psi_weights,
)

# A few roundings of float64 in sums of up to ten terms of order one.
ROUNDING = 1e-12


def random_partials(count: int = 20) -> list[tuple[float, ...]]:
    """Partial autocorrelations of random stationary processes of order 1 to 6."""
    random = np.random.RandomState(0)
    return [
        tuple(random.uniform(-0.95, 0.95, size=random.randint(1, 7)).tolist()) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("seed", "phi", "fitted", "true"),
    [
        (0, 0.8119, 0.9767, 0.9771),
        (1, 0.7815, 0.9640, 0.9648),
        (2, 0.7832, 1.0113, 1.0120),
    ],
)
def test_simulate_reproduces_printed_ar1_experiment(seed, phi, fitted, true):
    """Section 2.5 of the map of the texts: phi-hat, MSE of the fit and of the true phi."""
    x = ar.simulate((0.8,), sigma=1.0, n=1000, burn_in=0, seed=seed).values
    past, now = x[:-1], x[1:]
    estimate = past @ now / (past @ past)
    assert round(float(estimate), 4) == phi
    assert round(float(np.mean((now - estimate * past) ** 2)), 4) == fitted
    assert round(float(np.mean((now - 0.8 * past) ** 2)), 4) == true


@pytest.mark.parametrize("partial", random_partials())
def test_process_forms_are_consistent(partial):
    """Partial autocorrelations, coefficients, roots and variance of one process agree."""
    phi = ar.coefficients_from_partial(partial)
    assert ar.is_stationary(phi)
    z = ar.roots(phi)
    assert ar.largest_root(phi) == np.abs(z).max() == np.abs(z[0]) < 1.0
    # Roots are eigenvalues of a 6 x 6 companion matrix: a nearly double root loses half the digits.
    np.testing.assert_allclose(np.poly(z), np.concatenate(([1.0], -np.array(phi))), atol=1e-8)
    # The step-down divides by 1 - r^2 >= 0.0975 up to five times: 1 / 0.0975^5 = 1e5 roundings.
    assert partial_from_coefficients(phi) == pytest.approx(partial, abs=1e-9)
    # Yule-Walker: gamma_0 = sum_i phi_i gamma_i + sigma^2, relative to gamma_0, which multiplies
    # the rounding of the right-hand side.
    gamma = ar.stationary_variance(phi, 1.5) * ar.theoretical_acf(phi, len(phi))
    assert gamma[0] == pytest.approx(np.dot(phi, gamma[1:]) + 1.5**2, rel=1e-10)


def test_process_matches_closed_forms_of_low_orders():
    """phi_2 = r_2 and phi_1 = r_1 (1 - r_2); the variances of AR(0), AR(1) and AR(2); means."""
    assert ar.coefficients_from_partial((0.5, -0.4)) == pytest.approx((0.7, -0.4), abs=ROUNDING)
    assert ar.coefficients_from_partial(()) == ()
    assert ar.stationary_variance((), 3.0) == 9.0
    assert ar.stationary_variance((0.8,), 2.0) == pytest.approx(4.0 / 0.36, rel=ROUNDING)
    item, two = 0.5, -0.3
    expected = (1 - two) / ((1 + two) * ((1 - two) ** 2 - item**2))
    assert ar.stationary_variance((item, two)) == pytest.approx(expected, rel=ROUNDING)
    assert (ar.long_run_mean((0.5, 0.25), 2.0), ar.long_run_mean((0.5,))) == (8.0, 0.0)
    assert np.isnan(ar.long_run_mean((1.0,), 2.0))
    just_below = (
        1.4460860450217443, -0.09104632143669444, -0.3981116531092428, 0.04332403969536817,
        -0.00025211017117525994,
    )  # fmt: skip
    assert ar.is_stationary(just_below)
    assert sum(just_below) == 1.0
    assert np.isnan(ar.long_run_mean(just_below, 2.0))
    # roots keep their number when the last coefficient is zero
    np.testing.assert_allclose(ar.roots((0.5, 0.0, 0.0)), [0.5, 0.0, 0.0], atol=ROUNDING)
    assert ar.roots(()).shape == (0,)


@pytest.mark.parametrize("phi", [(1.0,), (-1.0,), (1.2,), (0.5, 0.5), (0.0, 1.0), (2.0, -1.0)])
def test_is_stationary_rejects_unit_root_and_explosive_processes(phi):
    assert not ar.is_stationary(phi)
    with pytest.raises(ValueError, match="not those of a stationary process"):
        ar.stationary_variance(phi)


def test_psi_weights_match_powers_and_stationary_variance():
    for phi in (0.8, 1.2):
        np.testing.assert_allclose(psi_weights((phi,), 30), phi ** np.arange(30), rtol=ROUNDING)
    np.testing.assert_array_equal(psi_weights((), 3), [1.0, 0.0, 0.0])
    phi = ar.coefficients_from_partial((0.6, -0.5, 0.3))
    # 0.82 is the largest root: 0.82^(2 * 400) is far below rounding.
    weights = psi_weights(phi, 400)
    assert weights @ weights == pytest.approx(ar.stationary_variance(phi), rel=1e-10)


@pytest.mark.parametrize("phi", [(), (0.8,), (0.5, -0.3), (0.2, 0.1, -0.4, 0.3, 0.1)])
def test_simulate_follows_ar_recursion(phi):
    path = ar.simulate(phi, sigma=2.0, n=300, seed=3)
    assert path.values[0] == path.innovations[0] == 0.0
    for time in range(1, 300):
        past = [path.values[time - lag] if time >= lag else 0.0 for lag in range(1, len(phi) + 1)]
        # The two sums run in opposite order: roundings of values below 20.
        expected = np.dot(phi, past) + path.innovations[time]
        assert path.values[time] == pytest.approx(expected, abs=1e-13)


def test_simulate_burn_in_drops_head_of_same_path():
    long = ar.simulate((0.5, 0.2), n=150, seed=7)
    short = ar.simulate((0.5, 0.2), n=100, burn_in=50, seed=7)
    np.testing.assert_array_equal(short.values, long.values[50:])
    np.testing.assert_array_equal(short.innovations, long.innovations[50:])
    assert not np.array_equal(long.values, ar.simulate((0.5, 0.2), n=150, seed=8).values)
    with pytest.raises(ValueError, match="read-only"):
        short.values[0] = 1.0


@pytest.mark.parametrize(
    ("noise", "lightest", "heaviest"),
    # Kurtosis 3, 4.5 (8 degrees of freedom: 3 + 6/4) and 6. The eighth moments of the last two are
    # large or infinite: of them only the order is claimed.
    [("gaussian", 2.94, 3.06), ("student_t", 3.5, 5.5), ("laplace", 5.5, 6.6)],
)
def test_simulate_noise_has_requested_sigma_and_kurtosis(noise, lightest, heaviest):
    samples = ar.simulate((), sigma=3.0, n=200_001, seed=4, noise=noise, df=8.0).innovations[1:]
    # Standard error of the mean: 3 / sqrt(2e5) = 0.0067. Of the standard deviation, relative:
    # sqrt((kurtosis - 1) / 8e5) <= sqrt(5 / 8e5) = 0.0025. Four of each.
    assert abs(samples.mean()) < 0.027
    assert samples.std() == pytest.approx(3.0, rel=0.01)
    assert lightest < np.mean(samples**4) / np.mean(samples**2) ** 2 < heaviest


def test_simulate_truncates_explosive_path_before_overflow():
    path = ar.simulate((1.2,), n=5000, seed=1)
    assert 100 < path.values.size == path.innovations.size < 300  # 1.2^t = 1e12 at t = 152
    assert np.abs(path.values).max() < LARGEST
    assert abs(1.2 * path.values[-1]) > 0.9 * LARGEST
    assert ar.simulate((0.9,), n=5000, seed=1).values.size == 5000


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"sigma": 0.0}, "must be positive"),
        ({"n": 0}, "at least one value"),
        ({"burn_in": -1}, "at least one value"),
        ({"noise": "student_t", "df": 2.0}, "finite variance"),
        ({"coefficients": (float("nan"),)}, "finite number"),
        ({"coefficients": (1.2,), "burn_in": 5000}, "burn-in of 0"),
    ],
)
def test_simulate_rejects_bad_arguments(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        ar.simulate(**{"coefficients": (0.5,), "n": 100, **arguments})
    with pytest.raises(ValueError, match="between -1 and 1"):
        ar.coefficients_from_partial((0.5, 1.0))


@pytest.mark.parametrize(
    ("phi", "root", "steps"),
    [((0.8,), 0.8, 14), ((-0.5,), 0.5, 5), ((0.0,), 0.0, 0), ((1.0,), 1.0, np.inf),
     ((1.2,), 1.2, np.inf), ((0.0, 0.25), 0.5, 5)],
)  # fmt: skip
def test_steps_remembered_counts_steps_to_five_percent(phi, root, steps):
    assert ar.largest_root(phi) == pytest.approx(root, abs=1e-12)
    assert ar.steps_remembered(phi) == steps
    if 0 < steps < np.inf:
        assert root**steps < 0.05 <= root ** (steps - 1)


def test_steps_remembered_is_zero_for_white_noise():
    assert ar.largest_root(()) == 0.0
    assert ar.steps_remembered(()) == 0.0
