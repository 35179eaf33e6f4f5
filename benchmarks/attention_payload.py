"""All heads of a 12 x 12-head model in the browser: our mosaic against BertViz' model view.

The tensor is that of a randomly initialized `BertModel(BertConfig())` (12 layers of 12 heads)
reading random ids, at 32, 64 and 128 tokens; its weights are near 1 / tokens. Four pages of one
Streamlit server take turns, each load in a new browser with an empty cache:

* empty: a line of text, what Streamlit itself takes;
* mosaic: the page's own figure, from its own functions and through its own chart component;
* rounded: BertViz as our page sends it (`seqviz.experiments.bertviz.page`): three decimals,
  data once;
* BertViz: as it ships (`html_action="return"`: full floats, data twice), in `st.iframe`; only
  require.js is replaced, as there is no network.

Bytes: what the page sends for the figure, without the libraries that both load and keep (Plotly;
d3 and jQuery). Painted: from the navigation to the second animation frame after the mosaic's image
is decoded and its grid is there, or after all 144 thumbnails have all their lines; the libraries
load within that time. Built: on the server, before the page is asked for. BertViz has 180 s to
paint, and is loaded as often as fits into a minute, at least once.

Above 51 tokens the mosaic puts cells together (the largest weight is kept; a click gives all of
them); BertViz draws every weight. A picture of weights without any pattern compresses worst: the
bytes of one of independent random weights (softmax of normal scores, deviation 2) are printed too.

`--text` measures the real app alone (`benchmarks.attention_text`); without it both parts run.

`python -m benchmarks.attention_payload [--text] [--loads 5] [--texts 20]`
"""

from __future__ import annotations

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy: one core, as in a shared classroom

import argparse
import contextlib
import json
import pickle
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np
from playwright.sync_api import ConsoleMessage, Error

from benchmarks.attention_text import text_ratio
from seqviz.compute.attention import patterns
from seqviz.compute.attention.results import Mosaic, ReadText
from seqviz.experiments.attention import weights as attention_weights
from seqviz.experiments.bertviz import page as bertviz_page
from seqviz.figures.attention.maps import head_mosaic
from seqviz.plotting.figure import Figure
from testing.chromium import chromium
from testing.server import Server, serve_page

T = TypeVar("T")
LENGTHS, LAYERS, HEADS, SEED = (32, 64, 128), 12, 12, 1
BUILDS = 3
PAINTED = "painted after ms: "
LIMIT_S = 180.0  # for BertViz to paint
BUDGET_S = 60.0  # for the loads of one view at one length; at least one goes through
GOALS = {"bytes_ratio": 20.0, "paint_speedup": 10.0}

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

# Says in the console how many milliseconds after the navigation the page was painted. It looks once
# a frame: a watch on millions of changes would slow BertViz down. In inner frames nothing runs.
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


# After `arm`, `done` resolves to the milliseconds from Enter to two frames after the decoded image.
@dataclass
class View:
    """One page under measurement.

    ready: what is true in the page once all of it is drawn. bytes, built: as sent, and the median
    seconds on the server. seconds: of each load. failed: why the last one did not finish, if so.
    """

    name: str
    ready: str
    bytes: int = 0
    built: float = 0.0
    seconds: list[float] = field(default_factory=list)
    failed: str = ""

    @property
    def painted(self) -> float:
        """Median seconds; of a page that did not finish, those that it had."""
        return statistics.median(self.seconds)

    def load(self, url: str) -> None:
        """One more load, in a browser of its own: a busy tab can only be ended together with it.

        The page speaks up when it is painted; asked, a busy one would not answer within the limit.
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
        except Error as error:  # too slow, or the tab broke down
            self.seconds.append(min(time.perf_counter() - started, LIMIT_S))
            self.failed = str(error).partition(" while")[0]


def _says_painted(message: ConsoleMessage) -> bool:
    return message.text.startswith(PAINTED)


def tensor(tokens: int) -> np.ndarray:
    """Attention [layer, head, query, key] of a bert-base with random weights on random ids."""
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
    """Independent random weights of the same shape: a picture that hardly compresses."""
    scores = np.exp(2 * np.random.RandomState(SEED).randn(LAYERS, HEADS, tokens, tokens))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def mosaic(weights: np.ndarray) -> Figure:
    """The figure as `seqviz.experiments.attention.weights.mosaic` and the page make it."""
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
    """BertViz' own HTML with its own data; another two files instead of require.js."""
    import torch
    from bertviz import model_view

    layers = tuple(torch.from_numpy(layer)[None] for layer in weights)
    tokens = list(names(weights.shape[-1]))
    html = model_view(layers, tokens, display_mode="light", html_action="return").data
    _, _, body = html.partition("</script>")
    return f"<!doctype html>\n{bertviz_page.SCRIPTS}{body}"


def rounded(weights: np.ndarray) -> bertviz_page.BertVizPage:
    """What our page sends; it refuses more than 41 tokens of such a model, which is undone here."""
    limit = bertviz_page.MAX_PAGE_BYTES["model"]
    bertviz_page.MAX_PAGE_BYTES["model"] = 10**12
    try:
        return bertviz_page.page("model", weights, names(weights.shape[-1]))
    finally:
        bertviz_page.MAX_PAGE_BYTES["model"] = limit


