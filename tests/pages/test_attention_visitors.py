"""The lesson on attention: strange texts, several visitors, and models that are not there."""

from __future__ import annotations

import hashlib

import pytest

from seqviz import jobs
from seqviz.core.i18n import LANGUAGES, Placeholder, Text
from seqviz.lessons.attention.lesson import lesson
from seqviz.models import forward_cache, pretrained, texts
from seqviz.ui.page import model_progress
from seqviz.ui.runtime import result_cache
from tests.hostile import markup
from tests.pages.attention_page import DECODER, ENCODER, MODEL_BENCHES, opened, whole
from tests.pages.page_assertions import alerts, bench, colored, figures
from tests.tiers import first_only

LONG = "Once upon a time there was a king. " * 44  # 30 layers of it take seconds
TITLES = {"minilm": "all-MiniLM-L6-v2", "smollm2": "SmolLM2-135M-Instruct"}
HOSTILE = (
    "</script><img src=x onerror=window.hacked=1> **bold** [a](http://evil.example/x) $x$ "
    "![i](http://evil.example/i.png) `code` :red[r] &lt;b&gt; <b>b</b> ~~s~~ # h | {name} %{x}"
)


# --------------------------------------------------------------------------- texts of any kind
@pytest.mark.parametrize(
    ("lang", "model", "text"),
    [
        ("en", "minilm", HOSTILE),
        ("zh", "smollm2", HOSTILE),
        # A likely next token is the model's word, not the student's, and may be Markdown, too.
        ("en", "smollm2", "1 * 2 * 3 * 4 *"),
        ("en", "smollm2", "`a` `b` `c` `d` `"),
    ],
)
def test_page_renders_hostile_text_without_markup(visit, lang, model, text):
    field = "real__encoder" if model == "minilm" else "real__decoder"
    view = {"real__model": model, "real__view": "head", "real__query": 2, "apart__query": 2}
    page, usual = (opened(visit, lang, **view, **{field: words})
                   for words in (text, ENCODER if model == "minilm" else DECODER))  # fmt: skip
    assert markup.added(page.app, usual.app) == set()
    assert whole(page)


@pytest.mark.usefixtures("minilm", "smollm2")
@pytest.mark.parametrize(
    ("model", "text"),
    [("minilm", HOSTILE), ("smollm2", HOSTILE), ("minilm", "🙂🏽 مرحبا \u202eabc"),
     ("smollm2", "שלום 𝒜\u0301\n\t ~ 🙂🏽"), ("minilm", "a\u0000b\ufffdc")],
)  # fmt: skip
def test_real_bench_preserves_all_characters(model, text):
    """Reading it again piece by piece: nothing of the text was lost on its way to the model."""
    field = "encoder" if model == "minilm" else "decoder"
    output = lesson.benches["real"].run({"model": model, "view": "head", field: text})
    pieces = forward_cache.read(model, text).tokens.pieces
    (passage,) = colored(output)
    assert len(passage.spans) == len(pieces[:80])
    assert passage.text.split() == " ".join(pieces[:80]).split()
    assert passage.tags == {"div", "span"}
    if text == HOSTILE:
        letters = "".join(pieces).replace("##", "").replace("␣", "").replace("[CLS]", "")
        expected = text.replace(" ", "")
        assert (expected if model == "smollm2" else expected.lower()) in letters


@pytest.mark.usefixtures("minilm")
def test_real_bench_truncates_long_text_and_reports_it():
    taken = "word " * 2000
    result = forward_cache.read("minilm", taken)
    assert len(result.tokens.ids) == texts.MAX_TEXT_TOKENS
    assert result.tokens.left_out >= 1400
    output, text = lesson.benches["real"].run({"encoder": taken}, "zh"), Text("zh")
    left = result.tokens.left_out
    assert text("attention.note.cut", limit=texts.MAX_TEXT_TOKENS, left=left) in output.notes
    count = text("attention.note.tokens", count=texts.MAX_TEXT_TOKENS, unknown=0)
    (tokens,) = (sentence for sentence in output.notes if sentence.startswith(count))
    assert tokens.endswith(f"… +{texts.MAX_TEXT_TOKENS - 40}")
    # Drawn at reduced resolution, and said so: the picture does not grow with the text.
    assert text("figure.reduced", cells=Placeholder("@")).split("@")[0] in output.figure.to_json()
    assert len(output.figure.to_json()) < 1_500_000


@pytest.mark.usefixtures("minilm")
@pytest.mark.parametrize(("query", "first"), [(1, 1), (60, 21), (102, 23)])
def test_real_bench_colors_tokens_around_query(query, first):
    text = " ".join(f"{'ab'[n % 2]}" for n in range(100))  # and [CLS], [SEP]
    output = lesson.benches["real"].run({"encoder": text, "view": "head", "query": query})
    (passage,) = colored(output)
    result = forward_cache.read("minilm", text)
    assert passage.text.split() == list(result.tokens.pieces[first - 1 : first + 79])
    assert passage.outlined() == [query - first + 1]
    weights = result.weights[3, 1, query - 1, first - 1 : first + 79]
    assert passage.deep() == pytest.approx(list(0.7 * weights), abs=0.0051)


