"""Results made from annotations have the shapes, types and ranges that these say."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from typing import Literal, get_type_hints

import numpy as np
import pytest
from jaxtyping import Bool, Complex, Float, Float32, Int

from seqviz.core.units import Count, Fraction, Interval, Log10, Share
from seqviz.figures.ar_fitting.by_hand import slopes_by_window
from seqviz.plotting.figure import Figure
from seqviz.plotting.style import Style
from testing.fake import WORDS, fake
from testing.figure_examples import fake_example, functions

UNTYPED = {"GradientTerms", "MatrixSpectrum", "SimplifiedGRU", "Tempered"}  # arrays without shapes


@dataclass(frozen=True)
class Inner:
    name: str
    n_layers: int
    weights: Float32[np.ndarray, "head query key"]


@dataclass(frozen=True)
class Outer:
    methods: tuple[str, ...]
    kind: Literal["rnn", "lstm"]
    shares: Float[np.ndarray, "share"]
    lengths: Int[np.ndarray, "length"]
    counts: Int[np.ndarray, "method length 2"]
    is_right: Bool[np.ndarray, "method *case"]
    roots: Complex[np.ndarray, "root"]
    inner: Inner
    layers: tuple[Inner, ...]
    limit: int | None
    pair: tuple[float, int]
    share: Share
    norm: Log10
    n: Count
    ends: Interval
    part: Fraction
    seed: int = 5


@dataclass(frozen=True)
class Mapped:
    table: dict[str, float]


def test_fake_default_sizes_differ():
    result = fake(Outer)
    shapes = [result.shares, result.lengths, result.roots]
    sizes = [len(result.methods), *(len(item) for item in shapes), *result.inner.weights.shape]
    assert sizes == [3, 4, 5, 6, 7, 8, 9]
    assert result.counts.shape == (3, 5, 2)
    assert result.is_right.shape == (3,)
    assert len(result.layers) == 10
    assert {item.weights.shape for item in result.layers} == {(7, 8, 9)}


def test_fake_accepts_sizes_as_numbers_arrays_and_tuples():
    """A number for a field that holds no array is its value."""
    lengths = np.array([8, 64])
    result = fake(Outer, methods=("a", "b"), lengths=lengths, head=1, case=(4, 6), share=3)
    assert result.counts.shape == (2, 2, 2)
    assert result.lengths is lengths
    assert result.is_right.shape == (2, 4, 6)
    assert result.inner.weights.shape[0] == 1
    assert (len(result.shares), result.share) == (3, 3)


def test_fake_types_match_annotations():
    result = fake(Outer)
    kinds = {field.name: getattr(result, field.name) for field in fields(Outer)}
    arrays = {name: item.dtype for name, item in kinds.items() if isinstance(item, np.ndarray)}
    assert arrays == {
        "shares": float, "lengths": np.int64, "counts": np.int64, "is_right": bool,
        "roots": np.complex128,
    }  # fmt: skip
    assert result.inner.weights.dtype == np.float32
    assert (result.kind, result.seed) == ("rnn", 5)
    assert isinstance(result.limit, int)
    assert [type(item) for item in result.pair] == [float, int]
    assert result.methods == WORDS[:3]


def test_fake_axis_values_ascend():
    result = fake(Outer, length=50, share=50)
    assert (np.diff(result.lengths) > 0).all()
    assert (np.diff(result.shares) > 0).all()
    assert not (np.diff(fake(Outer, query=50).inner.weights, axis=1) > 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_fake_numbers_stay_in_range_of_unit(seed):
    result = fake(Outer, seed)
    assert 0 <= result.share <= 1
    assert -3 <= result.norm <= 3
    assert result.n == int(result.n) >= 2
    assert 0 <= result.ends[0] <= result.ends[1] <= 1
    part, of_all = result.part
    assert 0 < part < of_all
    assert 1 <= result.counts.min() <= result.counts.max() <= 9
    assert 0 <= result.inner.weights.min() <= result.inner.weights.max() < 1


def test_fake_is_deterministic_per_seed_and_field():
    first, same, other = (fake(Inner, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.weights, same.weights)
    assert (first.weights != other.weights).all()
    named = fake(Inner, name="x", n_layers=2)
    assert (named.name, named.n_layers) == ("x", 2)
    np.testing.assert_array_equal(first.weights, named.weights)


def test_fake_rejects_unsupported_annotation_or_unknown_field():
    with pytest.raises(TypeError, match=r"^Cannot make Mapped\.table of dict\[str, float\]: pass"):
        fake(Mapped)
    assert fake(Mapped, table={}) == Mapped({})
    with pytest.raises(TypeError, match=r"^Inner has no field or dimension heads, layer\.$"):
        fake(Inner, heads=2, layer=1)


def test_fake_example_computes_key():
    def draw(result: Inner, scale: float, style: Style):
        return result.n_layers * scale

    draw.__annotations__ = {"result": Inner, "scale": float, "style": Style}
    example = fake_example("a name", draw, "n_layers", 10.0, n_layers=3, head=2)
    assert (example.name, example.key, example.figure()) == ("a name", 3, 30.0)
    assert fake_example("a name", draw, lambda result: len(result.weights), 1.0, head=2).key == 2
    assert fake_example("a name", draw, 7, 1.0).key == 7


def test_fake_supports_every_figure_argument():
    """Their shapes are checked as they are made (tests/conftest.py)."""
    results = {
        hint
        for function in functions()
        if function is not slopes_by_window  # imports Altair for type checkers alone
        for hint in get_type_hints(function).values()
        if is_dataclass(hint) and hint not in (Figure, Style)
    }
    assert len(results) > 100
    for result_type in results:
        if result_type.__name__ in UNTYPED:
            with pytest.raises(TypeError, match="Cannot make"):
                fake(result_type)
        else:
            assert isinstance(fake(result_type), result_type)
