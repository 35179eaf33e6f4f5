"""The command `seqviz`, also `python -m seqviz`: serve the lessons, draw a figure, bake.

seqviz                         the same as `seqviz serve`
seqviz --server.port 8600      what serve does not know goes on to `streamlit run`
seqviz draw vanishing_gradients reach --gain 0.9 -o reach.html
seqviz bake                    models and vectors, before a class or for an image
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from seqviz.core.languages import DEFAULT, LANGUAGES, matching
from seqviz.core.lazy_import import refusing


def main(arguments: Sequence[str] | None = None) -> None:
    """Carry out a command; without one the app is served."""
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words or (words[0].startswith("-") and words[0] not in ("-h", "--help")):
        words = ["serve", *words]
    chosen, others = _parser().parse_known_args(words)
    chosen.action(chosen, others)


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
    serve.set_defaults(action=lambda _, options: _serve(options))
    draw = commands.add_parser(
        "draw",
        allow_abbrev=False,
        help="the figure of a bench as .html, .svg or .json",
        description="Draw a bench without a page. Further arguments are its settings: --gain 0.9.",
    )
    draw.add_argument("lesson")
    draw.add_argument("bench")
    draw.add_argument("-o", "--out", type=Path, required=True)
    draw.add_argument("--language", type=_language, choices=LANGUAGES, default=DEFAULT)
    draw.add_argument("--dark", action="store_true", help="on the dark background")
    draw.add_argument("--train", action="store_true", help="train now what did not come trained")
    draw.set_defaults(action=_draw)
    bake = commands.add_parser("bake", help="fetch the models, compute the sentence vectors")
    bake.set_defaults(action=_bake)
    return parser


def _language(tag: str) -> str:
    """Return the language of a tag such as zh-CN; of an unknown language the tag itself."""
    return matching(tag) or tag


def _draw(chosen: argparse.Namespace, settings: Sequence[str]) -> None:
    from seqviz.export.draw_command import draw

    try:
        draw(
            chosen.lesson, chosen.bench, settings, chosen.out,
            chosen.language, chosen.dark, chosen.train,
        )  # fmt: skip
    except ValueError as refusal:
        sys.exit(str(refusal))


def _bake(chosen: argparse.Namespace, others: Sequence[str]) -> None:
    from seqviz.experiments.bake import bake

    try:
        failed = refusing(bake)()
    except ValueError as refusal:
        sys.exit(str(refusal))
    sys.exit(failed)


def _serve(options: Sequence[str]) -> None:
    try:
        from seqviz.ui.app import command
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
