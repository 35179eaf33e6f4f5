"""The whole road, from AR(1) to metrics, as a map made from the catalogue."""

import streamlit as st

from seqviz import catalog
from seqviz.ui.page import header

COLUMNS = 4

text = header.open_page("home")
st.markdown(text("home.goal"))

lessons: dict[str, list[catalog.Lesson]] = {}
for record in catalog.LESSONS:
    lessons.setdefault(record.stage, []).append(record)


def stop(number: int, stage: str) -> None:
    """One stop of the road: its question, and the way in if there is one."""
    built = lessons.get(stage, [])
    with st.container(border=True, height="stretch", key=f"{'open' if built else 'later'}-{stage}"):
        st.markdown(f"## {number} · {text(f'stage.{stage}.title')}")
        st.markdown(text(f"stage.{stage}.question"))
        for lesson in built:
            st.page_link(
                f"pages/{lesson.slug}.py",
                label=text(f"{lesson.slug}.title"),
                icon=lesson.icon,
                query_params={"lang": text.lang},
            )
        if not built:
            st.caption(text("home.not_built"))


numbered = list(enumerate(catalog.STAGES, start=1))
for start in range(0, len(numbered), COLUMNS):
    for place, (number, stage) in zip(
        st.columns(COLUMNS, gap="small"), numbered[start : start + COLUMNS], strict=False
    ):
        with place:
            stop(number, stage)
