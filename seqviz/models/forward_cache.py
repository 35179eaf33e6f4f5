"""Forward passes of pretrained models over a text, with attention weights, and their cache.

A forward pass has up to 283 MB, too much to copy for every figure. The latest ones are cached
process-wide, shared and read-only, up to `SEQVIZ_FORWARD_CACHE_MB` megabytes (default 512). Large
ones that were not requested lately are released earlier (`evict_idle`). Entry point: `read`.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.attention import masks
from seqviz.core import settings
from seqviz.models import attention_hook as taps
from seqviz.models import device, placement, texts
from seqviz.models.micro_batch import MicroBatcher
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText, Tokens

R = TypeVar("R")
MOST_PADS = 64
LARGE = 10_000_000  # bytes of a forward pass; reached by MiniLM at 180 tokens, by SmolLM2 at 90
RESTS = 45.0  # seconds without a request until a large forward pass is released
MAX_REPLAYED_NUMBERS = 2**26  # numbers that a replayed pass returns: its graph keeps them, 268 MB
BATCH_SHARE = 0.125  # of the device's memory, for one batch: two trainings run beside
COPIES = 4  # of what a pass returns: scores, weights, their stack, and a replay's copy
LENGTH_GROUP = 16  # width of a length group in tokens; limits the padding in a batch


@dataclass(frozen=True)
class Masking:
    """Which positions a token may attend to; see `seqviz.compute.attention.masks`.

    Attributes:
        kind: name of the mask; "own" is the model's own.
        pads: number of padding tokens after the text.
        is_declared: True where the model is told which tokens are padding.
        cells: (query, key) pairs, from 0, whose permission is inverted.
        reach: distance that a sparse pattern covers.
    """

    kind: str = "own"
    pads: int = 0
    is_declared: bool = True
    cells: tuple[tuple[int, int], ...] = ()
    reach: int = masks.REACH


RemoteForward = Callable[
    [str, Tokens, "Masking", Callable[[int], None] | None, Callable[["ForwardPass"], Any]], Any
]
remote_forward: RemoteForward | None = None
"""Remote backend hook (`seqviz.integrations.ray`), or None.

