"""A page opened by a link, run through app.py as Streamlit runs it, without a browser."""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from streamlit.testing.v1 import AppTest

from seqviz import jobs
from seqviz.core.i18n import ASSETS, LANGUAGES, catalogue
from seqviz.ui.page import model_progress
from tests.hostile.input_declarations import SLUGS, benches
from tests.pages.page_assertions import alerts, bench, figures

SECONDS = 120
NO_NUMBER = re.compile(r"\bnan\b|\binf\b|\bNone\b")


@dataclass
class Visit:
    """slug: the lesson; seconds: of processor time, of each run of the script."""

    slug: str
    app: AppTest
    seconds: list[float] = field(default_factory=list)

    def run(self) -> Visit:
        """Run the script, and again when models and long texts that it waits for are there."""
        self._run()
        for _ in range(10):
            waits = jobs.queue_for(model_progress.QUEUE)._active()
            if not waits and not self.app.get("progress"):  # one may have ended since
                break
            for job in waits:
                job.wait(SECONDS)
            self._run()
        return self

    def _run(self) -> None:
        before = time.process_time()
        self.app.run()
        self.seconds.append(time.process_time() - before)

    def faults(self) -> list[str]:
        """What is wrong with the page; nothing, if it is whole."""
        app = self.app
        results = [f"exception: {e.value[:300]}" for e in app.exception]
        results += [f"error: {e.value[:300]}" for e in app.error]
        titles = {catalogue(lang)[f"{self.slug}.title"] for lang in LANGUAGES}
        if not app.title or app.title[0].value not in titles:
            results.append("no title")
            return results
        for name in benches(self.slug):
            position = bench(app, name)
            boxes = alerts(position)
            if not figures(position) and not boxes["warning"] + boxes["info"] + boxes["error"]:
                results.append(f"{name}: neither a figure nor a sentence")
        return results

    def numbers(self) -> list[str]:
        """Read-outs that are no numbers."""
        visible = [f"{metric.value} {metric.delta}" for metric in self.app.metric]
        return [item for item in visible if NO_NUMBER.search(item)]


def opened(slug: str, pairs: Sequence[tuple[str, str]] = (), run: bool = True) -> Visit:
    """The page of a lesson, opened by a link with these (key, value) pairs."""
    app = AppTest.from_file(str(ASSETS.parent / "app.py"), default_timeout=SECONDS)
    app.switch_page(f"pages/{slug}.py")
    raw: dict[bytes, list[bytes]] = {}
    for key, value in pairs:
        raw.setdefault(_bytes(key), []).append(_bytes(value))
    app.query_params = raw  # type: ignore[assignment]
    visit = Visit(slug, app)
    return visit.run() if run else visit


def warm() -> None:
    """Everything imported and both models loaded: what the first visitor of a day waits for."""
    for slug in SLUGS:
        opened(slug)
    opened("attention", [("at.real.model", "smollm2")])


def _bytes(text: str) -> bytes:
    """As in a link: half of a surrogate pair is three bytes that are no character."""
    return text.encode("utf-8", "surrogatepass")
