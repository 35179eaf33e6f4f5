"""The lesson "Vanishing gradients": its declaration, and a function for each bench."""

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
