"""Benches on word vectors: a map, a word in context, and vectors learned from neighbors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from seqviz.compute.text.vectors.learned import METHODS, LearnedVectors, nearest, shared
from seqviz.compute.text.vectors.plane import PROJECTIONS
from seqviz.compute.text.vectors.skip_gram import VectorsReport
from seqviz.compute.text.vectors.table import WAYS
from seqviz.compute.text.vectors.windows import MODES, TrainingPairs, training_pairs
from seqviz.core.errors import UserError
from seqviz.core.i18n import escape_markdown, number
from seqviz.experiments.text.vectors import map as maps
from seqviz.experiments.text.vectors import neighbors as counting
from seqviz.experiments.text.vectors.senses import sense_pairs, two_readings
from seqviz.experiments.text.vectors.tables import in_a_row
from seqviz.figures.attention.trials import trials_so_far
from seqviz.figures.text.vectors.map import (
    analogies_by_class,
    analogy_words,
    nearest_words,
    word_map,
)
from seqviz.figures.text.vectors.neighbors import (
    drawn_pairs,
    substitutes_by_window,
    two_windows,
    words_so_far,
)
from seqviz.figures.text.vectors.reading import senses_by_layer, word_by_layer
from seqviz.lessons.framework.controls import (
    choice,
    localized,
    on,
    seed,
    slider,
    step_slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.controls import select_slider as stops
from seqviz.lessons.framework.output import COMPUTED
from seqviz.lessons.framework.show import Show
from seqviz.models import ready
from seqviz.models.registry import DEFAULTS
from seqviz.plotting import STYLE, Figure, Style

ENCODER = DEFAULTS["encoder"]
SIX = "boy man woman prince queen king"  # S0's figure 19
LAYERS = 6
SHOWN = 8  # number of nearest words


@dataclass(frozen=True)
class MapParams:
    """Controls of the bench on word maps, nearest words and analogies."""

    view: str = view(("map", "near", "analogy", "classes"), "map")
    listed: str = text_input(SIX, 500, above=True, when=on(view="map"))
    asked: str = text_input("king", 60, above=True, when=on(view="near"))
    question: str = text_input("king - man + woman", 100, above=True, when=on(view="analogy"))
    source: str = choice(("glove", "minilm"), "glove", shipped=True, more=True)
    large: bool = toggle(False, when=on(view=("map", "near", "analogy"), source="glove"), more=True)
    projection: str = choice(PROJECTIONS, "axes", when=on(view="map"), more=True)
    across: str = text_input("man woman", 60, when=on(view="map", projection="axes"))
    up: str = text_input("man king", 60, when=on(view="map", projection="axes"))
    centered: bool = toggle(
        True, when=lambda values: values["view"] != "map" or values["projection"] != "axes"
    )


def word_vectors(p: MapParams, show: Show) -> None:
    if p.view == "classes":
        return say_classes(p, show)
    source = p.source if p.source != "glove" or p.large else "bundled"
    if source != "bundled":
        show.model(source)
    if p.view == "near":
        return say_nearest(p, source, show)
    if p.view == "analogy":
        return say_analogy(p, source, show)
    result = show.run(maps.project, source, p.listed, p.projection, p.across, p.up, p.centered)
    show.figure(word_map, result)
    shape = "slant" if result.ends else "both"
    names: dict[str, Any] = {"kept": "neighbors_preserved", shape: shape}
    show.readouts(result, **names, dimensions="dimensions")
    show.facts(result.summary, note="map")
    for name, words in (("unknown", result.unknown), ("split", result.split)):
        if words:
            show.note(f"map.{name}", words=", ".join(words))
    return None


def say_nearest(p: MapParams, source: str, show: Show) -> None:
    """Show the nearest words, and the effect of removing the mean on all cosines."""
    result = show.run(maps.nearest, source, p.asked, p.centered)
    other = show.run(maps.nearest, source, p.asked, not p.centered, name="other")
    show.figure(nearest_words, result)
    show.readouts(result, "top", "between", candidates="of")
    show.note(
        "near.removed" if p.centered else "near.left", word=result.query[0], result=result,
        other=other.between,
    )  # fmt: skip


def say_analogy(p: MapParams, source: str, show: Show) -> None:
    """Show an analogy's answer with and without its own words, and without arithmetic."""
    answer, neighbor = show.run(maps.solve, source, p.question, p.centered)
    show.figure(analogy_words, answer, neighbor)
    a, b, c = answer.query
    show.metrics(
        nearest=(escape_markdown(answer.first), number(float(answer.cosines[0]))),
        left_out=(escape_markdown(answer.first_new), number(answer.top)),
        neighbor=(escape_markdown(neighbor.first), number(float(neighbor.cosines[0]))),
    )
    summary = "asked" if answer.first in answer.query else "new"
    show.note(
        f"analogy.{summary}", a=a, b=b, c=c, answer=answer, cosine=float(answer.cosines[0]),
        neighbor=neighbor.first, of=answer.of,
    )  # fmt: skip


