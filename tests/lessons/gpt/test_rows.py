"""Every row and discrepancy of the texts that belongs to this lesson is live on one of its benches.

As in test_transformer_rows: a bench at some values, what it says, and values at which it does not.
"""

from __future__ import annotations

import numpy as np
import pytest
import torch

from seqviz.core.errors import UserError
from seqviz.core.i18n import LANGUAGES, Text, number, sections
from seqviz.core.units import unbroken
from seqviz.experiments.gpt.shots import LABELS
from seqviz.experiments.gpt.vectors import text_vectors
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.output import Chart, Metric
from seqviz.lessons.gpt.generation import DOCUMENT, SENTENCE, SUMMARY
from seqviz.lessons.gpt.lesson import lesson
from seqviz.models import pretrained
from tests.lessons import frozen, textbook_rows
from tests.lessons.frozen import Row, becomes, falls, rises

OTHER = "Snow fell. Buses are late."
ROWS = {
    "1-37": ("cost", {"view": "training"},
             (("18 of 19 tokens carry loss", "19 个词元中有 18 个"),
              ("540 blocks in sequence", "依次等待的块有 540 个")),
             {"view": "training", "document": OTHER}),
    "1-38": ("steps", {}, ("a day that will forever be etched",),
             {"scores.text": "Once upon a time"}),
    "1-39": ("cost", {"view": "summary"}, (unbroken("n + m + 1 = 61"),),
             {"view": "summary", "article": OTHER}),
    "2-27": ("cost", {"view": "training", "begin": True},
             (("19 of 20 tokens", "20 个词元中有 19 个"),), {"view": "training"}),
    "4-24": ("cost", {"view": "training"}, ("7.22", "5.01"),
             {"view": "training", "document": OTHER}),
    "4-27": ("cost", {"view": "sizes"}, ("116,534,784", "1,557,611,200"), {"view": "time"}),
    "4-28": ("shots", {"view": "vectors", "form": "entail"}, ("1,731",),
             {"view": "vectors", "form": "classify"}),
    "4-29": ("shots", {"condition": "random"}, ("−28.5", "59.8%", "88.3%"),
             {"condition": "right"}),
    "4-30": ("shots", {"view": "one", "instruction": "translate"}, ("translate to French, A slow",),
             {"view": "one"}),
    "4-31": ("cost", {"view": "sizes"}, ("254,016", "2,098,176", "12.1%"),
             {"view": "sizes", "band": 32}),
    "4-32": ("scores", {}, ("0.425", "33.9%"), {"seed": 3}),
    "4-33": ("shots", {"view": "vectors"}, ("[1, 5, 768]", "5756, 514, 37773, 428, 6827"),
             {"view": "vectors", "sentence": OTHER}),
    "D-54": ("cost", {"view": "sizes"}, ("116,534,784",), {"view": "time"}),
    "D-55": ("cost", {"view": "sizes"}, ("112",), {"view": "time"}),
    "D-56": ("cost", {"view": "training"}, (("those before it", "它前面的词元"),),
             {"view": "time"}),
    "D-70": ("shots", {"view": "one", "layout": "chat"}, ("<|im_start|>",),
             {"view": "one", "layout": "plain"}),
}  # fmt: skip


TRAINING, SUMMARY_VIEW, SIZES = ({"view": name} for name in ("training", "summary", "sizes"))
ONE, VECTORS = {"view": "one", "amount": 0}, {"view": "vectors"}
# The same rows as numbers that move; row 4-30: p(output | input, task) of a label.
MOVES = {
    "1-37": Row("cost", TRAINING, TRAINING | {"document": OTHER}, "serial", becomes(540, 210)),
    "1-38": Row("steps", {}, {"scores.text": "Once upon a time"}, "bits", becomes(1.3237, 1.7175)),
    "1-39": Row("cost", SUMMARY_VIEW, SUMMARY_VIEW | {"delta": "chat"}, "loss", falls),
    "2-27": Row("cost", TRAINING, TRAINING | {"begin": True},
                lambda facts: (facts["scored"], facts["loss"]), becomes((18, 7.224), (19, 6.743))),
    "4-24": Row("cost", TRAINING, TRAINING | {"document": OTHER}, "loss", becomes(7.224, 9.565)),
    "4-27": Row("cost", SIZES, SIZES | {"compared": "gpt1"}, "larger", becomes(112.1, 1498.3)),
    "4-28": Row("shots", VECTORS | {"form": "classify"}, VECTORS | {"form": "entail"},
                lambda facts: (facts["positions"], facts["layer"]),
                becomes((7, 1154), (13, 1731))),
    "4-29": Row("shots", {"condition": "right"}, {"condition": "random"}, "behind",
                becomes(0.775, 0.5979)),
    "4-30": Row("shots", ONE, ONE | {"instruction": "judge"},
                lambda facts: facts["positive"] + facts["negative"], rises),
    "4-31": Row("cost", SIZES, SIZES | {"band": 32}, "banded", becomes(254_016, 65_040)),
    "4-32": Row("steps", {"way": "sampled"}, {"way": "sampled", "seed": 2}, "bits",
                becomes(2.9058, 2.1795)),
    "4-33": Row("shots", VECTORS, VECTORS | {"sentence": "Snow fell."}, "small_ids",
                becomes("5756, 514, 37773, 428, 6827", "28974, 3214, 13")),
}  # fmt: skip


