"""Tags, networks and counts against torch, second implementations and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.compute.recurrent.tagging.letters import (
    LEVELS,
    TAGS,
    WIRINGS,
    TaggedText,
    TrainedTagger,
    boundaries,
    parameters,
    rounded,
    shapes_of,
    states,
    width_of,
    without_spaces,
)
from seqviz.compute.recurrent.tagging.letters_compared import Compared, ErrorRate, TrainedAhead
from seqviz.experiments.recurrent.tagging.letters import SIZES, TASKS, known_symbols
from seqviz.stats.estimate import Estimate

READ, WIDTH, SYMBOLS = 5, 7, 11


def network(wiring: str) -> tuple[torch.nn.GRU, list[np.ndarray]]:
    """torch's own, and all arrays in the order of a `Tagger`."""
    torch.manual_seed(0)
    table = torch.nn.Embedding(SYMBOLS, READ)
    gru = torch.nn.GRU(READ, WIDTH, 2 if wiring == "two" else 1, bidirectional=wiring == "bi")
    head = torch.nn.Linear(WIDTH * (1 + (wiring == "bi")), len(TAGS))
    every = [*table.parameters(), *gru.parameters(), *head.parameters()]
    return gru, [item.detach().numpy() for item in every]


def tagger(wiring: str) -> TrainedTagger:
    levels, steps = rounded(network(wiring)[1])
    existing = np.array([ord(item) for item in "abcdefghij"])
    return TrainedTagger("words", wiring, WIDTH, READ, existing, levels, steps, np.zeros(25), 1.0)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_states_match_torch(wiring):
    gru, arrays = network(wiring)
    read = np.random.RandomState(1).normal(size=(9, 3, READ)).astype(np.float32)
    theirs = gru(torch.from_numpy(read))[0].detach().numpy()
    ours = states(wiring, arrays[1:-2], read)
    assert np.abs(ours - theirs).max() < 1e-6
    item = states(wiring, arrays[1:-2], read[:, 0])
    assert np.abs(item - theirs[:, 0]).max() < 1e-6


@pytest.mark.parametrize("wiring", WIRINGS)
def test_shapes_and_parameters_match_torch(wiring):
    _, arrays = network(wiring)
    assert [array.shape for array in arrays] == shapes_of(wiring, WIDTH, SYMBOLS, READ)
    assert sum(array.size for array in arrays) == parameters(wiring, WIDTH, SYMBOLS, READ)


@pytest.mark.parametrize(("wiring", "join"), [("sum", torch.add), ("product", torch.mul)])
def test_joined_states_match_torch(wiring, join):
    torch.manual_seed(1)
    cells, read = torch.nn.GRU(3, 4, bidirectional=True), torch.randn(7, 2, 3)
    layers = [weight.detach().numpy() for weight in cells.parameters()]
    forward, backward = cells(read)[0].detach().split(4, -1)
    result = states(wiring, layers, read.numpy())
    np.testing.assert_allclose(result, join(forward, backward), atol=1e-5)
    concatenated = states("bi", layers, read.numpy())
    np.testing.assert_allclose(concatenated[..., :4], forward, atol=1e-5)
    shapes = shapes_of(wiring, 4, 9, 3)
    assert shapes[1:-2] == shapes_of("bi", 4, 9, 3)[1:-2]
    assert sum(map(np.prod, shapes)) == parameters(wiring, 4, 9, 3)
    assert shapes[-2] == (4, 4)


@pytest.mark.parametrize("task", TASKS)
def test_parameters_are_equal_across_wirings(task):
    symbols, size = len(known_symbols(task)) + 1, SIZES[task]
    widths = [width_of(wiring, size.parameters, symbols, size.read) for wiring in WIRINGS]
    counts = [
        parameters(item, width, symbols, size.read)
        for item, width in zip(WIRINGS, widths, strict=True)
    ]
    assert max(counts) <= 1.01 * min(counts)


