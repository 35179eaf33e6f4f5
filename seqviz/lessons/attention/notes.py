"""Notes and read-outs of the attention benches, derived from the results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqviz.compute.attention import walkthrough
from seqviz.compute.attention.results import AttentionMap, Change, ReadText
from seqviz.core.i18n import escape_markdown
from seqviz.lessons.framework.show import Show
from seqviz.models import texts

IDS_SHOWN = 40
IN_SIGHT = 80  # maximum number of tokens of the colored text, around the query


def compare_walks(
    p: Any, walk: walkthrough.AttentionWalkthrough, settings: Mapping[str, Any], stage: str,
    show: Show,
) -> None:  # fmt: skip
    """State the effect of another word order, of one matrix for all heads, or another root."""
    if p.order != "text":
        other = show.run(walkthrough.walk, name="other", **{**settings, "order": "text"})
        moved = show.derive(walkthrough.moved_by_order, walk, other, name="moved")
        same = moved < 1e-4 * float(np.abs(walk.combined).max())  # float32 summation order
        show.note("order_same" if same else "order_moves", moved=moved)
    if p.heads > 1 and stage == "project" and p.joined:
        apart = show.derive(walkthrough.cut_apart, walk, p.part, name="apart")
        show.note("joined", heads=walk.heads, joined=walk.heads * walk.d_k, apart=apart)
    if p.scale == "d" and walk.d_k == walkthrough.D:
        show.notice("same_root", d=walkthrough.D)
    elif p.scale == "d":
        row = p.query - 1
        by_d_k = show.run(walkthrough.walk, name="by_d_k", **{**settings, "scale": "d_k"})
        head = min(p.head, p.heads - 1)
        now, usual = (float(item.attention.weights[head, row].max()) for item in (walk, by_d_k))
        show.note("other_root", query=walk.words[row], now=now, usual=usual)


def say_what_was_read(read_text: ReadText, show: Show) -> None:
    """State tokens, ids and what was left out."""
    read = zip(read_text.pieces[:IDS_SHOWN], read_text.ids[:IDS_SHOWN], strict=True)
    pairs = " ".join(f"{escape_markdown(piece)}&nbsp;`{token}`" for piece, token in read)
    more = len(read_text.pieces) - IDS_SHOWN
    tokens = show.words("note.tokens", count=len(read_text.pieces), unknown=read_text.unknown)
    show.caption(f"{tokens} {pairs}" + (f" … +{more}" if more > 0 else ""))
    show.unknown_tokens(read_text.unknown, read_text.n_text_tokens)
    if read_text.left_out:
        show.notice("cut", limit=texts.MAX_TEXT_TOKENS, left=read_text.left_out)
    if read_text.note:
        show.notice(read_text.note)


def draw_passage(attention_map: AttentionMap, query: int, show: Show) -> None:
    """Show the text, each token colored by the query's attention to it."""
    pieces = attention_map.text.pieces
    last = min(query, len(pieces))
    start = max(0, min(last - IN_SIGHT // 2, len(pieces) - IN_SIGHT))
    near = slice(start, start + IN_SIGHT)
    show.passage(
        [f"{piece} " for piece in pieces[near]],
        attention_map.weights[last - 1][near] / attention_map.max_weight,
        signed=False,
        title=show.words(f"note.query_{attention_map.by}", query=pieces[last - 1]),
        selected=last - start,
    )


def read_change(change: Change, show: Show) -> None:
    """Show the read-outs of a change: next token (decoder) or sentence vector (encoder)."""
    if change.text.decoder:
        before, after = map(escape_markdown, change.likeliest)
        show.metrics(next_after=(after, show.words("metric.next_after.before", piece=before)))
        show.readouts(change, "bits")
    else:
        moved = escape_markdown(change.furthest_piece) + _which(change, show)
        beside = {"furthest": moved} if change.furthest else {}
        show.readouts(change, "sentence", "furthest", caption=beside)


def _which(change: Change, show: Show) -> str:
    """Return the position of the token that moved most if the text has the same token elsewhere."""
    again = change.text.pieces.count(change.furthest_piece) > 1
    return show.words("note.at", at=change.furthest_place + 1) if again else ""


def say_change(change: Change, show: Show) -> str:
    """Return one sentence about a change of the next token or of the sentence vector."""
    facts = change.summary
    return show.words(f"note.change.{facts.variant}", at=_which(change, show), **facts)
