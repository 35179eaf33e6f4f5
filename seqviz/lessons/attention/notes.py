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
        show.note("order_same" if same else "order_moves", moved=moved)
    if p.heads > 1 and stage == "project" and p.joined:
        apart = show.derive(walkthrough.cut_apart, walk, p.part, name="apart")
        show.note("joined", heads=walk.heads, joined=walk.heads * walk.d_k, apart=apart)
    if p.scale == "d" and walk.d_k == walkthrough.D:
        show.note("same_root", d=walkthrough.D)
    elif p.scale == "d":
        row = p.query - 1
        by_d_k = show.run(walkthrough.walk, name="by_d_k", **{**settings, "scale": "d_k"})
        head = min(p.head, p.heads - 1)
        now, usual = (float(item.attention.weights[head, row].max()) for item in (walk, by_d_k))
        show.note("other_root", query=walk.words[row], now=now, usual=usual)


def say_scale(softmax_saturation: SoftmaxSaturation, quantity: str, show: Show) -> None:
    """What the figure's quantity is at d_k = 64 by each way of dividing, and what to hold it to."""
    written = percent if quantity == "largest" else number
    values = {
        name: written(softmax_saturation.at(quantity, 64, name))
        for name in softmax_saturation.scalings
    }
    even = {
        "entropy": number(math.log2(softmax_saturation.keys)),
        "largest": f"{number(100 / softmax_saturation.keys)}%",
        "gradient": number(0),
        "variance": number(softmax_saturation.at("theory", 64, "none")),
    }[quantity]
    show.note(f"scale_{quantity}", keys=softmax_saturation.keys, even=even, **values)


def say_what_was_read(read_text: ReadText, show: Show) -> None:
    """Tokens with their ids, and what had to be left out."""
    pairs = " ".join(
        f"{escape_markdown(piece)}&nbsp;`{token}`"
        for piece, token in zip(
            read_text.pieces[:IDS_SHOWN], read_text.ids[:IDS_SHOWN], strict=True
        )
    )
    more = len(read_text.pieces) - IDS_SHOWN
    tokens = show.words("note.tokens", count=len(read_text.pieces), unknown=read_text.unknown)
    show.caption(f"{tokens} {pairs}" + (f" … +{more}" if more > 0 else ""))
    show.unknown_tokens(read_text.unknown, read_text.n_text_tokens)
    if read_text.left_out:
        show.note("cut", limit=texts.MAX_TEXT_TOKENS, left=read_text.left_out)
    if read_text.note:
        show.note(read_text.note)


def draw_passage(attention_map: AttentionMap, query: int, show: Show) -> None:
    """The text, each token on a color that tells how much the query looks at it."""
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


def say_weights(mosaic: Mosaic, attention_map: AttentionMap | None, p: Any, show: Show) -> None:
    """What the figure shows of the first token, of a query, or of all heads."""
    layer, head = min(p.layer, mosaic.text.layers - 1), min(p.head, mosaic.text.heads - 1)
    pieces, label = mosaic.text.pieces, show.text("figure.head_label", layer=layer, head=head)
    first = escape_markdown(pieces[0])
    if p.view == "heads":
        values = getattr(mosaic.habits, p.measure)
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
    elif attention_map is None:
        count, heads = mosaic.on_first
        heavy = int((mosaic.carried >= patterns.NAMED_FROM).sum())
        show.note(
            "mosaic_one" if len(pieces) == 1 else "mosaic",
            first=first, count=count, heads=heads, heavy=heavy, label=label,
            norm=mosaic.norm_of_first(layer, head),
            others=mosaic.norm_of_others(layer, head),
            weight=mosaic.habits.first[layer, head],
            carried=mosaic.carried_first(layer, head),
        )  # fmt: skip
    else:
        query = min(p.query, len(pieces)) - 1
        maximum = attention_map.max_weight_of(query)
        own = "rollout_own" if maximum == query else "rollout"
        summary = own if p.view == "rollout" else f"map_{attention_map.by}"
        show.note(
            summary,
            first=first,
            query=escape_markdown(pieces[query]),
            to=escape_markdown(pieces[maximum]),
            share=percent(attention_map.share_at(query, maximum)),
            own=percent(attention_map.share_at(query, query)),
            on_first=percent(attention_map.on_first),
        )


