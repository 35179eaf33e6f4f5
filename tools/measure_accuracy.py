"""Run the experiments of the accuracy lesson and bundle their results.

`python -m tools.measure_accuracy` takes about three hours on two cores. `--only knife padding`
reruns some experiments, `--missing` runs those without a result, so an interrupted run can resume.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import Any

from seqviz.compute.bert_accuracy.results import TuneSettings
from seqviz.data import precomputed
from seqviz.experiments.bert_accuracy import shipped
from seqviz.models import device
from tools.measure_trainings import ship

SCRIPT = "tools/measure_accuracy.py"


def seeds(keywords: Mapping[str, Any]) -> list[int]:
    """Return the random seeds of a call: those of its settings, else the default 0."""
    settings = keywords.get("settings")
    if "seed" in keywords:
        return [keywords["seed"]]
    if isinstance(settings, TuneSettings):
        return list(range(settings.runs))
    every = settings if isinstance(settings, tuple) else (settings,)
    return sorted({getattr(item, "seed", 0) for item in every})


def main() -> None:
    existing = shipped.calls()
    existing |= {f"{name}_{seed}": call for (name, seed), call in shipped.seeds().items()}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=tuple(existing), default=tuple(existing))
    parser.add_argument("--missing", action="store_true", help="skip existing results")
    request = parser.parse_args()
    device.prepare_torch()
    chosen = device.choose()
    for name in request.only:
        function, keywords = existing[name]
        if request.missing and precomputed.find(function, keywords) is not None:
            continue
        last = 0.0

        def report(record: object, fraction: float | None = None, name: str = name) -> None:
            nonlocal last
            share = getattr(record, "fraction", 0.0) if fraction is None else fraction
            if share >= last + 0.1:
                last = share
                print(f"  {name}: {100 * share:.0f}%", flush=True)

        about = {"script": SCRIPT, "seeds": seeds(keywords)}
        ship(name, function, keywords, report, chosen, about)


if __name__ == "__main__":
    main()
