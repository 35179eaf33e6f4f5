"""`python -m seqviz.models fetch|list|verify`: the pretrained models of this machine."""

from __future__ import annotations

import argparse
import sys

from seqviz.models import store
from seqviz.models.registry import DEFAULTS, OTHERS, Model, allowed, model


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when all went well."""
    parser = argparse.ArgumentParser(prog="python -m seqviz.models", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="bring models onto this machine")
    fetching.add_argument("names", nargs="*", help="default: the two that lessons start with")
    fetching.add_argument("--again", action="store_true", help="even where there is a copy")
    commands.add_parser("list", help="all models of this app, and which are here")
    verifying = commands.add_parser("verify", help="compare the checksums of what is here")
    verifying.add_argument("names", nargs="*", help="default: all that are here")
    chosen = parser.parse_args(arguments)
    try:
        if chosen.command == "list":
            return _list()
        if chosen.command == "fetch":
            return max(fetch(name, chosen.again) for name in chosen.names or DEFAULTS.values())
        registered = (*allowed(), *OTHERS)
        here = [record.name for record in registered if store.stored(record.name)]
        return max((verify(name) for name in chosen.names or here), default=0)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1


def _list() -> int:
    for record in (*allowed(), *OTHERS):
        here = store.stored(record.name)
        state = (
            f"here, {here.size / 1e6:,.0f} MB, from the {here.origin} ({here.version}), {here.date}"
            if here
            else "not here"
        )
        size = f"{record.parameters:,} parameters" if record.parameters else "size unknown"
        print(f"{record.name:13} {record.title:25} {record.kind:8} {size:24} {state}")
    print(f"folder: {store.cache() / 'models'}")
    return 0


def fetch(name: str, again: bool = False) -> int:
    """Bring a model onto this machine, with a bar; 0 when all went well."""
    from tqdm import tqdm

    record: Model = model(name)
    with tqdm(total=100, desc=record.title, unit="%", bar_format="{desc}: {bar} {n:.0f}%") as bar:

        def report(fraction: float) -> None:
            bar.update(100 * fraction - bar.n)

        try:
            result = store.fetch(name, report, again)
        except ValueError as error:
            bar.close()
            print(error, file=sys.stderr)
            return 1
    print(
        f"{record.title}: {result.size / 1e6:,.0f} MB in {result.folder}, from the {result.origin}"
    )
    return 0


def verify(name: str) -> int:
    """Compare the checksums of a model; 0 when they are those of the manifest."""
    try:
        result = store.verify(name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{model(name).title}: {len(result.files)} files as in the manifest")
    return 0


if __name__ == "__main__":
    sys.exit(main())
