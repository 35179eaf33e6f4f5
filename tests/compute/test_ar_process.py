"""The AR(P) process: closed forms, printed numbers, random stationary processes."""

import subprocess
import sys

import numpy as np
import pytest

from seqviz.compute.autoregression import (
    LARGEST,
    coefficients_from_partial,
    is_stationary,
    largest_root,
    long_run_mean,
    partial_from_coefficients,
    psi_weights,
    roots,
    simulate,
    stationary_variance,
    steps_remembered,
    theoretical_acf,
)

# A few roundings of float64 in sums of up to ten terms of order one.
ROUNDING = 1e-12


def random_partials(count: int = 40) -> list[tuple[float, ...]]:
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
def test_the_printed_ar1_experiment(seed, phi, fitted, true):
    """Section 2.5 of the map of the texts: phi-hat, MSE of the fit and of the true phi."""
    x = simulate((0.8,), sigma=1.0, n=1000, burn_in=0, seed=seed).values
    past, now = x[:-1], x[1:]
    estimate = past @ now / (past @ past)
    assert round(float(estimate), 4) == phi
    assert round(float(np.mean((now - estimate * past) ** 2)), 4) == fitted
    assert round(float(np.mean((now - 0.8 * past) ** 2)), 4) == true


def test_ar2_map_in_closed_form():
    """phi_2 = r_2 and phi_1 = r_1 (1 - r_2)."""
    assert coefficients_from_partial((0.5, -0.4)) == pytest.approx((0.7, -0.4), abs=ROUNDING)
    assert coefficients_from_partial(()) == ()


@pytest.mark.parametrize("partial", random_partials())
def test_partials_map_onto_the_stationary_region_and_back(partial):
    phi = coefficients_from_partial(partial)
    assert is_stationary(phi)
    assert np.abs(roots(phi)).max() < 1.0
    # The step-down divides by 1 - r^2 >= 0.0975 up to five times: 1 / 0.0975^5 = 1e5 roundings.
    assert partial_from_coefficients(phi) == pytest.approx(partial, abs=1e-9)


@pytest.mark.parametrize("partial", random_partials(20))
def test_roots_rebuild_the_characteristic_polynomial(partial):
    phi = coefficients_from_partial(partial)
    polynomial = np.poly(roots(phi))
    # Roots are eigenvalues of a 6 x 6 companion matrix: a nearly double root loses half the digits.
    np.testing.assert_allclose(polynomial, np.concatenate(([1.0], -np.array(phi))), atol=1e-8)


def test_roots_keep_their_number_when_the_last_coefficient_is_zero():
    np.testing.assert_allclose(roots((0.5, 0.0, 0.0)), [0.5, 0.0, 0.0], atol=ROUNDING)
    assert roots(()).shape == (0,)


@pytest.mark.parametrize("phi", [(1.0,), (-1.0,), (1.2,), (0.5, 0.5), (0.0, 1.0), (2.0, -1.0)])
def test_unit_roots_and_explosive_processes_are_not_stationary(phi):
    assert not is_stationary(phi)
    with pytest.raises(ValueError, match="not those of a stationary process"):
        stationary_variance(phi)


def test_ar1_and_ar2_variance_in_closed_form():
    assert stationary_variance((0.8,), 2.0) == pytest.approx(4.0 / 0.36, rel=ROUNDING)
    one, two = 0.5, -0.3
    expected = (1 - two) / ((1 + two) * ((1 - two) ** 2 - one**2))
    assert stationary_variance((one, two)) == pytest.approx(expected, rel=ROUNDING)
    assert stationary_variance((), 3.0) == 9.0


@pytest.mark.parametrize("partial", random_partials(20))
def test_variance_solves_yule_walker(partial):
    """gamma_0 = sum_i phi_i gamma_i + sigma^2."""
    phi = coefficients_from_partial(partial)
    gamma = stationary_variance(phi, 1.5) * theoretical_acf(phi, len(phi))
    # Relative to gamma_0, which multiplies the rounding of the right-hand side.
    assert gamma[0] == pytest.approx(np.dot(phi, gamma[1:]) + 1.5**2, rel=1e-10)


def test_psi_weights_are_powers_and_add_up_to_the_variance():
    np.testing.assert_allclose(psi_weights((0.8,), 30), 0.8 ** np.arange(30), rtol=ROUNDING)
    np.testing.assert_allclose(psi_weights((1.2,), 5), 1.2 ** np.arange(5), rtol=ROUNDING)
    np.testing.assert_array_equal(psi_weights((), 3), [1.0, 0.0, 0.0])
    phi = coefficients_from_partial((0.6, -0.5, 0.3))
    # 0.82 is the largest root: 0.82^(2 * 400) is far below rounding.
    weights = psi_weights(phi, 400)
    assert weights @ weights == pytest.approx(stationary_variance(phi), rel=1e-10)


