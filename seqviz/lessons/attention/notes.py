"""What the benches on attention say under their figures: every sentence from the numbers there."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from seqviz.compute.attention import patterns, walkthrough
from seqviz.compute.attention.results import AttentionMap, Change, HeadParts, Mosaic, ReadText
from seqviz.compute.attention.saturation import SoftmaxSaturation
from seqviz.compute.attention.trials import HeadTrials
from seqviz.core.i18n import escape_markdown, number, percent
from seqviz.lessons.framework.show import Show
from seqviz.models import texts

IDS_SHOWN = 40
IN_SIGHT = 80  # tokens of the colored text, those around the query


def of_stage(
    walk: walkthrough.AttentionWalkthrough, weights: np.ndarray, scores: np.ndarray, row: int
) -> dict[str, object]:
    """What the sentences about stages are made of; weights and scores of one head."""
    best, columns = int(weights[row].argmax()), weights.sum(0)
    largest = float(np.abs(scores).max())
    return {
        "n": len(walk.words),
        "d": walkthrough.D,
        "d_k": walk.d_k,
        "heads": walk.heads,
        "joined": walk.heads * walk.d_k,
        "query": walk.words[row],
        "best": walk.words[best],
        "share": percent(float(weights[row, best])),
        "rest": percent(1 - float(weights[row, best])),
        "itself": percent(float(np.diag(weights).mean())),
        "largest": number(largest),
        "divisor": f"{walk.divide_by * walk.temperature:.3g}",
        "scaled": number(largest / walk.divide_by / walk.temperature),
        "closed": int(walk.forbidden.sum()),
        "cells": walk.forbidden.size,
        "low": number(float(columns.min())),
        "high": number(float(columns.max())),
    }


def compare_walks(
    p: Any,
    walk: walkthrough.AttentionWalkthrough,
    settings: Mapping[str, Any],
    stage: str,
    show: Show,
) -> None:
    """What another order of the words, one matrix for all heads, or another root changes."""
    if p.order != "text":
        other = show.run(walkthrough.walk, name="other", **{**settings, "order": "text"})
        moved = show.derive(walkthrough.moved_by_order, walk, other, name="moved")
        same = moved < 1e-4 * float(np.abs(walk.combined).max())  # float32 sums in another order
        show.note("order_same" if same else "order_moves", moved=number(moved))
    if p.heads > 1 and stage == "project" and p.joined:
        apart = show.derive(walkthrough.cut_apart, walk, p.part, name="apart")
        show.note("joined", heads=walk.heads, joined=walk.heads * walk.d_k, apart=number(apart))
    if p.scale == "d" and walk.d_k == walkthrough.D:
        show.note("same_root", d=walkthrough.D)
    elif p.scale == "d":
        row = p.query - 1
        by_d_k = show.run(walkthrough.walk, name="by_d_k", **{**settings, "scale": "d_k"})
        head = min(p.head, p.heads - 1)
        now, usual = (float(one.attention.weights[head, row].max()) for one in (walk, by_d_k))
        show.note("other_root", query=walk.words[row], now=number(now), usual=number(usual))


def say_scale(found: SoftmaxSaturation, quantity: str, show: Show) -> None:
    """What the figure's quantity is at d_k = 64 by each way of dividing, and what to hold it to."""
    written = percent if quantity == "largest" else number
    values = {name: written(found.at(quantity, 64, name)) for name in found.scalings}
    even = {
        "entropy": number(math.log2(found.keys)),
        "largest": f"{number(100 / found.keys)}%",
        "gradient": number(0),
        "variance": number(found.at("theory", 64, "none")),
    }[quantity]
    show.note(f"scale_{quantity}", keys=found.keys, even=even, **values)


