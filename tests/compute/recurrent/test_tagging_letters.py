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

READ, WIDTH, SYMBOLS = 5, 7, 11


def network(wiring: str) -> tuple[torch.nn.GRU, list[np.ndarray]]:
    """torch's own, and all arrays in the order of a `Tagger`."""
    torch.manual_seed(0)
    table = torch.nn.Embedding(SYMBOLS, READ)
    gru = torch.nn.GRU(READ, WIDTH, 2 if wiring == "two" else 1, bidirectional=wiring == "bi")
    head = torch.nn.Linear(WIDTH * (1 + (wiring == "bi")), len(TAGS))
    every = [*table.parameters(), *gru.parameters(), *head.parameters()]
    return gru, [one.detach().numpy() for one in every]


def tagger(wiring: str) -> TrainedTagger:
    levels, steps = rounded(network(wiring)[1])
    known = np.array([ord(one) for one in "abcdefghij"])
    return TrainedTagger("words", wiring, WIDTH, READ, known, levels, steps, np.zeros(25), 1.0)


@pytest.mark.parametrize("wiring", WIRINGS)
def test_states_are_those_of_torch(wiring):
    gru, arrays = network(wiring)
    read = np.random.RandomState(1).normal(size=(9, 3, READ)).astype(np.float32)
    theirs = gru(torch.from_numpy(read))[0].detach().numpy()
    ours = states(wiring, arrays[1:-2], read)
    assert np.abs(ours - theirs).max() < 1e-6
    one = states(wiring, arrays[1:-2], read[:, 0])
    assert np.abs(one - theirs[:, 0]).max() < 1e-6


@pytest.mark.parametrize("wiring", WIRINGS)
def test_shapes_and_counts_are_those_of_torch(wiring):
    _, arrays = network(wiring)
    assert [one.shape for one in arrays] == shapes_of(wiring, WIDTH, SYMBOLS, READ)
    assert sum(one.size for one in arrays) == parameters(wiring, WIDTH, SYMBOLS, READ)


@pytest.mark.parametrize("task", TASKS)
def test_the_wirings_have_equally_many_parameters(task):
    symbols, size = len(known_symbols(task)) + 1, SIZES[task]
    widths = [width_of(one, size.parameters, symbols, size.read) for one in WIRINGS]
    counts = [
        parameters(one, width, symbols, size.read)
        for one, width in zip(WIRINGS, widths, strict=True)
    ]
    assert max(counts) <= 1.01 * min(counts)


@pytest.mark.parametrize("ahead", [0, 1, 3, 8, 50])
def test_a_cut_backward_cell_reads_so_many_signs_and_no_more(ahead):
    gru, arrays = network("bi")
    read = np.random.RandomState(2).normal(size=(8, READ)).astype(np.float32)
    ours = states("bi", arrays[1:-2], read, ahead)
    for t in range(8):  # each window by itself, by torch
        window = torch.from_numpy(read[t : t + ahead + 1])
        theirs = gru(window[:, None])[0][0, 0, WIDTH:].detach().numpy()
        assert np.abs(ours[t, WIDTH:] - theirs).max() < 1e-6
    whole = states("bi", arrays[1:-2], read)
    assert np.array_equal(ours[:, :WIDTH], whole[:, :WIDTH])
    assert (np.abs(ours - whole).max() < 1e-6) == (ahead >= 7)


@pytest.mark.parametrize("wiring", ["uni", "two"])
def test_one_direction_knows_nothing_of_the_right_and_both_do(wiring):
    """The tag of a letter with other letters to its right."""
    one, other = np.array([1, 2, 3, 4]), np.array([1, 2, 9, 8])
    for name, same in ((wiring, True), ("bi", False)):
        found = [tagger(name).probabilities(ids)[:2] for ids in (one, other)]
        assert np.array_equal(*found) == same
    cut = [tagger("bi").probabilities(ids, 0)[:2] for ids in (one, other)]
    assert np.array_equal(*cut)


def test_a_weight_is_rounded_by_half_a_step_at_most():
    _, arrays = network("bi")
    made = tagger("bi")
    assert np.abs(made.levels.astype(int) - LEVELS).max() == LEVELS
    for before, after in zip(arrays, made.arrays(), strict=True):
        assert np.abs(before - after).max() <= np.abs(before).max() / LEVELS / 2 + 1e-6


def test_probabilities_sum_to_one_and_unknown_symbols_share_an_id():
    made = tagger("two")
    assert made.ids("aj?é").tolist() == [1, 10, 0, 0]
    assert np.allclose(made.probabilities(made.ids("abc")).sum(-1), 1)


def tags_of(found) -> str:
    return "".join(TAGS[tag] if tag >= 0 else "-" for tag in found.tags)


def test_an_english_text_without_its_spaces():
    found = without_spaces("I saw  O'Hara's 2 well-known\tmen, a B.")
    assert found.symbols == "isawo'hara's2well-knownmen,ab."
    assert tags_of(found) == "SBMEB-MMMM-E-BMMM-MMMMEBME-SS-"


