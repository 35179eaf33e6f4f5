"""SeqViz: interactive lessons about sequence models, as a Streamlit app.

Streamlit runs this file for each session; `streamlit run app.py` imports it once and serves `app`.
"""

import streamlit as st

if __name__ == "__main__":
    from seqviz.content import catalog
    from seqviz.core.i18n import Text
    from seqviz.core.paths import STATIC
    from seqviz.ui.page import header
    from seqviz.ui.quota import charging
    from seqviz.ui.runtime import run_context, startup
    from seqviz.ui.runtime.scheduler import Priority

    startup.configure_process()
    text = Text(header.language())
    st.set_page_config(page_icon=str(STATIC / "icon.svg"), layout="wide")

    home = st.Page("pages/home.py", title=text("frame.map"), icon=":material/home:", default=True)
    pages = {"": [home]}
    for lesson in catalog.LESSONS:
        title = text(f"{lesson.slug}.title")
        page = st.Page(f"pages/{lesson.slug}.py", title=title, icon=lesson.icon)
        pages.setdefault(text(f"nav.{lesson.group}"), []).append(page)
    chosen = st.navigation(pages, position="top")
    with run_context.page(chosen.url_path), charging.turn(Priority.PAGE):
        chosen.run()
else:
    from seqviz.ui.app import application

    application.configure(__file__)
    app = st.App(
        __file__,
        routes=application.routes(),
        middleware=application.middleware(),
        lifespan=application.lifespan,
        on_script_error=application.on_script_error,
    )