@pytest.mark.parametrize("ahead", [0, 1, 3, 8, 50])
def test_states_of_cut_backward_cell_match_torch_windows(ahead):
    gru, arrays = network("bi")
    read = np.random.RandomState(2).normal(size=(8, READ)).astype(np.float32)
    ours = states("bi", arrays[1:-2], read, ahead)
    for t in range(8):  # each window by itself, by torch
        window = torch.from_numpy(read[t : t + ahead + 1])
        theirs = gru(window[:, None])[0][0, 0, WIDTH:].detach().numpy()
        assert np.abs(ours[t, WIDTH:] - theirs).max() < 1e-6
    full = states("bi", arrays[1:-2], read)
    assert np.array_equal(ours[:, :WIDTH], full[:, :WIDTH])
    assert (np.abs(ours - full).max() < 1e-6) == (ahead >= 7)


@pytest.mark.parametrize("wiring", ["uni", "two"])
def test_tagger_uses_right_context_only_if_bidirectional(wiring):
    """The tag of a letter with other letters to its right."""
    item, other = np.array([1, 2, 3, 4]), np.array([1, 2, 9, 8])
    for name, same in ((wiring, True), ("bi", False)):
        results = [tagger(name).probabilities(ids)[:2] for ids in (item, other)]
        assert np.array_equal(*results) == same
    cut = [tagger("bi").probabilities(ids, 0)[:2] for ids in (item, other)]
    assert np.array_equal(*cut)


def test_tagger_rounds_weights_by_at_most_half_step():
    _, arrays = network("bi")
    created = tagger("bi")
    assert np.abs(created.levels.astype(int) - LEVELS).max() == LEVELS
    for before, after in zip(arrays, created.arrays(), strict=True):
        assert np.abs(before - after).max() <= np.abs(before).max() / LEVELS / 2 + 1e-6


def test_tagger_normalizes_probabilities_and_maps_unknown_to_zero():
    created = tagger("two")
    assert created.ids("aj?é").tolist() == [1, 10, 0, 0]
    assert np.allclose(created.probabilities(created.ids("abc")).sum(-1), 1)


def tags_of(result) -> str:
    return "".join(TAGS[tag] if tag >= 0 else "-" for tag in result.tags)


def test_without_spaces_tags_english_text():
    tagged_example = without_spaces("I saw  O'Hara's 2 well-known\tmen, a B.")
    assert tagged_example.symbols == "isawo'hara's2well-knownmen,ab."
    assert tags_of(tagged_example) == "SBMEB-MMMM-E-BMMM-MMMMEBME-SS-"


def test_without_spaces_keeps_positions_if_lowercase_is_longer():
    tagged_example = without_spaces("İstanbul ßa ŉ")
    assert len(tagged_example.symbols) == len(tagged_example.tags) == 11
    assert tagged_example.symbols[0] == "?"


def test_boundaries_tag_words():
    cut = {"我打车去图书馆，A好": ["我", "打车", "去", "图书馆", "，", "A", "好"]}
    (text,) = cut
    tagged_example = boundaries(text, lambda item: cut[item])
    assert tags_of(tagged_example) == "SBESBME--S"
    assert tagged_example.symbols == text


def test_tagged_text_losses_match_torch_cross_entropy():
    random = np.random.RandomState(0)
    likely = random.dirichlet(np.ones(4), size=(3, 6))
    tags = np.array([0, 3, -1, 2, 1, -1])
    tagged_text = TaggedText("words", "abcdef", tags, likely, 0)
    for row in range(3):
        theirs = torch.nn.functional.nll_loss(
            torch.from_numpy(np.log(likely[row])), torch.from_numpy(tags), ignore_index=-1,
            reduction="none",
        )  # fmt: skip
        assert np.allclose(tagged_text.losses[row], theirs.numpy())


