"""Sentences and language of a text that a user types on one line; memory that a class shares."""

from __future__ import annotations

import subprocess
import sys

import pytest

from seqviz.experiments.language_models import counting
from seqviz.experiments.language_models.corpora import MAX_CORPUS_CHARS, language_of, sentences


def test_marks_and_line_ends_end_a_sentence():
    assert sentences("Dog bites. Man\nsees! 狗咬人。人？") == (
        "Dog bites.", "Man", "sees!", "狗咬人。", "人？",
    )  # fmt: skip
    assert sentences(" \n ") == ()
    assert sum(map(len, sentences("a." * MAX_CORPUS_CHARS))) == MAX_CORPUS_CHARS


def test_language_is_that_of_the_characters():
    assert (language_of("dog"), language_of("dog 狗"), language_of("")) == ("en", "zh", "en")


def test_marks_are_no_words_of_an_order():
    result = counting.orders("Dog bites man. Man sees dog!", "dog bites man.", "en", 2, "none")
    assert result.words == ("dog", "bites", "man")
    assert result.unknown == ()
    assert result.totals[0] == 3  # dog begins 1 of 2, bites follows it in 1 of 2, man ends 1 of 2


_MEMORY = """
import gc, itertools, tracemalloc
from seqviz.lessons.language_models.lesson import lesson

def run(bench, language="en", **values):
    lesson.benches[bench].run(values, language, code=False)

for bench in ("product", "sides"):  # what they import is not the lesson's
    run(bench)
gc.collect()
tracemalloc.start()
for count in lesson.warm_up:
    count()
for bench, language in itertools.product(lesson.benches, ("en", "zh")):
    run(bench, language)
for n, smoothing in itertools.product((1, 3, 6), ("none", "witten_bell", "modified_kneser_ney")):
    run("counts", n=n, smoothing=smoothing)
    run("counts", n=n, smoothing=smoothing, level="letters")
run("ladder", view="you")
gc.collect()
print(tracemalloc.get_traced_memory()[0])
"""


@pytest.mark.nightly
def test_what_a_class_shares_stays_below_50_mb(minilm, smollm2):
    """Arrays and objects of all benches in both languages, without pretrained models."""
    result = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, text=True,
                            check=True)  # fmt: skip
    assert 30e6 < float(result.stdout) < 50e6
