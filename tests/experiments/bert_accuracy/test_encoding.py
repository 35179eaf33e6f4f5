"""Many sentences at once give what the library gives for each alone, under every mask."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import encoding
from seqviz.jobs import CancelledError
from tests.models.reference_model import eager

FLOAT = 2e-5  # float32 through six layers, summed in another order
TEXTS = sentiment_split()[1].texts[:12]


@pytest.fixture(scope="module")
def library(minilm):
    """The same weights with the library's own attention."""
    return eager(minilm)


@pytest.fixture(scope="module")
def ids(minilm):
    return encoding.tokenize(minilm, TEXTS)


def close(vectors, cls, mean, pooler) -> None:
    for mine, other in ((vectors.cls, cls), (vectors.mean, mean), (vectors.pooler, pooler)):
        np.testing.assert_allclose(mine, np.stack(other), atol=FLOAT)


def through(library, ids, real, mask=None):
    """(cls, mean, pooler) of one padded sentence, by the library."""
    with torch.no_grad():
        output = library(torch.tensor(ids)[None], attention_mask=mask)
    hidden = output.last_hidden_state[0].numpy()
    return hidden[real.argmax()], hidden[real].mean(0), output.pooler_output[0].numpy()


def test_tokenize_matches_tokenizer_and_truncates_inside_cls_and_sep(minilm):
    results = encoding.tokenize(minilm, ["good film", "bad " * 100], 8)
    cls, sep = minilm.tokenizer.cls_token_id, minilm.tokenizer.sep_token_id
    assert results[0].tolist() == minilm.tokenizer("good film")["input_ids"]
    assert len(results[1]) == 8
    assert results[1][0] == cls
    assert results[1][-1] == sep


def test_buckets_contain_each_sentence_once_sorted_by_length():
    lengths = np.random.RandomState(0).randint(3, 60, 150)
    results = encoding.buckets(lengths, 32)
    assert sorted(np.concatenate(results)) == list(range(150))
    assert [len(item) for item in results] == [32, 32, 32, 32, 22]
    for entry, following in itertools.pairwise(results):
        assert lengths[entry].max() <= lengths[following].min()


def test_pad_places_padding_on_requested_side():
    sentences = (np.array([5, 6, 7]), np.array([8]))
    right = encoding.pad(sentences, 0, "right", 4)
    assert right.ids.tolist() == [[5, 6, 7, 0], [8, 0, 0, 0]]
    left = encoding.pad(sentences, 0, "left", 2)  # shorter than the longest: no matter
    assert left.ids.tolist() == [[5, 6, 7], [0, 0, 8]]
    assert left.real.tolist() == [[True, True, True], [False, False, True]]


def test_vectors_match_single_sentence_passes(minilm, library, ids):
    alone = [through(library, item, np.ones(len(item), bool)) for item in ids]
    close(encoding.vectors(minilm, ids), *zip(*alone, strict=True))
    close(encoding.vectors(minilm, ids, length=100), *zip(*alone, strict=True))


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("told", [True, False])
def test_vectors_match_library_with_and_without_attention_mask(minilm, library, ids, side, told):
    batch = encoding.pad(ids[:4], minilm.tokenizer.pad_token_id, side, 80)
    rows = []
    for row, real in zip(batch.ids, batch.real, strict=True):
        mask = torch.tensor(real)[None].long() if told else torch.ones(1, 80, dtype=torch.long)
        rows.append(through(library, row, real, mask))
    result = encoding.vectors(minilm, ids[:4], side=side, length=80, masked=told)
    close(result, *zip(*rows, strict=True))
    if side == "left" or not told:  # the positions shift, or padding is read: not the same vectors
        assert np.abs(result.mean - encoding.vectors(minilm, ids[:4]).mean).max() > 0.01


def test_vectors_reports_progress_and_cancels(minilm, ids):
    shares = []
    encoding.vectors(minilm, ids, report=shares.append, length=64)
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert len(shares) == 2

    def leave(share):
        raise CancelledError

    with pytest.raises(CancelledError):
        encoding.vectors(minilm, ids, report=leave)
