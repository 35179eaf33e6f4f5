"""Benches on counting: a sentence as a product, and followers of a context under smoothing."""

from __future__ import annotations

import math
from dataclasses import dataclass

from seqviz.compute.language_models.ngrams import ORDER, SMOOTHINGS
from seqviz.experiments.language_models import counting
from seqviz.experiments.language_models.corpora import (
    LEVELS,
    MAX_CORPUS_CHARS,
    language_of,
    sentences,
)
from seqviz.figures.language_models.unseen import continuations, follower_bars
from seqviz.figures.language_models.word_orders import order_bits
from seqviz.lessons.framework.controls import choice, on, slider, sortable, text_input, view
from seqviz.lessons.framework.show import Show

WORDS = ("dog", "bites", "man")
MAX_SENTENCES = 10  # of the corpus of the target
MIN_LOG10_RATIO = 3.0  # of two orders, to reach the target
TEXTS = ("native", "foreign")  # of the language of the page, and of the other one
MAX_CONTEXT_CHARS = 200
CONTEXTS = {"en": "the actors are", "zh": "房间很"}  # of an empty text field


def language_chosen(texts: str, show: Show) -> str:
    """Return the language of the sentences that are counted."""
    page = str(show.words.text.lang)
    return page if texts == "native" else "zh" if page == "en" else "en"


# --- product --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProductParams:
    """Controls of the bench on orders of words."""

    sentence: str = text_input("", MAX_CONTEXT_CHARS, typed=True, more=True)
    order: tuple[str, ...] = sortable(WORDS, when=on(sentence=""))
    n: int = slider(1, 3, 2)
    corpus: str = text_input("", MAX_CORPUS_CHARS, typed=True)
    smoothing: str = choice(SMOOTHINGS, "witten_bell", menu=True, more=True)


def product(p: ProductParams, show: Show) -> None:
    text = p.corpus.strip() or show.words("default.corpus")
    words = p.sentence.strip() or " ".join(show.option("order", name) for name in p.order)
    language = language_of(text + words)
    space = "" if language == "zh" else " "
    result = show.run(counting.orders, text, words, language, p.n, p.smoothing)
    order = tuple(range(len(result.words)))
    show.figure(order_bits, result, order)
    facts = show.facts(result.compared, order, note="product", metrics=("bits", "alone"),
                       text=space.join(result.words))  # fmt: skip
    if len(order) > 1 and not math.isinf(facts["bits"]):
        rank = show.derive(result.rank, order[::-1], name="backwards")
        show.note("product.named", text=space.join(result.text(rank)), bits=facts["bits"],
                  other=float(result.totals[rank]), n=len(order))  # fmt: skip
    if result.unknown:
        show.note("product.unknown", words=show.words("list.and").join(result.unknown))
    if result.left_out:
        show.note("product.left_out", read=len(order), left_out=result.left_out)
    lines = sentences(text)
    show.caption(show.words("note.product.corpus", count=len(lines), corpus=" ".join(lines)))
    few = bool(p.corpus.strip()) and len(lines) <= MAX_SENTENCES
    show.target(
        "apart", few and result.spread > MIN_LOG10_RATIO, spread=result.spread, count=len(lines)
    )


# --- counts ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class CountsParams:
    """Controls of the bench on followers of a context."""

    view: str = view(("followers", "lower"), "followers")
    context: str = text_input("", MAX_CONTEXT_CHARS, typed=True, when=on(view="followers"))
    n: int = slider(1, ORDER, 3, when=on(view="followers"))
    smoothing: str = choice(SMOOTHINGS, "none", menu=True, when=on(view="followers"))
    level: str = choice(LEVELS, "words", more=True, shipped=True, when=on(view="followers"))
    counted: str = text_input("", MAX_CORPUS_CHARS, typed=True, more=True,
                              when=on(view="followers"))  # fmt: skip
    texts: str = choice(TEXTS, "native", more=True, shipped=True)


def counts(p: CountsParams, show: Show) -> None:
    language = language_chosen(p.texts, show)
    if p.view == "lower":
        return _lower(language, show)
    impossible = show.job(counting.impossible_texts, name="impossible", language=language,
                          level=p.level)  # fmt: skip
    context = p.context.strip() or CONTEXTS[language]
    cut = language_of(p.counted) if p.counted.strip() else language
    result = show.run(counting.followers, p.counted, context, cut, p.level, p.n, p.smoothing,
                      name="probabilities")  # fmt: skip
    show.figure(follower_bars, result, impossible, p.n)
    facts = show.derive(result.summary, name="summary")
    share = show.derive(impossible.at_order, p.n, name="at_order")
    show.metric("never", show.words("metric.never.value", value=facts["unseen"]))
    show.metric("impossible", share["share"])
    space = "" if language == "zh" or p.level == "letters" else " "
    end = show.text("figure.followers_end")
    read = space.join(item.replace("\n", end) for item in result.context)
    key = facts.variant if result.context else "frequency"
    show.note(f"counts.{key}", **facts | {"first": facts["first"].replace("\n", end)},
              context=read, n=p.n)  # fmt: skip
    if result.context and not p.context.strip():
        show.caption(show.words("note.counts.default", context=context))
    show.note("counts.impossible", **share)
    if p.smoothing in ("none", "add_k"):
        return show.note(f"counts.{p.smoothing}")
    taken = float(result.given_away.clip(0).sum())
    return show.note("counts.lower_order", taken=taken, symbols=len(result.symbols))


def _lower(language: str, show: Show) -> None:
    """Show words that are frequent behind few words only."""
    result = show.run(counting.by_continuation, language)
    show.figure(continuations, result)
    show.note(
        "counts.lower", word=result.words[0], count=int(result.count[0]), before=result.before[0],
        contexts=int(result.contexts[0]), frequency=float(result.frequency[0]),
        continuation=float(result.continuation[0]),
    )  # fmt: skip
