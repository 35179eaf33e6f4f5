"""The lesson "Vanishing gradients": its declaration, and each bench as a function."""

from seqviz.lessons.vanishing_gradients.lesson import (
    back,
    cut,
    gates,
    lesson,
    pairs,
    paths,
    race,
    reach,
    weights,
)
