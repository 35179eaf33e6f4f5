"""How any figure of ours is made: a sheet with panels, axes, scales and words over them."""

from seqviz.figures.grammar.axes import axis
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.sheet import NAMED, Panel, Sheet, whisker
from seqviz.figures.grammar.style import STYLE, Style
from seqviz.figures.grammar.tokens import plain, short
