"""The stages of self-attention as panels: what goes in, what comes out, and one line about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from jaxtyping import Bool, Float

from seqviz.compute.attention.walkthrough import Walk
from seqviz.figures.attention.walk_panels import Panel, bare, largest, written
from seqviz.figures.grammar.style import Style
from seqviz.figures.grammar.tokens import plain
from seqviz.text import number

Stage = tuple[tuple[Panel, ...], str]
_TERMS = 3  # of a weighted sum that are written out
_NUMBERED = 8  # columns whose numbers find room in their cells beside other panels


def basic(walk: Walk, query: int, key: int, style: Style) -> Stage:
    """Without parameters: words, their products, and the weights."""
    x, found, closed = walk.embeddings, walk.basic, _closed(walk)
    panels = (
        _vectors("X", x, "word", query, style, 0.7),
        _pairs("S = X X<sup>⊤</sup>", found.masked, query, key, style, 1.3, 1, forbidden=closed),
        _weights("A", found.weights, query, key, style, 1.3, 2, forbidden=closed, hidden=True),
    )
    value = number(float(found.weights[query - 1, query - 1]))
    said = style.text("figure.walk_said_basic", word=_word(walk, query), value=f"<b>{value}</b>")
    return panels, said


def embed(walk: Walk, head: int, query: int, key: int, style: Style) -> Stage:
    """Words, their numbers in the alphabet, and their vectors."""
    text = style.text
    row = walk.ids[query - 1]
    ids = Panel(
        text("figure.walk_number"),
        "",
        walk.ids[:, None],
        text("figure.walk_word"),
        text("figure.walk_number"),
        words="r",
        share=0.09,
        kind="plain",
        digits=0,
        row=query,
    )
    x = _vectors("X", walk.embeddings, "word", query, style, 1, 1, walk.d)
    said = text("figure.walk_said_embed", word=_word(walk, query), number=int(row), query=query)
    return (ids, x), said


def project(walk: Walk, head: int, query: int, key: int, style: Style, part: str) -> Stage:
    """Vectors times a matrix: queries, keys or values."""
    letter = {"query": "Q", "key": "K", "value": "V"}[part]
    weight, result = {
        "query": (walk.query_weight, walk.queries),
        "key": (walk.key_weight, walk.keys),
        "value": (walk.value_weight, walk.values),
    }[part]
    row = query if part == "query" else key
    w = f"W<sub>{letter}</sub>"
    panels = (
        _vectors("X", walk.embeddings, "word", row, style, 0.8),
        _matrix(w, weight[head], style, 0.8 * (0.3 + 0.7 * min(1.0, walk.d_k / walk.d))),
        _vectors(f"{letter} = X {w}", result[head], part, row, style, 1.5, 1),
    )
    said = style.text(
        "figure.walk_said_project",
        formula=f"{letter.lower()}<sub>{row}</sub> = x<sub>{row}</sub> {w}",
        before=walk.d,
        after=f"<b>{walk.d_k}</b>",
    )
    return panels, said


def scores(walk: Walk, head: int, query: int, key: int, style: Style) -> Stage:
    """Products of queries and keys."""
    z = walk.attention.scores[head]
    panels = (
        _vectors("Q", walk.queries[head], "query", query, style, 0.6),
        _vectors("K", walk.keys[head], "key", key, style, 0.6, hidden=True),
        _pairs("S = Q K<sup>⊤</sup>", z, query, key, style, 1.9, 2),
    )
    value = written(z[query - 1, key - 1], 4)
    return panels, f"q<sub>{query}</sub> · k<sub>{key}</sub> = <b>{value}</b>"


def scale(walk: Walk, head: int, query: int, key: int, style: Style) -> Stage:
    """Scores divided, in the same colors on both sides: what is divided becomes pale."""
    before, after = walk.attention.scores[head], walk.attention.scaled[head]
    limit = largest(before, after)
    root = {"d_k": "√d<sub>k</sub>", "d": "√d", "none": "1"}[walk.scale]
    divided = f"{walk.divide_by:.4g}"
    if walk.temperature != 1:
        divided, root = f"({divided} × {walk.temperature:g})", f"({root} T)"
    panels = (
        _pairs("S", before, query, key, style, 1, 2, limit=limit, unnamed=True),
        _pairs(f"S′ = S / {root}", after, query, key, style, 1, 2, limit=limit, hidden=True),
    )
    old, new = (written(z[query - 1, key - 1], 4) for z in (before, after))
    return panels, f"{old} / {divided} = <b>{new}</b>"


def mask(walk: Walk, head: int, query: int, key: int, style: Style) -> Stage:
    """Scaled scores, the mask, and what enters the softmax."""
    before, after = walk.attention.scaled[head], walk.attention.masked[head]
    closed, limit = _closed(walk), largest(before)
    allowed, forbidden, sign, symbol = (
        (0.0, -np.inf, "+", "+") if walk.operator == "add" else (1.0, 0.0, "×", "⊙")
    )
    factors = np.where(closed, forbidden, allowed)
    panels = (
        _pairs("S′", before, query, key, style, 0.55, None, limit=limit, unnamed=True),
        _pairs("M", factors, query, key, style, 0.85, 0, limit=4, hidden=True, unnamed=True),
        _pairs(f"S′ {symbol} M", after, query, key, style, 1.8, 2, limit=limit, forbidden=closed),
    )
    at = (query - 1, key - 1)
    verdict = "closed" if closed[at] else "open" if walk.causal else "none"
    factor = "(−∞)" if np.isneginf(factors[at]) else written(factors[at], 0)
    said = style.text(
        f"figure.walk_said_mask_{verdict}",
        word=_word(walk, query),
        other=_word(walk, key),
        formula=f"{written(before[at], 2)} {sign} {factor} = <b>{written(after[at], 2)}</b>",
    )
    return panels, said


def softmax(walk: Walk, head: int, query: int, key: int, style: Style) -> Stage:
    """Scores become weights; sums of rows and columns stand beside them."""
    weights, closed = walk.attention.weights[head], _closed(walk)
    before = walk.attention.masked[head]
    left = {"forbidden": closed, "room": len(weights) + 1, "unnamed": True}
    panels = (
        _pairs("S′", before, query, key, style, 0.8, None, **left),
        _weights(
            "A = softmax(S′)", weights, query, key, style, 1.6, 2, forbidden=closed, sums=True
        ),
    )
    said = style.text(
        "figure.walk_said_softmax",
        alpha=f"α<sub>{query},{key}</sub> = <b>{number(float(weights[query - 1, key - 1]))}</b>",
        query=query,
        row=f"{weights[query - 1].sum():.2f}",
        key=key,
        column=f"{weights[:, key - 1].sum():.2f}",
    )
    return panels, said


def weighted(walk: Walk, head: int, query: int, key: int, style: Style) -> Stage:
    """Values mixed by the weights."""
    weights = walk.attention.weights[head]
    panels = (
        _weights("A", weights, query, key, style, 0.8, None),
        _vectors("V", walk.values[head], "key", key, style, 0.7, hidden=True),
        _vectors("Z = A V", walk.attention.output[head], "query", query, style, 1.6, 1),
    )
    row = weights[query - 1]
    order = [j for j in np.argsort(-row, kind="stable")[:_TERMS].tolist() if row[j] > 0]
    first, *others = (f"{number(float(row[j]))} v<sub>{j + 1}</sub>" for j in order)
    rest = ["…"] if np.count_nonzero(row) > len(order) else []
    return panels, f"z<sub>{query}</sub> = " + " + ".join([f"<b>{first}</b>", *others, *rest])


def concat(walk: Walk, head: int, query: int, key: int, style: Style) -> Stage:
    """The heads' outputs side by side times the last matrix; the part of one head is dashed."""
    block = (head * walk.d_k + 1, (head + 1) * walk.d_k) if walk.heads > 1 else None
    joined = f"[Z<sub>0</sub> … Z<sub>{walk.heads - 1}</sub>]" if walk.heads > 1 else "Z"
    panels = (
        _vectors(joined, walk.concatenated, "word", query, style, 1.2, block=block),
        _matrix("W<sub>O</sub>", walk.output_weight, style, 0.7, block),
        _vectors("Y = Z W<sub>O</sub> + b", walk.combined, "word", query, style, 1.2, 1),
    )
    total = walk.heads * walk.d_k
    said = style.text(
        "figure.walk_said_concat",
        formula=f"{walk.heads} × {walk.d_k} = {total}",
        after=f"<b>{walk.d}</b>",
    )
    return panels, said


