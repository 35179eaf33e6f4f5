"""A page run through app.py without a browser, and the Lesson object that its script made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from seqviz import jobs
from seqviz.core.i18n import Text
from seqviz.experiments.bert_accuracy import features
from seqviz.lessons.framework.controls import Control
from seqviz.lessons.framework.lesson import Lesson
from seqviz.models import pretrained
from seqviz.ui.page import model_progress
from seqviz.ui.page import page_lesson as frame
from seqviz.ui.page.page_lesson import PageLesson
from tests.pages.page_assertions import figures
from tests.shared_fixtures import models_of

SECONDS = 60
_untouched: dict[tuple[str, str], Visit] = {}


@dataclass
class Visit:
    """One visitor: the page, its words, and the lesson as its last run left it."""

    app: AppTest
    text: Text
    made: list[PageLesson]

    @property
    def lesson(self) -> PageLesson:
        return self.made[-1]

    @property
    def address(self) -> dict[str, str]:
        """The parameters in the address bar; AppTest gives a list where it was opened with one."""
        request = self.app.query_params
        return {key: item[0] if isinstance(item, list) else item for key, item in request.items()}

    def run(self, **state: Any) -> Visit:
        """Run again with these values in the session ("." in keys is written "__")."""
        for key, value in state.items():
            self.app.session_state[key.replace("__", ".")] = value
        self.app.run()
        self.served()
        self.healthy()
        return self

    def served(self) -> None:
        """Wait for models and long texts and run again, as the page's polling fragment does.

        Where a page still waits, what it waited for may have ended since.
        """
        while (waits := jobs.queue_for(model_progress.QUEUE)._active()) or self.app.get("skeleton"):
            for job in waits:
                assert job.wait(SECONDS)
            self.app.run()

    def healthy(self) -> None:
        """No exception reached the page, and no bench said that it failed."""
        assert not self.app.exception, [e.value for e in self.app.exception]
        assert not self.app.error, [e.value for e in self.app.error]

    def value(self, bench: str, name: str) -> Any:
        """A control's value; None when the control is not on the page."""
        key = f"{self.lesson.prefix(bench)}.{name}"
        # AppTest's session state is no mapping: it has no `get`.
        return self.app.session_state[key] if key in self.app.session_state else None  # noqa: SIM401

    def top(self, control: Control, expected: dict[tuple[str, str], Any], bench: str) -> float:
        """The upper end of a slider of this bench, when these (bench, name) have these values."""

        def values(of: str) -> Any:
            declaration = self.lesson.benches[of]
            return declaration(
                **{name: v for (position, name), v in expected.items() if position == of}
            )

        with self.lesson.declared.read_by(values):  # an end may depend on another bench
            return control.top(vars(values(bench)))

    def charts(self) -> int:
        """How many charts are on the page."""
        return len(figures(self.app))

    def warned(self) -> list[str]:
        return [warning.value for warning in self.app.warning]

    def readouts(self) -> dict[str, str]:
        return {metric.label: metric.value for metric in self.app.metric}


@pytest.fixture(autouse=True)
def nobody_has_trained(monkeypatch: pytest.MonkeyPatch) -> None:
    """Queues of this test's own: what another test trained is kept for a class, not for a test."""
    monkeypatch.setattr(jobs.queue, "_defaults", {})


@pytest.fixture
def visit(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Callable[..., Visit]:
    built: list[PageLesson] = []
    begin = frame.begin

    def noted(declared: Lesson) -> PageLesson:
        built.append(begin(declared))
        return built[-1]

    monkeypatch.setattr(frame, "begin", noted)

    def open_page(slug: str, lang: str = "en", **parameters: str) -> Visit:
        models_of(slug, request)
        app = AppTest.from_file("../../app.py", default_timeout=SECONDS)
        app.switch_page(f"pages/{slug}.py")  # without the map before it, as a link opens a page
        for key, value in {"lang": lang, **parameters}.items():
            app.query_params[key.replace("__", ".")] = value
        app.run()
        visitor = Visit(app, Text(lang), built)
        visitor.served()
        visitor.healthy()
        # AppTest stays silently on the default page when it does not find the one asked for.
        assert app.title[0].value == visitor.text(f"{slug}.title")
        return visitor

    return open_page


@pytest.fixture
def untouched(visit: Callable[..., Visit]) -> Callable[..., Visit]:
    """`untouched(slug, lang)`: a page as it opens, for all tests that only look at it."""

    def look(slug: str, lang: str = "en") -> Visit:
        if (slug, lang) not in _untouched:
            page = visit(slug, lang)
            _untouched[slug, lang] = replace(page, made=[page.lesson])
        return _untouched[slug, lang]

    return look


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[], None]]:
    """Nothing is loaded, the cache is empty, and no source answers. Call it: all is well again."""
    with monkeypatch.context() as patch:
        patch.setattr(pretrained, "_loaded", {})
        patch.setattr(features, "_kept", type(features._kept)())
        patch.setenv("SEQVIZ_CACHE", str(tmp_path / "cache"))
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.delenv("PIP_FIND_LINKS", raising=False)
        yield patch.undo