Takes the model's name, the tokens, the masking, `each` as in `read` and `what` as in `derived`; it
returns `what` of the remote forward pass, or None to compute it here.
"""

_guard = threading.Lock()
_passes: dict[str, MicroBatcher[Any, ForwardPass]] = {}
OWN = Masking()
Key = tuple[str, str, str, Masking]


@dataclass(frozen=True)
class ForwardPass:
    """Result of a model's forward pass over one text.

    Attributes:
        tokens: the tokens.
        weights: attention weights [layer, head, query, key]; [layer, head, 0, 0] where `far`.
        norms: Euclidean norms of the values, [layer, head, key].
        vectors: output of the last layer, [token, d_model].
        following: probabilities of the next token, [vocabulary] (decoder); empty for an encoder.
        allowed: True where the query may attend to the key.
        device: torch device type that computed it.
        note: of `device.NOTES`, why it was computed on the CPU; else empty.
    """

    tokens: Tokens
    weights: Float[np.ndarray, "layer head query key"]
    norms: Float[np.ndarray, "layer head key"]
    vectors: Float[np.ndarray, "token d_model"]
    following: Float[np.ndarray, "vocabulary"]
    allowed: Bool[np.ndarray, "query key"]
    device: str
    note: str

    @property
    def sentence(self) -> Float[np.ndarray, "d_model"]:
        """The mean of the vectors over real tokens, normalized to length 1 (encoder)."""
        mean = self.vectors[self.tokens.real].astype(np.float64).mean(0)
        return mean / (np.linalg.norm(mean) or 1.0)

    @property
    def far(self) -> bool:
        """True where the weights stay on the machine that computed them; see `derived`."""
        return self.weights.shape[-1] < len(self.tokens.ids)


def read(
    model: str,
    text: ModelText,
    other: ModelText = "",
    masking: Masking = OWN,
    each: Callable[[int], None] | None = None,
) -> ForwardPass:
    """Return the forward pass of a text, cached; equal concurrent requests share one pass.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
        masking: the attention mask.
        each: called after each layer; see `AttentionHook`.

    Raises:
        UserError: errors of `pretrained.load` and `texts.tokens`.
    """
    return _shelf.get((model, text, other, masking), each)


def sent(forward_pass: ForwardPass) -> ForwardPass:
    """Return the part of a forward pass to send to another machine: a large one without weights."""
    few = forward_pass.weights.nbytes < LARGE
    return (
        forward_pass if few else replace(forward_pass, weights=forward_pass.weights[:, :, :0, :0])
    )


def derived(
    what: Callable[[ForwardPass], R],
    model: str,
    text: ModelText,
    other: ModelText = "",
    masking: Masking = OWN,
) -> R:
    """Return `what` of a forward pass, evaluated on the machine that has its weights.

    If the remote machine gives no result, the forward pass is computed and cached here.

    Args:
        what: a module-level function, or a `partial` of one; it is sent by name.
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
        masking: the attention mask.
    """
    result = read(model, text, other, masking)
    if not result.far:
        return what(result)
    there: R | None = None
    if remote_forward is not None:
        with device.yield_slot():
            there = remote_forward(model, result.tokens, masking, None, what)
    if there is None:
        result = _batched_forward(load(model), result.tokens, masking)
        _shelf.put((model, text, other, masking), result)
        there = what(result)
    return there


def is_cached(model: str, text: ModelText, other: ModelText = "", masking: Masking = OWN) -> bool:
    """Return True where this forward pass is in the cache.

    Args:
        model: name of the model.
        text: the text.
        other: second text of a pair (encoders).
        masking: the attention mask.
    """
    return _shelf.has((model, text, other, masking))


def forward(
    pretrained: Pretrained,
    tokens: Tokens,
    masking: Masking = OWN,
    attention_hook: taps.AttentionHook | None = None,
) -> ForwardPass:
    """Run one forward pass with a hook, uncached.

    Args:
        pretrained: the model.
        tokens: tokens of the text.
        masking: the attention mask.
        attention_hook: what to record and change; by default, record weights and norms.
    """
    import torch

    if attention_hook is None and placement.captured_pass(pretrained.network, pretrained.device):
        return forwards(pretrained, [(tokens, masking)])[0]
    attention_hook = taps.AttentionHook() if attention_hook is None else attention_hook
    decoder = pretrained.card.kind == "decoder"
    allowed = masks.allowed(
        tokens.real, masking.kind, decoder, masking.is_declared, masking.cells, masking.reach
    )

    def work(network: Any, device: str) -> tuple[Any, Any]:
        (
            attention_hook.weights,
            attention_hook.norms,
            attention_hook.stages,
            attention_hook.layer,
        ) = [], [], None, 0
        # The default mask is left to the model, so that its numbers are reproduced bit for bit.
        attention_hook.allowed = None if masking == OWN else torch.from_numpy(allowed).to(device)
        # The tensors were created for the model's former device if the CPU replaces a GPU.
        attention_hook.on, attention_hook.instead = (
            None if item is None else item.to(device)
            for item in (attention_hook.on, attention_hook.instead)
        )
        output = run_network(network, pretrained, tokens.ids[None], tokens.segments[None], device)
        hidden = output.hidden_states[-1][0] if decoder else output.last_hidden_state[0]
        return hidden, output.logits[0] if decoder else None

    with taps.hooked(attention_hook):
        hidden, logits = pretrained.run(work)
    weights, norms = (
        torch.stack([layer[0] for layer in item])
        for item in (attention_hook.weights, attention_hook.norms)
    )
    return _reading(pretrained, tokens, allowed, weights, norms, hidden, logits)


def forwards(
    pretrained: Pretrained, requests: Sequence[tuple[Tokens, Masking]]
) -> list[ForwardPass]:
    """Run several texts in one batch, each padded to the longest.

    No token attends to the padding. Within rounding, the results equal those of `forward`.

    Args:
        pretrained: the model.
        requests: tokens and mask of each text.
    """
    import torch

    replayed = placement.captured_pass(pretrained.network, pretrained.device)
    if len(requests) == 1 and replayed is None:
        return [forward(pretrained, *requests[0])]
    decoder = pretrained.card.kind == "decoder"

    def work(
        network: Any, device: str, rows: Sequence[tuple[Tokens, Masking]]
    ) -> list[ForwardPass]:
        count, width = len(rows), max(len(tokens.ids) for tokens, _ in rows)
        replayed = placement.captured_pass(network, device)
        if replayed is not None:  # a graph has one shape
            count, width = placement.round_up(count), placement.round_up(width, LENGTH_GROUP)
        ids, segments = np.zeros((2, count, width), np.int64)
        allowed = np.zeros((count, width, width), bool)
        for row, (tokens, item) in enumerate(rows):
            n = len(tokens.ids)
            ids[row, :n], segments[row, :n] = tokens.ids, tokens.segments
            allowed[row, :n, :n] = masks.allowed(
                tokens.real, item.kind, decoder, item.is_declared, item.cells, item.reach
            )
        inputs = [torch.tensor(item, device=device) for item in (ids, segments, allowed)]
        run = partial(noted_pass, network, pretrained)
        if replayed is None or returned_numbers(network, count, width) > MAX_REPLAYED_NUMBERS:
            weights, norms, hidden, *logits = run(*inputs)
        else:
            weights, norms, hidden, *logits = replayed(run, *inputs, constants="noted pass")
        results = []
        for row, (tokens, _) in enumerate(rows):
            n = len(tokens.ids)
            results.append(
                _reading(
                    pretrained,
                    tokens,
                    allowed[row, :n, :n].copy(),
                    # Copies, because views would keep the tensors of the whole batch alive.
                    weights[row, :, :, :n, :n].clone(),
                    norms[row, :, :, :n].clone(),
                    hidden[row, :n].clone(),
                    logits[0][row, :n] if decoder else None,
                )
            )
        return results

    width = max(len(tokens.ids) for tokens, _ in requests)
    size = max_texts(pretrained, width) or len(requests)
    batches = [requests[at : at + size] for at in range(0, len(requests), size)]
    return [item for batch in batches for part in pretrained.run_in_parts(work, batch)
            for item in part]  # fmt: skip


def max_texts(pretrained: Pretrained, tokens: int) -> int:
    """Return how many texts of a length fit into one batch on a CUDA device; 0 without a limit.

    Args:
        pretrained: the model.
        tokens: tokens of a text.
    """
    room = BATCH_SHARE * device.memory()
    each = COPIES * 4 * returned_numbers(pretrained.network, 1, tokens)
    return max(1, int(room / each)) if room else 0


def returned_numbers(network: Any, texts: int, tokens: int) -> int:
    """Return the size of the weights, and of a decoder's logits, that `noted_pass` returns."""
    config = network.config
    weights = config.num_hidden_layers * config.num_attention_heads * tokens
    has_logits = network.get_output_embeddings() is not None
    return texts * tokens * (weights + (config.vocab_size if has_logits else 0))


