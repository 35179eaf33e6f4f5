"""All heads of a 12 x 12-head model in the browser: mosaic against BertViz's model view.

The tensor is that of a randomly initialized `BertModel(BertConfig())` (12 layers of 12 heads)
reading random ids, at 32, 64 and 128 tokens; its weights are near 1 / tokens. Four pages of one
Streamlit server are loaded in turn, each load in a new browser with an empty cache:

* empty: a line of text, the cost of Streamlit itself;
* mosaic: the page's own figure, from its own functions and through its own chart component;
* rounded: BertViz as SeqViz sends it (`seqviz.experiments.bertviz.page`): three decimals, data
  once;
* BertViz: as shipped (`html_action="return"`: full floats, data twice), in `st.iframe`; only
  require.js is replaced, as there is no network.

Bytes: what the page sends for the figure, without libraries that both load and cache (Plotly; d3
and jQuery). Painted: from the navigation to the second animation frame after the mosaic's image is
decoded and its grid is present, or after all 144 thumbnails have all their lines; the libraries
load within that time. Built: on the server, before the page is requested. BertViz has a timeout of
180 s, and is loaded as often as fits into a minute, at least once.

Above 51 tokens the mosaic merges cells (keeping the largest weight; a click shows all of them);
BertViz draws every weight. An image of weights without any pattern compresses worst: the bytes of
one of independent random weights (softmax of normal scores, standard deviation 2) are printed too.

Then the time from Enter to the changed figure for a new text in the real app: MiniLM reads 32
tokens of an uncached text, alternating with the slider of the empty page
(`benchmarks.interaction`). `--text` measures this alone.

Usage: `python -m benchmarks.attention_payload [--text] [--loads 5] [--texts 20]`.
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy: one core, as in a shared classroom

import contextlib
import json
import pickle
import statistics
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from playwright.sync_api import ConsoleMessage, Error, Page

from benchmarks.interaction import PROBE, WARM_UP, open_floor
from benchmarks.report import Report, medians, options
from seqviz.compute.attention import patterns
from seqviz.compute.attention.results import Mosaic, ReadText
from seqviz.experiments.attention import weights as attention_weights
from seqviz.experiments.bertviz import page as bertviz_page
from seqviz.figures.attention.maps import head_mosaic
from seqviz.models import registry, texts
from seqviz.plotting.figure import Figure
from testing.chromium import chromium, css_class, draw_whole
from testing.server import Server, serve, serve_empty_page, serve_page

LENGTHS, LAYERS, HEADS, SEED = (32, 64, 128), 12, 12, 1
BUILDS = 3
PAINTED = "painted after ms: "
LIMIT_S = 180.0  # timeout for BertViz to paint
BUDGET_S = 60.0  # for all loads of one view at one length; at least one is made
BYTES_GOAL, PAINT_GOAL = 20.0, 10.0

SCRIPT = """
import pickle
from pathlib import Path
import streamlit as st
from seqviz.ui.page import components
from seqviz.ui.render import css
from seqviz.ui.runtime import startup

startup.configure_process()
st.set_page_config(layout="wide")
css.apply(False)

@st.cache_resource
def made():
    return {path.stem: pickle.loads(path.read_bytes()) for path in Path().glob("*.pickle")}

shown = made().get(st.query_params["show"])
with st.container(key="shown"):
    if shown is None:
        st.text("empty")
    elif isinstance(shown, tuple):
        st.iframe(shown[0], height=shown[1])
    else:
        with st.container(key="real.figure", height=420, border=False):
            components.chart(
                "real.chart", shown.to_json().encode(), "", "no library", on_pick=lambda x, y: None
            )
