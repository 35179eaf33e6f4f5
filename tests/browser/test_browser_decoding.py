"""Filters, draws and their numbers in a browser are those of Python."""

from __future__ import annotations

import base64

import numpy as np
import pytest

from seqviz.compute.gpt import draw
from seqviz.compute.gpt.draw import uniforms
from seqviz.compute.gpt.filters import ORDER, Chain
from seqviz.core.paths import ASSETS

SCRIPT = base64.b64encode((ASSETS / "static" / "figures/decoding.js").read_bytes()).decode()
ALL = """async ([script, asked]) => {
    const {stages, draw, probabilities, entropy, cut} =
        await import(`data:text/javascript;base64,${script}`);
    return asked.map(({scores, ids, chain, us}) => {
        const own = Float64Array.from(scores);
        const found = stages(own, ids, chain);
        const last = found.length ? found.at(-1).scores : own;
        return {
            names: found.map((one) => one.name),
            scores: Array.from(last, (score) => (score === -Infinity ? null : score)),
            drawn: us.map((u) => draw(last, u)),
            entropy: entropy(probabilities(last)),
            cut: cut(own, last),
        };
    });
}"""
NUMBERS = """async ([script, seed, count, stream]) =>
    (await import(`data:text/javascript;base64,${script}`)).uniforms(seed, count, stream)"""


@pytest.fixture(scope="module")
def page(browser):
    created = browser.new_page()
    yield created
    created.close()


def asked(rng: np.random.RandomState) -> dict:
    size = int(rng.randint(3, 200))
    scores = rng.normal(rng.uniform(-5, 10), rng.uniform(0.3, 5), size)
    if rng.uniform() < 0.3:
        scores = scores.round()  # many equal ones
    values = {
        "penalty": float(rng.uniform(0.7, 2)),
        "temperature": float(rng.uniform(0.2, 3)),
        "top_k": int(rng.randint(1, 60)),
        "top_p": float(rng.uniform(0.05, 0.999)),
        "min_p": float(rng.uniform(0.001, 0.5)),
        "typical": float(rng.uniform(0.05, 0.999)),
    }
    some = {name: values[name] for name in ORDER if rng.uniform() < 0.5}
    return {
        "scores": scores.tolist(),
        "ids": rng.randint(0, size, 5).tolist(),
        "chain": {**some, "order": rng.permutation(ORDER).tolist()},
        "us": rng.uniform(size=20).tolist(),
    }


def test_client_filters_and_draws_match_python(page):
    rng = np.random.RandomState(0)
    every = [asked(rng) for _ in range(500)]
    answers = page.evaluate(ALL, [SCRIPT, every])
    cuts = 0
    for item, result in zip(every, answers, strict=True):
        chain = Chain(**{**item["chain"], "order": tuple(item["chain"]["order"])})
        scores = np.array(item["scores"])
        stages = chain.stages(scores, item["ids"])
        last = chain(scores, item["ids"])
        assert result["names"] == [name for name, _ in stages]
        there = np.array([-np.inf if score is None else score for score in result["scores"]])
        np.testing.assert_allclose(there, last, rtol=1e-12)
        assert result["drawn"] == [draw.draw(last, u) for u in item["us"]]
        assert result["entropy"] == pytest.approx(float(draw.entropy(last)), abs=1e-9)
        assert result["cut"] == pytest.approx(
            draw.probabilities(scores)[np.isneginf(last)].sum(), abs=1e-9
        )
        cuts += np.isneginf(last).any()
    assert cuts > 250


def test_client_uniforms_match_python_bit_for_bit(page):
    for seed, stream in ((0, 0), (7, 0), (2**32 - 1, 3), (123_456_789, 2**31 + 5)):
        assert page.evaluate(NUMBERS, [SCRIPT, seed, 500, stream]) == list(
            uniforms(seed, 500, stream)
        )
