"""The app served from wherever one is: `streamlit run app.py` with the path of the app."""

from __future__ import annotations

from collections.abc import Sequence

from streamlit.web import cli

from seqviz.core.paths import ROOT


def serve(options: Sequence[str]) -> None:
    """Serve until somebody ends it; options: those of `streamlit run`.

    The working folder stays the caller's, so that paths among the options mean what they say. The
    app's configuration is found all the same: Streamlit reads the one beside the script last.
    """
    cli.main(["run", str(ROOT / "app.py"), *options], prog_name="streamlit")
