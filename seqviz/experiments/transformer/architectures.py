"""Parameters of well-known Transformers by part, without weights (PyTorch's meta device)."""

from __future__ import annotations

import re
import time
import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from seqviz.compute.transformer.cost import COST_PARTS, GROUPS, Architecture, ModuleTree, PassTimes
from seqviz.jobs import Report, no_progress
from seqviz.models.pretrained import library, load
from seqviz.models.registry import DEFAULTS

NAMES = ("transformer", "bert_base", "bert_large", "gpt1", "gpt2", "minilm", "smollm2")
DECODERS = ("gpt1", "gpt2", "smollm2")
FAMILY = ("gpt1", "gpt2", "gpt2_xl", "gpt3")  # by their years: 2018, 2019, 2019, 2020
MOST_WIDTH = 2048
LENGTHS = (8, 16, 32, 64, 128, 256, 512)
REPEATS = 5
_PART = (  # the first match counts
    ("norm", r"norm|ln_"),
    ("pooler", r"pooler"),
    ("cross_attention", r"multihead_attn"),
    ("self_attention", r"attn|attention"),
    ("feed_forward", r"mlp|linear\d|intermediate|output\.dense"),
    ("table", ""),
)


def _config(name: str) -> Any:
    """Return the published configuration; those of BERT base, GPT-1 and GPT-2 are the library's.

    GPT-3 is counted as GPT-2's blocks at the sizes of Brown et al. (2020), table 2.1: its sparse
    attention has no other parameters.
    """
    tf = library()
    large = {"hidden_size": 1024, "num_hidden_layers": 24, "num_attention_heads": 16}
    small = {"hidden_size": 384, "num_hidden_layers": 6, "intermediate_size": 1536}
    created: dict[str, Callable[[], Any]] = {
        "bert_base": tf.BertConfig,
        "bert_large": lambda: tf.BertConfig(**large, intermediate_size=4096),
        "gpt1": tf.OpenAIGPTConfig,
        "gpt2": tf.GPT2Config,
        "gpt2_xl": lambda: tf.GPT2Config(n_embd=1600, n_layer=48, n_head=25),
        "gpt3": lambda: tf.GPT2Config(n_embd=12_288, n_layer=96, n_head=96, n_positions=2048),
        "minilm": lambda: tf.BertConfig(**small),
        "smollm2": lambda: tf.LlamaConfig(
            vocab_size=49_152, hidden_size=576, intermediate_size=1536, num_hidden_layers=30,
            num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True,
        ),
    }  # fmt: skip
    return created[name]()


@cache
def architecture(name: str) -> Architecture:
    """Return the parts of one of `NAMES` or `FAMILY`.

    "transformer" is nn.Transformer(512, 8, 6, 6, 2048).

    Raises:
        ValueError: unknown name.
    """
    import torch

    if name not in (*NAMES, *FAMILY):
        raise ValueError(f"The model is one of {', '.join((*NAMES, *FAMILY))}, not {name!r}.")
    if name == "transformer":
        return seq2seq()
    config = _config(name)
    with torch.device("meta"):
        network = library().AutoModel.from_config(config, trust_remote_code=False)
    decoder = name in (*DECODERS, *FAMILY)
    counts, weights = _counted(network, "decoder" if decoder else "encoder")
    width, heads = config.hidden_size, config.num_attention_heads
    layers = config.num_hidden_layers
    output = config.vocab_size * width if decoder else 0
    return Architecture(
        name, counts, layers, layers, width, heads,
        getattr(config, "num_key_value_heads", None) or heads, width // heads, weights + output,
        decoder,
    )  # fmt: skip


@cache
def seq2seq(d_model: int = 512, heads: int = 8, layers: int = 6, d_ff: int = 2048) -> Architecture:
    """Return the parts of `nn.Transformer(d_model, heads, layers, layers, d_ff)`.

    It has neither embedding nor output matrix.

    Args:
        d_model: width, at most 2,048.
        heads: number of heads.
        layers: number of layers of encoder and of decoder, at most 24.
        d_ff: width of the MLP, at most 8,192.

    Raises:
        ValueError: heads that do not divide the width, or a size out of range.
    """
    counts, weights = _counted(_network(d_model, heads, layers, d_ff), "")
    return Architecture(
        "transformer", counts, 3 * layers, layers, d_model, heads, heads, d_model // heads,
        weights, False,
    )  # fmt: skip