def noted_pass(
    network: Any, pretrained: Pretrained, ids: Any, segments: Any, allowed: Any
) -> tuple[Any, ...]:
    """Run a batch and return what a `ForwardPass` holds, as tensors.

    Args:
        network: the network.
        pretrained: the model, for its tokenizer and kind.
        ids: token ids [batch, token].
        segments: segment ids [batch, token].
        allowed: bool [batch, query, key].

    Returns:
        Weights [batch, layer, head, query, key], norms [batch, layer, head, key], output of the
        last layer [batch, token, d_model]; for a decoder the logits [batch, token, vocabulary].
    """
    import torch

    # The hook has the mask; without any, transformers looks for packed texts and waits for that.
    mask = torch.zeros(len(ids), 1, *allowed.shape[1:], device=ids.device)
    with taps.hooked(taps.AttentionHook(allowed=allowed)) as hook:
        output = run_network(network, pretrained, ids, segments, str(ids.device), mask=mask)
    weights, norms = torch.stack(hook.weights, 1), torch.stack(hook.norms, 1)
    if pretrained.card.kind == "decoder":
        return weights, norms, output.hidden_states[-1], output.logits
    return weights, norms, output.last_hidden_state


def _reading(
    pretrained: Pretrained,
    tokens: Tokens,
    allowed: np.ndarray,
    weights: Any,
    norms: Any,
    hidden: Any,
    logits: Any,
) -> ForwardPass:
    """Build the result from the tensors of one text, copied to main memory."""
    import torch

    weights, norms, vectors = device.to_host(weights, norms, hidden)
    last = int(tokens.real.sum()) - 1
    following = np.zeros(0) if logits is None else torch.softmax(logits[last].double(), -1).cpu()
    following = np.asarray(following)
    own = (tokens.ids, tokens.segments, tokens.special, tokens.real)
    for array in (weights, norms, vectors, following, allowed, *own):
        array.flags.writeable = False
    where = pretrained.device, pretrained.note
    return ForwardPass(tokens, weights, norms, vectors, following, allowed, *where)


