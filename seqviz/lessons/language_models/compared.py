"""Benches on all models: bits per character on one ruler, and the texts that they write."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from seqviz.compute.language_models.ngrams import ORDER
from seqviz.experiments.language_models import guessing, measured, writing
from seqviz.experiments.language_models.corpora import language_of
from seqviz.figures.language_models.ruler import (
    bits_by_model,
    bits_by_training_text,
    bits_of_sentence,
    model_name,
)
from seqviz.figures.language_models.written import copied_spans
from seqviz.lessons.framework.controls import (
    choice,
    in_browser,
    on,
    seed,
    slider,
    text_input,
    toggle,
    view,
)
from seqviz.lessons.framework.lesson import SeedExperiment
from seqviz.lessons.framework.show import Show
from seqviz.lessons.language_models.counted import TEXTS, language_chosen

DECODERS = {"en": ("smollm2",), "zh": ()}
TEMPERATURES = {"cool": 0.5, "plain": 1.0, "hot": 1.5}


# --- ladder ---------------------------------------------------------------------------------------


COUNTED = ("models", "amount")
MAX_RECORD_CHARS = 200
MAX_OWN_CHARS = 120
OWN = {
    "en": "This is one of the best films of the year.",
    "zh": "房间很干净，服务也很好。",
}  # of an empty field


def _smoothed(values: Mapping[str, Any]) -> bool:
    return values["view"] in COUNTED and values["n"] > 1


@dataclass(frozen=True)
class LadderParams:
    """Controls of the bench on bits per character."""

    view: str = view(("models", "amount", "own", "you"), "models")
    measured_on: str = choice(("en", "zh"), "en", shipped=True, when=on(view=COUNTED))
    own: str = text_input("", MAX_OWN_CHARS, when=on(view="own"))
    decoder: bool = toggle(False, when=on(view="own"))
    n: int = slider(1, ORDER, ORDER, when=on(view=COUNTED))
    against: str = choice((*measured.NETWORKS, "smollm2", "ngram1", "uniform"), "characters_gru",
                          menu=True, when=on(view="models", measured_on="en"))  # fmt: skip
    against_chinese: str = choice(("witten_bell3", "ngram1", "uniform"), "witten_bell3", menu=True,
                                  when=on(view="models", measured_on="zh"))  # fmt: skip
    fitted: str = choice(measured.SMOOTHINGS, "modified_kneser_ney", menu=True, more=True,
                         shipped=True, when=_smoothed)  # fmt: skip
    secret: int = slider(1, len(guessing.SENTENCES), 1, when=on(view="you"))
    played: str = in_browser(text_input("", MAX_RECORD_CHARS, when=on(view="you")))


def name_of(model: str, show: Show) -> str:
    """Return the name of a model as the figures show it."""
    return model_name(model, lambda key, **words: show.text(f"figure.ruler_{key}", **words))


def rank(p: LadderParams, show: Show) -> None:
    if p.view == "amount":
        return _amount(p, show)
    if p.view == "own":
        return _own(p, show)
    if p.view == "you":
        return _guess(p, show)
    result = show.job(measured.bits_per_character, name="measured", language=p.measured_on,
                      decoders=DECODERS[p.measured_on])  # fmt: skip
    model = f"{p.fitted}{p.n}" if p.n > 1 else "ngram1"
    against = p.against if p.measured_on == "en" else p.against_chinese
    show.figure(bits_by_model, result, model, against)
    show.readout("bits_chosen", result.of, model, caption=name_of(model, show))
    show.readout("bits_against", result.of, against, caption=name_of(against, show))
    facts = show.derive(result.compared, model, against, name="facts")
    names = {"model": name_of(model, show), "reference": name_of(against, show)}
    key = "same" if model == against else facts.variant
    show.note(f"ladder.{key}", **{**facts, **names})
    if p.measured_on == "zh":
        show.notice("ladder.chinese")


def _amount(p: LadderParams, show: Show) -> None:
    """Show n-grams that have counted less of the training text."""
    result = show.job(measured.bits_by_amount, name="amounts", language=p.measured_on,
                      smoothing=p.fitted)  # fmt: skip
    show.figure(bits_by_training_text, result, p.n)
    facts = show.derive(result.summary, p.n, name="facts")
    show.note("ladder.amount", **facts)
    show.note("ladder.best", **facts)


def _own(p: LadderParams, show: Show) -> None:
    """Show all models on a text of the reader's."""
    language = language_of(p.own) if p.own.strip() else str(show.words.text.lang)
    text = p.own.strip() or OWN[language]
    decoders = DECODERS[language] if p.decoder else ()
    for name in decoders:
        show.model(name)
    result = show.run(measured.bits_of_text, text, language, decoders, name="measured")
    show.figure(bits_of_sentence, result, 0)
    facts = show.derive(result.on_sentence, 0, name="facts")
    show.note("ladder.own", **{**facts, "best": name_of(facts["best"], show)}, text=text)
    show.note("ladder.one_text")
    if language == "zh":
        show.notice("ladder.chinese")
    if unknown := show.derive(measured.unknown_signs, text, language, name="unknown"):
        show.notice("ladder.unknown", signs=show.words("list.and").join(unknown))


