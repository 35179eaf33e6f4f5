"""A lens of a decoder that is fitted: from the stream behind a layer to the last, by a linear map.

Din et al. (2023, linear shortcuts between layers); Belrose et al. (2023) train such maps for the
distribution in the end (tuned lens). Ours are fitted by least squares, and of low rank.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.tokens import Tokens
from seqviz.compute.transformer.interpretability.fitted_lens import TunedLens, fit, roots
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.transformer import functional
from seqviz.experiments.transformer.interpretability.removal import beginnings
from seqviz.jobs import Report, no_progress
from seqviz.models import texts
from seqviz.models.pretrained import Pretrained, load

RANK = 16
TEXTS = 1_000  # film reviews that the maps are fitted on
MEASURED = 100  # others, of which the beginnings are measured on
_TOGETHER = 50
_FITTED = 0.6  # share of the work that is done when the maps are there


def fit_lens(model: str, report: Report = no_progress) -> TunedLens:
    """A job: one map of rank 16 for the embedding and each layer but the last, and its KL.

    The maps are fitted on film reviews, and both lenses are measured on others.
    """
    pretrained = load(model)
    layers = pretrained.network.config.num_hidden_layers
    width = pretrained.network.config.hidden_size
    cross = np.zeros((layers, 2 * width + 1, 2 * width + 1))
    sentences = sentiment_split()[0].texts[:TEXTS]
    count = 0
    for start in range(0, TEXTS, _TOGETHER):
        some = sentences[start : start + _TOGETHER]
        results = [pretrained.run(normalized, texts.tokens(pretrained, item)) for item in some]
        streams = np.concatenate(results, 1)
        count += streams.shape[1]
        ones = np.ones((streams.shape[1], 1), np.float32)
        for layer, stream in enumerate(streams[:-1]):
            both = np.hstack([stream, streams[-1], ones])
            cross[layer] += both.T @ both
        report(_FITTED * (start + len(some)) / TEXTS, _FITTED * (start + len(some)) / TEXTS)
    root = roots(_metric(pretrained))
    # In half precision they are half as large a file; what is measured below is measured with it.
    down, up, shift = (
        np.stack(part).astype(np.float16)
        for part in zip(*(fit(item, root, RANK) for item in cross), strict=True)
    )
    maps = TunedLens(down, up, shift, np.zeros((2, 0, layers)), np.zeros(0), count)
    mean = (cross[0][-1, width:-1] / count).astype(np.float32)
    bits, constant = [], []
    for done, tokens in enumerate(beginnings(pretrained)[:MEASURED], 1):
        streams = pretrained.run(normalized, tokens)
        end, rows = streams[-1], streams[:-1]
        bits.append([pretrained.run(_bits, end, item) for item in (rows, maps.read(rows))])
        constant.append(pretrained.run(_bits, end, np.broadcast_to(mean, (1, *end.shape)))[0])
        share = _FITTED + (1 - _FITTED) * done / MEASURED
        report(share, share)
    return replace(maps, bits=np.stack(bits, 1), constant=np.array(constant))


def normalized(network: Any, device: str, tokens: Tokens) -> Float[np.ndarray, "row token d_model"]:
    """The embedding and the stream behind each layer, divided by its root mean square."""
    import torch

    parts = functional.NetworkParts(network, tokens.ids, tokens.segments, device)
    streams = [parts.first[0]]
    functional.forward(
        parts,
        (functional.Variant(),),
        lambda part, _, x: streams.append(x[0]) if part == "stream" else None,
    )
    x = torch.stack(streams).float()
    return (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True))).cpu().numpy()


def _metric(pretrained: Pretrained) -> Float[np.ndarray, "d_model d_model"]:
    """What a change of the normalized stream is as a change of all logits, squared."""
    network = pretrained.network
    reads = (network.lm_head.weight * network.model.norm.weight).detach().float().cpu()
    return np.asarray((reads.T @ reads).numpy(), float)


def _bits(
    network: Any,
    device: str,
    end: Float[np.ndarray, "token d_model"],
    rows: Float[np.ndarray, "row token d_model"],
) -> Float[np.ndarray, "row"]:
    """KL of what the end says from what each row says, a mean over the tokens, in bits."""
    import torch

    def say(x: np.ndarray) -> Any:
        item = torch.tensor(x, dtype=torch.float32, device=device) * network.model.norm.weight
        return torch.log_softmax(network.lm_head(item), -1)

    message = say(end)
    probabilities = message.exp()
    results = [float((probabilities * (message - say(x))).sum(-1).mean()) for x in rows]
    return np.array(results) / math.log(2)
