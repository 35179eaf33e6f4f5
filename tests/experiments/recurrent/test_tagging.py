"""Trainings of taggers on the bundled sentences, short ones."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import torch

from seqviz.compute.recurrent.tagging.letters import states
from seqviz.core.errors import UserError
from seqviz.data.chinese import reviews_split
from seqviz.experiments.recurrent.tagging import letters
from seqviz.experiments.recurrent.tagging.letters import (
    MAX_SENTENCE_SIGNS,
    READERS,
    SIZES,
    TASKS,
    compare_ahead,
    compare_taggers,
    known_symbols,
    tag_text,
    tagged,
    train_taggers,
)
from seqviz.figures.recurrent.tagging.letters import losses_so_far, trained_so_far
from tools.bundle_chinese import chosen


@pytest.fixture
def short(monkeypatch):
    """Trainings of 25 updates on sentences of one length."""
    for task, size in SIZES.items():
        monkeypatch.setitem(SIZES, task, size._replace(updates=25))
    groups = {task: letters._groups_of_training(task) for task in TASKS}
    few = {task: [max(some, key=lambda g: (len(g.ids) <= 20, len(g.indices)))]
           for task, some in groups.items()}  # fmt: skip
    monkeypatch.setattr(letters, "_groups_of_training", lambda task: few[task])


def test_reviews_split_has_fixed_disjoint_parts():
    train, held = reviews_split()
    assert (len(train), len(held)) == (4000, 800)
    assert not set(train) & set(held)
    assert all(8 <= len(item) <= 40 for item in train)


def test_reviews_split_rejects_missing_file(monkeypatch, tmp_path):
    monkeypatch.setattr("seqviz.data.chinese.ASSETS", tmp_path)
    reviews_split.cache_clear()
    with pytest.raises(UserError) as refused:
        reviews_split()
    assert refused.value.code == "damaged"


def test_chosen_filters_sentences_by_characters_and_prefix():
    good = [f"{chr(0x4E00 + k)}很好的酒店早餐也好。" for k in range(20)]
    bad = ["太短了。", "Good hotel 酒店的早餐很好。", good[0] + "还会再来。", "长" * 41]
    assert chosen([*good, *bad]) == sorted(good)


@pytest.mark.parametrize("task", TASKS)
def test_groups_have_equal_length_without_padding(task):
    train, held = letters._sentences(task)
    for group in letters._groups(task, held):
        for position, ids, tags in zip(group.indices, group.ids.T, group.tags.T, strict=True):
            assert len(ids) == len(held[position].symbols)
            assert np.array_equal(tags, held[position].tags)
    count = Counter("".join(item.symbols for item in train))
    assert min(count[known_symbol] for known_symbol in known_symbols(task)) >= SIZES[task].min_count


@pytest.mark.parametrize("task", TASKS)
def test_train_taggers_reduces_loss_and_depends_on_seed(task, short):
    before = torch.random.get_rng_state()
    reports: list[float] = []
    records: list[object] = []

    def report(record, share):
        records.append(record)
        reports.append(share)

    trained_taggers = train_taggers(task, 3, report=report)
    figure = losses_so_far(records)  # as the page draws it while it waits
    assert [list(trace["y"]) for trace in figure.traces] == [
        item.losses.tolist() for item in trained_taggers
    ]
    assert torch.equal(before, torch.random.get_rng_state())
    assert [item.wiring for item in trained_taggers] == list(READERS)
    for entry in trained_taggers:
        assert entry.losses[-1] < 0.8 * entry.losses[0]
        assert np.isfinite(entry.losses).all()
    assert reports == sorted(reports)
    assert reports[-1] == pytest.approx(1)
    again, other = (train_taggers(task, seed)[0] for seed in (3, 4))
    assert np.array_equal(again.levels, trained_taggers[0].levels)
    assert not np.array_equal(other.levels, trained_taggers[0].levels)
    typed = "I saw Anna." if task == "spaces" else "我打车去"
    read = tag_text(task, trained_taggers, typed, 50)
    assert np.allclose(read.probabilities[1], read.probabilities[2], atol=1e-6)


def test_train_taggers_stops_on_cancel(short):
    class Stop(BaseException):
        pass

    def report(*_):
        raise Stop

    with pytest.raises(Stop):
        train_taggers("words", 1, report=report)


def test_compare_taggers_counts_every_held_out_letter(short, monkeypatch):
    monkeypatch.setattr(letters, "AHEAD", (0, 50))
    records: list[object] = []
    comparison = compare_taggers("words", seeds=2, report=lambda record, _: records.append(record))
    assert "5" in trained_so_far(records).alt
    held = letters._sentences("words")[1]
    tags = np.concatenate([item.tags for item in held])
    assert comparison.letters.sum(1).tolist() == np.bincount(tags[tags >= 0]).tolist()
    commonest = np.bincount(
        np.concatenate([g.tags.ravel() for g in letters._groups_of_training("words")]) + 1
    )[1:].argmax()
    assert comparison.baseline("majority") == pytest.approx(
        100 * np.mean(tags[tags >= 0] != commonest)
    )
    assert comparison.wrong.shape == (3, 2, 4, len(held))
    assert comparison.cut.shape == (2, 2, 4, len(held))
    assert comparison.cut[0].sum() > comparison.wrong[2].sum()
    assert np.array_equal(comparison.cut[1], comparison.wrong[2])  # no sentence is longer
    assert (comparison.wrong <= comparison.letters).all()


@pytest.mark.parametrize("ahead", [0, 1, 3, 7, 50])
def test_cut_states_match_inference_states_with_lookahead(ahead):
    torch.manual_seed(0)
    cells = torch.nn.GRU(5, 7, bidirectional=True)
    read = torch.randn(8, 3, 5)
    learned = letters._cut_states(cells, read, ahead).detach().numpy()
    used = states(
        "bi", [parameter.detach().numpy() for parameter in cells.parameters()], read.numpy(), ahead
    )
    assert np.abs(learned - used).max() < 1e-6
    full = cells(read)[0].detach().numpy()
    assert (np.abs(learned - full).max() < 1e-6) == (ahead >= 7)


@pytest.mark.nightly
def test_compare_ahead_with_full_lookahead_matches_compare_taggers(short, monkeypatch):
    monkeypatch.setattr(letters, "LEARNED_AHEAD", (0, 60))
    records: list[object] = []
    trained_ahead = compare_ahead("words", seeds=2, report=lambda record, _: records.append(record))
    assert records[-1] == (3, 4)
    every = compare_taggers("words", seeds=2)
    assert np.array_equal(trained_ahead.letters, every.letters)
    assert trained_ahead.wrong.shape == (2, 2, 4, trained_ahead.sentences)
    # Read to the end of every sentence it is the same training: what differs is rounding.
    assert trained_ahead.error(60).value == pytest.approx(every.error("bi").value, abs=0.3)
    assert trained_ahead.error(0).value > trained_ahead.error(60).value


@pytest.mark.parametrize(
    ("task", "text"), [("capitals", "123 !"), ("words", "taxi"), ("words", "")]
)
def test_tagged_rejects_text_without_letters(task, text):
    with pytest.raises(UserError) as refused:
        tagged(task, text)
    assert refused.value.code == "nothing_to_tag"


def test_tagged_truncates_long_text():
    assert len(tagged("spaces", "Ab " * 100).symbols) == MAX_SENTENCE_SIGNS