@textbook_rows.each(ROWS)
def test_row_is_live(row, language, smollm2):
    textbook_rows.live(lesson, ROWS[row], language)


@frozen.each(MOVES)
def test_row_moves(row, smollm2):
    frozen.check(lesson, MOVES[row])


def test_every_row_has_number_that_moves():
    assert set(MOVES) == {row for row in ROWS if not row.startswith("D-")}


def test_model_writes_summary_on_request(smollm2):
    """Asked in the template it is tuned on, the model names what the article is about."""
    asked = {"view": "summary", "writer": "model", "delta": "chat"}
    (written,) = [note for note in lesson.benches["cost"].run(asked).notes if "writes" in note]
    assert "Kyle Waring sells snow from Boston" in written


def test_vectors_match_hidden_states(smollm2):
    """The last layer's vectors, as transformers gives them."""
    result = text_vectors("smollm2", SENTENCE)
    ids = smollm2.tokenizer(SENTENCE, return_tensors="pt").input_ids
    with torch.no_grad():
        hidden = smollm2.network(ids, output_hidden_states=True).hidden_states[-1]
    assert (1, *result.vectors.shape) == hidden.shape == (1, 5, 576)
    np.testing.assert_allclose(result.vectors, hidden[0].numpy(), atol=1e-3)


@pytest.mark.parametrize("language", LANGUAGES)
def test_rows_table_names_every_discrepancy(language):
    rows = Text(language).items("gpt.texts.rows")
    for named in ("D-54", "D-55", "D-56", "D-70", "D-78"):
        assert any(named in str(row) for row in rows), named


SHIPPED = {"futures": {}, "likely": {}, "again": {"view": "loop"}, "shots": {}, "cost": {}}


@pytest.mark.parametrize("bench", SHIPPED)
def test_bench_renders_precomputed_result_without_model(bench, monkeypatch):
    """In a room without the model and without a hub these figures are there all the same."""

    def missing(name: str) -> None:
        raise AssertionError(f"{name} is asked for")

    monkeypatch.setattr(pretrained, "load", missing)
    visible = lesson.benches[bench].run(SHIPPED[bench])
    assert visible.of(Chart)[0].provenance.kind == "precomputed"


def test_shots_figure_matches_label_readouts(smollm2):
    """The figure has what the read-outs say, and no draw."""
    visible = lesson.benches["shots"].run({"view": "one"})
    colored = visible.figure.data[1]
    payload = {item.label: item.value for item in visible.of(Metric)}
    shares = dict(
        zip(
            (visible.figure.layout["yaxis"]["ticktext"][int(k) - 1] for k in colored["y"]),
            colored["x"],
            strict=True,
        )
    )
    for label in LABELS:
        both = sum(share for token, share in shares.items() if token.strip("␣") == label)
        assert payload[f"Says “{label}”"] == f"{both:.1f}%"
    assert "u =" not in visible.figure.alt


def test_cost_note_matches_torch_for_summary_without_article(smollm2):
    """Scored in PyTorch, behind the separator alone."""
    visible = lesson.benches["cost"].run({"view": "summary"})
    ids = smollm2.tokenizer(f"\n{SUMMARY}", return_tensors="pt").input_ids
    assert f"{ids.shape[1] - 1} of the summary" in visible.notes[0]
    with torch.no_grad():
        nats = float(smollm2.network(ids, labels=ids).loss)
    assert f"take {number(nats / np.log(2))}." in visible.notes[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_training_note_states_torch_perplexity(language, smollm2):
    ids = smollm2.tokenizer(DOCUMENT, return_tensors="pt").input_ids
    with torch.no_grad():
        nats = smollm2.network(ids, labels=ids).loss
    visible = lesson.benches["cost"].run({"view": "training"}, language)
    word = {"en": "a perplexity of", "zh": "困惑度"}[language]
    assert f"{word} {number(float(nats.exp()))}" in visible.notes[0]


@pytest.mark.parametrize(("language", "terms"), [
    ("en", ("zero-shot", "few-shot", "in-context learning", "nucleus sampling", "perplexity")),
    ("zh", ("零样本", "少样本", "上下文学习", "核采样", "困惑度")),
])  # fmt: skip
def test_page_names_the_terms_of_the_field(language, terms):
    page = " ".join(
        value for key, value in sections("gpt", language).items() if key != "sources"
    ).lower()
    assert [term for term in terms if term not in page] == []


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(("values", "problem"), [
    ({"view": "training", "document": "Snow"}, "one_token"),
    ({"view": "summary", "summary": ""}, "empty_text"),
    ({"view": "summary", "article": " "}, "empty_text"),
])  # fmt: skip
def test_cost_bench_rejects_text_without_scorable_token(language, values, problem, smollm2):
    with pytest.raises(UserError) as caught:
        lesson.benches["cost"].run(values, language)
    assert to_message(caught.value, Text(language)) == Text(language)(f"problem.{problem}")
