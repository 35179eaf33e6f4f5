"""The whole road, from AR(1) to metrics, as a map made from the catalogue."""

import streamlit as st

from seqviz import catalog
from seqviz.ui import header

text = header.open_page("home")
st.markdown(text("home.goal"))

lessons = {}
for record in catalog.LESSONS:
    lessons.setdefault(record.stage, []).append(record)

for start in range(0, len(catalog.STAGES), 4):
    for offset, (place, stage) in enumerate(
        zip(st.columns(4, gap="small"), catalog.STAGES[start : start + 4], strict=False)
    ):
        built = lessons.get(stage, [])
        state = "built" if built else "open"
        with place, st.container(border=True, height="stretch", key=f"{state}-{stage}"):
            st.markdown(f"**{start + offset + 1} · {text(f'stage.{stage}.title')}**")
            st.markdown(text(f"stage.{stage}.question"))
            for record in built:
                st.page_link(
                    f"pages/{record.slug}.py",
                    label=text("home.open"),
                    icon=":material/arrow_forward:",
                    query_params={"lang": text.lang},
                )
            if not built:
                st.caption(text("home.not_built"))
