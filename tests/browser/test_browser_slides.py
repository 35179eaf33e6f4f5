"""A lesson from the lectern: one bench fills the window, nothing overlaps, type is large."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from seqviz import lessons
from tests.browser.lesson_page import LessonPage
from tests.browser.test_browser_layout import THEMES, each_lesson, sized
from tests.tiers import rotate

WINDOWS = [(1024, 768), (1280, 720), (1366, 768), (1920, 1080), (2560, 1440), (3840, 2160)]
MIN_TYPE_SHARE = 24 / 1080  # of the window's height, in wide windows
MIN_TYPE_PX = 13
MIN_FIGURE_SHARE = 0.38  # of the window's height, beside a text input and a long sentence
MAX_CONTROLS = 3

# What a bench shows: boxes of its parts, type sizes as painted, whatever is cut or outside.
LOOKED = """async ([name, minType]) => {
    const bench = document.querySelector(`.st-key-bench-${name}`), wrong = [];
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    bench.scrollIntoView({ block: "start" });
    const chart = bench.querySelector('[class*="-figure"] .seqviz-chart');
    const figure = chart?.closest('[class*="-figure"]');
    const rect = (one) => one.getBoundingClientRect();
    const svg = () => figure?.querySelector("svg.main-svg");
    for (let n = 0; n < 3 || (svg() && Math.abs(rect(svg()).height - rect(figure).height) > 1 && n < 300); n += 1) await frame();
    const say = (what, one) => wrong.push(`${what}: ${(one?.innerText || one?.textContent || one?.className || "").toString().trim().slice(0, 40)}`);
    const own = rect(bench);
    if (Math.abs(own.top) > 1 || Math.abs(own.height - innerHeight) > 1) say(`bench at ${own.top}, ${own.height} high`);
    const kinds = `h2 > span:first-child, [class*="-steps-row"], [class*="-figure"], [class*="-notes-"], [class*="-readouts"], .seqviz-slider,
        .stButton, .stButtonGroup, .stSelectbox, .stCheckbox, .stTextInput, .stTextArea, iframe`;
    const parts = [...bench.querySelectorAll(kinds)].filter((one) => one.checkVisibility() && rect(one).height > 0);
    for (const [index, one] of parts.entries()) {
        const box = rect(one);
        if (box.left < -1 || box.right > innerWidth + 1 || box.top < -1 || box.bottom > innerHeight + 1)
            say(`outside by ${Math.round(Math.max(-box.left, box.right - innerWidth, -box.top, box.bottom - innerHeight))}`, one);
        for (const other of parts.slice(index + 1)) {
            if (one.contains(other) || other.contains(one)) continue;
            const next = rect(other);
            const across = Math.min(box.right, next.right) - Math.max(box.left, next.left);
            const down = Math.min(box.bottom, next.bottom) - Math.max(box.top, next.top);
            if (across > 1 && down > 1) say(`${one.className.slice(0, 30)} under ${Math.round(down)} px of`, other);
        }
    }
    const texts = document.createTreeWalker(bench, NodeFilter.SHOW_TEXT), range = document.createRange();
    let smallest = Infinity, where = "";
    while (texts.nextNode()) {
        const text = texts.currentNode, one = text.parentElement;
        if (!text.data.trim() || !one.checkVisibility() || one.closest(".visually-hidden, .katex-mathml, script, style, sub, sup")) continue;
        if (/Material/.test(getComputedStyle(one).fontFamily) || one.closest(".katex, .help, .hm")) continue;
        range.selectNodeContents(text);
        const box = range.getBoundingClientRect();
        if (box.width < 1 || box.height < 1) continue;
        const scale = one.closest('.seqviz-chart') ? rect(chart).width / chart.offsetWidth : 1;
        const size = parseFloat(getComputedStyle(one).fontSize) * scale;
        if (one.closest("tspan[style*='font-size']")) continue; // an index of a symbol
        if (size < smallest) [smallest, where] = [size, text.data.trim().slice(0, 30)];
        if (box.left < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1) say("text outside", one);
    }
    if (smallest < minType) say(`type of ${smallest.toFixed(1)} px, ${where}`);
    const controls = parts.filter((one) => one.matches(".seqviz-slider, .stButtonGroup, .stSelectbox, .stCheckbox, .stTextInput, .stTextArea"));
    return { wrong, controls: controls.length, figure: figure ? rect(figure).height / innerHeight : null, smallest };
}"""


@pytest.fixture(scope="module")
def page(request, visitors) -> Iterator[LessonPage]:
    """A lesson in presenter mode, with every question answered."""
    slug, lang = request.param
    with visitors.watched() as visit:
        lesson = visit(
            slug, {"lang": lang, "present": "true"}, color_scheme=THEMES[lang],
            viewport={"width": 1920, "height": 1080},
        )  # fmt: skip
        lesson.whole()
        lesson.rest()
        yield lesson
