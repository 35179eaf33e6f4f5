"""Benches on counting: a sentence as a product, and followers of a context under smoothing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.language_models.ngrams import ORDER, SMOOTHINGS
from seqviz.experiments.language_models import counting
from seqviz.experiments.language_models.corpora import (
    LEVELS,
    MAX_CORPUS_CHARS,
    language_of,
    sentences,
    tokens,
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
MAX_FOLLOWERS = 15  # bars
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
        listed = ", ".join(f"w{position}" for position in range(len(order), 0, -1))
        show.note(
            "product.named", text=space.join(result.text(rank)), other=float(result.totals[rank]),
            listed=listed, sentence=space.join(result.words), bits=facts["bits"],
        )  # fmt: skip
    if result.unknown:
        show.notice("product.unknown", words=show.words("list.and").join(result.unknown))
        unknown = show.derive(result.of_unknown, order, name="of_unknown")
        if unknown.variant:
            show.note("product.unknown_dearer", **unknown)
    if result.left_out:
        show.notice("product.left_out", read=len(order), left_out=result.left_out)
    lines = sentences(text)
    show.caption(show.words("note.product.corpus", count=len(lines), corpus=" ".join(lines)))
    own = len(lines) if p.corpus.strip() else 0  # the default corpus does not count
    reached = 0 < own <= MAX_SENTENCES and result.spread > MIN_LOG10_RATIO
    show.target("apart", reached, spread=result.spread, count=own)


# --- counts ---------------------------------------------------------------------------------------


def _longest(values: Mapping[str, Any]) -> float:
    """Return the n of the longest n-gram of a user's corpus, or the largest there is."""
    text = values["counted"]
    if not text.strip():
        return ORDER
    return counting.longest(text, language_of(text), values["level"])


@dataclass(frozen=True)
class CountsParams:
    """Controls of the bench on followers of a context."""

    view: str = view(("followers", "lower"), "followers")
    context: str = text_input("", MAX_CONTEXT_CHARS, typed=True, when=on(view="followers"))
    level: str = choice(LEVELS, "words", more=True, shipped=True, when=on(view="followers"))
    counted: str = text_input("", MAX_CORPUS_CHARS, typed=True, more=True,
                              when=on(view="followers"))  # fmt: skip
    n: int = slider(1, ORDER, 3, within=_longest, when=on(view="followers"))
    smoothing: str = choice(SMOOTHINGS, "none", menu=True, when=on(view="followers"))
    follower: int = slider(1, MAX_FOLLOWERS, 1, more=True, when=on(view="followers"))
    texts: str = choice(TEXTS, "native", more=True, shipped=True)


def counts(p: CountsParams, show: Show) -> None:
    language = language_chosen(p.texts, show)
    if p.view == "lower":
        return _lower(language, show)
    held_out = show.job(counting.held_out_texts, name="held_out", language=language, level=p.level)
    own = p.counted.strip()
    cut = language_of(own) if own else language
    space = "" if cut == "zh" or p.level == "letters" else " "
    default = CONTEXTS[language]
    if own:
        default = space.join(tokens(sentences(own)[0], cut, p.level)[: p.n - 1])
    context = p.context.strip() or default
    result = show.run(counting.followers, p.counted, context, cut, p.level, p.n, p.smoothing,
                      name="probabilities")  # fmt: skip
    chosen = min(p.follower, len(result.symbols))
    show.figure(follower_bars, result, held_out, p.n, chosen, picks=("", "follower"))
    facts = show.derive(result.summary, name="summary")
    share = show.derive(held_out.at_order, p.n, name="at_order")
    show.metric("never", show.words("metric.never.value", value=facts["unseen"]))
    if p.smoothing == "none":
        show.metric("impossible", share["share"])
    signs = {END: show.text("figure.followers_end"), UNKNOWN: show.words("list.unknown")}

    def written(symbols: Sequence[str]) -> str:
        return space.join(signs.get(item, item) for item in symbols)

    read, key = written(result.context), facts.variant if result.context else "frequency"
    show.note(f"counts.{key}", **facts | {"first": written([facts["first"]])}, context=read, n=p.n)
    longest = show.derive(counting.longest, p.counted, cut, p.level, name="longest")
    if longest < ORDER:
        show.notice("counts.shortened", n=longest)
    if result.context and not p.context.strip():
        show.caption(show.words("note.counts.default", context=context))
    show.note("counts.impossible", **share)
    if p.smoothing != "none":
        show.note("counts.smoothed")
    if p.smoothing in ("none", "add_k"):
        show.note(f"counts.{p.smoothing}")
    else:
        taken = float(result.given_away.clip(0).sum())
        show.note("counts.lower_order", taken=taken, symbols=len(result.symbols))
    if p.smoothing != "none":
        unit = show.words(f"unit.{p.level}")
        cost = show.facts(
            held_out.cost, p.smoothing, p.n, note="counts.held_out", n=p.n, unit=unit,
            name=show.option("smoothing", p.smoothing),
        )  # fmt: skip
        show.metric("held_out", show.words("metric.held_out.value", value=cost["bits"], unit=unit))
    ngram = (*result.context, result.symbols[chosen - 1])
    listed = show.run(counting.counted_sentences, p.counted, ngram, cut, p.level, name="sentences")
    if not listed.count:
        return show.notice("counts.not_listed", ngram=written(ngram))
    show.notice("counts.listed", ngram=written(ngram), times=listed.count, texts=listed.sentences,
              listed=len(listed.listed))  # fmt: skip
    return show.rows("counted", {"counted.text": listed.listed})


def _lower(language: str, show: Show) -> None:
    """Show words that are frequent behind few words only."""
    result = show.run(counting.by_continuation, language)
    show.figure(continuations, result)
    show.note(
        "counts.lower", word=result.words[0], count=int(result.count[0]), before=result.before[0],
        contexts=int(result.contexts[0]), frequency=float(result.frequency[0]),
        continuation=float(result.continuation[0]),
    )  # fmt: skip
