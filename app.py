"""SeqViz: lessons in a browser in which students move sliders on live sequence models.

Streamlit runs this file for each visitor; `streamlit run app.py` imports it once and serves `app`.
"""

import streamlit as st

if __name__ == "__main__":
    from seqviz import catalog
    from seqviz.paths import STATIC
    from seqviz.text import Text
    from seqviz.ui.page import header
    from seqviz.ui.server import run_context
    from seqviz.ui.shared import limits, startup
    from seqviz.ui.shared.draw_queue import Rank

    startup.prepare()
    text = Text(header.language())
    st.set_page_config(page_icon=str(STATIC / "icon.svg"), layout="wide")

    home = st.Page("pages/home.py", title=text("frame.map"), icon=":material/home:", default=True)
    pages = {"": [home]}
    for lesson in catalog.LESSONS:
        title = text(f"{lesson.slug}.title")
        page = st.Page(f"pages/{lesson.slug}.py", title=title, icon=lesson.icon)
        pages.setdefault(text(f"nav.{lesson.group}"), []).append(page)
    chosen = st.navigation(pages, position="top")
    with run_context.page(chosen.url_path), limits.turn(Rank.PAGE):
        chosen.run()
else:
    from seqviz.ui.server import application

    application.begin(__file__)
    app = st.App(
        __file__,
        routes=application.routes(),
        middleware=application.middleware(),
        lifespan=application.lifespan,
        on_script_error=application.on_script_error,
    )