"""

# Logs to the console how many milliseconds after the navigation the page was painted. It polls once
# per frame: observing millions of mutations would slow BertViz down. Inner frames do nothing.
WATCH = """
if (window === window.top) (async () => {
  const frame = () => new Promise(requestAnimationFrame);
  const images = () => [...document.querySelectorAll(".st-key-real-figure image")];
  const ready = () => READY;
  while (!ready()) await frame();
  await Promise.all(images().map((image) => image.decode()));
  await frame();
  await frame();
  console.log("PAINTED" + performance.now());
})();
""".replace("PAINTED", PAINTED)
READY_EMPTY = """document.querySelector('.st-key-shown [data-testid="stText"]')"""
READY_MOSAIC = """[".imagelayer image", ".heatmaplayer image"].every((part) =>
  document.querySelector(`.st-key-real-figure ${part}`)?.href.baseVal)"""
READY_BERTVIZ = """(() => {
  const drawn = document.querySelector("iframe")?.contentDocument;
  return drawn?.getElementsByClassName("attn_background").length === THUMBNAILS
    && drawn.getElementsByTagName("line").length === LINES;
})()"""


TEXT_TOKENS, TEXT_GOAL = 32, 2.5
WORDS = (
    "the a man woman child dog house river street city night day book story song old new small "
    "great red green saw heard knew found wrote and or but with under near before after long"
)
# After `arm`, `done` resolves to the milliseconds from Enter to two frames after the decoded image.
TEXT_PROBE = """() => {
  const image = () => document.querySelector(`${CHART} .imagelayer image`);
  const frame = () => new Promise(requestAnimationFrame);
  seqviz.arm = () => {
    seqviz.done = new Promise((resolve, reject) => {
      const before = image().href.baseVal;
      let pressed = null;
      setTimeout(() => reject(new Error("nothing happened")), 20000);
      document.addEventListener("keydown", () => { pressed = performance.now(); },
        {capture: true, once: true});
      const observer = new MutationObserver(async () => {
        const now = image()?.href.baseVal;
        if (pressed === null || !now || now === before) return;
        observer.disconnect();
        await image().decode();
        await frame();
        await frame();
        resolve(performance.now() - pressed);
      });
      observer.observe(document.querySelector(CHART),
        {subtree: true, childList: true, attributes: true});
    });
  };
}"""


@dataclass
class View:
    """One page under measurement.

    Attributes:
        ready: JavaScript condition that is true when everything is drawn.
        bytes: bytes sent.
        built: median seconds on the server.
        seconds: seconds of each load.
        failed: why the last load did not finish; else empty.
    """

    name: str
    ready: str
    bytes: int = 0
    built: float = 0.0
    seconds: list[float] = field(default_factory=list)
    failed: str = ""

    @property
    def painted(self) -> float:
        """Return the median seconds; for an unfinished page, of the loads that finished."""
        return statistics.median(self.seconds)

    def load(self, url: str) -> None:
        """Load once more, in a new browser, since a busy tab can only be ended with its browser.

        The page reports when it is painted; a busy page could not answer a query within the limit.
        """
        started = time.perf_counter()
        try:
            with chromium() as browser:
                page = browser.new_page(viewport={"width": 1280, "height": 800})
                page.add_init_script(WATCH.replace("READY", self.ready))
                started = time.perf_counter()
                with page.expect_console_message(_says_painted, timeout=1e3 * LIMIT_S) as message:
                    page.goto(f"{url}/?show={self.name}", wait_until="commit")
                self.seconds.append(float(message.value.text.removeprefix(PAINTED)) / 1e3)
        except Error as error:  # a timeout, or the tab crashed
            self.seconds.append(min(time.perf_counter() - started, LIMIT_S))
            self.failed = str(error).partition(" while")[0]


def _says_painted(message: ConsoleMessage) -> bool:
    return message.text.startswith(PAINTED)


def tensor(tokens: int) -> np.ndarray:
    """Return attention [layer, head, query, key] of a random bert-base on random ids."""
    import torch
    from transformers import BertConfig, BertModel

    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    model = BertModel._from_config(BertConfig(), attn_implementation="eager").eval()
    ids = np.random.RandomState(SEED).randint(1000, 30_000, tokens)
    with torch.no_grad():
        result = model(torch.from_numpy(ids)[None], output_attentions=True).attentions
    weights = torch.stack(result)[:, 0].numpy()
    assert weights.shape == (LAYERS, HEADS, tokens, tokens)
    return weights


def patternless(tokens: int) -> np.ndarray:
    """Return independent random weights of the same shape: an image that hardly compresses."""
    scores = np.exp(2 * np.random.RandomState(SEED).randn(LAYERS, HEADS, tokens, tokens))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def mosaic(weights: np.ndarray) -> Figure:
    """Build the figure as `seqviz.experiments.attention.weights.mosaic` and the page do."""
    layers, heads, tokens, _ = weights.shape
    ids, no = np.arange(tokens), np.zeros(tokens, bool)
    read = names(tokens), ids, 0 * ids, no, ~no, 0
    text = ReadText(*read, "bert", False, layers, heads, "cpu", "")
    side = max(attention_weights._SMALLEST, attention_weights._CELLS // max(layers, heads))
    tiles = patterns.tiles(weights, side).astype(np.float32)
    habits = patterns.habits(weights, ids, no)
    norms = np.ones((layers, heads, tokens), np.float32)
    cells = max(1.0, tokens / side)
    return head_mosaic(Mosaic(text, tiles, cells, habits, norms, habits.first), 3, 1)


def as_shipped(weights: np.ndarray) -> str:
    """Return BertViz's own HTML with its own data; two other files replace require.js."""
    import torch
    from bertviz import model_view

    layers = tuple(torch.from_numpy(layer)[None] for layer in weights)
    tokens = list(names(weights.shape[-1]))
    html = model_view(layers, tokens, display_mode="light", html_action="return").data
    _, _, body = html.partition("</script>")
    return f"<!doctype html>\n{bertviz_page.SCRIPTS}{body}"


