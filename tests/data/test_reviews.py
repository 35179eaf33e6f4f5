"""The bundled sentences: whole, unchanged, and refused when they are not."""

from __future__ import annotations

import bz2

import numpy as np
import pytest

from seqviz.core.errors import UserError
from seqviz.data import reviews as snippets


def test_snippets_match_paper_counts():
    reviews, editorials = snippets.movie_reviews(), snippets.editorials()
    assert len(reviews.texts) == len(reviews.ratings) == 10_605
    assert len(editorials.texts) == len(editorials.ratings) == 5_190
    for result in (reviews, editorials):
        assert np.abs(result.ratings).max() <= 4
        assert all(text and text == " ".join(text.split()) for text in result.texts)
        assert not result.ratings.flags.writeable


def test_sentiment_split_is_fixed_without_leakage():
    train, test = snippets.sentiment_split()
    assert (len(train.texts), len(test.texts)) == (8_072, 2_000)
    positive = train.positive.sum() + test.positive.sum()
    assert positive / 10_072 == pytest.approx(0.496, abs=5e-4)  # as printed: 49.6%
    reviews = snippets.movie_reviews()
    rating = dict(zip(reviews.texts, reviews.ratings, strict=True))
    for part in (train, test):
        for text, label in zip(part.texts[:200], part.positive[:200], strict=True):
            assert abs(rating[text]) >= 0.5
            assert (rating[text] > 0) == label
    # A few sentences were rated twice; nearly none may stand on both sides.
    assert len(set(train.texts) & set(test.texts)) <= 5


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not bzip2",
        bz2.compress(b"1\t0.5\tAnother text.\n"),
        bz2.compress(b"1\t0.5\tcut\n")[:-9],
    ],
    ids=["empty", "not bzip2", "other rows", "cut"],
)
def test_snippets_reject_damaged_or_missing_file(tmp_path, monkeypatch, content):
    monkeypatch.setattr(snippets, "FOLDER", tmp_path)
    (tmp_path / "movie_reviews.tsv.bz2").write_bytes(content)
    with pytest.raises(UserError, match=r"movie_reviews\.tsv\.bz2 is missing or damaged"):
        snippets._load.__wrapped__("movie_reviews")
    (tmp_path / "movie_reviews.tsv.bz2").unlink()
    with pytest.raises(UserError, match="missing or damaged"):
        snippets._load.__wrapped__("movie_reviews")
