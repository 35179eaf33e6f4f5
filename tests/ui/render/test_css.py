"""Style rules of the pages: what a browser has to match again while a figure is drawn."""

from __future__ import annotations

import re

import pytest

from seqviz.core.paths import STATIC
from seqviz.ui.render import css
from seqviz.ui.server import index_page

# `A:has(B) C` with B anywhere in A: at each new mark of a figure the browser matches every C again.
WITHIN = re.compile(
    r"[^{}]*:has\((?!\s*[>~+])(?:[^()]|\([^()]*\))*\)[^{},]*[\s>]+[^{},\s][^{},]*(?=\{)"
)
# What an argument may not name: every element that a figure draws has it.
ARGUMENT = re.compile(r":has\(((?:[^()]|\([^()]*\))*)\)")
EVERYWHERE = re.compile(r"(?<![\w\"])\*|\[class|:not\(|(?<![\w.#-])(g|path|text|svg)\b")
# For paper, the presenter's computer and the page of one figure.
PAPER = {"print.css", "embed.css"}
OTHERS = {*PAPER, "present.css"}


def test_rule_within_finds_what_made_every_element_match_again():
    page = "body:has(.seqviz-chapters:not([hidden])) [data-testid] {margin: 0}"
    assert WITHIN.search(page)
    assert not WITHIN.search(".stColumn:has(> * > .figure) .chart {margin: 0}")
    assert not WITHIN.search("label:has([type]) {margin: 0}")


def test_argument_finds_what_figures_draw():
    rules = ".a:has(> * > .b) {x: y} .c:has(> .d) {x: y} .e:has([class*='-f']) {x: y}"
    found = [argument for argument in ARGUMENT.findall(rules) if EVERYWHERE.search(argument)]
    assert found == ["> * > .b", "[class*='-f']"]


@pytest.mark.parametrize("part", ["components", "bench", "classroom", "home", "figures"])
def test_no_rule_looks_for_what_figures_draw(part):
    """Nor do those of slides: a press on one took a second."""
    files = [path for path in (STATIC / part).glob("*.css") if path.name not in PAPER]
    rules = "".join(path.read_text("utf-8") for path in files) + css._PAGE + index_page.STYLE
    found = [argument for argument in ARGUMENT.findall(rules) if EVERYWHERE.search(argument)]
    assert found == []


@pytest.mark.parametrize("part", ["components", "bench", "classroom", "home", "figures"])
def test_no_rule_looks_for_something_anywhere_and_styles_what_is_within(part):
    files = [path for path in (STATIC / part).glob("*.css") if path.name not in OTHERS]
    found = [rule for path in files for rule in WITHIN.findall(path.read_text("utf-8"))]
    found += WITHIN.findall(css._PAGE)
    room = [rule for rule in found if rule.strip().startswith(".seqviz-room")]  # a line of the page
    assert [rule.strip() for rule in found if rule not in room] == []
