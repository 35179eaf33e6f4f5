"""A new text in the attention lesson, from Enter to the changed picture, against the empty page.

MiniLM reads 32 tokens that it has not read before, in turn with the slider of the empty page
(`benchmarks.interaction`). Part of `benchmarks.attention_payload`.
"""

from __future__ import annotations

import json

import numpy as np
from playwright.sync_api import Page

from benchmarks.interaction import PROBE, WARM_UP, open_floor
from seqviz.models import registry, texts
from testing.chromium import chromium, css_class, draw_whole
from testing.server import serve, serve_empty_page

SEED, TEXT_TOKENS, TEXT_GOAL = 0, 32, 2.5
WORDS = (
    "the a man woman child dog house river street city night day book story song old new small "
    "great red green saw heard knew found wrote and or but with under near before after long"
)
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


def sentences(count: int) -> list[str]:
    """Different texts, each of 32 tokens for the default encoder."""
    from seqviz.models.pretrained import load

    model, random = load(registry.DEFAULTS["encoder"]), np.random.RandomState(SEED)
    built = [" ".join(random.choice(WORDS.split(), TEXT_TOKENS - 3)) + "." for _ in range(count)]
    if {len(texts.tokens(model, text).ids) for text in built} != {TEXT_TOKENS}:
        raise SystemExit(f"The texts do not have {TEXT_TOKENS} tokens each.")
    return built


def new_text(page: Page, text: str) -> float:
    """Milliseconds from Enter to the mosaic of this text."""
    page.evaluate("seqviz.idle()")
    page.locator(css_class("at.real.encoder")).locator("input").fill(text)
    page.locator(css_class("at.real.figure")).scroll_into_view_if_needed()
    page.evaluate("seqviz.arm()")
    page.keyboard.press("Enter")
    milliseconds = float(page.evaluate("seqviz.done"))
    page.evaluate("seqviz.idle()")
    return milliseconds


def text_ratio(count: int) -> dict[str, object]:
    """New text to picture over the empty page's slider, in turn."""
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
    result = np.array(milliseconds[WARM_UP:])
    ratio = float(np.median(result)) / floor.median()
    print(f"new text of {TEXT_TOKENS} tokens to picture, {count} texts, milliseconds")
    print(f"{'':12}{'median':>9}{'p95':>9}")
    print(f"{'empty page':12}{floor.median():9.1f}{floor.p95():9.1f}")
    print(f"{'attention':12}{np.median(result):9.1f}{np.percentile(result, 95):9.1f}")
    print(f"ratio {ratio:.2f} (goal: <= {TEXT_GOAL})")
    return {"text_ratio": round(ratio, 2), "text_ms": round(float(np.median(result)), 1)}
