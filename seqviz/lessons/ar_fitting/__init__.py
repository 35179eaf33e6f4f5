"""The lesson "AR fitting": its declaration, and each bench as a function."""

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
