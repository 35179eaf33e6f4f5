"""Every row and discrepancy of the texts that belongs to this lesson is live on one of its benches.

As in the lesson on the Transformer: numbers that move, and what is printed.
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
from tests.lessons.rows import Row, check, each, falls, rises

OTHER = "Snow fell. Buses are late."
TRAINING, SUMMARY_VIEW, SIZES = ({"view": name} for name in ("training", "summary", "sizes"))
ONE, VECTORS = {"view": "one", "amount": 0}, {"view": "vectors"}
ROWS = {
    "1-37": Row(
        "cost",
        {"view": "training"},
        {"view": "training", "document": OTHER},
        {"serial": (540, 210)},
        (
            ("18 of 19 tokens carry loss", "19 个词元中有 18 个"),
            ("540 blocks in sequence", "依次等待的块有 540 个"),
        ),
    ),
    "1-38": Row(
        "steps",
        {},
        {"scores.text": "Once upon a time"},
        {"bits": (1.3237, 1.7175)},
        ("a day that will forever be etched",),
    ),
    "1-39": Row(
        "cost",
        SUMMARY_VIEW,
        SUMMARY_VIEW | {"delta": "chat"},
        {"loss": falls},
        (unbroken("n + m + 1 = 61"),),
    ),
    "2-27": Row(
        "cost",
        {"view": "training", "begin": True},
        {"view": "training"},
        {"scored": (19, 18), "loss": (6.743, 7.224)},
        (("19 of 20 tokens", "20 个词元中有 19 个"),),
    ),
    "4-24": Row(
        "cost",
        {"view": "training"},
        {"view": "training", "document": OTHER},
        {"loss": (7.224, 9.565)},
        ("7.22", "5.01"),
    ),
    "4-27": Row(
        "cost",
        SIZES,
        SIZES | {"compared": "gpt1"},
        {"larger": (112.1, 1498.3)},
        ("116,534,784", "1,557,611,200"),
    ),
    "4-28": Row(
        "shots",
        {"view": "vectors", "form": "entail"},
        {"view": "vectors", "form": "classify"},
        {"positions": (13, 7), "layer": (1731, 1154)},
        ("1,731",),
    ),
    "4-29": Row(
        "shots",
        {"condition": "random"},
        {"condition": "right"},
        {"behind": (0.5979, 0.775)},
        ("−28.5", "59.8%", "88.3%"),
    ),
    # p(output | input, task) of a label
    "4-30": Row(
        "shots",
        ONE,
        ONE | {"instruction": "judge"},
        {lambda facts: facts["positive"] + facts["negative"]: rises},
    ),
    "4-30 words": Row(
        "shots",
        {"view": "one", "instruction": "translate"},
        {"view": "one"},
        {},
        ("translate to French, A slow",),
    ),
    "4-31": Row(
        "cost",
        {"view": "sizes"},
        {"view": "sizes", "band": 32},
        {"banded": (254_016, 65_040)},
        ("254,016", "2,098,176", "12.1%"),
    ),
    "4-32": Row(
        "steps", {"way": "sampled"}, {"way": "sampled", "seed": 2}, {"bits": (2.9058, 2.1795)}
    ),
    "4-32 words": Row("scores", {}, {"seed": 3}, {}, ("0.425", "33.9%")),
    "4-33": Row(
        "shots",
        {"view": "vectors"},
        {"view": "vectors", "sentence": OTHER},
        {"small_ids": ("5756, 514, 37773, 428, 6827", "28974, 3214, 13, 347, 2664, 389, 2739, 13")},
        ("[1, 5, 768]", "5756, 514, 37773, 428, 6827"),
    ),
    "D-54": Row("cost", {"view": "sizes"}, {"view": "time"}, {}, ("116,534,784",)),
    "D-55": Row("cost", {"view": "sizes"}, {"view": "time"}, {}, ("112",)),
    "D-56": Row(
        "cost", {"view": "training"}, {"view": "time"}, {}, (("those before it", "它前面的词元"),)
    ),
    "D-70": Row(
        "shots",
        {"view": "one", "layout": "chat"},
        {"view": "one", "layout": "plain"},
        {},
        ("<|im_start|>",),
    ),
}


@each(ROWS)
def test_row_moves(row, language, smollm2):
    check(lesson, ROWS[row], language)


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
