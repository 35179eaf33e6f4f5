"""Pages where PyTorch is not installed: `python without_torch.py recurrent gpt`, at the project's.

Prints, as JSON, what boxes say on each page in each language, and how many figures it has.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
# Runs before anything of a server as well (`driver.server.serve`).
HIDE = """
from importlib.machinery import PathFinder
known = PathFinder.find_spec.__func__
def find_spec(cls, name, *arguments):
    return None if name.partition(".")[0] == "torch" else known(cls, name, *arguments)
PathFinder.find_spec = classmethod(find_spec)
"""
CHART = "seqviz_chart"


def shown(page: str, lang: str) -> dict[str, Any]:
    """What a visitor reads once all that is loaded or trained has come to its end."""
    from streamlit.testing.v1 import AppTest

    from seqviz import jobs

    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    app.query_params["lang"] = lang
    app.run()
    app.switch_page(f"pages/{page}.py")
    app.query_params["lang"] = lang
    app.run()
    while any(queue.waiting or queue.running for queue in jobs.all_queues().values()):
        time.sleep(0.05)
    app.run()
    charts = [item for item in app.get("bidi_component") if item.proto.component_name == CHART]
    return {
        "exceptions": [item.message for item in app.exception],
        "errors": [item.value for item in app.error],
        "warnings": [item.value for item in app.warning],
        "charts": len(charts),
    }


if __name__ == "__main__":
    exec(HIDE)
    pages = sys.argv[1:]
    print(json.dumps({page: {lang: shown(page, lang) for lang in ("en", "zh")} for page in pages}))
