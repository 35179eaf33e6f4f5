"""The lesson "AR fitting": its declaration, and a function for each bench."""

from seqviz.lessons.ar_fitting.lesson import (
    ahead,
    fit,
    fit_by_hand,
    lesson,
    networks,
    nonlinear,
    process,
    real,
)