def read_change(change: Change, show: Show) -> None:
    """Read-outs of a change: of a decoder the next token, of an encoder the sentence vector."""
    if change.text.decoder:
        before, after = map(escape_markdown, change.likeliest)
        show.metrics(next_after=(after, show.words("metric.next_after.before", piece=before)))
        show.readouts(change, "bits")
    else:
        moved = escape_markdown(change.furthest_piece) + _which(change, show)
        beside = {"furthest": moved} if change.furthest else {}
        show.readouts(change, "sentence", "furthest", caption=beside)


def _which(change: Change, show: Show) -> str:
    """The place of the token that moved most, where the text has the same token elsewhere, too."""
    again = change.text.pieces.count(change.furthest_piece) > 1
    return show.words("note.at", at=change.furthest_place + 1) if again else ""


def say_parts(head_parts: HeadParts, query: int, key: int, p: Any, show: Show) -> None:
    """Which entry makes the score, and what the weight is worth beside that of the first token."""
    of_query, of_key, first = (
        escape_markdown(head_parts.text.pieces[at]) for at in (query, key, 0)
    )
    entry, added = head_parts.largest_product(query, key)
    best = int(head_parts.weights[query].argmax())
    maximum = "_most" if p.view == "chain" and best == key else ""
    show.note(
        f"apart_{p.view}{maximum}",
        query=of_query,
        to=of_key,
        entry=entry,
        added=added,
        score=head_parts.product_at(query, key),
        d_k=head_parts.keys.shape[1],
        weight=head_parts.weight_at(query, key),
        best=head_parts.text.pieces[best],
        most=head_parts.weight_at(query, best),
    )
    if p.by == "value":
        row = head_parts.carried[query]
        show.note(
            "apart_value" if key else "apart_value_first",
            query=of_query,
            to=of_key,
            first=first,
            norm=float(head_parts.norms[key]),
            norm_first=float(head_parts.norms[0]),
            weight_first=head_parts.weight_at(query, 0),
            carried=float(row[key]),
            carried_first=float(row[0]),
            weight=head_parts.weight_at(query, key),
        )


def say_trials(head_trials: HeadTrials, layer: int, head: int, show: Show) -> None:
    """The hypothesis and what came out of it for the chosen head and for the best one."""
    share = head_trials.mean_of(layer, head)
    largest = head_trials.mean_of(*head_trials.best).mean
    facts: dict[str, object] = {
        "label": f"{layer}.{head}",
        "mean": percent(share.mean),
        "low": percent(share.low),
        "high": percent(share.high),
        "texts": len(head_trials.labels),
        "even": percent(head_trials.even),
        "best": "{}.{}".format(*head_trials.best),
        "most": percent(largest),
        "heads": head_trials.means.size,
    }
    if head_trials.hypothesis == "pronoun":
        probability = head_trials.best_by_chance
        followed = head_trials.followed(layer, head)
        facts |= {"chance": percent(probability), "followed": followed.correct}
        facts["given"] = percent(head_trials.given_to_nouns(layer, head))
        blind = head_trials.decoder and np.ptp(head_trials.share) < 1e-6
        beyond = largest > probability
        key = "pronoun_blind" if blind else "pronoun_found" if beyond else "pronoun_none"
    elif head_trials.hypothesis == "repeated":
        same = patterns.ranked(head_trials.other[:, 0].mean(0), 1)[0]
        facts |= {"same": "{}.{}".format(*same), "same_share": percent(head_trials.same_of(*same))}
        ours = largest >= patterns.NAMED_FROM
        key = "repeated_found" if ours else "repeated_none"
    else:
        half = int((head_trials.means >= patterns.NAMED_FROM).sum())
        facts["half"] = half
        key = "previous"
    show.note(key, **facts)


def say_mask(attention_map: AttentionMap, change: Change, show: Show) -> None:
    """How many cells are open, and what the model makes of it."""
    cells = f"{int(attention_map.allowed.sum()):,}", f"{attention_map.allowed.size:,}"
    summary = say_change(change, show)
    show.note(
        "mask",
        open=cells[0],
        all=cells[1],
        share=attention_map.share_allowed,
        said=summary,
    )


def say_change(change: Change, show: Show) -> str:
    """What a change comes to, in one sentence: of the next token, or of the sentence vector."""
    if change.furthest == 0:
        return show.words("note.change_none")
    if change.text.decoder:
        before, after = map(escape_markdown, change.likeliest)
        key = "change_kept" if before == after else "change_next"
        return show.words(f"note.{key}", before=before, after=after, bits=change.bits)
    return show.words(
        "note.change_vector", cosine=change.sentence, moved=change.furthest,
        token=change.furthest_piece, at=_which(change, show),
    )  # fmt: skip