def rounded(weights: np.ndarray) -> bertviz_page.BertVizPage:
    """Return what SeqViz sends; its limit of 41 tokens for such a model is lifted here."""
    limit = bertviz_page.MAX_PAGE_BYTES["model"]
    bertviz_page.MAX_PAGE_BYTES["model"] = 10**12
    try:
        return bertviz_page.page("model", weights, names(weights.shape[-1]))
    finally:
        bertviz_page.MAX_PAGE_BYTES["model"] = limit


def names(tokens: int) -> tuple[str, ...]:
    return tuple(f"token{index}" for index in range(tokens))


def prepare(tokens: int, folder: Path) -> list[View]:
    """Build what each view sends, and write it to the folder for the server."""
    weights = tensor(tokens)
    ready = READY_BERTVIZ.replace("THUMBNAILS", str(LAYERS * HEADS))
    ready = ready.replace("LINES", str(LAYERS * HEADS * tokens**2))
    sent, lean, full = mosaic(weights).to_json(), rounded(weights), as_shipped(weights)
    built = medians(
        BUILDS,
        lambda: mosaic(weights).to_json(),
        lambda: rounded(weights),
        lambda: as_shipped(weights),
    )
    views = [
        View(f"mosaic-{tokens}", READY_MOSAIC, len(sent.encode()), built[0]),
        View(f"rounded-{tokens}", ready, lean.bytes, built[1]),
        View(f"BertViz-{tokens}", ready, len(full.encode()), built[2]),
    ]
    visible = (mosaic(weights), (lean.html, lean.height), (full, lean.height))
    for view, content in zip(views, visible, strict=True):
        (folder / f"{view.name}.pickle").write_bytes(pickle.dumps(content))
    return views


@contextlib.contextmanager
def prepared() -> Iterator[tuple[Server, dict[int, list[View]]]]:
    """Start a server that shows every view of every length."""
    with tempfile.TemporaryDirectory() as position:
        folder = Path(position)
        views = {tokens: prepare(tokens, folder) for tokens in LENGTHS}
        with serve_page(folder, SCRIPT) as server:
            yield server, views


