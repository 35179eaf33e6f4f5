"""Vectors of a text under a decoder, and the forms of a task's input (Radford et al. 2018)."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqviz.compute.gpt.vectors import TextVectors
from seqviz.experiments.text.tokenization import vocabularies
from seqviz.models import texts
from seqviz.models.pretrained import decoder
from seqviz.models.texts import ModelText, TokenizerText

FORMS = ("text", "classify", "entail", "similar")
CLASSES = {"classify": 2, "entail": 3, "similar": 1}  # outputs of the task layer
# GPT-1 learns three tokens for its tasks; special tokens of SmolLM2 stand for them.
START, DELIMITER, EXTRACT = "<|im_start|>", "<|endoftext|>", "<|im_end|>"


def text_vectors(model: str, text: ModelText) -> TextVectors:
    """Return the vectors after the last layer of a decoder.

    Args:
        model: name of the decoder.
        text: the text.

    Raises:
        UserError: errors of `decoder` and `texts.tokens`.
    """
    import torch

    pretrained = decoder(model)
    tokens = texts.tokens(pretrained, text)

    def work(network: Any, device: str) -> np.ndarray:
        ids = torch.tensor(tokens.ids, device=device)[None]
        read = network.base_model(input_ids=ids, use_cache=False).last_hidden_state[0]
        return np.asarray(read.float().cpu().numpy())

    return TextVectors(tokens, pretrained.run(work))


def task_inputs(form: str, text: TokenizerText, second: TokenizerText = "") -> tuple[str, ...]:
    """Return what a decoder with a task layer reads: one sequence, or two.

    Args:
        form: of `FORMS`; "text" is the text alone, "similar" has both orders.
        text: the text.
        second: the second text of "entail" and "similar".
    """
    if form == "text":
        return (text,)
    if form == "classify":
        return (f"{START}{text}{EXTRACT}",)
    pairs = [(text, second), (second, text)]
    count = 2 if form == "similar" else 1
    return tuple(f"{START}{a}{DELIMITER}{b}{EXTRACT}" for a, b in pairs[:count])


def gpt2_ids(text: TokenizerText) -> tuple[int, ...]:
    """Return the ids of a text in GPT-2's vocabulary."""
    return tuple(int(item) for item in vocabularies.gpt2().cut(text).ids)
