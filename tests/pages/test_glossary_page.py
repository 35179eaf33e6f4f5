"""The glossary as a visitor opens it: from the header of a page, or by a link."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from seqviz.content.glossary import TEXTS
from seqviz.core.i18n import LANGUAGES, Text, sections
from seqviz.ui.page.glossary import five_texts
from tests.pages.page_assertions import walk


def opened(app) -> str:
    """What the dialog says; empty where none is open."""
    dialogs = [node for node in walk(app._tree) if node.type == "dialog"]
    assert len(dialogs) <= 1
    return "\n".join(item.value for node in dialogs for item in node.get("markdown"))


@pytest.mark.parametrize(("slug", "lang"), [("gates", "zh"), ("ar_fitting", "en")])
def test_glossary_opens_from_header_at_lesson_letters(visit, slug, lang):
    page = visit(slug, lang)
    assert not opened(page.app)
    page.app.get_by_key("glossary.open").click().run()
    page.healthy()
    visible = opened(page.app)
    mine, other = {"gates": (r"$\odot$", r"$\psi_j$"), "ar_fitting": (r"$\psi_j$", r"$\odot$")}[
        slug
    ]
    assert mine in visible
    assert other not in visible


def filled(lang: str, slug: str = "") -> AppTest:
    """What stands in the dialog, as a page of its own: a press in a dialog draws that alone."""

    def script(lang: str) -> None:
        from seqviz.core.i18n import Text
        from seqviz.ui.page import glossary

        glossary.fill(Text(lang), of_course=True)

    app = AppTest.from_function(script, args=(lang,))
    app.session_state["glossary.lesson"] = slug
    return app.run()


def said(app: AppTest) -> str:
    assert not app.exception
    return app.markdown[0].value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_glossary_filters_by_search_and_lesson(lang):
    text, app = Text(lang), filled(lang, "gates")
    assert r"$\odot$" in said(app)
    assert r"$\psi_j$" not in said(app)
    app.selectbox[0].set_value("").run()
    assert r"$\psi_j$" in said(app)
    app.text_input[0].set_value("Γ").run()
    assert text("frame.glossary_same", count=5) in said(app)
    assert r"$\psi_j$" not in said(app)
    assert all(item in app.caption[0].value for item in text.items("frame.five_texts_are"))


def test_glossary_search_falls_back_to_other_lessons():
    app = filled("en", "ar_fitting")
    app.text_input[0].set_value("forget gate").run()
    assert "遗忘门" in said(app)
    assert app.caption[0].value == Text("en")("frame.glossary_beyond")


def test_glossary_link_opens_dialog_once(visit):
    page = visit("home", "zh", glossary="W")
    assert "循环权重矩阵" in opened(page.app)
    page.app.get_by_key("lang").set_value("en").run()  # as any press that draws the page again
    assert not opened(page.app)


@pytest.mark.parametrize("typed", ["", "![x](http://x.invalid/y.png)<script>|$", "\u202e" * 999])
def test_glossary_link_survives_hostile_input(visit, typed):
    page = visit("home", "en", glossary=typed)
    page.healthy()
    assert "![x](" not in opened(page.app)
    assert opened(page.app)
    none = Text("en")("frame.glossary_none", typed="").split("“")[0]
    assert (none in opened(page.app)) is bool(typed)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_lesson_names_five_texts_once_above_sources(visit, lang):
    page = visit("gates", lang, course="zh5")
    visible = [item.value for item in page.app.markdown]
    (position,) = [number for number, item in enumerate(visible) if item == five_texts(page.text)]
    assert visible[position + 1] == sections("gates", lang)["sources"]
    for name in TEXTS:
        assert f"**{name}**" in visible[position]
