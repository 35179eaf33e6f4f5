"""Stages of self-attention as matrices: inputs, result, and a one-line summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from seqviz.compute.attention.walkthrough import AttentionWalkthrough, joined
from seqviz.core.i18n import number
from seqviz.figures.attention.walk_matrices import Matrix, written
from seqviz.plotting import Style, escape
from seqviz.plotting.scales import largest

Stage = tuple[tuple[Matrix, ...], str]
_TERMS = 3  # maximum number of terms of a weighted sum that are written out
_NUMBERED = 8  # maximum number of columns with numbers in the cells


@dataclass(frozen=True)
class WalkStages:
    """Stages of one head for a query and a key; each method returns one stage.

    Attributes:
        walk: all intermediate results.
        head: head, from 0.
        query: query, words counted from 1.
        key: key, likewise.
        style: style of the figure.
        part: projection of `project`: "query", "key" or "value".
        joined: True to join the matrices of all heads in `project`; the chosen head's columns are a
            block.
    """

    walk: AttentionWalkthrough
    head: int
    query: int
    key: int
    style: Style
    part: str = "query"
    joined: bool = False

    def basic(self) -> Stage:
        """Return attention without parameters: words, their products, and the weights."""
        result, closed = self.walk.basic, self.walk.forbidden
        matrices = (
            self._vectors("X", self.walk.embeddings, "word", 0.7),
            self._pairs("S = X X<sup>⊤</sup>", result.masked, 1.3, 1, forbidden=closed),
            self._weights("A", result.weights, 1.3, 2, forbidden=closed, hidden=True),
        )
        value = result.weights[self.query - 1, self.query - 1]
        return matrices, self._said("basic", word=self._word(self.query), value=value)

    def embed(self) -> Stage:
        """Return words, their numbers in the alphabet, and their vectors."""
        walk, text, query = self.walk, self.style.text, self.query
        number_, word = text("figure.walk_number"), text("figure.walk_word")
        ids = Matrix("", walk.ids[:, None], word, number_, words="r", share=0.09, kind="plain",
                     digits=0, row=query, name=number_)  # fmt: skip
        x = self._vectors("X", walk.embeddings, "word", 1, 1, 16)
        at = int(walk.ids[query - 1])
        return (ids, x), self._said("embed", word=self._word(query), number=at, query=query)

    def project(self) -> Stage:
        """Return X times a weight matrix: queries, keys or values; with `joined` of all heads."""
        walk, part = self.walk, self.part
        letter = {"query": "Q", "key": "K", "value": "V"}[part]
        weight, result = getattr(walk.weights, part), getattr(walk.vectors, part)
        row, w = self.query if part == "query" else self.key, f"W<sub>{letter}</sub>"
        biased = " + b" if walk.origin == "trained" else ""
        if self.joined:
            block = (self.head * walk.d_k + 1, (self.head + 1) * walk.d_k)
            matrices = (
                self._vectors("X", walk.embeddings, "word", 0.5, row=row),
                self._learnt(w, joined(weight), 1.0, block, upright=False),
                self._vectors(f"{letter} = X {w}", joined(result), part, 1.0, row=row, block=block),
            )
            formula = f"{walk.heads} × {walk.d_k} = {walk.heads * walk.d_k}"
            cut = f"{block[0]}–{block[1]}"
            return matrices, self._said("joined", formula=formula, head=self.head, cut=cut)
        matrices = (
            self._vectors("X", walk.embeddings, "word", 0.8, row=row),
            self._learnt(w, weight[self.head], 0.8 * (0.3 + 0.7 * min(1.0, walk.d_k / walk.d))),
            self._vectors(f"{letter} = X {w}{biased}", result[self.head], part, 1.5, 1, row=row),
        )
        formula = f"{letter.lower()}<sub>{row}</sub> = x<sub>{row}</sub> {w}{biased}"
        after = f"<b>{walk.d_k}</b>"
        return matrices, self._said("project", formula=formula, before=walk.d, after=after)

    def scores(self) -> Stage:
        """Return queries, keys and their products."""
        walk, query, key = self.walk, self.query, self.key
        z = walk.attention.scores[self.head]
        if walk.features:
            return self._scores_of_features(z)
        matrices = (
            self._vectors("Q", walk.vectors.query[self.head], "query", 0.6),
            self._vectors("K", walk.vectors.key[self.head], "key", 0.6, row=key, hidden=True),
            self._pairs("S = Q K<sup>⊤</sup>", z, 1.9, 2),
        )
        value = written(z[query - 1, key - 1], 4)
        return matrices, f"q<sub>{query}</sub> · k<sub>{key}</sub> = <b>{value}</b>"

    def _scores_of_features(self, z: Float[np.ndarray, "query key"]) -> Stage:
        """Return a row of queries, a column of keys, their products by feature, and all scores."""
        walk, text, features = self.walk, self.style.text, self._features
        q, k = walk.vectors.query[self.head], walk.vectors.key[self.head]
        row, column = q[self.query - 1], k[self.key - 1]
        entry, of_key = self._entry, text("figure.walk_key")
        products = f"q<sub>{self.query}</sub> ⊙ k<sub>{self.key}</sub>"
        matrices = (
            self._vectors("Q", q, "query", 0.6),
            Matrix("K<sup>⊤</sup>", k.T, entry, of_key, words="c", share=1.1, digits=0,
                   column=self.key, row_names=features),
            Matrix(products, (row * column)[:, None], entry, "", share=0.2, digits=0,
                   column=1, row_names=features, hidden=True, unnamed=True),
            self._pairs("S = Q K<sup>⊤</sup>", z, 1.3, 0),
        )  # fmt: skip
        terms = " + ".join(f"{a:g}×{b:g}" for a, b in zip(row, column, strict=True))
        pair = f"q<sub>{self.query}</sub> · k<sub>{self.key}</sub>"
        return matrices, f"{pair} = {terms} = <b>{row @ column:g}</b>"

    def scale(self) -> Stage:
        """Return the scores before and after division, on one color scale."""
        walk, result = self.walk, self.walk.attention
        before, after = result.scores[self.head], result.scaled[self.head]
        limit = largest(before, after)
        root = {"d_k": "√d<sub>k</sub>", "d": "√d", "none": "1"}[walk.scale]
        divided = f"{walk.divide_by:.4g}"
        if walk.temperature != 1:
            divided, root = f"({divided} × {walk.temperature:g})", f"({root} T)"
        matrices = (
            self._pairs("S", before, 1, 2, limit=limit, unnamed=True),
            self._pairs(f"S′ = S / {root}", after, 1, 2, limit=limit, hidden=True),
        )
        digits = _decimals(np.stack((before, after))) if self._features else 4
        old, new = (written(z[self.query - 1, self.key - 1], digits) for z in (before, after))
        return matrices, f"{old} / {divided} = <b>{new}</b>"

    def mask(self) -> Stage:
        """Return scaled scores, the mask, and the softmax's input."""
        walk, closed = self.walk, self.walk.forbidden
        before, after = (z[self.head] for z in (walk.attention.scaled, walk.attention.masked))
        limit, adds = largest(before), walk.operator == "add"
        factors = np.where(closed, -np.inf, 0.0) if adds else np.where(closed, 0.0, 1.0)
        sign = "+" if adds else "×"
        matrices = (
            self._pairs("S′", before, 0.5, None, limit=limit, unnamed=True),
            self._pairs("M", factors, 1.15, 0, limit=4, hidden=True, unnamed=True),
            self._pairs(self._masked(), after, 1.7, 2, limit=limit, forbidden=closed),
        )
        at = (self.query - 1, self.key - 1)
        verdict = "closed" if closed[at] else "open" if walk.causal else "none"
        factor = "(−∞)" if np.isneginf(factors[at]) else written(factors[at], 0)
        digits = _decimals(before) if self._features else 2
        formula = (
            f"{written(before[at], digits)} {sign} {factor} = <b>{written(after[at], digits)}</b>"
        )
        word, other = self._word(self.query), self._word(self.key)
        return matrices, self._said(f"mask_{verdict}", word=word, other=other, formula=formula)

    def softmax(self) -> Stage:
        """Return the softmax's input and the weights with the sums of rows and columns."""
        query, key, closed = self.query, self.key, self.walk.forbidden
        before, weights = (
            z[self.head] for z in (self.walk.attention.masked, self.walk.attention.weights)
        )
        few = len(weights) <= _NUMBERED
        left = {"forbidden": closed, "room": len(weights) + few, "unnamed": True}
        read = self._masked() if self.walk.causal else "S′"
        matrices = (
            self._pairs(read, before, 0.8, None, **left),
            self._weights(f"A = softmax({read})", weights, 1.6, 2, forbidden=closed, sums=few),
        )
        alpha = f"α<sub>{query},{key}</sub> = <b>{number(weights[query - 1, key - 1])}</b>"
        row, column = weights[query - 1].sum(), weights[:, key - 1].sum()
        return matrices, self._said("softmax", alpha=alpha, query=query, row=row, key=key,
                                    column=column)  # fmt: skip

    def sum(self) -> Stage:
        """Return weights, values, and the values' weighted sums."""
        walk, query = self.walk, self.query
        weights, values = walk.attention.weights[self.head], walk.vectors.value[self.head]
        matrices = (
            self._weights("A", weights, 0.8, None),
            self._vectors("V", values, "key", 0.7, row=self.key, hidden=True),
            self._vectors("Z = A V", walk.attention.output[self.head], "query", 1.6, 1),
        )
        row = weights[query - 1]
        order = [j for j in np.argsort(-row, kind="stable")[:_TERMS].tolist() if row[j] > 0]
        first, *others = (f"{number(row[j])} v<sub>{j + 1}</sub>" for j in order)
        rest = ["…"] if np.count_nonzero(row) > len(order) else []
        return matrices, f"z<sub>{query}</sub> = " + " + ".join([f"<b>{first}</b>", *others, *rest])

    def concat(self) -> Stage:
        """Return the concatenated heads times W_O; the chosen head's block is dashed."""
        walk, last = self.walk, self.walk.heads - 1
        biased = " + b" if walk.output_bias.any() else ""
        block = (self.head * walk.d_k + 1, (self.head + 1) * walk.d_k) if last else None
        joined = f"[Z<sub>0</sub> … Z<sub>{last}</sub>]" if last else "Z"
        matrices = (
            self._vectors(joined, walk.concatenated, "word", 1.2, block=block),
            self._learnt("W<sub>O</sub>", walk.output_weight, 0.7, block),
            self._vectors(f"Y = Z W<sub>O</sub>{biased}", walk.combined, "word", 1.2, 1),
        )
        formula = f"{walk.heads} × {walk.d_k} = {walk.heads * walk.d_k}"
        return matrices, self._said("concat", formula=formula, after=f"<b>{walk.d}</b>")

    # --- kinds of matrices and words -------------------------------------------------------------

    @property
    def _features(self) -> tuple[str, ...]:
        """Names of the entries in the reader's language; none where entries have no meaning."""
        return tuple(self.style.text(f"figure.walk_feature_{name}") for name in self.walk.features)

    @property
    def _entry(self) -> str:
        """Name of an axis of entries."""
        return self.style.text(f"figure.walk_{'feature' if self.walk.features else 'entry'}")

    def _masked(self) -> str:
        """Return the formula of the masked scores."""
        return f"S′ {'+' if self.walk.operator == 'add' else '⊙'} M"

    def _vectors(
        self, title: str, z: Float[np.ndarray, "token size"], rows: str, share: float,
        digits: int | None = None, maximum: int = _NUMBERED, **more: Any,
    ) -> Matrix:  # fmt: skip
        """Return a matrix with words as rows; numbers in the cells of at most `maximum` columns.

        The row of the query is outlined unless `more` names another.
        """
        names = self.style.text(f"figure.walk_{rows}"), self._entry
        visible = digits if z.shape[1] <= maximum else None
        lit = {"row": self.query, **more}
        if self._features:
            visible = _decimals(z)
            lit["column_names"] = self._features * (z.shape[1] // len(self._features))
        return Matrix(title, z, *names, words="r", share=share, digits=visible, **lit)

    def _pairs(
        self, title: str, z: Float[np.ndarray, "query key"], share: float, digits: int | None,
        **more: Any,
    ) -> Matrix:  # fmt: skip
        """Return a matrix of words by words; numbers from 100 on have one decimal less."""
        names = self.style.text("figure.walk_query"), self.style.text("figure.walk_key")
        if digits and largest(z) >= 100:
            digits -= 1
        if len(z) > _NUMBERED:
            digits = None
        elif self._features and digits is not None and more.get("kind") != "weights":
            digits = _decimals(z)
        more |= {"row": self.query, "column": self.key}
        return Matrix(title, z, *names, words="rc", share=share, digits=digits, **more)

    def _weights(self, *of: Any, **more: Any) -> Matrix:
        """Return a matrix of words by words in [0, 1]; the arguments are those of `_pairs`."""
        return self._pairs(*of, **more, kind="weights")

    def _learnt(
        self, title: str, z: Float[np.ndarray, "size entry"], share: float,
        block: tuple[int, int] | None = None, upright: bool = True,
    ) -> Matrix:  # fmt: skip
        """Return a weight matrix: input entries by output entries."""
        names = self.style.text("figure.walk_entry_in"), self.style.text("figure.walk_entry_out")
        features = self._features
        named = {
            "digits": 0,
            "row_names": features * (len(z) // len(features)),
            "column_names": features * (z.shape[1] // len(features)),
        } if features else {}  # fmt: skip
        return Matrix(title, z, *names, share=share, block=block, upright=upright, **named)

    def _said(self, which: str, /, **words: Any) -> str:
        return self.style.text(f"figure.walk_said_{which}", **words)

    def _word(self, index: int) -> str:
        return escape(self.walk.words[index - 1])


def _decimals(z: Float[np.ndarray, "row column"]) -> int:
    """Return the decimals of a matrix: none where all of its numbers are whole."""
    finite = z[np.isfinite(z)]
    return 0 if np.array_equal(finite, np.round(finite)) else 2
