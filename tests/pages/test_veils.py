"""No byte that a browser gets before a question is answered holds the answer."""

from __future__ import annotations

import urllib.request

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import LANGUAGES
from testing.protocol import ProtocolClient, run_async
from testing.server import serve
from tests.lessons.test_questions import NUMBER, answer_numbers
from tests.tiers import alternate

SLUGS = [record.slug for record in catalog.LESSONS]


@pytest.fixture(scope="module")
def server():
    with serve(environment={"SEQVIZ_GUIDED": "1", "SEQVIZ_SESSION_SECONDS": "0"}) as running:
        yield running


class Recorder(ProtocolClient):
    """A client that keeps every message as it arrives."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.received: list[str] = []

    async def _receive(self):
        message = await super()._receive()
        self.received.append(message.SerializeToString().decode("utf-8", "replace"))
        return message


async def _whole_page(url: str, slug: str, lang: str) -> str:
    async with Recorder(url, slug, {"lang": lang}) as student:
        await student.open()
        await student.scroll(every=True)
        return "\n".join(student.received)


@pytest.mark.parametrize(("slug", "lang"), alternate(SLUGS))
def test_page_holds_no_answer_before_commitment(server, slug, lang):
    """Whole page, all benches scrolled to: prose, figures, read-outs, notes, tables."""
    received = run_async(_whole_page(server.url, slug, lang))
    numbers = set(NUMBER.findall(received))
    lesson = getattr(lessons, slug).lesson
    leaked = {name: sorted(answer_numbers(slug, name, lang) & numbers) for name in lesson.questions}
    assert not {name: found for name, found in leaked.items() if found}


def _get(server, path: str) -> str:
    with urllib.request.urlopen(f"{server.url}{path}", timeout=60) as response:
        return response.read().decode()


@pytest.mark.parametrize("kind", ["embed", "print"])
@pytest.mark.parametrize("lang", LANGUAGES)
def test_embed_asks_before_it_shows(server, kind, lang):
    before = _get(server, f"/{kind}/gates/force?lang={lang}")
    after = _get(server, f"/{kind}/gates/force?lang={lang}&answered=1")
    assert ('name="answered"' in before) == (kind == "embed")
    assert not answer_numbers("gates", "force", lang) & set(NUMBER.findall(before))
    assert answer_numbers("gates", "force", lang) & set(NUMBER.findall(after)) or kind == "print"
    assert len(after) > len(before)
