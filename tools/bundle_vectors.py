"""Bundle word vectors and analogies of the lesson: `python -m tools.bundle_vectors FILE`.

FILE is questions-words.txt (Mikolov, Chen, Corrado and Dean, 2013; Apache-2.0), as in the test data
of the package gensim. The vectors are GloVe 6B 50d (PDDL-1.0) from the model cache:
`python -m seqviz.models fetch glove`.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from seqviz.data.word_lists import FOLDER
from seqviz.models.pretrained import load

PAIRS = 20  # per class
MORE = (
    "boy", "man", "woman", "prince", "queen", "king", "girl", "princess",
    "river", "water", "money", "account",
)  # fmt: skip


def main(questions: Path) -> None:
    """Write analogies.tsv and glove_words.npz."""
    table = load("glove").network
    positions = {word: index for index, word in enumerate(table.words)}
    rows, observed, kind = [], set[tuple[str, ...]](), ""
    for line in questions.read_text("utf-8").splitlines():
        parts = line.lower().split()
        if parts[0] == ":":
            kind = parts[1]
            continue
        for pair in (parts[:2], parts[2:]):
            key = (kind, *pair)
            of = sum(row[0] == kind for row in rows)
            if key not in observed and of < PAIRS and all(word in positions for word in pair):
                rows.append(key)
            observed.add(key)
    (FOLDER / "analogies.tsv").write_text("".join("\t".join(row) + "\n" for row in rows), "utf-8")
    words = sorted({*MORE, *(word for row in rows for word in row[1:])}, key=positions.__getitem__)
    letters = np.frombuffer("\n".join(words).encode(), np.uint8)
    mean = table.vectors.astype(float).mean(0)
    vectors = table.vectors[[positions[word] for word in words]]
    np.savez_compressed(FOLDER / "glove_words.npz", words=letters, vectors=vectors, mean=mean)
    print(f"{len(rows)} pairs, {len(words)} words")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
