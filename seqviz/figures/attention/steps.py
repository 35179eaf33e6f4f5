"""Self-attention on eight words, one figure for each stage."""

from __future__ import annotations

from seqviz.compute.attention.walkthrough import STAGES, AttentionWalkthrough
from seqviz.figures.attention.walk_matrices import bare, draw
from seqviz.figures.attention.walk_stages import WalkStages
from seqviz.plotting import STYLE, Figure, Style

PROJECTIONS = ("query", "key", "value")


def walk_stage(
    walk: AttentionWalkthrough, stage: str, head: int, query: int, key: int, part: str = "query",
    joined: bool = False, style: Style = STYLE,
) -> Figure:  # fmt: skip
    """Plot the inputs (left) and the result (right) of one stage, with a query's row outlined.

    A click on a matrix of words by words chooses both words (x = key, y = query).

    Args:
        walk: all intermediate results.
        stage: one of `STAGES`.
        head: head, from 0.
        query: query, words counted from 1.
        key: key, likewise.
        part: projection of the stage "project": "query", "key" or "value"; the outlined row is that
            of the word in this part.
        joined: True to join the heads' matrices of that stage into one with a block of columns for
            each.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: unknown stage, part, head or word.
    """
    if stage not in STAGES or part not in PROJECTIONS:
        raise ValueError(f"There is no stage {stage!r} with the part {part!r}.")
    words = len(walk.words)
    if not (0 <= head < walk.heads and 1 <= query <= words and 1 <= key <= words):
        raise ValueError(f"There is no head {head} with query {query} and key {key}.")
    several = walk.heads > 1 and stage != "embed"
    joined = joined and walk.heads > 1 and stage == "project"
    of_head = style.text("figure.walk_head", head=head) if several and not joined else ""
    return _drawn(WalkStages(walk, head, query, key, style, part, joined), stage, of_head)


def walk_basic(walk: AttentionWalkthrough, query: int, key: int, style: Style = STYLE) -> Figure:
    """Plot attention without parameters: words, their products, and the weights.

    Args:
        walk: all intermediate results.
        query: query, words counted from 1.
        key: key, likewise.
        style: language, theme and scale of the figure.

    Raises:
        ValueError: unknown word.
    """
    words = len(walk.words)
    if not (1 <= query <= words and 1 <= key <= words):
        raise ValueError(f"There is no query {query} with key {key}.")
    return _drawn(WalkStages(walk, 0, query, key, style), "basic", "")


def _drawn(stages: WalkStages, stage: str, of_head: str) -> Figure:
    words, style = stages.walk.words, stages.style
    matrices, summary = getattr(stages, stage)()
    summary = of_head + summary
    alt = style.text(
        "alt.walk",
        stage=style.text(f"figure.walk_name_{stage}"),
        panels="; ".join(f"{m.called} ({m.z.shape[0]} × {m.z.shape[1]})" for m in matrices),
        said=bare(summary),
    )
    names = {
        f"{letter}{position if position > 1 else ''}": words
        for position, matrix in enumerate(matrices, 1)
        for letter, side in (("x", "c"), ("y", "r"))
        if side in matrix.words
    }
    return draw(matrices, words, summary, style).finish(alt, names)
