"""One forward pass of a pretrained model over a student's text, with all attention weights.

A reading is up to 283 MB, too much to keep a copy for every figure made of it: the last ones stay
here, shared and read-only, up to `SEQVIZ_FORWARD_CACHE_MB` megabytes (default 512) for the whole
class. A long text that nobody has asked for lately is let go before that (`let_go`).
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
LARGE = 10_000_000  # bytes of a reading: of MiniLM from 180 tokens on, of SmolLM2 from 90
RESTS = 45.0  # seconds in which nobody asks for it
LIKE = 16  # tokens: texts of one pass differ by less, so that little is padding


@dataclass(frozen=True)
class Masking:
    """Who may look at whom; see `seqviz.compute.attention.masks`.

    pads: padding tokens behind the text. is_declared: whether the model is told that they are
    padding. reach: of a sparse pattern.
    """

    kind: str = "own"
    pads: int = 0
    is_declared: bool = True
    cells: tuple[tuple[int, int], ...] = ()
    reach: int = masks.REACH


Elsewhere = Callable[
    [str, Tokens, "Masking", Callable[[int], None] | None, Callable[["ForwardPass"], Any]], Any
]
elsewhere: Elsewhere | None = None
"""Of a model's name, tokens, masking, `each` as in `read` and `what` as in `derived`: what another
machine has made of its reading (`seqviz.integrations.ray`); None: it is to be made here."""

_guard = threading.Lock()
_passes: dict[str, MicroBatcher[Any, ForwardPass]] = {}
OWN = Masking()
Key = tuple[str, str, str, Masking]


@dataclass(frozen=True)
class ForwardPass:
    """What a model makes of one text.

    weights: [layer, head, query, key], without query and key where they are `far`. norms: of the
    values, [layer, head, key]. vectors: the last layer's output, [token, d_model]. following:
    probability of each token of the vocabulary after the last real one (decoder); empty for an
    encoder.
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
        """The mean of the vectors over real tokens, of length 1 (encoder)."""
        mean = self.vectors[self.tokens.real].astype(np.float64).mean(0)
        return mean / (np.linalg.norm(mean) or 1.0)

    @property
    def far(self) -> bool:
        """Whether the weights have stayed on the machine that made them; see `derived`."""
        return self.weights.shape[-1] < len(self.tokens.ids)


def read(
    model: str,
    text: ModelText,
    other: ModelText = "",
    masking: Masking = OWN,
    each: Callable[[int], None] | None = None,
) -> ForwardPass:
    """The reading of a text (a pair, for an encoder), from memory if a student asked before.

    Two students who ask for the same at once wait for one pass. each: see `tap.Tap`. Raises the
    refusals of `load` and `texts.tokens`.
    """
    return _shelf.get((model, text, other, masking), each)


def sent(forward_pass: ForwardPass) -> ForwardPass:
    """What goes to another machine that asks for a reading: of a large one all but the weights."""
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
    """`what` of a reading, made where its weights are: else only this would not travel.

    what: a function of a module, or a `partial` of one; it goes to another machine by name.
    """
    result = read(model, text, other, masking)
    if not result.far:
        return what(result)
    there: R | None = None
    if elsewhere is not None:
        with device.yield_slot():
            there = elsewhere(model, result.tokens, masking, None, what)
    if there is None:
        result = _asked(load(model), result.tokens, masking)
        _shelf.put((model, text, other, masking), result)
        there = what(result)
    return there


def is_cached(model: str, text: ModelText, other: ModelText = "", masking: Masking = OWN) -> bool:
    """Whether this reading is in memory."""
    return _shelf.has((model, text, other, masking))


def forward(
    pretrained: Pretrained,
    tokens: Tokens,
    masking: Masking = OWN,
    attention_hook: taps.AttentionHook | None = None,
) -> ForwardPass:
    """One pass through the given tap (anew, not from memory)."""
    import torch

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
        # The model's own mask where it is meant, so that its numbers come out bit for bit.
        attention_hook.allowed = None if masking == OWN else torch.from_numpy(allowed).to(device)
        # Made for where the model was: the CPU may be taking over from a GPU that is full.
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
    """The readings of several texts from one pass, padded to the longest behind each.

    No token looks at the padding. Within rounding they are those of `forward`, one by one.
    """
    import torch

    if len(requests) == 1:
        return [forward(pretrained, *requests[0])]
    decoder = pretrained.card.kind == "decoder"

    def work(
        network: Any, device: str, rows: Sequence[tuple[Tokens, Masking]]
    ) -> list[ForwardPass]:
        count, width = len(rows), max(len(tokens.ids) for tokens, _ in rows)
        ids, segments = np.zeros((2, count, width), np.int64)
        allowed = np.zeros((count, width, width), bool)
        for row, (tokens, item) in enumerate(rows):
            n = len(tokens.ids)
            ids[row, :n], segments[row, :n] = tokens.ids, tokens.segments
            allowed[row, :n, :n] = masks.allowed(
                tokens.real, item.kind, decoder, item.is_declared, item.cells, item.reach
            )
        with taps.hooked(taps.AttentionHook(allowed=torch.from_numpy(allowed).to(device))) as hook:
            output = run_network(network, pretrained, ids, segments, device)
        weights, norms = torch.stack(hook.weights, 1), torch.stack(hook.norms, 1)
        hidden = output.hidden_states[-1] if decoder else output.last_hidden_state
        results = []
        for row, (tokens, _) in enumerate(rows):
            n = len(tokens.ids)
            results.append(
                _reading(
                    pretrained,
                    tokens,
                    allowed[row, :n, :n].copy(),
                    # copies: else a text would hold what all others in its pass have
                    weights[row, :, :, :n, :n].clone(),
                    norms[row, :, :, :n].clone(),
                    hidden[row, :n].clone(),
                    output.logits[row, :n] if decoder else None,
                )
            )
        return results

    return [item for part in pretrained.run_in_parts(work, requests) for item in part]


