"""Inline scripts of BertViz's pages (`bertviz.page`), the same on every page.

A separate module without numpy, since the server lists these scripts in its content security policy
at startup and should not import numpy for that.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

VIEWS = ("head", "model")
MARGIN = 8
WIDTH = 970 + 2 * MARGIN  # of the model view
MARK = "const params = "

# Replacement for require.js: names are looked up among the globals of the two files.
SCRIPTS = """<script src="/app/static/d3.min.js"></script>
<script src="/app/static/jquery.min.js"></script>
<script>
window.require = window.requirejs = (names, draw) =>
  draw(...names.map((name) => ({jquery: window.jQuery, d3: window.d3})[name]));
window.require.config = () => {};
window.bertviz = () => {
  const text = document.getElementById("data").textContent;
  return JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
};
</script>
"""
# The model view is 970 px wide; in a narrower frame it shrinks, but not below 60%; then it scrolls.
FIT = """<script>
const fit = () => {
  document.body.style.zoom = Math.max(0.6, Math.min(1, window.innerWidth / %(width)d));
};
window.addEventListener("resize", fit);
fit();
</script>
"""


def scripts() -> tuple[str, ...]:
    """Return the inline scripts of all pages: the texts between `<script>` and `</script>`.

    BertViz's own, the last two, are read from its files, since importing it would import torch.
    """
    module_spec = find_spec("bertviz")
    assert module_spec is not None
    assert module_spec.submodule_search_locations is not None
    folder = Path(module_spec.submodule_search_locations[0])
    theirs = [drawing(f"\n{(folder / f'{view}_view.js').read_text()}\n") for view in VIEWS]
    ours = (page.partition("<script>\n")[2].partition("</script>")[0] for page in (SCRIPTS, FIT))
    shim, fit = (f"\n{text}" for text in ours)
    return shim, fit % {"width": WIDTH}, *theirs


def drawing(script: str) -> str:
    """Return a script of BertViz that gets its data from `window.bertviz()`, not from its text."""
    head, _, after = script.partition(MARK)
    _, _, tail = after.partition("\n")
    return f"{head}{MARK}bertviz();\n{tail}"
