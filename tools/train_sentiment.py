"""Train the sentence classifiers: `python -m tools.train_sentiment --cell lstm`.

Word embeddings are initialized from the token embeddings of all-MiniLM-L6-v2 (mean over a word's
pieces, first principal components), as 8,072 sentences are too few to learn a vocabulary. All
parameters are then trained together.
"""

from __future__ import annotations

import time
from collections import Counter

import numpy as np
import torch
from transformers import PreTrainedTokenizerBase

from seqviz.compute.gates.encoding import UNKNOWN, word, words
from seqviz.data.reviews import SOURCE, Labeled, sentiment_split
from seqviz.experiments.bert_accuracy.baselines import bag_of_words
from seqviz.models import store
from seqviz.models.pretrained import load
from tools.checkpoints import Reader, asked, batches, write

COMMON = 2  # words that are less frequent in the training sentences are unknown
WIDTH, HIDDEN = 64, 96
BATCH, VALIDATION = 32, 800
SCRIPT = "tools/train_sentiment.py"


def pieces() -> tuple[np.ndarray, PreTrainedTokenizerBase]:
    """Return the token embeddings of all-MiniLM-L6-v2, 30,522 x 384, and its tokenizer."""
    store.fetch("minilm")
    result = load("minilm")
    return result.network.embeddings.word_embeddings.weight.cpu().numpy(), result.tokenizer


def vocabulary(train: Labeled) -> list[str]:
    """Return the unknown symbol, then the words of the training sentences by frequency."""
    counts = Counter(word(piece) for text in train.texts for piece in words(text, ()).pieces)
    return [UNKNOWN, *(w for w, n in counts.most_common() if n >= COMMON)]


def initial(symbols: list[str]) -> torch.Tensor:
    """Return initial word vectors: mean of the pieces, principal components, unit variance."""
    table, tokenizer = pieces()
    ids = tokenizer(symbols[1:], add_special_tokens=False)["input_ids"]
    mean = np.stack([table[item].mean(axis=0) if item else table[100] for item in ids])
    centered = mean - mean.mean(axis=0)
    _, _, directions = np.linalg.svd(centered, full_matrices=False)
    vectors = centered @ directions[:WIDTH].T
    vectors /= vectors.std()
    return torch.tensor(np.vstack([np.zeros(WIDTH), vectors]), dtype=torch.float32)


def padded(ids: list[np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
    """Return ids [time, batch] and the position of each last word."""
    lengths = torch.tensor([len(item) for item in ids])
    batch = torch.nn.utils.rnn.pad_sequence([torch.tensor(item) for item in ids])
    return batch, lengths - 1


def scores(model: Reader, ids: list[np.ndarray], drop: torch.nn.Module | None = None):
    """Return the read-out at each sentence's last word.

    Args:
        model: the classifier.
        ids: word ids of each sentence.
        drop: dropout of embeddings and last states; None for evaluation.
    """
    batch, last = padded(ids)
    vectors = model.embedding(batch)
    out, _ = model.layer(drop(vectors) if drop else vectors)
    end = out[last, torch.arange(len(ids))]
    return model.head(drop(end) if drop else end)


def accuracy(model: Reader, ids: list[np.ndarray], positive: np.ndarray) -> float:
    with torch.no_grad():
        results = [
            scores(model, ids[i : i + 200]).argmax(-1).numpy() for i in range(0, len(ids), 200)
        ]
    return float((np.concatenate(results) == positive).mean())


def baseline(train: Labeled, test: Labeled) -> float:
    """Return the accuracy of a bag of words and bigrams with logistic regression.

    C is chosen by cross-validation.
    """
    return float(bag_of_words().fit(train.texts, train.positive).score(test.texts, test.positive))


def train(cell: str, epochs: int, rate: float, drop: float, decay: float) -> None:
    """Train with AdamW; keep the epoch with the best accuracy on 800 validation sentences.

    Args:
        cell: "lstm" or "gru".
        epochs: passes over the training sentences.
        rate: learning rate.
        drop: dropout probability.
        decay: weight decay.
    """
    torch.manual_seed(0)
    training, test = sentiment_split()
    symbols = vocabulary(training)
    ids = [words(text, symbols).ids for text in training.texts]
    test_ids = [words(text, symbols).ids for text in test.texts]
    model = Reader(cell, len(symbols), WIDTH, HIDDEN, 2)
    with torch.no_grad():
        model.embedding.weight.copy_(initial(symbols))
        model.layer.bias_hh_l0[HIDDEN : 2 * HIDDEN] = 1.0  # forget gates start open
    dropout = torch.nn.Dropout(drop)
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=decay)
    held = np.arange(len(ids) - VALIDATION, len(ids))
    lengths = np.array([len(item) for item in ids[:-VALIDATION]])
    shuffle = np.random.RandomState(0)
    best, retained, kept_epoch, started = 0.0, model.state_dict(), 0, time.perf_counter()
    for epoch in range(1, epochs + 1):
        for chosen in batches(lengths, BATCH, shuffle):
            requested = torch.tensor(training.positive[chosen].astype(int))
            loss = torch.nn.functional.cross_entropy(
                scores(model, [ids[i] for i in chosen], dropout), requested
            )
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        outcome = accuracy(model, [ids[i] for i in held], training.positive[held])
        print(f"{cell} epoch {epoch}: validation {outcome:.4f}, loss {loss.item():.3f}", flush=True)
        if outcome > best:
            best, kept_epoch = outcome, epoch
            retained = {k: v.clone() for k, v in model.state_dict().items()}
    seconds = time.perf_counter() - started
    model.load_state_dict(retained)
    result = accuracy(model, test_ids, test.positive)
    floor = baseline(training, test)
    print(f"{cell}: test {result:.4f}, bag of words {floor:.4f}, {seconds:.0f} s")
    card = {
        "data": "movie reviews with |rating| >= 0.5: 8,072 to train (800 of them to choose the "
        "epoch), 2,000 to test",
        "license": f"data MIT: {SOURCE} Initial word vectors from all-MiniLM-L6-v2, Apache-2.0.",
        "settings": {
            "hidden": HIDDEN, "embedding": WIDTH, "epochs": epochs, "kept_epoch": kept_epoch,
            "rate": rate, "dropout": drop, "weight_decay": decay, "batch": BATCH, "seed": 0,
        },
        "metric": {"name": "accuracy, 2,000 test sentences", "value": round(result, 4)},
        "baseline": {
            "name": "bag of words and pairs, logistic regression", "value": round(floor, 4),
        },
        "seconds": round(seconds),
        "script": SCRIPT,
    }  # fmt: skip
    write(f"sentiment_{cell}", cell, "sentiment", symbols, model, card)


def main() -> None:
    given = asked(__doc__, epochs=8, rate=1e-3, dropout=0.5, decay=0.05)
    train(given.cell, given.epochs, given.rate, given.dropout, given.decay)


if __name__ == "__main__":
    main()