# --- panels ---------------------------------------------------------------------------------------


def _vectors(
    title: str,
    z: Float[np.ndarray, "token size"],
    rows: str,
    row: int,
    style: Style,
    share: float,
    digits: int | None = None,
    most: int = _NUMBERED,
    **more: Any,
) -> Panel:
    """Words as rows, entries of their vectors as columns; numbers in at most so many columns."""
    names = style.text(f"figure.walk_{rows}"), style.text("figure.walk_entry")
    shown = digits if z.shape[1] <= most else None
    return Panel(
        bare(title), title, z, *names, words="r", share=share, digits=shown, row=row, **more
    )


def _pairs(
    title: str,
    z: Float[np.ndarray, "query key"],
    query: int,
    key: int,
    style: Style,
    share: float,
    digits: int | None,
    **more: Any,
) -> Panel:
    """Words against words; numbers from 100 on have one decimal less."""
    names = style.text("figure.walk_query"), style.text("figure.walk_key")
    if digits and largest(z) >= 100:
        digits -= 1
    return Panel(
        bare(title),
        title,
        z,
        *names,
        words="rc",
        share=share,
        digits=digits,
        row=query,
        column=key,
        **more,
    )


def _weights(*of: Any, **more: Any) -> Panel:
    """Words against words, in [0, 1]; arguments of `_pairs`."""
    return _pairs(*of, **more, kind="weights")


def _matrix(
    title: str,
    z: Float[np.ndarray, "size entry"],
    style: Style,
    share: float,
    block: tuple[int, int] | None = None,
) -> Panel:
    """A matrix that is learnt: entries in, entries out."""
    names = style.text("figure.walk_entry_in"), style.text("figure.walk_entry_out")
    return Panel(bare(title), title, z, *names, share=share, block=block, upright=True)


def _word(walk: Walk, place: int) -> str:
    return plain(walk.words[place - 1])


def _closed(walk: Walk) -> Bool[np.ndarray, "query key"]:
    n = len(walk.words)
    return ~np.tri(n, dtype=bool) if walk.causal else np.zeros((n, n), bool)