def test_tagged_text_needs_right_marks_errors_fixed_by_both_sides():
    sure = np.eye(4)
    rows = np.stack([sure[[0, 3, 1, 0]], sure[[1, 0, 1, 0]], sure[[1, 0, 0, 3]]])
    tagged_text = TaggedText("words", "ab,c", np.array([1, 0, -1, 0]), rows, 0)
    assert tagged_text.needs_right.tolist() == [True, True, False, False]
    assert tagged_text.wrong.sum(1).tolist() == [2, 0, 1]
    assert tagged_text.n_letters == 3
    assert tagged_text.tags_of(0) == ["B", "S", "", "B"]


def counts(seeds: int = 4, sentences: int = 60) -> Compared:
    random = np.random.RandomState(3)
    characters = random.randint(0, 20, size=(4, sentences))

    def wrong(share: float, *shape: int) -> np.ndarray:
        return random.binomial(characters, share, size=(*shape, 4, sentences))

    return Compared(
        "words", characters, np.stack([wrong(p, seeds) for p in (0.3, 0.3, 0.1)]), wrong(0.7),
        wrong(0.5), np.array([0, 2]), np.stack([wrong(p, seeds) for p in (0.4, 0.1)]),
        np.array([3, 2, 2]), np.array([100, 101, 100]), np.ones((3, seeds)),
    )  # fmt: skip


def test_compared_error_is_ratio_of_sums_with_bootstrap_interval():
    result = counts()
    error = result.error("uni")
    each = result.wrong[0].mean(0).sum(0)
    characters = result.letters.sum(0)
    assert error.value == pytest.approx(100 * each.sum() / characters.sum())
    draws = np.random.RandomState(0).randint(0, 60, size=(4000, 60))
    ratios = 100 * each[draws].sum(1) / characters[draws].sum(1)
    half = (error.sentences.high - error.sentences.low) / 2
    assert half == pytest.approx(1.96 * ratios.std(), rel=0.06)


def test_compared_seed_interval_uses_student_t():
    result = counts()
    from scipy.stats import t

    by_seed = result.by_seed("bi", "B")
    low, high = t.interval(0.95, 3, by_seed.mean(), by_seed.std(ddof=1) / 2)
    assert result.error("bi", "B").seeds.ci == pytest.approx((low, high), rel=1e-5)


def test_compared_better_is_error_difference_and_null_for_noise():
    result = counts()
    for kind in (None, "M"):
        gap = result.better("bi", "uni", kind)
        assert gap.value == pytest.approx(
            result.error("uni", kind).value - result.error("bi", kind).value
        )
        assert gap.verdict == "more"
    assert result.better("two").verdict == "null"
    assert result.baseline("majority") > result.baseline("alone") > result.error("uni").value


def test_trained_ahead_compares_seed_by_seed():
    result = counts()
    ahead = TrainedAhead("words", result.letters, result.ahead, result.cut, np.ones((2, 4)))
    assert ahead.error(2) == result.error_cut(2)
    beyond = ahead.beyond(0, result)
    assert beyond.verdict == "more"
    assert beyond.value == pytest.approx(result.error_cut(0).value - result.error("bi").value)
    assert ahead.gained(0, result) == 0
    assert ahead.gained(2, result) == pytest.approx(
        (ahead.error(0).value - ahead.error(2).value)
        / (ahead.error(0).value - result.error("bi").value)
    )
    few = result.of_first(2)
    assert few.seeds == 2
    assert few.by_seed("bi").tolist() == result.by_seed("bi")[:2].tolist()
    assert few.error_cut(2).value == pytest.approx(100 * few.cut[1].mean(0).sum() / few.many())


@pytest.mark.parametrize(
    ("sentences", "seeds", "verdict"),
    [((1, 2), (1, 2), "more"), ((-1, 2), (1, 2), "null"), ((1, 2), (-1, 2), "null"),
     ((-2, -1), (-2, -1), "less"), ((1, 2), (np.nan, np.nan), "more")],
)  # fmt: skip
def test_error_rate_verdict_requires_intervals_without_zero(sentences, seeds, verdict):
    error_rate = ErrorRate(*(Estimate(sum(ci) / 2, *ci, 9) for ci in (sentences, seeds)))
    assert error_rate.verdict == verdict
