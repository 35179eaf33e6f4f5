// What `tools/vendor.py` builds `assets/static/plotly.min.js` from: Plotly with the traces and the
// components that our figures use (a third less to load than the smallest bundle there is), and
// with the parts of a redraw one by one (`parts`), which `assets/static/repaint.js` puts together.

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
