"""The lesson on attention: texts and links that nobody has prepared."""

from __future__ import annotations

import re

import pytest
from attention_page import ENCODER, MODEL_BENCHES, Passage, figure, note, opened, said, shown
from looking import alerts, bench, figures, sentences

from seqviz.lessons.bench import controls
from seqviz.models import forward_cache, texts

HOSTILE = (
    "</script><img src=x onerror=window.hacked=1> **bold** [a](http://evil.example/x) $x$ "
    "![i](http://evil.example/i.png) `code` :red[r] &lt;b&gt; <b>b</b> ~~s~~ # h | {name} %{x}"
)
SIGNS = "*_[]<>$`~#|!&:"
PLOTLY_TAGS = re.compile(r"</?(?:b|i|sub|sup|extra)>|<br>")


# --------------------------------------------------------------------- nothing of it is a command
def unescaped(markdown: str) -> str:
    """The signs in a Markdown text that Markdown reads as such."""
    plain = re.sub(r"\\[^\w\s]", "", markdown.replace("&nbsp;", "\u00a0"))
    plain = re.sub(r"`\d+`|: |:$", "", plain)  # the page's own: ids, and a colon
    return "".join(sign for sign in plain if sign in SIGNS)


def strings(node) -> list[str]:
    """Every text in a figure but its description, which is no markup."""
    if isinstance(node, str):
        return [node]
    if isinstance(node, dict):
        return [s for key, value in node.items() if key != "meta" for s in strings(value)]
    return [s for value in node for s in strings(value)] if isinstance(node, list) else []


def check_nothing_is_markup(page) -> None:
    tokens = note(page, "tokens", count="@").split("@")[1]
    assert tokens in " ".join(said(page, "real"))
    for name in MODEL_BENCHES:
        box = bench(page.app, name)
        for metric in box.metric:
            for part in (metric.value, metric.delta):
                assert not unescaped(part.replace("·", "")), (name, part)
        for caption in box.caption:
            _, colon, own = caption.value.partition(tokens)
            if colon:
                assert not unescaped(own), caption.value
        for spec in figures(box):
            for text in strings(spec):
                if "colorscale" not in text and not text.startswith("data:image/png;base64,"):
                    assert "<" not in PLOTLY_TAGS.sub("", text), text
    for sentence in sentences(page.app):
        assert "http://" not in sentence
        assert "<img" not in sentence