def module_tree(
    depth: int, d_model: int = 512, heads: int = 8, layers: int = 6, d_ff: int = 2048
) -> ModuleTree:
    """Return the modules of `nn.Transformer(d_model, heads, layers, layers, d_ff)` to a depth.

    Of the equal layers of a stack only the first is listed.

    Args:
        depth: 1 for encoder and decoder, 4 for the parts of a layer.
        d_model: as in `seq2seq`.
        heads: as in `seq2seq`.
        layers: as in `seq2seq`.
        d_ff: as in `seq2seq`.

    Raises:
        ValueError: as in `seq2seq`.
    """
    listed = [
        (name, module)
        for name, module in _network(d_model, heads, layers, d_ff).named_modules()
        if name and name.count(".") < depth and not re.search(r"layers\.[1-9]", name)
    ]
    return ModuleTree(
        tuple(name for name, _ in listed),
        tuple(type(module).__name__ for _, module in listed),
        tuple(str(module.extra_repr()) for _, module in listed),
        np.array([sum(item.numel() for item in module.parameters()) for _, module in listed]),
    )


def _network(d_model: int, heads: int, layers: int, d_ff: int) -> Any:
    """Return an nn.Transformer without weights; raise ValueError for sizes out of range."""
    import torch

    if min(d_model, heads, layers, d_ff) < 1 or d_model > MOST_WIDTH or layers > 24:
        raise ValueError(f"No such Transformer: {d_model}, {heads}, {layers}, {d_ff}.")
    if d_model % heads or d_ff > 4 * MOST_WIDTH:
        raise ValueError(f"{heads} heads cannot share {d_model} dimensions (d_ff {d_ff}).")
    with torch.device("meta"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about nested tensors, which counting does not use
        return torch.nn.Transformer(d_model, heads, layers, layers, d_ff, batch_first=True)


def _counted(network: Any, stack: str) -> tuple[np.ndarray, int]:
    """Return parameters by group and part, and those of matrices; `stack` is the layers' group."""
    counts, weights = np.zeros((len(GROUPS), len(COST_PARTS)), int), 0
    for name, parameter in network.named_parameters():
        part = next(part for part, sign in _PART if re.search(sign, name, re.IGNORECASE))
        if part in ("table", "pooler"):
            group = "embeddings" if part == "table" else "pooler"
        else:
            group = "embeddings" if name.startswith("embeddings") else stack or name.split(".")[0]
        counts[GROUPS.index(group), COST_PARTS.index(part)] += parameter.numel()
        if parameter.ndim == 2 and part not in ("table", "pooler"):
            weights += parameter.numel()
    return counts, weights


def time_passes(report: Report = no_progress) -> PassTimes:
    """Time forward passes of the app's two models by length, five times each (a job).

    One sequence of random tokens, without a cache, on one thread where the app runs on one. Each
    round covers all lengths, so that a moment of noise does not affect one length alone; the first
    round is a warmup.
    """
    import torch

    names = (DEFAULTS["encoder"], DEFAULTS["decoder"])
    seconds = np.zeros((len(names), REPEATS, len(LENGTHS)))
    random = np.random.RandomState(0)
    ids = torch.from_numpy(random.randint(2000, 20_000, (1, LENGTHS[-1])))
    done, every = 0, (REPEATS + 1) * len(names) * len(LENGTHS)
    for at, name in enumerate(names):
        pretrained = load(name)
        for repeat in range(-1, REPEATS):
            for index, length in enumerate(LENGTHS):
                start = time.perf_counter()
                pretrained.run(_pass, ids[:, :length])
                if repeat >= 0:
                    seconds[at, repeat, index] = time.perf_counter() - start
                done += 1
                report(done / every, done / every)
    return PassTimes(names, np.array(LENGTHS), seconds)


def _pass(network: Any, device: str, ids: Any) -> None:
    ids = ids.to(device)
    result = network(input_ids=ids, attention_mask=ids.new_ones(ids.shape), use_cache=False)
    result[0].sum().item()  # waits for the GPU