def test_link_dialog_omits_qr_code_for_long_text(visit):
    page = opened(visit, real__encoder="学" * 270)
    page.app.get_by_key("at.real.link").click().run()
    page.healthy()
    (dialog,) = page.app.get("dialog")
    assert page.text("frame.long_link") in [caption.value for caption in dialog.caption]
    address, _ = dialog.get("code")
    assert address.value.count("%E5%AD%A6") == 270


# ------------------------------------------------------------------------- visitors side by side
def fingerprint(model) -> str:
    text = hashlib.sha256()
    for name, value in sorted(model.network.state_dict().items()):
        text.update(name.encode() + value.cpu().numpy().tobytes())
    return text.hexdigest()


def everything(page) -> dict[str, tuple]:
    """Read-outs and figures of the benches that use the model."""
    positions = {name: bench(page.app, name) for name in MODEL_BENCHES}
    return {name: ([(m.label, m.value, m.delta) for m in position.metric], figures(position))
            for name, position in positions.items()}  # fmt: skip


def test_page_ablation_is_isolated_between_sessions(visit, minilm):
    """In turns, in one process, and computed afresh each time: nothing may hide in the cache."""
    before = fingerprint(minilm)
    wishes = ("", "0.0 0.1 0.2 0.3 5.4", " ".join(f"3.{head}" for head in range(12)))
    pages = [opened(visit, "zh", ablate__off=off, masks__kind=kind)
             for off, kind in zip(wishes, ("own", "reverse", "diagonal"), strict=True)]  # fmt: skip
    existing = [everything(page) for page in pages]
    for name in ("ablate", "masks"):
        assert len({str(item[name]) for item in existing}) == len(wishes)
    for name in ("real", "apart"):  # what the untouched model says is the same for all
        assert existing[0][name] == existing[1][name] == existing[2][name]
    for page, expected in (*zip(pages, existing, strict=True), (pages[0], existing[0])):
        result_cache.result_cache.cache_clear()
        page.run()
        assert everything(page) == expected
    assert fingerprint(minilm) == before


# ------------------------------------------------------------------------ a model that is not here
def waits(page) -> None:
    """The bench that leads says why there is no model, the others that they have none."""
    title = TITLES["minilm"]
    sentence = page.text("problem.unreachable", model=title, name="@").split("@")[0]
    (warning,) = page.warned()
    assert warning.replace("\\", "").startswith(sentence.replace("\\", ""))
    for name in MODEL_BENCHES:
        boxes = alerts(bench(page.app, name))
        stopped = [page.text("work.model_stopped", model=title)]
        assert (boxes["warning"] or boxes["info"]) == ([warning] if name == "real" else stopped)
        assert not figures(bench(page.app, name))
        assert not bench(page.app, name).metric
    for name in ("features", "scale"):
        assert len(figures(bench(page.app, name))) == 1


def again(page) -> None:
    page.app.button(key="at.real.again").click().run()
    page.served()
    page.healthy()


@pytest.mark.parametrize(
    "lang", first_only(LANGUAGES)
)  # the words: tests/ui/page/test_user_errors.py
def test_page_without_model_keeps_other_benches(visit, minilm, smollm2, nowhere, tmp_path, lang):
    page = opened(visit, lang)
    waits(page)
    before = figures(bench(page.app, "features"))
    page.run(at__features__stage=7, at__scale__keys=128)
    assert figures(bench(page.app, "features")) != before
    again(page)
    waits(page)
    left = [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert all(name.endswith(".lock") for name in left)  # nothing half-written
    nowhere()
    pretrained._loaded.pop("minilm")  # it is on this machine, but has to be loaded anew
    again(page)
    assert whole(page)
    assert pretrained.loaded("minilm")


# -------------------------------------------------------------------------------- the stop button
def reading(page, text: str) -> jobs.Job:
    """The work that a page waits for as soon as it has this text."""
    page.app.session_state["at.real.model"] = "smollm2"
    page.app.session_state["at.real.decoder"] = text
    page.app.run()
    (job,) = jobs.queue_for(model_progress.QUEUE)._active()
    return job


def test_page_stays_usable_after_stopped_forward_pass(visit):
    page, title = opened(visit), TITLES["smollm2"]
    job = reading(page, LONG)
    for name in MODEL_BENCHES[1:]:
        assert alerts(bench(page.app, name))["info"] == [page.text("work.model_above", model=title)]
    page.app.button(key="at.real.stop").click().run()
    assert job.wait(10)
    assert job.state == "cancelled"
    page.run()
    assert alerts(bench(page.app, "real"))["info"] == [page.text("work.model_stopped", model=title)]
    page.run(at__features__stage=4, at__real__layer=2)  # it stays stopped whatever is touched
    assert not jobs.queue_for(model_progress.QUEUE)._active()
    assert whole(page.run(at__real__model="minilm"))
    assert whole(page.run(at__real__model="smollm2", at__real__decoder="A short one"))


def test_page_sessions_share_one_forward_pass(visit):
    pages = [opened(visit), opened(visit, "zh")]
    (job,) = {reading(page, LONG + "The end.") for page in pages}
    assert job.owners == 2
    pages[0].app.button(key="at.real.stop").click().run()
    assert job.state == "running"  # the other one still waits for it
    pages[1].served()
    assert job.state == "done"
    pages[1].healthy()
    assert len(figures(bench(pages[1].app, "real"))) == 1