def _guess(p: LadderParams, show: Show) -> None:
    """Let the reader guess a sentence, and show the bounds of these bits among the models."""
    if show.words.text.lang == "zh":
        show.caption(show.words("note.ladder.english"))
    result = show.job(measured.bits_per_character, name="measured", language="en",
                      decoders=DECODERS["en"])  # fmt: skip
    model = show.run(guessing.model_guesses, p.secret, name="model")
    reader = show.derive(guessing.reader_guesses, p.played, p.secret, name="reader")
    show.game(
        "guessing",
        {"played": p.played if reader else "", "number": p.secret, "keys": guessing.KEYS,
         "sentence": guessing.SENTENCES[p.secret - 1] + guessing.KEYS[-1]},
    )  # fmt: skip
    index = guessing.sentence_index(p.secret)
    show.figure(bits_of_sentence, result, index, model, reader)
    facts = show.derive(model.summary, name="facts")
    if reader:
        show.note("ladder.played", **show.derive(reader.summary, name="yours"))
    row = result.bits[result.models.index(f"{guessing.SMOOTHING}{ORDER}")]
    bits = float(row[index] / result.characters[index])
    between = "inside" if bits <= facts["upper"] else "above"
    show.note(f"ladder.guessing_{between}", **facts, n=ORDER, bits=bits)
    subset = result.with_smoothing(guessing.SMOOTHING)
    ranked = show.derive(subset.ranked_on, index, name="ranked")
    names = {role: name_of(ranked[role], show) for role in ("best", "leader")}
    show.note("ladder.sentence", **{**ranked, **names})


# --- writing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WritingParams:
    """Controls of the bench on texts drawn from n-gram models."""

    n: int = slider(1, ORDER, ORDER)
    temperature: str = choice(tuple(TEMPERATURES), "plain", shipped=True)
    seed: int = seed(59)
    texts: str = choice(TEXTS, "native", more=True, shipped=True)


def class_copying(p: WritingParams, show: Show) -> SeedExperiment:
    """Return the class experiment: the longest copied span of each seat's text.

    A class may read in two languages, so the sentences do not depend on that of the page.
    """
    language, temperature = "en" if p.texts == "native" else "zh", TEMPERATURES[p.temperature]
    settings = show.words(f"class.writing.{language}", n=p.n, temperature=temperature)
    return SeedExperiment(
        partial(writing.longest_spans, language, p.n, temperature),
        show.words("class.writing.quantity"), settings, at_once=10,
    )  # fmt: skip


def write(p: WritingParams, show: Show) -> None:
    language, temperature = language_chosen(p.texts, show), TEMPERATURES[p.temperature]
    copying = show.job(writing.copying_by_order, name="copying", language=language,
                       temperature=temperature)  # fmt: skip
    show.figure(copied_spans, copying, p.n)
    series = show.run(writing.series, language, p.seed, temperature, name="texts")
    text = show.derive(series.of, p.n, name="text")
    show.readouts(text, "longest", "share_of_words")
    facts = show.derive(copying.summary, name="summary")
    show.note("writing.mean", **facts)
    start = int(text.spans.argmax()) if len(text.spans) else 0
    if text.text:
        rest = text.text[start + text.longest :]
        show.passage([text.text[:start], text.longest_span, rest], [0.0, 1.0, 0.0], signed=False,
                     title=show.words("note.writing.passage"))  # fmt: skip
    parted = series.parted[p.n - 1]
    show.note("writing.first" if p.n == 1 else "writing.parted", n=p.n, before=p.n - 1,
              parted=parted, longest=text.longest, characters=len(text.text))  # fmt: skip
    show.rows("series", {
        "series.n": [str(n) for n in range(1, ORDER + 1)],
        "series.longest": [str(item.longest) for item in series.texts],
        "series.text": [item.text for item in series.texts],
    })  # fmt: skip
