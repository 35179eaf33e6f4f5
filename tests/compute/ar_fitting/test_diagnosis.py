"""Residuals, differences and bent rules against formulas of their own and statsmodels."""

import numpy as np
import pytest
from scipy.stats import chi2
from statsmodels.tsa.ar_model import AutoReg

from seqviz.compute import ar_fitting as ar
from seqviz.compute.ar_fitting.ahead import errors_ahead
from seqviz.compute.ar_fitting.networks import AHEAD, NetworkSettings, fit_network
from seqviz.data import series


def test_diagnose_matches_ljung_box_formula_on_autoreg_residuals():
    values = series.bundled("sunspots").values
    diagnosis = ar.diagnose(values, 2)
    theirs = AutoReg(values, 2, trend="c").fit()
    np.testing.assert_allclose(diagnosis.residuals, theirs.resid, atol=1e-9)
    r, n = diagnosis.correlations.acf, diagnosis.residuals.size
    for index, m in enumerate(diagnosis.tests.lags):
        q = n * (n + 2) * sum(r[k] ** 2 / (n - k) for k in range(1, m + 1))
        assert diagnosis.tests.statistic[index] == pytest.approx(q, rel=1e-9)
        assert diagnosis.tests.limit[index] == pytest.approx(chi2.ppf(0.95, m - 2), rel=1e-9)
        assert diagnosis.tests.p[index] == pytest.approx(chi2.sf(q, m - 2), rel=1e-6, abs=1e-300)
    assert (diagnosis.tested, diagnosis.refused) == (20, True)


@pytest.mark.parametrize(
    ("source", "order", "refused"),
    [
        ("co2", 2, True),
        ("sunspots", 9, False),
        ("nile", 1, False),
        ("macro_unemployment", 2, False),
    ],
)
def test_diagnose_rejects_only_poor_fits_of_real_series(source, order, refused):
    diagnosis = ar.diagnose(series.bundled(source).values, order)
    assert diagnosis.refused is refused
    if source == "co2":
        assert diagnosis.q == pytest.approx(1055, abs=0.5)  # as in the review


def test_diagnose_has_five_percent_false_positives():
    """300 fits of the right order: a share within four binomial errors of 0.05."""
    refused = [
        ar.diagnose(ar.simulate((0.6, -0.3), n=300, seed=seed, burn_in=50).values, 2).refused
        for seed in range(300)
    ]
    assert abs(np.mean(refused) - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 300)


def test_diagnose_tests_fewer_lags_of_short_series():
    diagnosis = ar.diagnose(ar.simulate((0.5,), n=30, seed=3).values, 12)
    assert diagnosis.tests.lags.tolist() == [13]
    assert diagnosis.tested == 13


@pytest.mark.parametrize("ordinary", [False, True])
@pytest.mark.parametrize("season", [0, 4])
def test_undifferenced_forecast_sums_difference_forecasts(ordinary, season):
    values = ar.simulate((0.6,), n=120, seed=5).values.cumsum() + 3 * np.arange(120) % 4
    steady = ar.differenced(values, ordinary, season)
    assert steady.size == values.size - season - int(ordinary)
    line = ar.fit(steady, 2, "ols", True)
    plain = ar.forecast_recursive(steady, line.coefficients, 1.0, 9, line.intercept).mean
    grown = values.tolist()  # put together by hand, step by step
    for step in plain:
        before = grown[-1] if ordinary else 0.0
        if season:
            before += grown[-season] - (grown[-season - 1] if ordinary else 0.0)
        grown.append(step + before)
    rule = ar.undifferenced(line.coefficients, ordinary, season)
    fan = ar.forecast_recursive(values, rule, 1.0, 9, line.intercept)
    np.testing.assert_allclose(fan.mean, grown[120:], atol=1e-8)
    if ordinary and not season:
        psi = np.cumsum([1.0, *np.array(_psi(line.coefficients, 8))])
        np.testing.assert_allclose(fan.standard_error**2, np.cumsum(psi**2), rtol=1e-9)


def _psi(phi, count):
    existing = [0.0, 1.0]
    for _ in range(count):
        existing.append(phi[0] * existing[-1] + phi[1] * existing[-2])
    return existing[2:]


def test_error_of_repeating_matches_explicit_rmse():
    past, arrivals = np.array([9.0, 1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 1.0, 4.0])
    assert ar.error_of_repeating(past, arrivals, 3) == pytest.approx(np.sqrt(4 / 5))
    assert ar.error_of_repeating(past, arrivals) == pytest.approx(np.sqrt((4 + 1 + 0 + 4 + 1) / 5))


# --- rules that are no line -----------------------------------------------------------------------


