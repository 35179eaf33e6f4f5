"""The command `seqviz`, also `python -m seqviz`: serve the app, and what else it will learn.

seqviz                         the same as `seqviz serve`
seqviz --server.port 8600      what serve does not know goes on to `streamlit run`
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> None:
    """Carry out a command; without one the app is served."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words = ["serve", *words]
    chosen, others = _parser().parse_known_args(words)
    chosen.action(others)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="seqviz",
        description=__doc__,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", required=True)
    serve = commands.add_parser(
        "serve",
        allow_abbrev=False,
        help="the lessons in a browser",
        description="Serve the lessons. Further arguments go on to `streamlit run`.",
    )
    serve.set_defaults(action=_serve)
    return parser


def _serve(options: Sequence[str]) -> None:
    try:
        from seqviz.ui.server import command
    except ModuleNotFoundError as error:
        if error.name != "streamlit":
            raise
        sys.exit(
            "SeqViz does not start: its pages need Streamlit, which is not installed; "
            "install SeqViz with its extra, as in pip install '.[app]'."
        )
    command.serve(options)


if __name__ == "__main__":
    main()