def say_classes(p: MapParams, show: Show) -> None:
    """Show many analogies by class for three methods."""
    by_class = show.job(
        maps.analogies, source=p.source, centered=p.centered, so_far=(trials_so_far,)
    )
    show.figure(analogies_by_class, by_class)
    for method in WAYS:
        show.readout(method, by_class.overall, method)
    show.facts(by_class.summary, note="classes")


@dataclass(frozen=True)
class ReadingParams:
    """Controls of the bench on one word in two sentences and many words of two senses."""

    view: str = view(("one", "many"), "one")
    shared: str = text_input("bank", 40, above=True, when=on(view="one"))
    first_text: str = text_input("We sat on the bank of the river.", 300, when=on(view="one"))
    second_text: str = text_input("She opened an account at the bank.", 300, when=on(view="one"))
    layer: int = step_slider(0, LAYERS, LAYERS, when=on(view="many"))


def reading(p: ReadingParams, show: Show) -> None:
    pairs = show.job(sense_pairs, name="pairs", model=ENCODER, so_far=(trials_so_far,))
    if p.view == "many":
        show.figure(senses_by_layer, pairs)
        return say_senses(p, pairs, show)
    show.model(ENCODER, p.first_text)
    show.model(ENCODER, p.second_text)
    for text in (p.first_text, p.second_text):
        ready.check_interactive_length(ENCODER, text)
    layers = show.run(two_readings, ENCODER, p.shared, p.first_text, p.second_text)
    show.figure(word_by_layer, layers, pairs, provenance=COMPUTED)
    show.readouts(layers, layer_table="table", layer_input="read_in", layer_last="last")
    low, _, high = pairs.random[:, -1]
    show.note(
        "reading.one", layers=layers, count=pairs.random_pairs, low=low, high=high,
        same=pairs.mean("same")[-1].mean, other=pairs.mean("other")[-1].mean,
    )  # fmt: skip
    if (count := len(layers.pieces)) > 1:
        show.notice("reading.pieces", pieces=" ".join(layers.pieces), count=count)


def say_senses(p: ReadingParams, pairs: Any, show: Show) -> None:
    """State the accuracy at one layer for words of two senses, and that of the bag of words."""
    level = p.layer + 1
    show.readout("told", pairs.told_at, level)
    show.readout("bag", pairs.told_by_bag)
    show.facts(pairs.summary, level, note="reading.many", layer=p.layer)


def count_of_pairs(values: Mapping[str, Any]) -> float:
    """Return the number of training pairs of a text, or 1 for too few words."""
    try:
        words = in_a_row(values["line"])
    except ValueError:
        return 1
    return len(training_pairs(words, values["reach"], values["mode"]).pairs)


@dataclass(frozen=True)
class NeighborsParams:
    """Controls of the bench on vectors learned from neighbors in film reviews."""

    view: str = view(("words", "list", "pairs"), "words")
    looked_up: str = text_input("action", 40, above=True, when=on(view="words"))
    line: str = localized(
        text_input("the dog bites the man", 200, above=True, when=on(view="pairs")),
        zh="小狗咬了路人",
    )
    reordered: str = localized(
        text_input("the man bites the dog", 200, above=True, when=on(view="pairs")),
        zh="路人咬了小狗",
    )
    method: str = choice((*METHODS, "cbow"), "svd", when=on(view="words"))
    narrow: int = stops((1, 2, 3, 5), 2, when=on(view="words"), more=True)
    wide: int = stops((5, 10, 20), 10, when=on(view="words"), more=True)
    seed: int = seed(0, when=on(view="words", method=("skipgram", "cbow")))
    mode: str = choice(MODES, "skipgram", when=on(view="pairs"))
    reach: int = slider(1, 5, 2, when=on(view="pairs"))
    pair: int = step_slider(1, 600, 3, when=on(view="pairs"), within=count_of_pairs)


