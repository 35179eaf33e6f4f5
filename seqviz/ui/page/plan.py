"""The plan of a lesson for teachers, `?view=plan`: `docs/teaching/<lesson>.<language>.md`."""

from __future__ import annotations

import re
from urllib.parse import urlencode

import streamlit as st

from seqviz.content import catalog
from seqviz.core.i18n import Text, unbroken
from seqviz.core.paths import PLANS
from seqviz.ui.page import course

NAME = "plan"  # value of the query parameter `course.VIEW`

_COMMENT = re.compile(r"<!--.*?-->")  # formulas by which the tests recompute the numbers
_LINK = re.compile(r"\[(?P<label>[^\]]*)\]\((?P<target>[^)\s]+)\)")


def is_page() -> bool:
    """Return True where the address is that of a lesson's plan."""
    return st.query_params.get(course.VIEW) == NAME


def address(slug: str, parameters: dict[str, str]) -> str:
    """Return the address of a lesson's plan, relative to the page of any lesson or home.

    Args:
        slug: the lesson.
        parameters: query parameters of every page.
    """
    return f"{slug}?{urlencode({**parameters, course.VIEW: NAME})}"


def link(slug: str, text: Text, parameters: dict[str, str]) -> str:
    """Return the link from a lesson to its plan, as HTML.

    Args:
        slug: the lesson.
        text: translations.
        parameters: query parameters of every page.
    """
    return f'<a href="{address(slug, parameters)}" target="_self">{text("frame.plan")}</a>'


def page(slug: str, text: Text, parameters: dict[str, str]) -> None:
    """Show the plan with the files of its homework, and links to the lesson and the other plans.

    Args:
        slug: the lesson.
        text: translations.
        parameters: query parameters of every page.
    """
    source = (PLANS / f"{slug}.{text.lang}.md").read_text("utf-8")
    body, files = rendered(source, parameters)
    st.html(
        f'<a href="{slug}?{urlencode(parameters)}" target="_self">{text("frame.plan_back")}</a>'
    )
    st.caption(text("frame.plan_note"))
    st.markdown(unbroken(body))
    for name in files:
        st.download_button(
            PLANS.joinpath(name).name,
            PLANS.joinpath(name).read_bytes(),
            file_name=PLANS.joinpath(name).name,
            icon=":material/menu_book:",
            key=f"plan.{name}",
            on_click="ignore",
        )
    others = [
        f"[{text(f'{record.slug}.title')}]({address(record.slug, parameters)})"
        for record in catalog.LESSONS
        if record.slug != slug
    ]
    st.markdown(f"**{text('frame.plan_others')}** {' · '.join(others)}")


def rendered(source: str, parameters: dict[str, str]) -> tuple[str, list[str]]:
    """Return a plan for the page, and the files that it links to.

    The title becomes a second heading, below that of the lesson. Links into lessons become
    relative, since the app may stand below a path; links to other plans open their pages; links to
    files become their labels, as the page offers the files.

    Args:
        source: Markdown of the plan.
        parameters: query parameters of every page.
    """
    files: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        label, target = match["label"], match["target"]
        if target.startswith("/"):
            return f"[{label}]({target[1:]})"
        if target.endswith(".md"):
            return f"[{label}]({address(target.split('.')[0], parameters)})"
        if target not in files:
            files.append(target)
        return f"*{label}*"

    return _LINK.sub(replaced, _COMMENT.sub("", source).replace("# ", "## ", 1)), files
