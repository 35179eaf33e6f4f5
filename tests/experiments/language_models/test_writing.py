"""Shannon's series from the bundled sentences."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from seqviz.compute.gates.encoding import END
from seqviz.compute.language_models.ngrams import ORDER
from seqviz.data import reviews
from seqviz.data.chinese import reviews_split
from seqviz.experiments.language_models import writing
from seqviz.experiments.language_models.corpora import corpus

SEEDS = range(8)


@cache
def texts(seed: int):
    return writing.series("en", seed, 1.0)


def test_series_has_a_text_for_each_n_and_equal_seeds_give_equal_texts():
    found = texts(0)
    assert len(found.texts) == len(found.parted) == ORDER
    assert [item.text for item in writing.series("en", 0, 1.0).texts] == [
        item.text for item in found.texts
    ]
    for before, item, parted in zip(found.texts, found.texts[1:], found.parted[1:], strict=False):
        assert before.text[:parted] == item.text[:parted]
        assert before.text[: parted + 1] != item.text[: parted + 1]


def test_longer_contexts_write_more_words_that_exist_and_longer_copied_spans():
    shares = np.array([[item.share_of_words for item in texts(seed).texts] for seed in SEEDS])
    longest = np.array([[item.longest for item in texts(seed).texts] for seed in SEEDS])
    assert np.nanmean(shares[:, 5]) > np.nanmean(shares[:, 1]) + 0.2
    assert longest[:, 5].mean() > longest[:, 1].mean() + 2


def test_people_write_in_spans_of_the_training_text_too():
    """The control: a held-out sentence has words that exist, and long spans stand elsewhere."""
    people = [writing.copying(text[: writing.MAX_CHARS], "en")
              for text in reviews.characters_split()[1][:3]]  # fmt: skip
    assert all(item.share_of_words > 0.7 for item in people)
    assert min(item.longest for item in people) >= 10


@pytest.mark.parametrize("language", ["en", "zh"])
def test_temperature_zero_needs_no_chance(language):
    a, b = (writing.series(language, seed, 0.0).texts for seed in (1, 2))
    assert [item.text for item in a] == [item.text for item in b]
    assert len(a[0].text) <= writing.MAX_CHARS
    assert set(a[2].text) <= set(corpus(language, "letters").vocabulary.names)


def test_copying_by_order_has_people_last_and_texts_of_one_length():
    told = []
    found = writing.copying_by_order("zh", 1.0, 4, lambda record, share: told.append(share))
    assert told[-1] == 1
    assert found.longest.shape == found.words.shape == (ORDER + 1, 4)
    first = "\n".join(reviews_split()[1])[: found.n_characters]
    training = "\n".join(reviews_split()[0])
    longest = found.longest[-1, 0]
    assert any(first[k : k + longest] in training for k in range(len(first) - longest + 1))
    assert not any(first[k : k + longest + 1] in training for k in range(len(first) - longest))
    assert found.spans.mean[5] > found.spans.mean[0]
    assert found.summary()["people"].mean == found.longest[-1].mean()


def test_people_repeat_no_whole_sentence_of_the_training_text():
    train, held = reviews.characters_split()
    repeated = set(train) & set(held)
    assert len(repeated) == 8
    people = END.join(text for text in held if text not in repeated)
    texts = [people[k * writing.MAX_CHARS : (k + 1) * writing.MAX_CHARS] for k in range(30)]
    found = writing.copying_by_order("en", 1.0)
    expected = [writing.copying(text, "en").longest for text in texts]
    assert found.longest[-1].tolist() == expected