@pytest.mark.parametrize("phi", [(), (0.8,), (0.5, -0.3), (0.2, 0.1, -0.4, 0.3, 0.1)])
def test_path_obeys_its_recursion(phi):
    path = simulate(phi, sigma=2.0, n=300, seed=3)
    assert path.values[0] == 0.0
    assert path.innovations[0] == 0.0
    for time in range(1, 300):
        past = [path.values[time - lag] if time >= lag else 0.0 for lag in range(1, len(phi) + 1)]
        # The two sums run in opposite order: roundings of values below 20.
        expected = np.dot(phi, past) + path.innovations[time]
        assert path.values[time] == pytest.approx(expected, abs=1e-13)


def test_burn_in_drops_the_head_of_the_same_path():
    long = simulate((0.5, 0.2), n=150, seed=7)
    short = simulate((0.5, 0.2), n=100, burn_in=50, seed=7)
    np.testing.assert_array_equal(short.values, long.values[50:])
    np.testing.assert_array_equal(short.innovations, long.innovations[50:])


@pytest.mark.parametrize("noise", ["gaussian", "student_t", "laplace"])
def test_every_noise_has_standard_deviation_sigma(noise):
    path = simulate((), sigma=3.0, n=100_001, seed=2, noise=noise, df=8.0)
    drawn = path.innovations[1:]
    # Standard error of the mean: 3 / sqrt(1e5) = 0.0095. Of the standard deviation, relative:
    # sqrt((kurtosis - 1) / 4e5) <= sqrt(5 / 4e5) = 0.0035 (Laplace: kurtosis 6). Four of each.
    assert abs(drawn.mean()) < 0.038
    assert drawn.std() == pytest.approx(3.0, rel=0.014)


def test_noise_shapes_differ_in_their_tails():
    """Kurtosis 3 (Gaussian), 4.5 (t with 8 degrees of freedom: 3 + 6/4), 6 (Laplace)."""
    kurtosis = {}
    for noise in ("gaussian", "student_t", "laplace"):
        z = simulate((), n=200_001, seed=4, noise=noise, df=8.0).innovations[1:]
        kurtosis[noise] = np.mean(z**4) / np.mean(z**2) ** 2
    assert kurtosis["gaussian"] == pytest.approx(3.0, abs=0.06)  # four of sqrt(24 / 2e5) = 0.011
    # The eighth moments are large or infinite: only the order of the three is claimed.
    assert 3.5 < kurtosis["student_t"] < 5.5 < kurtosis["laplace"] < 6.6


def test_an_explosive_path_is_cut_where_it_would_overflow():
    path = simulate((1.2,), n=5000, seed=1)
    assert path.finite == path.values.size == path.innovations.size
    assert 100 < path.finite < 300  # 1.2^t = 1e12 at t = 152
    assert np.abs(path.values).max() < LARGEST
    assert abs(1.2 * path.values[-1]) > 0.9 * LARGEST
    assert simulate((0.9,), n=5000, seed=1).finite == 5000
    with pytest.raises(ValueError, match="burn-in of 0"):
        simulate((1.2,), n=100, burn_in=5000)


def test_results_are_closed_for_writing_and_repeat():
    path = simulate((0.5,), n=50, seed=9)
    with pytest.raises(ValueError, match="read-only"):
        path.values[0] = 1.0
    np.testing.assert_array_equal(path.values, simulate((0.5,), n=50, seed=9).values)
    assert not np.array_equal(path.values, simulate((0.5,), n=50, seed=10).values)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"sigma": 0.0}, "must be positive"),
        ({"n": 0}, "at least one value"),
        ({"burn_in": -1}, "at least one value"),
        ({"noise": "student_t", "df": 2.0}, "finite variance"),
        ({"coefficients": (float("nan"),)}, "finite number"),
    ],
)
def test_bad_arguments_are_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(ValueError, match=sentence):
        simulate(**{"coefficients": (0.5,), **arguments})


def test_importing_the_package_costs_numpy_only():
    code = (
        "import sys, seqviz.compute.autoregression\n"
        "slow = {'scipy', 'statsmodels', 'torch', 'pandas'} & set(sys.modules)\n"
        "assert not slow, slow"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_partials_at_the_border_are_refused():
    with pytest.raises(ValueError, match="between -1 and 1"):
        coefficients_from_partial((0.5, 1.0))


@pytest.mark.parametrize(
    ("phi", "root", "steps"),
    [((0.8,), 0.8, 14), ((-0.5,), 0.5, 5), ((0.0,), 0.0, 0), ((1.0,), 1.0, np.inf),
     ((1.2,), 1.2, np.inf), ((0.0, 0.25), 0.5, 5)],
)  # fmt: skip
def test_memory_counts_the_steps_to_five_percent(phi, root, steps):
    assert largest_root(phi) == pytest.approx(root, abs=1e-12)
    assert steps_remembered(phi) == steps
    if 0 < steps < np.inf:
        assert root**steps < 0.05 <= root ** (steps - 1)


def test_the_mean_to_which_forecasts_return():
    assert long_run_mean((0.5, 0.25), 2.0) == 8.0
    assert long_run_mean((0.5,)) == 0.0
    assert np.isnan(long_run_mean((1.0,), 2.0))
