"""Command that serves the app: `streamlit run app.py` with the path of the installed app."""

from __future__ import annotations

from collections.abc import Sequence

from streamlit.web import cli

from seqviz.core.paths import ROOT


def serve(options: Sequence[str]) -> None:
    """Serve the app until interrupted.

    The working directory stays the caller's, so relative paths in the options are valid. Streamlit
    still finds the app's configuration: it reads the one beside the script last.

    Args:
        options: of `streamlit run`.
    """
    cli.main(["run", str(ROOT / "app.py"), *options], prog_name="streamlit")
