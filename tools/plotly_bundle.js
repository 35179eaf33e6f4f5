// What `tools/vendor.py` builds `assets/static/plotly.min.js` from: Plotly with the traces and the
// components that our figures use (a third less to load than the smallest bundle there is), and
// with the parts of a redraw one by one (`parts`), which `assets/static/bench/repaint.js` puts together.

// A minus in a cell or under the pointer is the sign U+2212, as at the axes; d3 writes a hyphen. Before
// Plotly's own modules, which keep the functions that they find here.
const numbers = require("d3-format");
const MINUS = "\u2212";
const localized = numbers.formatLocale;
numbers.formatLocale = (locale) => localized({ ...locale, minus: MINUS });
numbers.formatDefaultLocale({ decimal: ".", thousands: ",", grouping: [3], currency: ["$", ""], minus: MINUS });

require("plotly.js/build/plotcss");

const registry = require("plotly.js/src/registry");
const api = require("plotly.js/src/plot_api");

for (const [name, fn] of Object.entries(api))
  registry.register({ moduleType: "apiMethod", name, fn });
registry.register([
  require("plotly.js/src/traces/scatter"),
  require("plotly.js/src/traces/bar"),
  require("plotly.js/src/traces/heatmap"),
  require("plotly.js/src/components/annotations"),
  require("plotly.js/src/components/shapes"),
  require("plotly.js/src/components/images"),
  require("plotly.js/src/components/errorbars"),
  require("plotly.js/src/components/colorscale"),
  require("plotly.js/src/components/colorbar"),
  require("plotly.js/src/components/legend"), // after shapes, before fx: their defaults follow it
  require("plotly.js/src/components/fx"),
  require("plotly.js/src/components/modebar"),
  require("plotly.js/src/locale-en"),
  require("plotly.js/src/locale-en-us"),
]);

// To measure a word has the browser lay out the whole page, so Plotly keeps what it has measured, by the
// word and its style, but not where the word is moved by a transform, as at an axis. Moved boxes are
// moved here. And all digits are as wide as one another: numbers that change are measured once.
const drawing = require("plotly.js/src/components/drawing");
const measured = drawing.bBox;
const MOVED = /^translate\(([-+.\de]+),\s*([-+.\de]+)\)$/;
const DIGIT = /<[^>]*>|\d/g; // sizes and colors lie in tags
const wordOf = (node) => node?.getAttribute?.("data-unformatted") ?? null;
drawing.bBox = (node, inTester, hash) => {
  const word = wordOf(node);
  if (word !== null) {
    const alike = word.replace(DIGIT, (found) => (found.length > 1 ? found : "0"));
    const style = ["data-math", "text-anchor", "style"].map((name) => node.getAttribute(name));
    return measured(node, inTester, [alike, ...style].join("|"));
  }
  const [inner, ...others] = node.childNodes;
  const by = wordOf(inner) !== null && MOVED.exec(inner.getAttribute("transform"));
  if (inTester || others.length > 0 || !by) return measured(node, inTester, hash);
  const { left, right, top, bottom, ...size } = drawing.bBox(inner);
  const x = (Number(inner.getAttribute("x")) || 0) + Number(by[1]);
  const y = (Number(inner.getAttribute("y")) || 0) + Number(by[2]);
  return { ...size, left: left + x, right: right + x, top: top + y, bottom: bottom + y };
};

module.exports = {
  ...api,
  version: require("plotly.js/src/version").version,
  Fx: require("plotly.js/src/components/fx"),
  parts: {
    axes: require("plotly.js/src/plots/cartesian/axes"),
    component: registry.getComponentMethod,
    decoded: require("plotly.js/src/lib/array").decodeTypedArraySpec,
    plots: require("plotly.js/src/plots/plots"),
    steps: require("plotly.js/src/plot_api/subroutines"),
  },
};