@pytest.mark.parametrize(("lang", "model"), [("en", "minilm"), ("zh", "smollm2")])
def test_a_hostile_text_is_only_text(visit, lang, model):
    kind = "encoder" if model == "minilm" else "decoder"
    page = opened(visit, lang, real__model=model, **{f"real__{kind}": HOSTILE})
    found = forward_cache.read(model, HOSTILE)
    # Reading it again letter by letter: nothing of the text was lost on its way to the model.
    letters = "".join(found.tokens.pieces).replace("##", "").replace("␣", "")
    wanted = HOSTILE.replace(" ", "")
    assert (wanted if model == "smollm2" else wanted.lower()) in letters.replace("[CLS]", "")
    assert page.value("real", kind) == HOSTILE
    check_nothing_is_markup(page)
    page.run(at__real__view="head")
    passage = Passage(page)
    assert passage.tags == {"div", "span"}
    assert passage.text.split() == " ".join(found.tokens.pieces[:80]).split()
    check_nothing_is_markup(page)
    strange = [n for n, p in enumerate(found.tokens.pieces, 1) if set(p) & set(SIGNS)]
    for place in strange[:: max(1, len(strange) // 4)]:
        page.run(at__apart__query=place, at__apart__key=place, at__real__query=place)
        piece = found.tokens.pieces[place - 1]
        beside = re.sub(r"\\(.)", r"\1", shown(page, "apart")["product"][1])
        assert beside == f"{piece} · {piece}"
        check_nothing_is_markup(page)


def test_a_hostile_text_in_bertviz_and_behind_the_figure(visit):
    page = opened(visit, real__encoder=HOSTILE[:45], real__other=HOSTILE[45:100],
                  bertviz__picture="head", real__view="head", real__query=2,
                  apart__query=2)  # fmt: skip
    html = figure(page, "bertviz")["page"]
    assert html.count("</script") == html.count("<script")
    assert "<img" not in html
    for name in ("real", "apart"):  # whose description names the query, which is "<"
        page.app.get_by_key(f"at.{name}.data").click().run()
        page.healthy()
        (dialog,) = page.app.get("dialog")
        assert not set(unescaped(dialog.get("markdown")[0].value)) & set("[]<>$`*"), name


def test_what_the_model_says_next_is_only_text(visit):
    """A likely next token is the model's word, not the student's, and may be Markdown, too."""
    page = opened(visit, real__model="smollm2", real__decoder="1 * 2 * 3 * 4 *", masks__kind="own",
                  ablate__off="")  # fmt: skip
    check_nothing_is_markup(page)
    text = "`a` `b` `c` `d` `"
    page.run(at__real__decoder=text)
    check_nothing_is_markup(page)


@pytest.mark.parametrize(
    ("model", "text"),
    [("minilm", "🙂🏽 مرحبا \u202eabc"), ("smollm2", "שלום 𝒜\u0301\n\t ~ 🙂🏽"),
     ("minilm", "a\u0000b\ufffdc")],
)  # fmt: skip
def test_other_letters_reach_the_page_whole(visit, model, text):
    kind = "encoder" if model == "minilm" else "decoder"
    page = opened(visit, real__model=model, real__view="head")
    page.run(**{f"at__real__{kind}": text})
    assert not page.warned()
    found = forward_cache.read(model, text)
    for name in ("by_hand", *MODEL_BENCHES):
        assert len(figures(bench(page.app, name))) == 1
    assert len(Passage(page).spans) == len(found.tokens.pieces)


# ------------------------------------------------------------------------------------ their length
def test_a_long_text_is_cut_and_that_is_said(visit):
    """Half a megabyte in the link: 10,000 letters of it are taken, 2,000 words."""
    model, text = "minilm", "word " * 100_000
    page = opened(visit, "zh", real__encoder=text)
    taken = page.value("real", "encoder")
    assert text.startswith(taken)
    assert len(taken) <= 10_000
    found = forward_cache.read(model, taken)
    assert len(found.tokens.ids) == texts.LONGEST
    assert found.tokens.left_out >= 1400
    cut = note(page, "cut", limit=texts.LONGEST, left=f"{found.tokens.left_out:,}")
    assert cut in said(page, "real")
    for name in MODEL_BENCHES:
        assert len(figures(bench(page.app, name))) == 1
        assert len(bench(page.app, name).metric) >= 4
    count = note(page, "tokens", count=texts.LONGEST)
    (tokens,) = (sentence for sentence in said(page, "real") if sentence.startswith(count))
    assert tokens.endswith(f"… +{texts.LONGEST - 40}")
    # Drawn at reduced resolution, and said so: the picture does not grow with the text.
    assert page.text("figure.reduced", cells="@").split("@")[0] in str(figure(page, "real"))
    assert len(str(figure(page, "real"))) < 1_500_000


@pytest.mark.parametrize(("query", "first"), [(60, 21), (102, 23)])
def test_of_a_long_text_the_words_around_the_query_are_colored(visit, query, first):
    text = " ".join(f"{'ab'[n % 2]}" for n in range(100))  # and [CLS], [SEP]
    page = opened(visit, real__encoder=text, real__view="head", real__query=query)
    passage = Passage(page)
    pieces = forward_cache.read("minilm", text).tokens.pieces
    assert passage.text.split() == list(pieces[first - 1 : first + 79])
    assert passage.outlined() == [query - first + 1]


def test_a_megabyte_in_the_link_is_not_read_at_all(visit):
    """Streamlit reads no query of more than 524,288 characters: the page opens as it is."""
    page = opened(visit, real__encoder="word " * 200_000)
    assert page.value("real", "encoder") == ENCODER
    assert len(figures(bench(page.app, "real"))) == 1


def test_the_link_of_a_long_text_has_no_code_to_scan(visit):
    page = opened(visit, real__encoder="学" * 270)
    page.app.get_by_key("at.real.link").click().run()
    page.healthy()
    (dialog,) = page.app.get("dialog")
    assert page.text("frame.long_link") in [caption.value for caption in dialog.caption]
    (address,) = dialog.get("code")
    assert address.value.count("%E5%AD%A6") == 270


def test_an_empty_beginning_is_one_sentence(visit):
    """A decoder has nothing to read then; an encoder reads its two own tokens."""
    page = opened(visit, "zh", real__model="smollm2")
    page.run(at__real__decoder="")
    sentence = page.text("problem.empty_text")
    assert page.warned() == len(MODEL_BENCHES) * [sentence]
    for name in MODEL_BENCHES:
        assert alerts(bench(page.app, name))["warning"] == [sentence]
        assert not bench(page.app, name).metric
    page.run(at__real__model="minilm", at__real__encoder="")
    assert not page.warned()
    assert note(page, "tokens", count=2) in " ".join(said(page, "real"))
    for name in MODEL_BENCHES:
        assert len(figures(bench(page.app, name))) == 1


# ------------------------------------------------------------------------------------------- links
BROKEN = {
    "real__model": "encoder:evil/model", "real__view": "none", "real__layer": "-1",
    "real__head": "99", "real__query": "0", "real__measure": "_hidden", "apart__key": "513",
    "masks__pads": "9", "masks__told": "yes", "masks__kind": "__class__", "scale__keys": "3",
    "by_hand__stage": "10", "by_hand__d_k": "15", "bertviz__picture": "neuron",
}  # fmt: skip


@pytest.mark.parametrize("model", ["encoder:evil/model", "gpt2"])
def test_a_link_beyond_the_ends_opens_the_page_as_it_is(visit, model):
    """Nor can a link name a model that is not offered here."""
    page = visit(
        "attention", **{f"at__{k}": v for k, v in (BROKEN | {"real__model": model}).items()}
    )
    usual = visit("attention")
    for name in page.lesson.benches:
        assert figures(bench(page.app, name)) == figures(bench(usual.app, name)), name
        for control, declared in controls.controls(page.lesson.benches[name]):
            # A control that does not apply may wait with what the link said, if it can be had.
            wanted = (usual.value(name, control), declared.default)
            assert page.value(name, control) in wanted
    offered = page.app.get_by_key("at.real.model").options
    assert len(offered) == 2
