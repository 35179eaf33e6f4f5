"""Figure construction on Plotly.js: `Sheet`, `Panel`, axes, color scales, styles."""

from seqviz.plotting.axes import axis
from seqviz.plotting.figure import Figure
from seqviz.plotting.panel import NAMED, Panel, whisker
from seqviz.plotting.sheet import Sheet
from seqviz.plotting.style import STYLE, Style
from seqviz.plotting.tokens import escape, short
