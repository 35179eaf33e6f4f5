"""Train MiniLM's masked-language-model head: `python -m tools.train_fill_in`.

all-MiniLM-L6-v2 has none, and its encoder was tuned for sentence vectors. The head (dense layer,
normalization, a bias for each token; the decoder is the model's token embedding) is therefore
trained together with low-rank adapters (LoRA, Hu et al. 2021) on the encoder's linear layers and on
the decoder. Texts are the four sets of rated snippets of the VADER paper without the 2,000 test
sentences. The encoder computes in bfloat16 during training; the metrics on the card are computed
from the shipped file, in float32, by the code of the lesson.
"""

from __future__ import annotations

import argparse
import copy
import hashlib
import json
import time
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import LoraConfig, inject_adapter_in_model
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

from seqviz.core.atomic_write import atomic_write
from seqviz.core.i18n import ASSETS
from seqviz.data.reviews import SOURCE, sentiment_split
from seqviz.experiments.bert_accuracy.features import parts
from seqviz.models import pretrained
from tools import archives
from tools.bundle_snippets import INNER, PACKAGE, SHA256
from tools.checkpoints import batches

SCRIPT = "tools/train_fill_in.py"
FILES = ("movieReviewSnippets", "nytEditorialSnippets", "amazonReviewSnippets", "tweets")
LAYERS = ("attention.self.query", "attention.self.key", "attention.self.value",
          "attention.output.dense", "intermediate.dense", "output.dense")  # fmt: skip
LONGEST = 96  # tokens
FIRST_WORD = 999  # first id of bert-base-uncased after the special tokens
MASK_ID, TREATMENT = 103, (0.8, 0.1)  # shares: [MASK], random token; others are unchanged


@dataclass(frozen=True)
class Settings:
    """Training settings.

    Attributes:
        passes: epochs.
        rate: peak learning rate.
        share: share of the tokens that are selected.
        rank: rank of the encoder's adapters.
        embedding_rank: rank of the decoder's adapter.
        batch: texts per batch.
        warmup: share of the steps with a rising learning rate.
        weight_decay: weight decay of AdamW.
        seed: random seed.
    """

    passes: int
    rate: float
    share: float
    rank: int = 64
    embedding_rank: int = 16
    batch: int = 32
    warmup: float = 0.05
    weight_decay: float = 0.01
    seed: int = 0


class Head(nn.Module):
    """Masked-language-model head; starts as the identity with token frequencies as bias."""

    def __init__(self, words: torch.Tensor, counts: np.ndarray, rank: int):
        super().__init__()
        vocabulary, width = words.shape
        self.words = words
        self.dense, self.norm = nn.Linear(width, width), nn.LayerNorm(width)
        nn.init.eye_(self.dense.weight)
        nn.init.zeros_(self.dense.bias)
        log_share = np.log((counts + 0.1) / (counts.sum() + 0.1 * vocabulary))
        self.bias = nn.Parameter(torch.tensor(log_share, dtype=torch.float32))
        self.A = nn.Parameter(torch.randn(rank, width) * width**-0.5)
        self.B = nn.Parameter(torch.zeros(vocabulary, rank))

    def forward(self, vectors: torch.Tensor) -> torch.Tensor:
        hidden = self.norm(functional.gelu(self.dense(vectors)))
        return hidden @ self.words.T + (hidden @ self.A.T) @ self.B.T + self.bias


def texts() -> list[str]:
    """Return all distinct snippets without test sentences and those of `watched`."""
    inner = archives.member(archives.fetch(PACKAGE, SHA256), INNER)
    held_out = {text.lower() for text in (*sentiment_split()[1].texts, *watched())}
    result: dict[str, None] = {}
    for name in FILES:
        raw = archives.member(inner, f"hutto_ICWSM_2014/{name}_GroundTruth.txt")
        lines = raw.decode("utf-8", "replace").splitlines()
        for line in lines:
            if line.count("\t") >= 2:
                text = " ".join(line.split("\t", 2)[2].split())
                if text.lower() not in held_out:
                    result[text] = None
    return list(result)


def watched() -> tuple[str, ...]:
    """Return validation sentences for monitoring, disjoint from the test set."""
    return parts()["validation"].texts[:400]