def _batched_forward(pretrained: Pretrained, tokens: Tokens, masking: Masking) -> ForwardPass:
    """Run a forward pass, batched with concurrent ones of similar length on an accelerator."""
    maximum = placement.TOGETHER[pretrained.device]
    if maximum == 1:
        return forward(pretrained, tokens, masking)
    with _guard:
        together = _passes.setdefault(
            pretrained.card.name, MicroBatcher(partial(forwards, pretrained), maximum)
        )
    with device.yield_slot():
        return together.submit(len(tokens.ids) // LENGTH_GROUP, (tokens, masking))


def run_network(
    network: Any, pretrained: Pretrained, ids: Any, segments: Any, device: str,
    hidden: bool = False, mask: Any = None,
) -> Any:  # fmt: skip
    """Run a batch through the network and return its output.

    Args:
        network: the network.
        pretrained: the model, for its tokenizer and kind.
        ids: token ids [batch, token], an array or a tensor of the device.
        segments: segment ids [batch, token], likewise.
        device: torch device.
        hidden: True to return the hidden states of every layer; always so for a decoder.
        mask: what is added to the scores, [batch, 1, query, key]; None for the network's own.
    """
    import torch

    ids, segments = (
        item if isinstance(item, torch.Tensor) else torch.tensor(item, device=device)
        for item in (ids, segments)
    )
    inputs: dict[str, Any] = {"input_ids": ids}
    if mask is not None:
        inputs["attention_mask"] = mask
    if "token_type_ids" in pretrained.tokenizer.model_input_names:
        inputs["token_type_ids"] = segments
    if pretrained.card.kind == "decoder":
        inputs |= {"use_cache": False}
        hidden = True
    if hidden:
        inputs |= {"output_hidden_states": True}
    return network(**inputs)


class ForwardCache:
    """LRU cache of forward passes, bounded in bytes, with single-flight computation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, ForwardPass] = OrderedDict()
        self._requested_at: dict[Any, float] = {}
        self._working: dict[Key, threading.Lock] = {}

    def has(self, key: Key) -> bool:
        with self._lock:
            return key in self._kept

    def peek(self, key: Hashable) -> ForwardPass | None:
        """Return the cached forward pass of a key, or None, and mark the key as requested."""
        with self._lock:
            self._requested_at[key] = time.monotonic()
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def get(self, key: Key, each: Callable[[int], None] | None) -> ForwardPass:
        if (result := self.peek(key)) is not None:
            return result
        with self._lock:
            turn = self._working.setdefault(key, threading.Lock())
        try:
            with turn:
                with self._lock:
                    if key in self._kept:  # computed by a concurrent request
                        return self._kept[key]
                model, text, other, masking = key
                pretrained = load(model)
                tokens = texts.tokens(pretrained, text, other, min(masking.pads, MOST_PADS))
                there = None
                if remote_forward is not None:
                    with device.yield_slot():  # another machine computes
                        there = remote_forward(model, tokens, masking, each, sent)
                if there:
                    result = there
                elif each is None:
                    result = _batched_forward(pretrained, tokens, masking)
                else:  # unbatched, because `each` may abort the pass
                    result = forward(pretrained, tokens, masking, taps.AttentionHook(each=each))
                self.put(key, result)
                return result
        finally:
            with self._lock:
                self._working.pop(key, None)

    def put(self, key: Hashable, forward_pass: ForwardPass) -> None:
        """Cache a forward pass and evict the least recently used ones beyond the limit.

        Args:
            key: the key.
            forward_pass: its value; the latest one is kept even if it exceeds the limit alone.
        """
        room = 1e6 * settings.value("SEQVIZ_FORWARD_CACHE_MB")
        with self._lock:
            self._kept[key] = forward_pass
            while len(self._kept) > 1 and _bytes(self._kept.values()) > room:
                self._kept.popitem(last=False)
            self._requested_at = {
                key: at for key, at in self._requested_at.items() if key in self._kept
            }

    def evict_idle(self) -> int:
        with self._lock:
            old = time.monotonic() - RESTS
            stale = [
                key
                for key, result in self._kept.items()
                if self._requested_at.get(key, old) <= old and _bytes([result]) >= LARGE
            ]
            return _bytes(map(self._kept.pop, stale))


def _bytes(readings: Iterable[ForwardPass]) -> int:
    return sum(
        array.nbytes
        for r in readings
        for array in (r.weights, r.norms, r.vectors, r.following, r.allowed)
    )


_shelf = ForwardCache()


def evict_idle() -> int:
    """Release large forward passes not requested for `RESTS` seconds and return their bytes.

    A later request for such a text recomputes it.
    """
    return _shelf.evict_idle()
