"""GloVe as it is kept, the bundled words, and MiniLM's word before and after reading."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

from seqviz.compute.text.vectors import skip_gram
from seqviz.compute.text.vectors.learned import nearest
from seqviz.compute.text.vectors.table import WAYS
from seqviz.core.errors import UserError
from seqviz.data import precomputed, word_lists
from seqviz.data.reviews import movie_reviews
from seqviz.experiments.text.vectors import map as maps
from seqviz.experiments.text.vectors import neighbors, senses, tables
from seqviz.lessons.text.vectors import learned_so_far
from seqviz.models import store, word_vectors
from seqviz.models.registry import VECTORS, model
from tests.tiers import first_only

RIVER, ACCOUNT = "We sat on the bank of the river.", "She opened an account at the bank."
HOSTILE = ("", "\x00\x01", "\ud800", "🏳️‍🌈", "   ", "…!?")


def test_word_vectors_reduce_merges_two_files_into_one(tmp_path):
    import pandas as pd

    rows = np.random.RandomState(0).normal(size=(5, 3)).astype(np.float32)
    words = ["the", "<b>", "猫", "it's", "z"]
    np.save(tmp_path / "table.npy", rows)
    pd.DataFrame({"index": words}).to_parquet(tmp_path / "glove_6B_index.parquet")
    word_vectors.reduce(tmp_path, "table.npy")
    assert [path.name for path in tmp_path.iterdir()] == [word_vectors.FILE]
    retained = word_vectors.read(tmp_path / word_vectors.FILE)
    assert retained.words == tuple(words)
    np.testing.assert_array_equal(retained.vectors, rows.astype(np.float16))
    word_vectors.write(tmp_path / "short.npz", word_vectors.StoredVectors(("a",), retained.vectors))
    with pytest.raises(ValueError, match="1 words and 5 vectors"):
        word_vectors.read(tmp_path / "short.npz")


def test_glove_is_no_encoder_or_decoder_option():
    from seqviz.lessons.framework.model_controls import DECODERS, ENCODERS

    assert model("glove") in VECTORS
    assert "glove" not in (*ENCODERS, *DECODERS)


def test_bundled_words_match_glove(glove):
    retained, full = word_lists.bundled(), glove.network
    assert len(full.words) == word_vectors.WORDS
    assert glove.bytes == full.vectors.nbytes
    indices = [full.words.index(word) for word in retained.words]
    np.testing.assert_array_equal(retained.vectors, full.vectors[indices])
    np.testing.assert_allclose(retained.mean, full.vectors.astype(float).mean(0))
    assert store.verify("glove").size < 2_000_000


def test_glove_cosine_matches_documented_value():
    table = tables.table("bundled")
    rows = {w: tables.needed("bundled", w) for w in ("boy", "man", "money", "river", "king")}
    assert table.cosines(rows["boy"], False)[table.index["man"]] == pytest.approx(0.856, abs=5e-4)


def test_project_reproduces_lecture_figure_19():
    result = maps.project(
        "bundled", "boy man woman prince queen king", "axes", "man woman", "man king"
    )
    at = dict(zip(result.words, result.coordinates.round(2).tolist(), strict=True))
    assert at["man"] == [0, 0]
    assert at["woman"][0] == 1
    assert at["king"][1] == 1
    assert at["queen"] == [0.64, 0.75]
    assert at["boy"][0] == 0.47
    assert result.neighbors_preserved == (3, 6)


def test_solve_returns_king_until_query_words_are_excluded(glove, minilm):
    for source in tables.TABLES:
        answer, neighbor = maps.solve(source, "King - man + WOMAN", True)
        assert (answer.first, answer.first_new) == ("king", "queen")
        assert not set(answer.query) & set(neighbor.words)


@pytest.mark.parametrize("stride", first_only([30, 1]))
def test_shipped_analogies_match_recomputation(glove, monkeypatch, stride):
    keywords = {"source": "glove", "centered": True}
    shipped = precomputed.find(maps.analogies, keywords).result
    some = word_lists.analogy_questions()[::stride]
    monkeypatch.setattr(word_lists, "analogy_questions", lambda: some)
    np.testing.assert_array_equal(maps.analogies(**keywords).right, shipped.right[:, ::stride])
    shares = {method: shipped.overall(method).share for method in WAYS}
    assert shares["excluded"] > shares["all"] > shares["neighbor"]
    family = shipped.classes.index("family")
    assert shipped.of("excluded").share[family] == pytest.approx(48 / 54)


def test_project_lists_unknown_words_and_averages_pieces(minilm):
    result = maps.project("minilm", "cat dog horse tokenization 🙂", "pca")
    assert result.split == ("tokenization",)
    assert result.unknown == ()
    _, pieces = tables.vector("minilm", "tokenization")
    assert pieces == 2
    existing = maps.project("bundled", "boy man woman qqq", "mds")
    assert existing.unknown == ("qqq",)
    assert existing.words == ("boy", "man", "woman")


@pytest.mark.parametrize("text", HOSTILE)
def test_word_inputs_reject_text_without_words(text):
    for request in (
        lambda: maps.project("bundled", text, "pca"), lambda: maps.nearest("bundled", text, True),
        lambda: maps.solve("bundled", text, True), lambda: tables.in_a_row(text),
        lambda: neighbors.check_word(text),
    ):  # fmt: skip
        with pytest.raises(UserError) as refused:
            request()
        assert refused.value.code in ("no_word", "few_words", "few_known_words")


def test_word_inputs_reject_invalid_words_and_truncate_long_texts():
    for code, request in {
        "few_words": lambda: maps.project("bundled", "king queen", "pca"),
        "axis_words": lambda: maps.project(
            "bundled", "king queen man", "axes", "man man", "man king"
        ),
        "unknown_word": lambda: maps.nearest("bundled", "qqq", True),
        "three_words": lambda: maps.solve("bundled", "king queen", True),
        "rare_word": lambda: neighbors.check_word("qqq"),
    }.items():
        with pytest.raises(UserError) as refused:
            request()
        assert refused.value.code == code
    assert tables.words_of("שלום king " * 120_000) == ("שלום", "king")
    assert len(tables.in_a_row("人咬狗" * 400_000)) == tables.MAX_LIST_WORDS


def test_map_names_the_words_that_its_table_lacks():
    with pytest.raises(UserError) as refused:
        maps.project("bundled", "king qqq queen wwwww", "pca")
    assert refused.value.code == "few_known_words"
    assert refused.value.details == {"least": maps.FEWEST, "unknown": "qqq, wwwww"}


def test_two_readings_match_in_table_and_differ_after_positions(minilm):
    layers = senses.two_readings("minilm", "Bank", RIVER, ACCOUNT)
    assert layers.table == pytest.approx(1, abs=1e-12)
    assert 0.9 < layers.read_in < 1
    assert layers.last < 0.8
    assert len(layers.cosines) == 8
    twice = senses.two_readings("minilm", "bank", RIVER, RIVER)
    np.testing.assert_allclose(twice.cosines, 1, atol=1e-6)
    with pytest.raises(UserError, match="both sentences"):
        senses.two_readings("minilm", "ban", RIVER, ACCOUNT)  # no part of a word


def test_senses_vectors_match_library_hidden_states(minilm):
    import torch

    inputs = minilm.tokenizer(RIVER, return_tensors="pt")
    with torch.inference_mode():
        states = minilm.network(**inputs, output_hidden_states=True).hidden_states
    at = minilm.tokenizer.convert_ids_to_tokens(inputs["input_ids"][0]).index("bank")
    result = senses._vectors(minilm, "bank", RIVER)
    expected = np.stack([state[0, at].numpy() for state in states])
    np.testing.assert_allclose(result[1:-1], expected, atol=1e-5)


def test_two_senses_match_shipped_sense_pairs(minilm):
    two_senseses = word_lists.two_senses()
    assert len(two_senseses) == len({item.word for item in two_senseses}) == 50
    shipped = precomputed.find(senses.sense_pairs, {"model": "minilm"}).result
    for at, entry in list(enumerate(two_senseses))[::7]:
        other = senses.two_readings("minilm", entry.word, entry.first[0], entry.second[0])
        same = senses.two_readings("minilm", entry.word, *entry.first)
        np.testing.assert_allclose(shipped.other[2 * at], 100 * other.cosines, atol=0.51)
        np.testing.assert_allclose(shipped.same[2 * at], 100 * same.cosines, atol=0.51)


def test_substitutes_are_in_corpus_and_match_shipped_result():
    words, counts, ids, texts = neighbors.corpus()
    assert {word for item in word_lists.substitutes() for word in item} <= set(words)
    assert counts.min() == neighbors.LEAST
    assert (np.diff(counts) <= 0).all()
    assert counts.sum() == (ids >= 0).sum()
    assert len(ids) == len(texts)
    from seqviz.compute.text.vectors.learned import substitutes_nearer

    shipped = precomputed.find(neighbors.substitutes, {}).result
    values = substitutes_nearer(neighbors.counted(2), word_lists.substitutes())
    np.testing.assert_array_equal(shipped.nearer[0, 0, 0], values)


def test_corpus_words_carry_no_quotation_marks():
    """Reviews quote: “''the” would be a word of its own, and “'funny'” would not be counted."""
    words, counts, *_ = neighbors.corpus()
    assert all(word[0].isalpha() and word[-1].isalpha() for word in words)
    stripped = (word.strip("'") for text in movie_reviews().texts
                for word in re.split(r"[^a-z']+", text.lower()))  # fmt: skip
    often = Counter(stripped)
    assert [often[word] for word in words] == counts.tolist()


@pytest.mark.parametrize(
    ("train", "epochs"),
    [(neighbors.skip_grams, neighbors.EPOCHS), (neighbors.cbow, neighbors.EPOCHS_CBOW)],
)
def test_training_of_vectors_reports_losses_and_nearest_words(train, epochs, monkeypatch):
    """The figure of a running job draws the records, and its progress bar the fractions."""
    ids, texts = np.tile(np.arange(4), 8), np.repeat(np.arange(4), 8)
    words = (("a", "b", "c", "d"), np.full(4, 8), ids, texts)
    monkeypatch.setattr(neighbors, "corpus", lambda: words)
    monkeypatch.setattr(skip_gram, "_PAUSE", np.inf)
    records = []
    result = train(2, 0, report=records.append)
    assert [record.fraction for record in records] == [(k + 1) / epochs for k in range(epochs)]
    np.testing.assert_array_equal(records[-1].losses, result.losses)
    near = neighbors.nearest_so_far(records[-1], "b", 2, 3)
    rounded = nearest(result, "b", 2, 3)  # to half precision
    np.testing.assert_allclose(near.cosines, rounded.cosines, atol=2e-3)
    figure = learned_so_far(records, "b", 2)
    np.testing.assert_array_equal(figure.data[0].y, result.losses)
    np.testing.assert_array_equal(figure.data[1].x[:3], near.cosines)
    assert tuple(figure.layout.yaxis2.ticktext[:3]) == near.words
