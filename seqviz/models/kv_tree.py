"""Key-value cache of a decoder as a tree: a prompt with branching continuations.

The keys and values of the prompt are stored once, those of each later token once per node, and all
of them outside the shared model. To continue at a node of any depth, its row attends to the prompt,
the tokens on its path, and itself. Each token is computed once, batched with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from seqviz.models import placement
from seqviz.models.pretrained import Pretrained

DEPTH = 64  # maximum number of tokens after the prompt
NODES = 1024  # maximum number of nodes; 46 kB each for SmolLM2, 47 MB in all
ROWS = 16  # rows of one pass; the logits of one row are 0.2 MB
# Multiples to which a replayed pass pads the depth and the prompt (`models.cuda_graphs`).
DEPTH_STEP, PROMPT_STEP = 16, 32
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

        results = []
        for at in range(0, len(texts), self.rows):
            hidden, _, ends = self._read(texts[at : at + self.rows])
            last = hidden[torch.arange(len(ends)), torch.tensor(ends)]
            results.append(self.network.get_output_embeddings()(last).float())
        return torch.cat(results)

    def log_probabilities(self, texts: Sequence[Sequence[int]]) -> Any:
        """Return the log probability of complete texts that follow the prompt.

        The tree is unchanged.

        Args:
            texts: token ids of each text, at least one.

        Returns:
            Sums over the tokens of each text, float32 [row].
        """
        import torch

        results = []
        for at in range(0, len(texts), self.rows):
            hidden, ids, ends = self._read(texts[at : at + self.rows])
            first = self.logits.log_softmax(-1)[ids[:, :1]]
            scores = self.network.get_output_embeddings()(hidden[:, :-1]).float()
            later = scores.log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0]
            real = torch.arange(ids.shape[1] - 1)[None] < torch.tensor(ends)[:, None]
            results.append(first[:, 0] + (later * real.to(later)).sum(1))
        return torch.cat(results)

    def _read(self, texts: Sequence[Sequence[int]]) -> tuple[Any, Any, list[int]]:
        """Run texts after the prompt as one batch.

        Args:
            texts: token ids of each text.

        Returns:
            Output of the last layer [row, token, d_model], padded token ids [row, token], and the
            index of each text's last token.
        """
        import torch
        from transformers.cache_utils import Cache

        ends = [len(text) - 1 for text in texts]
        padded = np.zeros((len(texts), max(ends) + 1), int)  # causal: right padding has no effect
        for row, text in zip(padded, texts, strict=True):
            row[: len(text)] = text
        ids = torch.tensor(padded, device=self.device)
        hidden = self.network.base_model(
            input_ids=ids,
            past_key_values=Cache(layers=cache_layers(self._prompt, len(texts))),
            use_cache=True,
        ).last_hidden_state
        return hidden, ids, ends

    def _pass(self, rows: Sequence[tuple[int, int]]) -> Any:
        """Add one batch of tokens, and return the logits after each."""
        import torch

        paths = [self.path(parent) for parent, _ in rows]
        deepest = max(map(len, paths))
        replayed = placement.captured_pass(self.network, self.device)
        padded = (len(rows), deepest, self.length)
        if replayed is not None:  # a graph has one shape
            padded = (
                placement.round_up(len(rows)),
                placement.round_up(max(deepest, 1), DEPTH_STEP),
                placement.round_up(self.length, PROMPT_STEP),
            )
        plan = _plan(paths, [token for _, token in rows], self.length, padded)
        nodes, ids, depths = (torch.tensor(item, device=self.device)
                              for item in (plan.nodes, plan.ids, plan.depths))  # fmt: skip
        # Nothing but padding where there are no nodes yet.
        stored = (
            self._nodes if len(self._nodes) else self._nodes.new_zeros(1, *self._nodes.shape[1:])
        )
        between = stored[nodes].permute(2, 3, 0, 4, 1, 5)
        if replayed is None:
            mask = None if plan.real.all() else torch.tensor(plan.real, device=self.device)
            logits, new = one_step(self.network, self._prompt, between, mask, ids, depths)
        else:
            prompt = torch.nn.functional.pad(self._prompt, (0, 0, 0, padded[2] - self.length))
            # Four axes, so that transformers takes it as it is.
            added = torch.tensor((1 - plan.real)[:, None, None], dtype=prompt.dtype)
            mask = added.to(self.device) * torch.finfo(prompt.dtype).min
            logits, new = replayed(partial(one_step, self.network), prompt, between, mask, ids,
                                   depths, constants="one step")  # fmt: skip
        count = len(rows)
        self._nodes = torch.cat([self._nodes, new[:, :, :count].permute(2, 0, 1, 3, 4)])
        for path, (_, token) in zip(paths, rows, strict=True):
            self._paths.append((*path, len(self.tokens)))
            self.tokens.append(token)
        return logits[:count]


class _Plan(NamedTuple):
    """Inputs of one pass as arrays.

    Attributes:
        nodes: nodes between the prompt and each new token, [row, depth], padded with 0.
        real: 0 where a key is padding, [row, prompt + depth + 1].
        ids: ids of the new tokens, [row, 1].
        depths: their positions, [row, 1].
    """

    nodes: np.ndarray
    real: np.ndarray
    ids: np.ndarray
    depths: np.ndarray


def _plan(
    paths: Sequence[Sequence[int]], tokens: Sequence[int], length: int, padded: tuple[int, int, int]
) -> _Plan:
    """Return the inputs of a pass.

    Args:
        paths: the nodes before each new token.
        tokens: ids of the new tokens.
        length: number of tokens of the prompt.
        padded: rows, depth and prompt tokens of the pass, padding included.
    """
    n_rows, depth, width = padded
    nodes, ids = np.zeros((n_rows, depth), np.int64), np.zeros((n_rows, 1), np.int64)
    real = np.zeros((n_rows, width + depth + 1), np.int64)
    real[:, :length] = real[:, -1] = 1
    depths = np.full((n_rows, 1), length, np.int64)
    for row, path in enumerate(paths):
        nodes[row, : len(path)] = path
        real[row, width : width + len(path)] = 1
        depths[row] += len(path)
    ids[: len(tokens), 0] = tokens
    return _Plan(nodes, real, ids, depths)


def one_step(
    network: Any, prompt: Any, between: Any, mask: Any, ids: Any, depths: Any
) -> tuple[Any, Any]:
    """Run one token of each row through a decoder.

    Args:
        network: the decoder.
        prompt: keys and values of the prompt, [layer, keys or values, shared head, token, d_k].
        between: those after it, [layer, keys or values, row, shared head, token, d_k].
        mask: None, 0 where a key is padding [row, key], or what is added to the scores
            [row, 1, 1, key].
        ids: token ids, [row, 1].
        depths: their positions, [row, 1].

    Returns:
        Logits, float32 [row, vocabulary], and the keys and values of the tokens, [layer, keys or
        values, row, shared head, d_k].
    """
    import torch
    from transformers.cache_utils import Cache

    layers = cache_layers(prompt, len(ids), between)
    output = network(
        input_ids=ids,
        attention_mask=mask,
        position_ids=depths,
        past_key_values=Cache(layers=layers),
        use_cache=True,
    )
    return output.logits[:, -1].float(), torch.stack([layer.new for layer in layers])


def cache_layers(prompt: Any, rows: int, between: Any = None) -> list[Any]:
    """Return cache layers for a batch: the prompt for each row, then `between`.

    Args:
        prompt: keys and values of the prompt, [layer, keys or values, shared head, token, d_k].
        rows: number of rows.
        between: keys and values after the prompt, [layer, keys or values, row, shared head, token,
            d_k].
    """
    built = []
    for k, layer in enumerate(prompt):
        parts = [layer[:, None].expand(-1, rows, *layer.shape[1:])]
        built.append(_layer()([*parts, *([] if between is None else [between[k]])]))
    return built


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
