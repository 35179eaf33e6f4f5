"""Benches on all models: bits per character on one ruler, and the texts that they write."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.compute.language_models.ngrams import ORDER
from seqviz.experiments.language_models import measured, writing
from seqviz.figures.language_models.ruler import bits_by_model
from seqviz.figures.language_models.written import copied_spans
from seqviz.lessons.framework.controls import choice, on, seed, slider
from seqviz.lessons.framework.show import Show
from seqviz.lessons.language_models.counted import TEXTS, language_chosen

DECODERS = {"en": ("smollm2",), "zh": ()}
TEMPERATURES = {"cool": 0.5, "plain": 1.0, "hot": 1.5}


# --- ladder ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class LadderParams:
    """Controls of the bench on bits per character."""

    measured_on: str = choice(("en", "zh"), "en", shipped=True)
    n: int = slider(1, ORDER, ORDER)
    against: str = choice((*measured.NETWORKS, "smollm2", "ngram1", "uniform"), "characters_gru",
                          menu=True, when=on(measured_on="en"))  # fmt: skip
    against_chinese: str = choice(("witten_bell3", "ngram1", "uniform"), "witten_bell3", menu=True,
                                  when=on(measured_on="zh"))  # fmt: skip
    fitted: str = choice(measured.SMOOTHINGS, "modified_kneser_ney", menu=True, more=True,
                         when=lambda v: v["n"] > 1)  # fmt: skip


def name_of(model: str, show: Show) -> str:
    """Return the displayed name of a model: of its smoothing with n, or its own."""
    if model[:-1] in (*measured.SMOOTHINGS, "ngram"):
        return str(show.text(f"figure.ruler_{model[:-1]}", n=model[-1]))
    return str(show.text(f"figure.ruler_{model}"))


def rank(p: LadderParams, show: Show) -> None:
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
        show.note("ladder.chinese")


# --- writing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WritingParams:
    """Controls of the bench on texts drawn from n-gram models."""

    n: int = slider(1, ORDER, ORDER)
    temperature: str = choice(tuple(TEMPERATURES), "plain", shipped=True)
    seed: int = seed(59)
    texts: str = choice(TEXTS, "native", more=True, shipped=True)


def write(p: WritingParams, show: Show) -> None:
    language, temperature = language_chosen(p.texts, show), TEMPERATURES[p.temperature]
    copying = show.job(writing.copying_by_order, name="copying", language=language,
                       temperature=temperature)  # fmt: skip
    show.figure(copied_spans, copying, p.n)
    series = show.run(writing.series, language, p.seed, temperature, 0, name="texts")
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