def names(tokens: int) -> tuple[str, ...]:
    return tuple(f"token{index}" for index in range(tokens))


def prepare(tokens: int, folder: Path) -> list[View]:
    """Build what each view sends, and leave it in the folder for the server."""
    weights = tensor(tokens)
    ready = READY_BERTVIZ.replace("THUMBNAILS", str(LAYERS * HEADS))
    ready = ready.replace("LINES", str(LAYERS * HEADS * tokens**2))
    sent, built_mosaic = timed(lambda: mosaic(weights).to_json())
    lean, built_lean = timed(lambda: rounded(weights))
    full, built_whole = timed(lambda: as_shipped(weights))
    views = [
        View(f"mosaic-{tokens}", READY_MOSAIC, len(sent.encode()), built_mosaic),
        View(f"rounded-{tokens}", ready, lean.bytes, built_lean),
        View(f"BertViz-{tokens}", ready, len(full.encode()), built_whole),
    ]
    visible = (mosaic(weights), (lean.html, lean.height), (full, lean.height))
    for view, content in zip(views, visible, strict=True):
        (folder / f"{view.name}.pickle").write_bytes(pickle.dumps(content))
    return views


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """The result, and the median seconds of a few runs after a first."""
    result, seconds = work(), []
    for _ in range(BUILDS):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return result, statistics.median(seconds)


@contextlib.contextmanager
def prepared() -> Iterator[tuple[Server, dict[int, list[View]]]]:
    """A server that shows every view of every length."""
    with tempfile.TemporaryDirectory() as position:
        folder = Path(position)
        views = {tokens: prepare(tokens, folder) for tokens in LENGTHS}
        with serve_page(folder, SCRIPT) as server:
            yield server, views


def payload(loads: int) -> dict[str, object]:
    """Load and print everything; the figures for the JSON line."""
    with prepared() as (server, lengths):
        print(
            f"{'tokens':>6} {'view':8}{'bytes':>13}{'built':>8}{'painted':>9}{'least':>8}", end=""
        )
        print(f"{'most':>8}{'loads':>7}   (seconds, medians)")
        for tokens, views in lengths.items():
            empty = View("empty", READY_EMPTY)
            for view in (empty, views[0]):  # once unmeasured: the server reads the files
                view.load(server.url)
                view.seconds.clear()
            for _ in range(loads):
                for view in (empty, *views):
                    if not view.failed and sum(view.seconds) < BUDGET_S:
                        view.load(server.url)
            for view in (empty, *views):
                _print_row(tokens, view)
    ours, lean, full = lengths[LENGTHS[-1]]
    if ours.failed:
        raise SystemExit(f"The mosaic was not painted: {ours.failed}")
    dull = len(mosaic(patternless(LENGTHS[-1])).to_json().encode())
    ratio, speedup = full.bytes / ours.bytes, full.painted / ours.painted
    print(
        f"at {LENGTHS[-1]} tokens: BertViz' bytes {ratio:.0f} times ours, rounded and once", end=""
    )
    print(f" {lean.bytes / ours.bytes:.0f} times (goal: >= {GOALS['bytes_ratio']:.0f})")
    print(f"a mosaic without any pattern: {dull:,} bytes, BertViz {full.bytes / dull:.0f} times")
    alone = (full.painted - empty.painted) / (ours.painted - empty.painted)
    print(f"painted {'more than ' if full.failed else ''}{speedup:.1f} times sooner", end="")
    print(f" (goal: >= {GOALS['paint_speedup']:.0f}), {alone:.0f} times", end="")
    print(" without what the empty page takes")
    line: dict[str, object] = {
        "bytes_ratio": round(ratio, 1),
        "bytes_ratio_rounded": round(lean.bytes / ours.bytes, 1),
        "bytes_ratio_patternless": round(full.bytes / dull, 1),
        "paint_speedup": None if full.failed else round(speedup, 1),
        "bertviz_finished": not full.failed,
    }
    return line | ({"paint_speedup_at_least": round(speedup, 1)} if full.failed else {})


def _print_row(tokens: int, view: View) -> None:
    name = view.name.partition("-")[0]
    print(
        f"{tokens:6} {name:8}{view.bytes:13,}{view.built:8.3f}{view.painted:9.2f}"
        f"{min(view.seconds):8.2f}{max(view.seconds):8.2f}{len(view.seconds):7}"
        + (f"   did not finish: {view.failed}" if view.failed else "")
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="All heads in the browser, against BertViz.")
    parser.add_argument("--text", action="store_true", help="the real app's new text only")
    parser.add_argument("--loads", type=int, default=5, help="loads of each page")
    parser.add_argument("--texts", type=int, default=20, help="measured texts")
    options = parser.parse_args()
    line: dict[str, object] = {"name": "attention_payload"}
    if not options.text:
        line |= payload(options.loads)
    print(json.dumps(line | text_ratio(options.texts)))


if __name__ == "__main__":
    main()
