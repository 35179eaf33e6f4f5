"""Train the character language models: `python -m tools.train_characters --cell lstm`.

With `--measure 1` nothing is trained; the existing card gets the numbers of `cold`.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from typing import Any

import numpy as np
import torch

from seqviz.compute.gates.encoding import END, UNKNOWN
from seqviz.compute.gates.networks import log_probabilities, trace
from seqviz.compute.language_models.ngrams import NgramCounts, count, fit
from seqviz.data.reviews import SOURCE, characters_split
from seqviz.models import checkpoints
from tools.checkpoints import Reader, asked, remeasure, write

COMMON = 20  # less frequent characters are unknown
WIDTH, HIDDEN = 32, 256
STREAMS, STEPS = 64, 100  # parallel streams, characters per update
DROPOUT = 0.1
SCRIPT = "tools/train_characters.py"


def corpus() -> tuple[str, str]:
    """Return (train, held out): shuffled sentences, one per line; 5% are held out."""
    train, held_out = (END.join(part) for part in characters_split())
    return train, held_out


def alphabet(text: str) -> list[str]:
    """Return the unknown symbol, then the common characters by frequency."""
    return [UNKNOWN, *(c for c, n in Counter(text).most_common() if n >= COMMON)]


def numbers(text: str, symbols: list[str]) -> torch.Tensor:
    anchor = {symbol: i for i, symbol in enumerate(symbols)}
    return torch.tensor([anchor.get(character, 0) for character in text])


def bits(model: Reader, ids: torch.Tensor) -> float:
    """Return mean bits per character of a text read as one sequence."""
    with torch.no_grad():
        read, requested = ids[:-1, None], ids[1:]
        out, _ = model.layer(model.embedding(read))
        loss = torch.nn.functional.cross_entropy(model.head(out[:, 0]), requested)
        return float(loss) / math.log(2)


def counted(text: str) -> tuple[NgramCounts, list[str]]:
    """Return the counts of up to five characters of a text, and its symbols.

    All characters of the text are symbols; `UNKNOWN` stands for all others.
    """
    symbols = [UNKNOWN, *sorted(set(text))]
    return count(numbers(text, symbols).numpy(), len(symbols), 5), symbols


def baseline(text: str, held_out: str) -> dict[str, Any]:
    """Return bits per character of n-gram models with contexts of 2 and 4 characters.

    Contexts continue across sentences.
    """
    counts, symbols = counted(text)
    ids = numbers(held_out, symbols).numpy()
    trigram, five_gram = (
        float(fit(counts, "witten_bell", order).bits(ids, ids[:0]).mean()) for order in (3, 5)
    )
    return {
        "name": "character trigram, Witten-Bell interpolation",
        "value": round(trigram, 4),
        "five_gram": round(five_gram, 4),
    }


def cold(name: str) -> tuple[float, float]:
    """Return bits per character of a network and of a five-gram, with each sentence read alone.

    This is how a page reads: after a line break, from a zero state. The line break that ends a
    sentence is not counted, as a page does not ask for it.
    """
    network = checkpoints.load(name)
    text, held_out = corpus()
    sentences, (counts, symbols) = [s for s in held_out.split(END) if s], counted(text)
    model, end = fit(counts, "witten_bell"), numbers(END, symbols).numpy()
    by_network, by_counts, characters = 0.0, 0.0, 0
    for sentence in sentences:
        ids = numbers(sentence, list(network.symbols)).numpy()
        before = log_probabilities(network, trace(network, ids).hidden[:-1])
        by_network -= float(before[np.arange(len(ids)), ids].sum()) / math.log(2)
        by_counts += float(model.bits(numbers(sentence, symbols).numpy(), end).sum())
        characters += len(ids)
    return by_network / characters, by_counts / characters


def measure(cell: str) -> None:
    """Write the numbers of `cold` to the card."""
    ours, counts = cold(f"characters_{cell}")
    remeasure(
        f"characters_{cell}",
        metric={"sentence_by_sentence": round(ours, 4)},
        baseline={"five_gram_sentence_by_sentence": round(counts, 4)},
    )
    print(f"{cell}: {ours:.4f}, five-gram {counts:.4f}, sentence by sentence")


def train(cell: str, epochs: int, rate: float) -> None:
    """Train by truncated BPTT with carried state, AdamW and a one-cycle learning rate.

    Args:
        cell: "lstm" or "gru".
        epochs: passes over the corpus.
        rate: peak learning rate.
    """
    torch.manual_seed(0)
    text, held_out = corpus()
    symbols = alphabet(text)
    existing = numbers(END + text, symbols)
    validation = numbers(END + held_out, symbols)
    model = Reader(cell, len(symbols), WIDTH, HIDDEN, len(symbols))
    dropout = torch.nn.Dropout(DROPOUT)
    length = len(existing) // STREAMS
    streams = existing[: length * STREAMS].view(STREAMS, length).T.contiguous()
    chunks = list(range(0, length - STEPS - 1, STEPS))
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=0.01)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, rate, total_steps=epochs * len(chunks), pct_start=0.05
    )
    started = time.perf_counter()
    best = math.inf
    for epoch in range(1, epochs + 1):
        state = None
        for start in chunks:
            read = streams[start : start + STEPS]
            requested = streams[start + 1 : start + STEPS + 1]
            out, state = model.layer(dropout(model.embedding(read)), state)
            state = tuple(s.detach() for s in state) if cell == "lstm" else state.detach()
            loss = torch.nn.functional.cross_entropy(
                model.head(dropout(out)).flatten(0, 1), requested.flatten()
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
        best = bits(model, validation)
        spent = time.perf_counter() - started
        print(f"{cell} epoch {epoch}: {best:.4f} bits per character, {spent:.0f} s", flush=True)
    card = {
        "data": "movie reviews and editorials, 95% of the sentences, one a line",
        "license": "data MIT: " + SOURCE,
        "settings": {
            "hidden": HIDDEN, "embedding": WIDTH, "epochs": epochs, "rate": rate,
            "streams": STREAMS, "steps": STEPS, "dropout": DROPOUT, "seed": 0,
        },
        "metric": {"name": "bits per character, held-out sentences", "value": round(best, 4)},
        "baseline": baseline(text, held_out),
        "seconds": round(time.perf_counter() - started),
        "script": SCRIPT,
    }  # fmt: skip
    write(f"characters_{cell}", cell, "characters", symbols, model, card)
    measure(cell)


def main() -> None:
    given = asked(__doc__, epochs=8, rate=4e-3, measure=0)
    if given.measure:
        measure(given.cell)
    else:
        train(given.cell, given.epochs, given.rate)


if __name__ == "__main__":
    main()