def _reading(
    pretrained: Pretrained,
    tokens: Tokens,
    allowed: np.ndarray,
    weights: Any,
    norms: Any,
    hidden: Any,
    logits: Any,
) -> ForwardPass:
    """From the tensors of one text, [layer, head, query, key] and so on; copied to main memory."""
    import torch

    weights, norms, vectors = (item.float().cpu().numpy() for item in (weights, norms, hidden))
    last = int(tokens.real.sum()) - 1
    following = np.zeros(0) if logits is None else torch.softmax(logits[last].double(), -1).cpu()
    following = np.asarray(following)
    own = (tokens.ids, tokens.segments, tokens.special, tokens.real)
    for array in (weights, norms, vectors, following, allowed, *own):
        array.flags.writeable = False
    where = pretrained.device, pretrained.note
    return ForwardPass(tokens, weights, norms, vectors, following, allowed, *where)


def _asked(pretrained: Pretrained, tokens: Tokens, masking: Masking) -> ForwardPass:
    """One reading of the class: with others of about its length in one pass, where that pays."""
    maximum = placement.TOGETHER[pretrained.device]
    if maximum == 1:
        return forward(pretrained, tokens, masking)
    with _guard:
        together = _passes.setdefault(
            pretrained.card.name, MicroBatcher(partial(forwards, pretrained), maximum)
        )
    with device.yield_slot():
        return together.submit(len(tokens.ids) // LIKE, (tokens, masking))


def run_network(
    network: Any, pretrained: Pretrained, ids: np.ndarray, segments: np.ndarray, device: str,
    hidden: bool = False,
) -> Any:  # fmt: skip
    """A batch [batch, token] through the network, with what every lesson may ask of it.

    hidden: with the vectors behind every layer (of a decoder always).
    """
    import torch

    inputs: dict[str, Any] = {"input_ids": torch.tensor(ids, device=device)}
    if "token_type_ids" in pretrained.tokenizer.model_input_names:
        inputs["token_type_ids"] = torch.tensor(segments, device=device)
    if pretrained.card.kind == "decoder":
        inputs |= {"use_cache": False}
        hidden = True
    if hidden:
        inputs |= {"output_hidden_states": True}
    return network(**inputs)


class ForwardCache:
    """The last readings, as many as fit; the least recently used goes first."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, ForwardPass] = OrderedDict()
        self._asked: dict[Any, float] = {}
        self._working: dict[Key, threading.Lock] = {}

    def has(self, key: Key) -> bool:
        with self._lock:
            return key in self._kept

    def peek(self, key: Hashable) -> ForwardPass | None:
        """What is kept under a key."""
        with self._lock:
            self._asked[key] = time.monotonic()
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
                    if key in self._kept:  # somebody else asked for it at the same time
                        return self._kept[key]
                model, text, other, masking = key
                pretrained = load(model)
                tokens = texts.tokens(pretrained, text, other, min(masking.pads, MOST_PADS))
                there = None
                if elsewhere is not None:
                    with device.yield_slot():  # another machine computes: this one is for others
                        there = elsewhere(model, tokens, masking, each, sent)
                if there:
                    result = there
                elif each is None:
                    result = _asked(pretrained, tokens, masking)
                else:  # it may be left on the way, alone
                    result = forward(pretrained, tokens, masking, taps.AttentionHook(each=each))
                self.put(key, result)
                return result
        finally:
            with self._lock:
                self._working.pop(key, None)

    def put(self, key: Hashable, forward_pass: ForwardPass) -> None:
        """Keep it, and let go of the least recently asked for where there is no room."""
        room = 1e6 * settings.value("SEQVIZ_FORWARD_CACHE_MB")
        with self._lock:
            self._kept[key] = forward_pass
            while len(self._kept) > 1 and _bytes(self._kept.values()) > room:
                self._kept.popitem(last=False)
            self._asked = {key: at for key, at in self._asked.items() if key in self._kept}

    def let_go(self) -> int:
        with self._lock:
            old = time.monotonic() - RESTS
            committed = [
                key
                for key, result in self._kept.items()
                if self._asked.get(key, old) <= old and _bytes([result]) >= LARGE
            ]
            return _bytes(map(self._kept.pop, committed))


def _bytes(readings: Iterable[ForwardPass]) -> int:
    return sum(r.weights.nbytes + r.vectors.nbytes + r.following.nbytes for r in readings)


_shelf = ForwardCache()


def let_go() -> int:
    """Let go of large readings that nobody has asked for in RESTS seconds; returns their bytes.

    Who comes back to such a text waits for one forward pass.
    """
    return _shelf.let_go()
