"""Key-value cache of a decoder as a tree: a prompt with branching continuations.

The keys and values of the prompt are stored once, those of each later token once per node, and all
of them outside the shared model. To continue at a node of any depth, its row attends to the prompt,
the tokens on its path, and itself. Each token is computed once, batched with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from seqviz.models.pretrained import Pretrained

DEPTH = 64  # maximum number of tokens after the prompt
NODES = 1024  # maximum number of nodes; 46 kB each for SmolLM2, 47 MB in all
ROWS = 16  # rows of one pass; the logits of one row are 0.2 MB
ROOT = -1  # the parent of a first token


class KVCacheTree:
    """Key-value cache of one prompt and a tree of continuations; used within `Pretrained.run`.

    Attributes:
        network: the decoder.
        device: torch device.
        length: number of tokens of the prompt.
        rows: maximum number of rows in one pass.
        logits: logits after the prompt, float32 [vocabulary].
        tokens: token id of each node.
    """

    def __init__(self, network: Any, device: str, ids: np.ndarray, rows: int = ROWS):
        """Run the prompt.

        Args:
            network: the decoder.
            device: torch device.
            ids: token ids of the prompt, [token]; at least one.
            rows: maximum number of rows in one pass.
        """
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
        self._nodes = self._prompt.new_zeros(0, *shape[:3], shape[4])  # [node, ...], no token axis
        self._paths: list[tuple[int, ...]] = []
        self.tokens: list[int] = []

    def path(self, node: int) -> tuple[int, ...]:
        """Return the nodes from the first after the prompt to this one; empty for `ROOT`."""
        return () if node == ROOT else self._paths[node]

    def ids(self, node: int) -> tuple[int, ...]:
        """Return the token ids after the prompt up to this node."""
        return tuple(self.tokens[item] for item in self.path(node))

    def extend(self, parents: Sequence[int], tokens: Sequence[int]) -> tuple[list[int], Any]:
        """Add one token after each parent and compute its logits.

        Args:
            parents: numbers of nodes, or `ROOT`.
            tokens: token id of each new node.

        Returns:
            The numbers of the new nodes, and the logits after each, float32 [row, vocabulary].

        Raises:
            ValueError: beyond `DEPTH` tokens in a row or `NODES` nodes.
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
        """Return the logits after complete texts that follow the prompt; the tree is unchanged.

        Args:
            texts: token ids of each text, at least one; similar lengths waste less padding.

        Returns:
            Logits, float32 [row, vocabulary].
        """
        import torch
        from transformers.cache_utils import Cache

        results = []
        for at in range(0, len(texts), self.rows):
            some = texts[at : at + self.rows]
            ends = [len(text) - 1 for text in some]
            ids = np.zeros((len(some), max(ends) + 1), int)  # causal: right padding has no effect
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
        """Return cache layers for a batch: the prompt for each row, then `between`.

        Args:
            rows: number of rows.
            between: keys and values after the prompt, [layer, keys or values, row, shared head,
                token, d_k].
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
    """Return a cache layer class that concatenates stored parts and records the new token's."""
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
    """Return the token ids after which a decoder stops (end of sequence)."""
    payload = getattr(pretrained.network.generation_config, "eos_token_id", None)
    result = {
        pretrained.tokenizer.eos_token_id,
        *(payload if isinstance(payload, list) else [payload]),
    }
    return frozenset(int(item) for item in result if item is not None)