def test_a_capital_that_is_two_small_letters_keeps_the_places():
    found = without_spaces("İstanbul ßa ŉ")
    assert len(found.symbols) == len(found.tags) == 11
    assert found.symbols[0] == "?"


def test_boundaries_of_words():
    cut = {"我打车去图书馆，A好": ["我", "打车", "去", "图书馆", "，", "A", "好"]}
    (text,) = cut
    found = boundaries(text, lambda one: cut[one])
    assert tags_of(found) == "SBESBME--S"
    assert found.symbols == text


def test_losses_are_the_cross_entropy_of_torch():
    random = np.random.RandomState(0)
    likely = random.dirichlet(np.ones(4), size=(3, 6))
    tags = np.array([0, 3, -1, 2, 1, -1])
    found = TaggedText("words", "abcdef", tags, likely, 0)
    for row in range(3):
        theirs = torch.nn.functional.nll_loss(
            torch.from_numpy(np.log(likely[row])), torch.from_numpy(tags), ignore_index=-1,
            reduction="none",
        )  # fmt: skip
        assert np.allclose(found.losses[row], theirs.numpy())


def test_what_is_framed_is_wrong_from_the_left_and_right_with_both():
    sure = np.eye(4)
    rows = np.stack([sure[[0, 3, 1, 0]], sure[[1, 0, 1, 0]], sure[[1, 0, 0, 3]]])
    found = TaggedText("words", "ab,c", np.array([1, 0, -1, 0]), rows, 0)
    assert found.needs_right.tolist() == [True, True, False, False]
    assert found.wrong.sum(1).tolist() == [2, 0, 1]
    assert found.n_letters == 3
    assert found.tags_of(0) == ["B", "S", "", "B"]


def counts(seeds: int = 4, sentences: int = 60) -> Compared:
    random = np.random.RandomState(3)
    letters = random.randint(0, 20, size=(4, sentences))

    def wrong(share: float, *shape: int) -> np.ndarray:
        return random.binomial(letters, share, size=(*shape, 4, sentences))

    return Compared(
        "words", letters, np.stack([wrong(p, seeds) for p in (0.3, 0.3, 0.1)]), wrong(0.7),
        wrong(0.5), np.array([0, 2]), np.stack([wrong(p, seeds) for p in (0.4, 0.1)]),
        np.array([3, 2, 2]), np.array([100, 101, 100]), np.ones((3, seeds)),
    )  # fmt: skip


def test_an_error_is_a_ratio_of_sums_and_its_interval_that_of_the_bootstrap():
    found = counts()
    error = found.error("uni")
    each = found.wrong[0].mean(0).sum(0)
    letters = found.letters.sum(0)
    assert error.value == pytest.approx(100 * each.sum() / letters.sum())
    draws = np.random.RandomState(0).randint(0, 60, size=(4000, 60))
    ratios = 100 * each[draws].sum(1) / letters[draws].sum(1)
    half = (error.sentences[1] - error.sentences[0]) / 2
    assert half == pytest.approx(1.96 * ratios.std(), rel=0.06)


def test_the_interval_over_seeds_is_students():
    found = counts()
    from scipy.stats import t

    by_seed = found.by_seed("bi", "B")
    low, high = t.interval(0.95, 3, by_seed.mean(), by_seed.std(ddof=1) / 2)
    assert found.error("bi", "B").seeds == pytest.approx((low, high), rel=1e-5)


def test_differences_are_those_of_the_errors_and_chance_is_not_clear():
    found = counts()
    for kind in (None, "M"):
        gap = found.better("bi", "uni", kind)
        assert gap.value == pytest.approx(
            found.error("uni", kind).value - found.error("bi", kind).value
        )
        assert gap.clear
    assert not found.better("two").clear
    assert found.baseline("majority") > found.baseline("alone") > found.error("uni").value


def test_networks_trained_ahead_are_compared_seed_by_seed():
    found = counts()
    ahead = TrainedAhead("words", found.letters, found.ahead, found.cut, np.ones((2, 4)))
    assert ahead.error(2) == found.error_cut(2)
    beyond = ahead.beyond(0, found)
    assert beyond.clear
    assert beyond.value == pytest.approx(found.error_cut(0).value - found.error("bi").value)
    assert ahead.gained(0, found) == 0
    assert ahead.gained(2, found) == pytest.approx(
        (ahead.error(0).value - ahead.error(2).value)
        / (ahead.error(0).value - found.error("bi").value)
    )
    few = found.of_first(2)
    assert few.seeds == 2
    assert few.by_seed("bi").tolist() == found.by_seed("bi")[:2].tolist()
    assert few.error_cut(2).value == pytest.approx(100 * few.cut[1].mean(0).sum() / few.many())


@pytest.mark.parametrize(
    ("sentences", "seeds", "clear"),
    [((1, 2), (1, 2), True), ((-1, 2), (1, 2), False), ((1, 2), (-1, 2), False),
     ((-2, -1), (-2, -1), True), ((1, 2), (np.nan, np.nan), True)],
)  # fmt: skip
def test_a_difference_is_clear_where_no_interval_holds_zero(sentences, seeds, clear):
    assert ErrorRate(0, sentences, seeds).clear == clear
