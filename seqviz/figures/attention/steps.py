"""Self-attention on eight words, stage by stage: what goes in, what comes out, where it goes."""

from __future__ import annotations

from seqviz.compute.attention.walkthrough import STAGES, Walk
from seqviz.figures.attention import walk_stages
from seqviz.figures.attention.walk_drawing import draw
from seqviz.figures.attention.walk_panels import bare
from seqviz.figures.grammar.figure import Figure
from seqviz.figures.grammar.style import Style, finish

_STYLE = Style()
PARTS = ("query", "key", "value")
_BUILD = {
    "embed": walk_stages.embed,
    "scores": walk_stages.scores,
    "scale": walk_stages.scale,
    "mask": walk_stages.mask,
    "softmax": walk_stages.softmax,
    "sum": walk_stages.weighted,
    "concat": walk_stages.concat,
}


def walk_stage(
    walk: Walk,
    stage: str,
    head: int,
    query: int,
    key: int,
    style: Style = _STYLE,
    part: str = "query",
) -> Figure:
    """One stage, its input on the left and its result on the right, the row of a query lit.

    stage: one of `STAGES`. head: from 0. query, key: words counted from 1; a click on a matrix of
    words against words gives both (x = key, y = query). part: which projection the stage "project"
    shows, "query", "key" or "value"; its row is that of the word which plays this part.
    Raises ValueError for a stage, part, head or word that there is not.
    """
    if stage not in STAGES or part not in PARTS:
        raise ValueError(f"There is no stage {stage!r} with the part {part!r}.")
    words = len(walk.words)
    if not (0 <= head < walk.heads and 1 <= query <= words and 1 <= key <= words):
        raise ValueError(f"There is no head {head} with query {query} and key {key}.")
    if stage == "project":
        built = walk_stages.project(walk, head, query, key, style, part)
    else:
        built = _BUILD[stage](walk, head, query, key, style)
    several = walk.heads > 1 and stage != "embed"
    of_head = style.text("figure.walk_head", head=head) if several else ""
    return _finished(walk, stage, built, of_head, style)


def walk_basic(walk: Walk, query: int, key: int, style: Style = _STYLE) -> Figure:
    """Attention without parameters: words, their products, and the weights; words from 1.

    Raises ValueError for a word that there is not.
    """
    words = len(walk.words)
    if not (1 <= query <= words and 1 <= key <= words):
        raise ValueError(f"There is no query {query} with key {key}.")
    return _finished(walk, "basic", walk_stages.basic(walk, query, key, style), "", style)


def _finished(
    walk: Walk, stage: str, built: walk_stages.Stage, of_head: str, style: Style
) -> Figure:
    panels, said = built
    said = of_head + said
    described = "; ".join(f"{p.name} ({p.z.shape[0]} × {p.z.shape[1]})" for p in panels)
    alt = style.text(
        "alt.walk",
        stage=style.text(f"figure.walk_name_{stage}"),
        panels=described,
        said=bare(said),
    )
    names = {
        f"{letter}{place if place > 1 else ''}": walk.words
        for place, panel in enumerate(panels, 1)
        for letter, side in (("x", "c"), ("y", "r"))
        if side in panel.words
    }
    return finish(draw(panels, walk.words, said, style), alt, names)
