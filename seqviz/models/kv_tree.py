"""A prompt of a decoder and a tree of continuations: each token is read once, with others.

The keys and values of the prompt are kept once, those of every token behind it alone, and all of
them here: nothing stays in the shared model. To go on at a token, whatever its depth, its row reads
the prompt, the tokens on the way to it, and itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from seqviz.models.pretrained import Pretrained

DEPTH = 64  # tokens behind the prompt
NODES = 1024  # of a tree: 47 MB of SmolLM2, 46 kB each
ROWS = 16  # read in one pass: the logits of one are 0.2 MB
ROOT = -1  # the parent of a first token


class KVCacheTree:
    """One prompt within `Pretrained.run`, where its tensors live and die.

    ids: of the prompt, [token], one at least. rows: that are read in one pass at the most. logits:
    behind the prompt, float32 [vocabulary].
    """

    def __init__(self, network: Any, device: str, ids: np.ndarray, rows: int = ROWS):
        import torch

        self.network, self.device, self.length, self.rows = network, device, len(ids), rows
        output = network(
            input_ids=torch.tensor(ids, device=device)[None], use_cache=True, logits_to_keep=1
        )
        self.logits = output.logits[0, -1].float()
        layers = output.past_key_values.layers
        # [layer, keys or values, shared head, token, d_k]
        self._prompt = torch.stack([torch.stack([x.keys[0], x.values[0]]) for x in layers])
        shape = self._prompt.shape
        self._nodes = self._prompt.new_zeros(0, *shape[:3], shape[4])  # without the token
        self._paths: list[tuple[int, ...]] = []
        self.tokens: list[int] = []

    def path(self, node: int) -> tuple[int, ...]:
        """The nodes from the first behind the prompt to this one; none for `ROOT`."""
        return () if node == ROOT else self._paths[node]

    def ids(self, node: int) -> tuple[int, ...]:
        """The tokens behind the prompt up to this node."""
        return tuple(self.tokens[item] for item in self.path(node))

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Any]:
        """A token behind each parent: the new nodes, and the logits behind each.

        parents: nodes, or `ROOT`. Returns numbers of nodes and float32 [row, vocabulary].
        Raises ValueError beyond `DEPTH` or `NODES`.
        """
        import torch

        depth = 1 + max(len(self.path(parent)) for parent in parents)
        if depth > DEPTH or len(self.tokens) + len(parents) > NODES:
            raise ValueError(f"A tree has at most {DEPTH} tokens in a row and {NODES} in all.")
        rows = list(zip(parents, tokens, strict=True))
        logits = [self._pass(rows[at : at + self.rows]) for at in range(0, len(rows), self.rows)]
        new = list(range(len(self.tokens) - len(rows), len(self.tokens)))
        return new, torch.cat(logits)

    def score_suffixes(self, texts: Sequence[Sequence[int]]) -> Any:
        """The logits behind whole texts that follow the prompt; nothing of them is kept.

        texts: tokens of each, one at least, of similar lengths. Returns float32 [row, vocabulary].
        """
        import torch
        from transformers.cache_utils import Cache

        results = []
        for at in range(0, len(texts), self.rows):
            some = texts[at : at + self.rows]
            ends = [len(text) - 1 for text in some]
            ids = np.zeros((len(some), max(ends) + 1), int)  # padded behind, where nobody looks
            for row, text in zip(ids, some, strict=True):
                row[: len(text)] = text
            hidden = self.network.base_model(
                input_ids=torch.tensor(ids, device=self.device),
                past_key_values=Cache(layers=self._layers(len(some))),
                use_cache=True,
            ).last_hidden_state
            last = hidden[torch.arange(len(some)), torch.tensor(ends)]
            results.append(self.network.get_output_embeddings()(last).float())
        return torch.cat(results)

    def _layers(self, rows: int, between: Any = None) -> list[Any]:
        """A cache of the prompt for each row, and of what stands between it and what is read.

        between: [layer, keys or values, row, shared head, token, d_k].
        """
        built = []
        for k, prompt in enumerate(self._prompt):
            parts = [prompt[:, None].expand(-1, rows, *prompt.shape[1:])]
            built.append(_layer()([*parts, *([] if between is None else [between[k]])]))
        return built

    def _pass(self, rows: Sequence[tuple[int, int]]) -> Any:
        import torch
        from transformers.cache_utils import Cache

        paths = [self.path(parent) for parent, _ in rows]
        deepest = max(map(len, paths))
        positions = torch.zeros(len(rows), deepest, dtype=torch.long, device=self.device)
        real = np.zeros((len(rows), deepest), int)
        for row, path in enumerate(paths):
            positions[row, : len(path)] = torch.tensor(path, dtype=torch.long)
            real[row, : len(path)] = 1
        layers = self._layers(len(rows), self._nodes[positions].permute(2, 3, 0, 4, 1, 5))
        mask = np.pad(real, ((0, 0), (self.length, 1)), constant_values=1)
        depths = torch.tensor([self.length + len(method) for method in paths], device=self.device)
        output = self.network(
            input_ids=torch.tensor([[token] for _, token in rows], device=self.device),
            attention_mask=None if real.all() else torch.tensor(mask, device=self.device),
            position_ids=depths[:, None],
            past_key_values=Cache(layers=layers),
            use_cache=True,
        )
        new = torch.stack([layer.new for layer in layers])  # [layer, kind, row, shared head, d_k]
        self._nodes = torch.cat([self._nodes, new.permute(2, 0, 1, 3, 4)])
        for path, (_, token) in zip(paths, rows, strict=True):
            self._paths.append((*path, len(self.tokens)))
            self.tokens.append(token)
        return output.logits[:, -1].float()


@cache
def _layer() -> type:
    """The layer of a cache that gives what stands before a token and keeps the token's own."""
    import torch
    from transformers.cache_utils import DynamicLayer

    class Before(DynamicLayer):
        def __init__(self, parts: list[Any]):
            super().__init__()
            self.parts, self.is_initialized = parts, True
            self.new: Any = None

        def get_seq_length(self) -> int:
            return sum(part.shape[-2] for part in self.parts)

        def update(self, keys: Any, values: Any, *_: Any, **__: Any) -> tuple[Any, Any]:
            self.new = torch.stack([keys[:, :, -1], values[:, :, -1]])
            retained = ([part[kind] for part in self.parts] for kind in (0, 1))
            keys, values = (
                torch.cat([*some, item], -2)
                for some, item in zip(retained, (keys, values), strict=True)
            )
            return keys, values

    return Before


def ends(pretrained: Pretrained) -> frozenset[int]:
    """The tokens behind which a decoder says nothing more."""
    payload = getattr(pretrained.network.generation_config, "eos_token_id", None)
    result = {
        pretrained.tokenizer.eos_token_id,
        *(payload if isinstance(payload, list) else [payload]),
    }
    return frozenset(int(item) for item in result if item is not None)
