"""The lesson "RNN": its declaration, and each bench as a function."""

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