def test_simulate_rule_follows_logistic_and_threshold_maps():
    path = ar.simulate_rule(ar.Rule("logistic"), n=20_000, seed=2)
    assert 0 < path.values.min() < path.values.max() < 1
    assert path.noise[1:].var() == pytest.approx(path.rule.noise_variance, rel=0.03)
    x = path.values
    np.testing.assert_allclose(x[1:], 3.7 * x[:-1] * (1 - x[:-1]) + path.noise[1:], atol=1e-12)
    bent = ar.simulate_rule(ar.Rule("threshold", -0.8, 0.8), n=5000, seed=2)
    np.testing.assert_allclose(
        bent.values[1:], 0.8 * np.abs(bent.values[:-1]) + bent.noise[1:], atol=1e-12
    )
    plain = ar.simulate_rule(ar.Rule("threshold", 0.6, 0.6), n=500, seed=4)
    innovations = plain.noise[1:]
    np.testing.assert_allclose(plain.values[1:] - 0.6 * plain.values[:-1], innovations, atol=1e-12)


@pytest.mark.parametrize(
    "rule",
    [
        {"kind": "logistic", "r": 3.9},
        {"below": -2.0, "above": -2.0},
        {"above": 1.0},
        {"r": 0.5, "kind": "logistic"},
    ],
)
def test_rule_rejects_unstable_parameters(rule):
    with pytest.raises(ValueError, match=r"stationary|between"):
        ar.Rule(**rule)


def test_against_rule_matches_autoreg_line():
    path = ar.simulate_rule(ar.Rule(), n=400, seed=1)
    result, (intercept, slope) = ar.against_rule(path, 0.5)
    theirs = AutoReg(path.values[: 1 + round(0.5 * 399)], 1, trend="c").fit()
    np.testing.assert_allclose([intercept, slope], theirs.params, atol=1e-9)
    assert result.training_mse == pytest.approx(np.mean(theirs.resid**2), rel=1e-9)
    np.testing.assert_allclose(result.truth, path.noise[1:] ** 2)


# --- feeding forecasts back -----------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["mlp", "rnn", "lstm", "gru"])
def test_fit_network_feeds_first_forecast_into_second(cell):
    """The first step ahead is the one-step prediction; the second takes it as input."""
    values = ar.simulate((0.8,), n=150, seed=3).values
    settings = NetworkSettings(
        cell, lags=3, hidden=4, epochs=4, learning_rate=0.05, train=0.6, validation=0.2
    )
    done = fit_network(values, settings)
    assert done.ahead.shape == (done.origins.size, AHEAD)
    assert done.origins.min() >= done.validation_end
    assert done.origins.max() + AHEAD <= done.targets.size
    np.testing.assert_allclose(done.ahead[:, 0], done.predictions[done.origins], atol=1e-6)
    # The second: the network on a series in which its first forecast had come true.
    origin = int(done.origins[3])
    other = values[: origin + 3].copy()
    other[origin + 1] = done.ahead[3, 0]
    again = _predictions(other, settings, values)
    assert again[origin + 1] == pytest.approx(done.ahead[3, 1], abs=1e-5)


def _predictions(other, settings, values):
    """One-step predictions on another series by the network trained on `values`."""
    import torch

    from seqviz.compute.ar_fitting import forecasters

    built = []
    original = forecasters.forecaster

    def kept(*arguments):
        built.append(original(*arguments))
        return built[-1]

    forecasters.forecaster = kept
    try:
        fit_network(values, settings)
    finally:
        forecasters.forecaster = original
    model = built[0]
    model.series = torch.tensor(other, dtype=torch.float32)
    with torch.no_grad():
        predicted, _ = model.predictions_and_map(torch.zeros(1))
    return predicted.numpy()


def test_errors_ahead_match_mse_of_forecasts():
    values = ar.simulate((0.8,), n=300, seed=3).values
    settings = NetworkSettings("mlp", hidden=2, epochs=3, train=0.6, validation=0.2)
    done = fit_network(values, settings)
    result = errors_ahead(done, (0.7,), 0.1, (0.8,))
    origin = done.origins  # the last value known is values[origin]
    for h in (1, 2, 20):
        arrivals = values[origin + h]
        np.testing.assert_allclose(
            result.rule[h - 1], np.mean((arrivals - 0.8**h * values[origin]) ** 2), rtol=1e-9
        )
        line = 0.7**h * values[origin] + 0.1 * (1 - 0.7**h) / 0.3
        np.testing.assert_allclose(result.line[h - 1], np.mean((arrivals - line) ** 2), rtol=1e-9)
    level = values[1 : 1 + done.train_end].mean()
    np.testing.assert_allclose(result.level[0], np.mean((values[origin + 1] - level) ** 2))
    assert result.network.shape == (AHEAD,)
    # A Rule that is this line gives the same.
    straight = errors_ahead(done, (0.7,), 0.1, ar.Rule("threshold", 0.8, 0.8))
    np.testing.assert_allclose(straight.rule, result.rule, rtol=1e-9)


def test_errors_ahead_rejects_series_without_origins():
    values = ar.simulate((0.8,), n=40, seed=3).values
    done = fit_network(values, NetworkSettings("mlp", hidden=2, epochs=2, train=0.6))
    assert done.ahead.shape == (0, AHEAD)
    with pytest.raises(ValueError, match="too short"):
        errors_ahead(done, (0.7,), 0.0, (0.8,))