def corrupt(
    rows: list[list[int]], share: float, vocabulary: int, random: np.random.RandomState
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return token ids, attention mask, and targets at the selected positions (-1 elsewhere).

    Args:
        rows: token ids of each text.
        share: share of the tokens that are selected.
        vocabulary: size of the vocabulary.
        random: source of randomness.
    """
    longest = max(map(len, rows))
    ids, real = np.zeros((2, len(rows), longest), int)
    requested = np.full((len(rows), longest), -1)
    for row, tokens in enumerate(rows):
        length = len(tokens)
        ids[row, :length], real[row, :length] = tokens, 1
        if length <= 2:
            continue
        count = max(1, round(share * (length - 2)))
        indices = 1 + random.permutation(length - 2)[:count]
        requested[row, indices] = ids[row, indices]
        draw = random.rand(count)
        ids[row, indices[draw < TREATMENT[0]]] = MASK_ID
        other = indices[(draw >= TREATMENT[0]) & (draw < sum(TREATMENT))]
        ids[row, other] = random.randint(FIRST_WORD, vocabulary, len(other))
    return torch.tensor(ids), torch.tensor(real), torch.tensor(requested)


def vectors(network: Any, ids: torch.Tensor, real: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cpu", torch.bfloat16):
        return network(input_ids=ids, attention_mask=real).last_hidden_state.float()


def check(network: Any, head: Head, rows: list[list[int]]) -> tuple[float, float]:
    """Return top-1 and top-5 accuracy at masked positions, for monitoring.

    Args:
        network: the encoder.
        head: the head.
        rows: token ids of each text.
    """
    random = np.random.RandomState(1)
    hits, best, count = 0, 0, 0
    with torch.no_grad():
        for start in range(0, len(rows), 50):
            ids, real, requested = corrupt(rows[start : start + 50], 0.15, len(head.words), random)
            chosen = requested >= 0
            ids[chosen] = MASK_ID
            top = head(vectors(network, ids, real)[chosen]).topk(5).indices
            right = top == requested[chosen][:, None]
            hits, best = hits + int(right.any(1).sum()), best + int(right[:, 0].sum())
            count += len(right)
    return best / count, hits / count


def train(settings: Settings) -> tuple[dict[str, torch.Tensor], int, float]:
    """Return the trained tensors, the number of texts, and the training seconds."""
    torch.manual_seed(settings.seed)
    random = np.random.RandomState(settings.seed)
    base = pretrained.load("minilm")
    network = copy.deepcopy(base.network)  # the shared one is used for measuring
    network.set_attn_implementation("sdpa")
    for module in network.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    existing = texts()
    encode = base.tokenizer
    rows = encode(existing, truncation=True, max_length=LONGEST)["input_ids"]
    held = encode(list(watched()), truncation=True, max_length=LONGEST)
    targets = rf"encoder\.layer\.\d+\.({'|'.join(name.replace('.', '[.]') for name in LAYERS)})"
    network = inject_adapter_in_model(
        LoraConfig(r=settings.rank, lora_alpha=settings.rank, target_modules=targets), network
    )
    words = network.embeddings.word_embeddings.weight
    counts = np.bincount(np.concatenate([row[1:-1] for row in rows]), minlength=len(words))
    head = Head(words, counts, settings.embedding_rank)
    learned = [p for p in (*network.parameters(), *head.parameters()) if p.requires_grad]
    optimizer = torch.optim.AdamW(
        learned, settings.rate, betas=(0.9, 0.98), weight_decay=settings.weight_decay
    )
    lengths = np.array([len(row) for row in rows])
    steps = settings.passes * -(-len(rows) // settings.batch)
    print(f"{len(rows):,} texts, {steps:,} steps, {sum(p.numel() for p in learned):,} weights")
    step, started, losses = 0, time.perf_counter(), []
    for done in range(settings.passes):
        for chosen in batches(lengths, settings.batch, random):
            rise = (step + 1) / (settings.warmup * steps)
            for group in optimizer.param_groups:
                group["lr"] = settings.rate * min(1.0, rise) * (1 - step / steps)
            ids, real, requested = corrupt(
                [rows[i] for i in chosen], settings.share, len(words), random
            )
            position = requested >= 0
            scores = head(vectors(network, ids, real)[position])
            loss = functional.cross_entropy(scores, requested[position])
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(learned, 1.0)
            optimizer.step()
            step += 1
            losses.append(loss.item())
            if step % 100 == 0:
                seconds = time.perf_counter() - started
                print(f"{step:5d}: loss {np.mean(losses[-100:]):.3f}, {seconds:.0f} s", flush=True)
        top = check(network, head, held["input_ids"])
        print(f"pass {done + 1}: top-1 {top[0]:.3f}, top-5 {top[1]:.3f}", flush=True)
    return tensors(network, head), len(rows), time.perf_counter() - started


def tensors(network: Any, head: Head) -> dict[str, torch.Tensor]:
    """Return the saved tensors in half precision, named as in `experiments.bert_accuracy.fill`."""
    result = {
        "dense.weight": head.dense.weight, "dense.bias": head.dense.bias,
        "norm.weight": head.norm.weight, "norm.bias": head.norm.bias,
        "bias": head.bias, "embedding.lora_A": head.A, "embedding.lora_B": head.B,
    }  # fmt: skip
    for name, value in network.named_parameters():
        if ".lora_" in name:
            result[name.replace(".default.", ".")] = value
    return {name: value.detach().half().contiguous() for name, value in result.items()}


def write(
    retained: dict[str, torch.Tensor], count: int, seconds: float, settings: Settings
) -> None:
    """Write the file, measure it with the lesson's code, and write its card.

    Args:
        retained: tensors to save.
        count: number of texts.
        seconds: training time.
        settings: training settings.
    """
    path = ASSETS / "checkpoints" / "fill_in_minilm.safetensors"
    header = {"rank": str(settings.rank), "alpha": str(settings.rank)}
    with atomic_write(path) as created:
        save_file(retained, created, header)
    card: dict[str, Any] = {
        "name": "fill_in_minilm",
        "kind": "fill_in",
        "base": "sentence-transformers/all-MiniLM-L6-v2",
        "data": f"{count:,} rated snippets (movie reviews, editorials, product reviews, tweets), "
        "without the 2,000 test sentences of the movie reviews and 400 of validation",
        "license": "data MIT: " + SOURCE + " Base model Apache-2.0.",
        "settings": vars(settings) | {"treatment": [*TREATMENT]},
        "parameters": sum(value.numel() for value in retained.values()),
        "seconds": round(seconds),
        "script": SCRIPT,
        "date": date.today().isoformat(),
        "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
    }
    path.chmod(0o644)
    with atomic_write(path.with_suffix(".json")) as created:
        created.write_text(json.dumps(card, indent=1) + "\n", "utf-8")
    measure(path)


def measure(path: Path) -> None:
    """Write the metrics of the shipped file to its card."""
    from seqviz.compute.bert_accuracy.results import FillSettings
    from seqviz.experiments.bert_accuracy import fill

    card_path = path.with_suffix(".json")
    card = json.loads(card_path.read_text("utf-8"))
    result = fill.fill_in(replace(FillSettings(), mask=1.0, random=0.0))
    card["metric"] = {
        "name": "top-1, 15% of the tokens of the 2,000 test sentences masked",
        "value": round(float((result.rank == 1).mean()), 4),
        "top_5": round(float((result.rank <= 5).mean()), 4),
        "places": len(result.rank),
    }
    card["baseline"] = {
        "name": "the most frequent token",
        "value": round(float((result.frequency == 1).mean()), 4),
        "top_5": round(float((result.frequency <= 5).mean()), 4),
    }
    with atomic_write(card_path) as created:
        created.write_text(json.dumps(card, indent=1) + "\n", "utf-8")
    print(path.stat().st_size, card["metric"], card["baseline"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=7)
    parser.add_argument("--rate", type=float, default=1e-3)
    parser.add_argument("--share", type=float, default=0.2)
    given = parser.parse_args()
    torch.set_num_threads(1)
    settings = Settings(given.passes, given.rate, given.share)
    retained, count, seconds = train(settings)
    write(retained, count, seconds, settings)


if __name__ == "__main__":
    main()
