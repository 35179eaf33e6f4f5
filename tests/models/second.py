"""The same weights with transformers' own attention: the second implementation for these tests."""

from __future__ import annotations

import copy

import torch


def eager(model, anew=()):
    """The network of a loaded model with the library's own attention.

    It shares its weights with the loaded one, but for those whose names end in `anew`, which are
    copies that a test may change.
    """
    network = model.network
    shared = {
        id(p): p for name, p in network.named_parameters() if not name.endswith(tuple(anew) or "?")
    }
    other = copy.deepcopy(network, shared)
    other.set_attn_implementation("eager")
    return other


def reported(job, *arguments, **keywords):
    """(result, what it has told on its way) of a job that runs here and now."""
    reports = []
    found = job(*arguments, report=lambda *report: reports.append(report), device="cpu", **keywords)
    return found, reports


def passed(network, tokens, allowed=None):
    """(weights [layer, head, query, key], last hidden state, output) of one pass, in float32.

    allowed: [query, key] in place of the network's own mask.
    """
    options = {}
    if network.config.model_type == "bert":
        options["token_type_ids"] = torch.tensor(tokens.segments[None])
    if allowed is not None:
        lowest = torch.finfo(torch.float32).min
        options["attention_mask"] = torch.where(torch.tensor(allowed), 0.0, lowest)[None, None]
    ids = torch.tensor(tokens.ids[None])
    with torch.inference_mode():
        output = network(ids, output_attentions=True, output_hidden_states=True, **options)
    weights = torch.cat(output.attentions).numpy()
    return weights, output.hidden_states[-1][0].numpy(), output
