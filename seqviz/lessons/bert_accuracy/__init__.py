"""The lesson "Masked or not": its declaration, and a function for each bench."""

from seqviz.lessons.bert_accuracy.lesson import (
    both_modes,
    compare,
    count,
    directions,
    fill_in,
    find_settings,
    guess_token,
    head,
    lesson,
    masking,
    padded,
    tune,
)