def neighbors(p: NeighborsParams, show: Show) -> None:
    if p.view == "list":
        return say_substitutes(show)
    if p.view == "pairs":
        return say_pairs(p, show)
    word = show.derive(counting.check_word, p.looked_up, name="word")
    item, other = (vectors(p, word, window, f"by_{name}", show)
                  for name, window in (("narrow", p.narrow), ("wide", p.wide)))  # fmt: skip
    near = show.derive(nearest, item, word, p.narrow, SHOWN, name="near")
    far = show.derive(nearest, other, word, p.wide, SHOWN, name="far")
    show.figure(two_windows, near, far)
    both = show.readout("shared_words", shared, near, far)
    show.metrics(narrow_pairs=f"{item.pairs:,}", wide_pairs=f"{other.pairs:,}")
    show.note(
        "neighbors.words", word=word, narrow=p.narrow, wide=p.wide, shown=SHOWN,
        near=", ".join(near.words[:4]), far=", ".join(far.words[:4]), both=both,
        count=int(item.counts[item.words.index(word)]), words=len(item.words),
    )  # fmt: skip
    return None


def vectors(p: NeighborsParams, word: str, window: int, name: str, show: Show) -> LearnedVectors:
    """Return vectors, computed at once for SVD or trained on request for word2vec.

    While they are trained, the nearest words to `word` are shown.
    """
    if p.method == "svd":
        return show.run(counting.counted, window, name=name)
    train = counting.cbow if p.method == "cbow" else counting.skip_grams
    return show.job(
        train, name=name, window=window, seed=p.seed, so_far=(learned_so_far, word, window)
    )


def learned_so_far(
    trail: Sequence[VectorsReport], word: str, window: int, style: Style = STYLE
) -> Figure:
    """Return the figure of a running training: its losses, and the nearest words to a word.

    Args:
        trail: reports so far, at least one.
        word: one of the words of the reviews.
        window: window of the training.
        style: language, theme and scale of the figure.
    """
    near = counting.nearest_so_far(trail[-1], word, window, SHOWN)
    return words_so_far(trail[-1].losses, near, style)


def say_substitutes(show: Show) -> None:
    """Show both methods on the list, and test the difference between the windows."""
    result = show.job(counting.substitutes, so_far=(trials_so_far,))
    show.figure(substitutes_by_window, result)
    first, last = result.windows[0], result.windows[-1]
    for method in METHODS:
        for name, window in (("narrow", first), ("wide", last)):
            show.readout(f"{method}_{name}", result.share, method, window)
    for method in METHODS:
        paired = show.derive(result.compared, method, first, last, name=f"paired_{method}")
        show.note(
            f"list.{paired.verdict}", method=show.option("method", method), items=result.items,
            first=first, last=last, one=result.share(method, first).share,
            other=result.share(method, last).share, only=paired.only_first,
            only_other=paired.only_second, p=paired.p, seeds=result.seeds,
        )  # fmt: skip


def say_pairs(p: NeighborsParams, show: Show) -> None:
    """Show the training pairs of a text, and whether they depend on word order."""
    words = show.derive(in_a_row, p.line, name="words")
    result = show.derive(training_pairs, words, p.reach, p.mode)
    back = show.derive(training_pairs, words[::-1], p.reach, p.mode, name="back")
    step = min(p.pair, len(result.pairs))
    show.figure(drawn_pairs, result, step)
    now = result.pairs[step - 1]
    same = result.shared(back)
    show.metrics(pairs_in_all=f"{len(result.pairs):,}", pairs_same=f"{same:,}")
    show.note(
        "pairs", step=step, pairs=len(result.pairs), same=same, wanted=words[now.target],
        given=", ".join(words[at] for at in now.given), back=" ".join(words[::-1]),
    )  # fmt: skip
    _say_reordered(p, result, show)
    if p.reach >= len(words) - 1:
        show.note("pairs_all_near", words=len(words), reach=p.reach)


def _say_reordered(p: NeighborsParams, result: TrainingPairs, show: Show) -> None:
    """State how many pairs another word order gives as well."""
    try:
        words = show.derive(in_a_row, p.reordered, name="reordered")
    except UserError:
        return show.notice("pairs_no_other")
    other = show.derive(training_pairs, words, p.reach, p.mode, name="other")
    retained, text = result.shared(other), " ".join(words)
    show.metrics(pairs_kept=f"{retained:,}")
    if words == result.words:
        return show.notice("pairs_same_text")
    if sorted(words) != sorted(result.words):
        return show.note("pairs_other_words", other=text, kept=retained, pairs=len(result.pairs))
    key = "kept" if retained == len(result.pairs) else "near"
    return show.note(f"pairs_{key}", other=text, kept=retained, pairs=len(result.pairs))