def payload(loads: int, report: Report) -> None:
    """Load every view and print the results."""
    with prepared() as (server, lengths):
        for tokens, views in lengths.items():
            empty = View("empty", READY_EMPTY)
            for view in (empty, views[0]):  # warm-up: the server reads the files
                view.load(server.url)
                view.seconds.clear()
            for _ in range(loads):
                for view in (empty, *views):
                    if not view.failed and sum(view.seconds) < BUDGET_S:
                        view.load(server.url)
            for view in (empty, *views):
                report.row(
                    f"{tokens} {view.name.partition('-')[0]}", bytes=view.bytes, built_s=view.built,
                    painted_s=view.painted, least_s=min(view.seconds), most_s=max(view.seconds),
                    loads=len(view.seconds),
                )  # fmt: skip
                if view.failed:
                    print(f"  did not finish: {view.failed}")
    ours, lean, full = lengths[LENGTHS[-1]]
    if ours.failed:
        raise SystemExit(f"The mosaic was not painted: {ours.failed}")
    dull = len(mosaic(patternless(LENGTHS[-1])).to_json().encode())
    speedup = round(full.painted / ours.painted, 1)
    alone = (full.painted - empty.painted) / (ours.painted - empty.painted)
    print(f"a mosaic without any pattern: {dull:,} bytes")
    print(f"painted {alone:.0f} times sooner, without what the empty page takes")
    report.values |= {
        "bytes_ratio": round(full.bytes / ours.bytes, 1),
        "bytes_ratio_rounded": round(lean.bytes / ours.bytes, 1),
        "bytes_ratio_patternless": round(full.bytes / dull, 1),
        "paint_speedup": None if full.failed else speedup,
        "bertviz_finished": not full.failed,
    }
    if full.failed:
        report.values["paint_speedup_at_least"] = speedup


def sentences(count: int) -> list[str]:
    """Return different texts, each of 32 tokens for the default encoder."""
    from seqviz.models.pretrained import load

    model, random = load(registry.DEFAULTS["encoder"]), np.random.RandomState(SEED)
    built = [" ".join(random.choice(WORDS.split(), TEXT_TOKENS - 3)) + "." for _ in range(count)]
    if {len(texts.tokens(model, text).ids) for text in built} != {TEXT_TOKENS}:
        raise SystemExit(f"The texts do not have {TEXT_TOKENS} tokens each.")
    return built


def new_text(page: Page, text: str) -> float:
    """Return the milliseconds from Enter to the mosaic of this text."""
    page.evaluate("seqviz.idle()")
    page.locator(css_class("at.real.encoder")).locator("input").fill(text)
    page.locator(css_class("at.real.figure")).scroll_into_view_if_needed()
    page.evaluate("seqviz.arm()")
    page.keyboard.press("Enter")
    milliseconds = float(page.evaluate("seqviz.done"))
    page.evaluate("seqviz.idle()")
    return milliseconds


def text_ratio(count: int, report: Report) -> None:
    """Return the time of a new text over that of the empty page's slider, measured in turn."""
    fresh = sentences(count + WARM_UP)
    chart = css_class("at.real.figure")
    with serve() as app, serve_empty_page() as empty, chromium() as browser:
        floor = open_floor(browser, empty.url)
        page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
        page.goto(f"{app.url}/attention")
        page.locator("h1").wait_for()
        draw_whole(page, patience=120_000)
        page.locator(f"{chart} .imagelayer image").wait_for(timeout=120_000)  # the model is loaded
        page.evaluate(PROBE.replace("CHART", json.dumps(chart)))
        page.evaluate(TEXT_PROBE.replace("CHART", json.dumps(chart)))
        milliseconds = []
        for text in fresh:
            floor.press()
            milliseconds.append(new_text(page, text))
    median, p95 = map(float, np.percentile(milliseconds[WARM_UP:], (50, 95)))
    print(f"new text of {TEXT_TOKENS} tokens to picture, {count} texts, milliseconds")
    report.row("empty page", median=floor.median(), p95=floor.p95())
    report.row("attention", median=median, p95=p95)
    report.values |= {"text_ratio": round(median / floor.median(), 2), "text_ms": round(median, 1)}


def main() -> None:
    given = options(
        __doc__,
        text=(False, "measure only new texts in the real app"),
        loads=(5, "number of loads of each page"),
        texts=(20, "number of measured texts"),
    )
    report = Report("attention_payload")
    if not given.text:
        payload(given.loads, report)
    text_ratio(given.texts, report)
    painted = [key for key in ("paint_speedup_at_least", "paint_speedup") if key in report.values]
    at_least = {"bytes_ratio": BYTES_GOAL, painted[0]: PAINT_GOAL} if painted else {}
    report.finish({"text_ratio": TEXT_GOAL}, at_least)


if __name__ == "__main__":
    main()
