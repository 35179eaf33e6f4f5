"""`python -m seqviz.models fetch|list|verify`: manage the pretrained models of this machine."""

from __future__ import annotations

import argparse
import sys

from seqviz.models import store
from seqviz.models.registry import DEFAULTS, OTHERS, Model, allowed, model


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit status: 0 for success."""
    parser = argparse.ArgumentParser(prog="python -m seqviz.models", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("fetch", help="download models")
    fetching.add_argument("names", nargs="*", help="default: the two that lessons start with")
    fetching.add_argument("--again", action="store_true", help="replace a stored copy")
    commands.add_parser("list", help="list all models and whether each is stored")
    verifying = commands.add_parser("verify", help="compare the checksums of stored models")
    verifying.add_argument("names", nargs="*", help="default: all stored models")
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
    """Fetch a model with a progress bar and return the exit status.

    Args:
        name: name of the model.
        again: True to fetch it even if a copy is stored.
    """
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
    """Compare a model's checksums with its manifest and return the exit status."""
    try:
        result = store.verify(name)
    except ValueError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"{model(name).title}: {len(result.files)} files as in the manifest")
    return 0


if __name__ == "__main__":
    sys.exit(main())
