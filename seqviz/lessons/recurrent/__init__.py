"""The lesson "RNN": its declaration, and a function for each bench."""

from seqviz.lessons.recurrent.lesson import (
    bill,
    collapse,
    lesson,
    read_steps,
    readout,
    tagger,
    tagging,
    wirings,
    write,
)
