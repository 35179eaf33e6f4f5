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
from seqviz.lessons.framework.error_messages import to_message
from seqviz.lessons.framework.output import Chart, Metric
from seqviz.lessons.gpt.generation import ARTICLE, SUMMARY
from seqviz.lessons.gpt.lesson import lesson
from seqviz.models import pretrained
from tests.lessons import textbook_rows

OTHER = "Snow fell. Buses are late."
ROWS = {
    "1-37": ("cost", {"view": "training"},
             (("18 of 19 tokens carry loss", "19 个词元中有 18 个"),
              ("all in one pass", "一次前向全部完成")),
             {"view": "training", "document": OTHER}),
    "1-38": ("steps", {}, ("a day that will forever be etched",),
             {"scores.text": "Once upon a time"}),
    "1-39": ("cost", {"view": "summary"}, (unbroken("n + m + 1 = 27"),),
             {"view": "summary", "article": OTHER}),
    "2-27": ("cost", {"given": 5, "written": 20}, ("290", "24"), {"given": 5, "written": 10}),
    "4-24": ("cost", {"view": "training"}, ("7.22", "5.01"),
             {"view": "training", "document": OTHER}),
    "4-27": ("cost", {"view": "sizes"}, ("116,534,784", "1,557,611,200"), {"view": "time"}),
    "4-28": ("shots", {"view": "one", "layout": "chat"}, (("im_start", "im_start"),),
             {"view": "one", "layout": "plain"}),
    "4-29": ("shots", {"condition": "random"}, ("−28.5", "59.8%", "88.3%"),
             {"condition": "right"}),
    "4-30": ("shots", {"view": "one", "amount": 0}, (("Sentiment:", "Sentiment:"),),
             {"view": "many"}),
    "4-31": ("cost", {"view": "sizes"}, ("174,604,259,328", "112"), {"view": "time"}),
    "4-32": ("scores", {}, ("0.425", "33.9%"), {"seed": 3}),
    "4-33": ("shots", {"view": "one", "amount": 0, "review": "Let us encode this sentence"},
             (("encode", "encode"),), {"view": "one", "amount": 0}),
    "D-54": ("cost", {"view": "sizes"}, ("116,534,784",), {"view": "time"}),
    "D-55": ("cost", {"view": "sizes"}, ("112",), {"view": "time"}),
    "D-56": ("cost", {"view": "training"}, (("those before it", "它前面的词元"),),
             {"view": "time"}),
    "D-70": ("shots", {"view": "one", "layout": "chat"}, ("<|im_start|>",),
             {"view": "one", "layout": "plain"}),
}  # fmt: skip


@textbook_rows.each(ROWS)
def test_row_is_live(row, language, smollm2):
    textbook_rows.live(lesson, ROWS[row], language)


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
    assert f"{ids.shape[1] - 1} of the summary" in visible.notes[-1]
    with torch.no_grad():
        nats = float(smollm2.network(ids, labels=ids).loss)
    assert f"take {number(nats / np.log(2))}." in visible.notes[-1]


@pytest.mark.parametrize("language", LANGUAGES)
def test_training_note_states_torch_perplexity(language, smollm2):
    ids = smollm2.tokenizer(ARTICLE, return_tensors="pt").input_ids
    with torch.no_grad():
        nats = smollm2.network(ids, labels=ids).loss
    visible = lesson.benches["cost"].run({"view": "training"}, language)
    word = {"en": "a perplexity of", "zh": "困惑度"}[language]
    assert f"{word} {number(float(nats.exp()))}" in visible.notes[-1]


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
])  # fmt: skip
def test_cost_bench_rejects_text_without_scorable_token(language, values, problem, smollm2):
    with pytest.raises(UserError) as caught:
        lesson.benches["cost"].run(values, language)
    assert to_message(caught.value, Text(language)) == Text(language)(f"problem.{problem}")
