"""Run Lighthouse (npm) on the home page and a lesson.

`python -m tools.lighthouse [--runs 3]`. The exit status is an error where a median misses its limit
(`LEAST`, `MOST`).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys

from testing.server import serve

CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
COMMAND = ["npx", "--yes", "lighthouse@13.5.0", "--preset=desktop"]
COMMAND += [f"--only-categories={','.join(CATEGORIES)}"]
COMMAND += ["--output=json", "--quiet", "--chrome-flags=--headless=new --no-sandbox"]
AUDITS = {"CLS": "cumulative-layout-shift", "TBT, ms": "total-blocking-time"}
PAGES = ("", "ar_fitting?lang=en")
LEAST = {  # minimum scores, out of 100
    "": {"performance": 90, "accessibility": 100, "best-practices": 95, "seo": 100},
    "ar_fitting?lang=en": {"seo": 100},
}
MOST = {"": {"CLS": 0.05}}


def run(url: str) -> dict[str, float]:
    """Return the score of each category, and some audits behind them."""
    environment = {"CHROME_PATH": shutil.which("chromium") or "", **os.environ}
    message = subprocess.run([*COMMAND, url], env=environment, capture_output=True, check=True)
    result = json.loads(message.stdout)
    scores = {name: round(100 * result["categories"][name]["score"]) for name in CATEGORIES}
    numbers = {n: round(result["audits"][a]["numericValue"], 3) for n, a in AUDITS.items()}
    return {**scores, **numbers}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="runs per page, alternating")
    runs: dict[str, list[dict[str, float]]] = {path: [] for path in PAGES}
    with serve() as server:
        for turn in range(parser.parse_args().runs + 1):
            for path in PAGES:
                result = run(f"{server.url}/{path}")
                if turn:  # the first run warms up the server
                    runs[path].append(result)
                    print(path or "home", result, flush=True)
    missed = []
    for path, result in runs.items():
        median = {name: statistics.median(item[name] for item in result) for name in result[0]}
        low = [name for name, minimum in LEAST[path].items() if median[name] < minimum]
        high = [name for name, maximum in MOST.get(path, {}).items() if median[name] > maximum]
        missed += [f"{path or 'home'}: {name} {median[name]}" for name in low + high]
    if missed:
        sys.exit("\n".join(missed))


if __name__ == "__main__":
    main()