def say_what_was_read(found: ReadText, show: Show) -> None:
    """Tokens with their ids, and what had to be left out."""
    pairs = " ".join(
        f"{escape_markdown(piece)}&nbsp;`{token}`"
        for piece, token in zip(found.pieces[:IDS_SHOWN], found.ids[:IDS_SHOWN], strict=True)
    )
    more = len(found.pieces) - IDS_SHOWN
    tokens = show.words("note.tokens", count=len(found.pieces), unknown=found.unknown)
    show.caption(f"{tokens} {pairs}" + (f" … +{more}" if more > 0 else ""))
    show.unknown_tokens(found.unknown, found.n_text_tokens)
    if found.left_out:
        show.note("cut", limit=texts.MAX_TEXT_TOKENS, left=f"{found.left_out:,}")
    if found.note:
        show.note(found.note)


def draw_passage(found: AttentionMap, query: int, show: Show) -> None:
    """The text, each token on a color that tells how much the query looks at it."""
    pieces = found.text.pieces
    last = min(query, len(pieces))
    start = max(0, min(last - IN_SIGHT // 2, len(pieces) - IN_SIGHT))
    near = slice(start, start + IN_SIGHT)
    show.passage(
        [f"{piece} " for piece in pieces[near]],
        found.weights[last - 1][near] / found.max_weight,
        signed=False,
        title=show.words(f"note.query_{found.by}", query=pieces[last - 1]),
        selected=last - start,
    )


def say_weights(found: Mosaic, one: AttentionMap | None, p: Any, show: Show) -> None:
    """What the figure shows of the first token, of a query, or of all heads."""
    layer, head = min(p.layer, found.text.layers - 1), min(p.head, found.text.heads - 1)
    pieces, label = found.text.pieces, show.text("figure.head_label", layer=layer, head=head)
    first = escape_markdown(pieces[0])
    if p.view == "heads":
        values = getattr(found.habits, p.measure)
        a, b = patterns.ranked(values, 1)[0]
        shares = p.measure in patterns.HABITS
        key, written = ("ranked_share", percent) if shares else ("ranked", number)
        half = f"{(values >= patterns.NAMED_FROM).sum()} / {values.size}"
        # what is no share is said with its unit
        unit = show.text(f"figure.habit_{p.measure}")
        show.note(key, measure=show.option("measure", p.measure) if shares else unit,
                  best=f"{a}.{b}",
                  half=half, value=written(values[a, b]),
                  median=written(float(np.median(values))))  # fmt: skip
    elif one is None:
        count, heads = found.on_first
        heavy = int((found.carried >= patterns.NAMED_FROM).sum())
        show.note(
            "mosaic_one" if len(pieces) == 1 else "mosaic",
            first=first, count=count, heads=heads, heavy=heavy, label=label,
            norm=number(found.norm_of_first(layer, head)),
            others=number(found.norm_of_others(layer, head)),
            weight=percent(found.habits.first[layer, head]),
            carried=percent(found.carried_first(layer, head)),
        )  # fmt: skip
    else:
        query = min(p.query, len(pieces)) - 1
        most = one.max_weight_of(query)
        own = "rollout_own" if most == query else "rollout"
        said = own if p.view == "rollout" else f"map_{one.by}"
        show.note(
            said, first=first, query=escape_markdown(pieces[query]),
            to=escape_markdown(pieces[most]), share=percent(one.share_at(query, most)),
            own=percent(one.share_at(query, query)), on_first=percent(one.on_first),
        )  # fmt: skip


def read_change(change: Change, show: Show) -> None:
    """Read-outs of a change: of a decoder the next token, of an encoder the sentence vector."""
    if change.text.decoder:
        before, after = map(escape_markdown, change.likeliest)
        show.metrics(next_after=(after, show.words("metric.next_after.before", piece=before)))
        show.readouts(change, "bits")
    else:
        moved = escape_markdown(change.furthest_piece) + _which(change, show)
        beside = {"furthest": moved} if change.furthest else {}
        show.readouts(change, "sentence", "furthest", beside=beside)


def _which(change: Change, show: Show) -> str:
    """The place of the token that moved most, where the text has the same token elsewhere, too."""
    again = change.text.pieces.count(change.furthest_piece) > 1
    return show.words("note.at", at=change.furthest_place + 1) if again else ""


def say_parts(found: HeadParts, query: int, key: int, p: Any, show: Show) -> None:
    """Which entry makes the score, and what the weight is worth beside that of the first token."""
    of_query, of_key, first = (escape_markdown(found.text.pieces[at]) for at in (query, key, 0))
    entry, added = found.largest_product(query, key)
    best = int(found.weights[query].argmax())
    most = "_most" if p.view == "chain" and best == key else ""
    show.note(
        f"apart_{p.view}{most}", query=of_query, to=of_key, entry=entry, added=number(added),
        score=number(found.product_at(query, key)), d_k=found.keys.shape[1],
        weight=number(found.weight_at(query, key)), best=escape_markdown(found.text.pieces[best]),
        most=number(found.weight_at(query, best)),
    )  # fmt: skip
    if p.by == "value":
        row = found.carried[query]
        show.note(
            "apart_value" if key else "apart_value_first", query=of_query, to=of_key, first=first,
            norm=number(float(found.norms[key])), norm_first=number(float(found.norms[0])),
            weight_first=number(found.weight_at(query, 0)), carried=number(float(row[key])),
            carried_first=number(float(row[0])), weight=number(found.weight_at(query, key)),
        )  # fmt: skip


def say_trials(found: HeadTrials, layer: int, head: int, show: Show) -> None:
    """The hypothesis and what came out of it for the chosen head and for the best one."""
    low, high = found.interval(layer, head)
    facts: dict[str, object] = {
        "label": f"{layer}.{head}",
        "mean": percent(found.mean_of(layer, head)),
        "low": percent(low),
        "high": percent(high),
        "texts": len(found.labels),
        "even": percent(found.even),
        "best": "{}.{}".format(*found.best),
        "most": percent(found.mean_of(*found.best)),
        "heads": found.means.size,
    }
    if found.hypothesis == "pronoun":
        chance = found.best_by_chance
        followed = found.followed(layer, head)
        facts |= {"chance": percent(chance), "followed": followed.correct}
        facts["given"] = percent(found.given_to_nouns(layer, head))
        blind = found.decoder and np.ptp(found.share) < 1e-6
        beyond = found.mean_of(*found.best) > chance
        key = "pronoun_blind" if blind else "pronoun_found" if beyond else "pronoun_none"
    elif found.hypothesis == "repeated":
        same = patterns.ranked(found.other[:, 0].mean(0), 1)[0]
        facts |= {"same": "{}.{}".format(*same), "same_share": percent(found.same_of(*same))}
        ours = found.mean_of(*found.best) >= patterns.NAMED_FROM
        key = "repeated_found" if ours else "repeated_none"
    else:
        half = int((found.means >= patterns.NAMED_FROM).sum())
        facts["half"] = half
        key = "previous"
    show.note(key, **facts)


def say_mask(one: AttentionMap, change: Change, show: Show) -> None:
    """How many cells are open, and what the model makes of it."""
    cells = f"{int(one.allowed.sum()):,}", f"{one.allowed.size:,}"
    said = say_change(change, show)
    show.note("mask", open=cells[0], all=cells[1], share=percent(one.share_allowed), said=said)


def say_change(change: Change, show: Show) -> str:
    """What a change comes to, in one sentence: of the next token, or of the sentence vector."""
    if change.furthest == 0:
        return show.words("note.change_none")
    if change.text.decoder:
        before, after = map(escape_markdown, change.likeliest)
        key = "change_kept" if before == after else "change_next"
        return show.words(f"note.{key}", before=before, after=after, bits=number(change.bits))
    return show.words(
        "note.change_vector", cosine=number(change.sentence, 4), moved=number(change.furthest),
        token=escape_markdown(change.furthest_piece), at=_which(change, show),
    )  # fmt: skip
