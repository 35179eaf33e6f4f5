"""In a Space: the app in a frame of another site, whose address is what students share."""

from __future__ import annotations

import http.server
import threading
from urllib.parse import parse_qs, urlsplit

import pytest

from seqviz.content import catalog
from tests.shared_fixtures import NO_PLAYWRIGHT
from tests.tiers import first_only

if NO_PLAYWRIGHT:
    pytest.skip("no Playwright", allow_module_level=True)
from playwright.sync_api import expect

from testing.chromium import MARKS, WHOLE, css_class, slider_input
from testing.server import serve

pytestmark = pytest.mark.browser

# The least that the site around a Space does: its query string goes to the frame when that is made,
# and what the frame posts goes into its own address.
PARENT = """<!doctype html><title>around</title>
<iframe style="width: 1200px; height: 900px" allow="clipboard-write"></iframe>
<script>
  const frame = document.querySelector("iframe"), app = "APP";
  window.told = [];
  addEventListener("message", (event) => {
    if (event.origin !== app || typeof event.data.queryString !== "string") return;
    told.push(event.data);
    history.replaceState(null, "", "?" + event.data.queryString);
  });
  const own = location.search.slice(1);
  frame.src = app + "/?__theme=light" + (own ? "&" + own : "");
</script>"""
LESSON = catalog.LESSONS[0]
KEY = f"{LESSON.code}.{LESSON.first[0]}.{LESSON.first[1]}"


@pytest.fixture(scope="module")
def app():
    with serve(environment={"HF_HUB_OFFLINE": "1"}) as running:
        yield running


@pytest.fixture(scope="module")
def around(app):
    """The address of a page of another origin that shows the app in a frame."""

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(PARENT.replace("APP", app.url).encode())

        def log_message(self, *_: object) -> None:
            pass

    site = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page)
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{site.server_port}/"
    site.shutdown()
    site.server_close()


@pytest.fixture
def page(browser):
    context = browser.new_context()
    opened = context.new_page()
    opened.set_default_timeout(60_000)  # a machine that runs all tests at once is slow
    yield opened
    context.close()


def slider(page):
    """The lesson's first slider, when its chart is painted and the page in sight."""
    return ready(page.frame_locator("iframe")).locator(slider_input(KEY))


def ready(frame):
    frame.locator(f"#root :is({MARKS})").first.wait_for(state="attached")
    frame.locator("#seqviz-shell").wait_for(state="detached")
    return frame


def test_frame_slider_round_trips_through_parent_address(page, around):
    page.goto(around)
    frame = page.frame_locator("iframe")
    frame.locator("h1").wait_for()
    frame.locator(f"a[href^='{LESSON.slug}?']").first.click()
    slider(page).press("ArrowLeft")
    page.wait_for_function("(key) => location.search.includes(key)", arg=f"{KEY}=")
    value = slider(page).input_value()
    existing = parse_qs(urlsplit(page.url).query)
    assert existing[KEY] == [value]
    assert existing["lesson"] == [LESSON.slug]
    assert "__theme" not in existing
    assert page.evaluate("told.every(({hash}) => hash === '')")

    page.goto(page.url)  # another student opens the link of the page around
    assert slider(page).input_value() == value
    path = urlsplit(page.frames[1].url).path
    assert path == f"/{LESSON.slug}"
    # and goes on from there, although the frame's page was loaded by the frame itself
    page.evaluate("told.length = 0")
    slider(page).press("ArrowLeft")
    page.wait_for_function("told.length > 0")
    latest = page.evaluate("told.at(-1).queryString")
    assert parse_qs(latest)[KEY] == [slider(page).input_value()] != [value]


@pytest.mark.nightly
def test_frame_keeps_text_out_of_parent_address(page, around):
    """Who follows a link with a text has it, until this page is loaded again."""
    page.goto(f"{around}?lesson=text&tx.cutters.text=Old+words&tx.ladder.tries=2")
    frame = ready(page.frame_locator("iframe"))
    field = frame.locator(css_class("tx.cutters.text")).locator("input")
    expect(field).to_have_value("Old words", timeout=60_000)
    page.wait_for_function("() => !location.search.includes('words')")
    field.fill("Own words")
    field.press("Enter")
    page.frames[1].wait_for_function("() => location.search.includes('Own+words')")
    page.frames[1].wait_for_function(WHOLE, polling=100)
    frame.locator(slider_input("tx.ladder.tries")).press("ArrowRight")
    page.wait_for_function("() => location.search.includes('tx.ladder.tries=3')")
    shared = parse_qs(urlsplit(page.url).query)
    assert shared == {"lesson": ["text"], "lang": ["en"], "tx.ladder.tries": ["3"]}
    assert "words" not in page.evaluate("JSON.stringify(told)")

    page.frames[1].evaluate("location.reload()")
    expect(field).to_have_value("Own words", timeout=60_000)


@pytest.mark.parametrize("named", first_only(["//evil.example", "..%2Fx", "https:evil", "x?y", ""]))
def test_frame_link_opens_only_lessons(page, app, named):
    page.goto(f"{app.url}/?lesson={named}")
    page.locator("h1").wait_for()
    page.wait_for_timeout(500)  # two looks of the script
    where = urlsplit(page.url)
    assert (f"{where.scheme}://{where.netloc}", where.path) == (app.url, "/")
    assert "lesson=" in where.query


@pytest.mark.nightly
def test_page_without_frame_posts_no_message(page, app):
    page.add_init_script("window.told = []; addEventListener('message', (e) => told.push(e.data))")
    page.goto(f"{app.url}/{LESSON.slug}")
    ready(page).locator(slider_input(KEY)).press("ArrowLeft")
    page.wait_for_function("(key) => location.search.includes(key)", arg=f"{KEY}=")
    page.wait_for_timeout(500)
    assert page.evaluate("told.filter((data) => data && 'queryString' in data)") == []
