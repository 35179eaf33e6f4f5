"""Cosines, analogies and planes against closed forms and second implementations."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.decomposition import PCA

from seqviz.compute.text.vectors import plane
from seqviz.compute.text.vectors.senses import SensePairs
from seqviz.compute.text.vectors.table import WordTable, by_class, random_pairs, ranked, target

DRAWS = np.random.RandomState(0)
ROWS = DRAWS.normal(0.5, 1, (30, 7))
TABLE = WordTable(tuple(f"w{k}" for k in range(30)), ROWS.astype(np.float32), ROWS.mean(0),
                  np.arange(30) != 3)  # fmt: skip


def cosine(left: np.ndarray, right: np.ndarray) -> float:
    return float(left @ right / np.sqrt((left @ left) * (right @ right)))


@pytest.mark.parametrize("centered", [True, False])
def test_cosines_match_definition_with_and_without_mean(centered):
    rows = ROWS - ROWS.mean(0) if centered else ROWS
    request = TABLE.moved(TABLE.vectors[4], centered)
    expected = [cosine(row, rows[4]) for row in rows]
    np.testing.assert_allclose(TABLE.cosines(request, centered), expected, atol=1e-5)


def test_ranked_excludes_query_and_invalid_answers():
    request = TABLE.moved(TABLE.vectors[4], True)
    result = ranked(TABLE, request, True, ("w4",), 28, include_query=False)
    assert len(result.words) == result.of == 28
    assert not {"w3", "w4"} & set(result.words)
    assert (np.diff(result.cosines) <= 0).all()
    assert result.first == result.first_new
    assert result.top == result.cosines[0]
    retained = ranked(TABLE, request, True, ("w4",), 5, include_query=True)
    assert retained.first == "w4"
    assert retained.first_new == result.first
    assert retained.cosines[0] == pytest.approx(1, abs=1e-6)


def test_random_pairs_have_zero_cosine_after_centering():
    rows = np.random.RandomState(1).normal(2, 1, (500, 20))
    every = np.ones(500, bool)
    table = WordTable(tuple(map(str, range(500))), rows, rows.mean(0), every)
    assert abs(random_pairs(table, True)) < 0.02
    assert random_pairs(table, False) == pytest.approx(4 / 5, abs=0.03)  # m^2 / (m^2 + s^2)


def test_by_class_solves_exact_parallelogram():
    a, b, c = np.eye(4)[:3]
    d = b - a + c
    rows = np.stack([a, b, c, d, np.eye(4)[3]])
    table = WordTable(tuple("abcde"), rows, np.zeros(4), np.ones(5, bool))
    np.testing.assert_allclose(target(2 * b, 3 * a, c), d)
    result = by_class(
        table, [(0, *"abcd"), (1, *"abce"), (1, "a", "b", "c", "?")], ("x", "y"), False
    )
    assert result.right[:2].tolist() == [[True, False, False]] * 2
    assert result.right[2].tolist() == [True, False, False]  # d is the only one not at right angles
    assert result.of("excluded").share.tolist() == [1, 0]
    assert result.of("all").n.tolist() == [1, 2]
    assert result.compared().n == result.questions == 3
    assert result.overall("neighbor").correct == 1


def test_along_places_axis_words_at_zero_and_one():
    low, high = ROWS[:2]
    result = plane.along(ROWS, low, high)
    assert result[:2] == pytest.approx([0, 1])
    assert plane.along(((low + high) / 2)[None], low, high) == pytest.approx([0.5])
    with pytest.raises(ValueError, match="different"):
        plane.along(ROWS, low, low)


def test_principal_matches_scikit_learn():
    positions, shares = plane.principal(ROWS)
    second = PCA(2).fit(ROWS)
    np.testing.assert_allclose(np.abs(positions), np.abs(second.transform(ROWS)), atol=1e-9)
    np.testing.assert_allclose(shares, second.explained_variance_ratio_)


def test_classical_of_euclidean_distances_matches_principal():
    distances = np.linalg.norm(ROWS[:, None] - ROWS[None], axis=-1)
    positions, shares = plane.classical(distances)
    expected, part = plane.principal(ROWS)
    np.testing.assert_allclose(positions, expected, atol=1e-6)
    np.testing.assert_allclose(shares, part)


def test_classical_recovers_plane():
    flat = DRAWS.normal(size=(9, 2))
    apart = np.linalg.norm(flat[:, None] - flat[None], axis=-1)
    positions, shares = plane.classical(apart)
    np.testing.assert_allclose(np.linalg.norm(positions[:, None] - positions[None], axis=-1), apart)
    assert shares.sum() == pytest.approx(1)


def test_placed_reports_preserved_neighbors_and_corner():
    positions = np.array([[0.0, 0], [1, 0], [0, 1], [0.9, 0.8]])
    cosines = plane.cosine_matrix(np.array([[1.0, 0], [1, 0.1], [0, 1], [0.2, 1]]))
    projection = plane.Placed(tuple("abcd"), positions, cosines, "axes", (("a", "b"), ("a", "c")),
                         np.full(2, np.nan), 0.0, 2, (), ())  # fmt: skip
    # the neighbors in the picture are b, d, d, b; by cosine b, a, d, c
    assert projection.neighbors_preserved == (2, 4)
    assert projection.words[projection.corner] == "d"


def test_sense_pairs_report_separation_per_word():
    same = np.array([[100, 90], [100, 80], [100, 60], [100, 60]])
    other = np.array([[100, 50], [100, 60], [100, 70], [100, 50]])
    bag = np.array([[10, 10, 10, 10], [20, 0, 30, 30]])
    sense_pairs = SensePairs(("a", "b"), other, same, np.zeros((3, 2)), 5, bag)
    assert sense_pairs.separated().share.tolist() == [0.5, 0.75]  # draws count one half
    assert sense_pairs.mean("same").mean.tolist() == [1, 0.725]
    assert sense_pairs.told_by_bag().share == 0.75
    low, high = sense_pairs.mean("other").ci  # Student's t with one degree of freedom
    assert high[1] - low[1] == pytest.approx(2 * 12.7062 * 0.05 / np.sqrt(2) / np.sqrt(2), rel=1e-4)
