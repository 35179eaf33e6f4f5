"""Lighthouse (npm) on the home page and a lesson: `python -m tools.lighthouse [--runs 3]`."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess

from driver.server import serve

CATEGORIES = ("performance", "accessibility")
COMMAND = ["npx", "--yes", "lighthouse@13.5.0", "--preset=desktop"]
COMMAND += [f"--only-categories={','.join(CATEGORIES)}"]
COMMAND += ["--output=json", "--quiet", "--chrome-flags=--headless=new --no-sandbox"]
AUDITS = {"CLS": "cumulative-layout-shift", "TBT, ms": "total-blocking-time"}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=3, help="of each page, in turn")
    environment = {"CHROME_PATH": shutil.which("chromium") or "", **os.environ}
    with serve() as server:
        for turn in range(parser.parse_args().runs + 1):
            for path in ("", "ar_fitting"):
                command = [*COMMAND, f"{server.url}/{path}"]
                said = subprocess.run(command, env=environment, capture_output=True, check=True)
                found = json.loads(said.stdout)
                scores = {c: round(100 * found["categories"][c]["score"]) for c in CATEGORIES}
                wrong = [
                    name
                    for part in found["categories"]["accessibility"]["auditRefs"]
                    if part["weight"]
                    and found["audits"][name := part["id"]]["score"] not in (None, 1)
                ]
                seen = {n: round(found["audits"][a]["numericValue"], 3) for n, a in AUDITS.items()}
                if turn:  # the first warms the server
                    print(path or "home", scores, seen, *wrong, flush=True)
