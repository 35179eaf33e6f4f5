"""Random permalinks, made from what the pages declare.

Half of them set every control of a lesson to a value that it takes, mostly its ends; the other half
say things that no page has written. A link is a lesson and a list of (key, value), as a key may
stand in it twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from urllib.parse import quote_from_bytes

from hypothesis import strategies as st

from seqviz.content import catalog
from seqviz.lessons.framework import controls
from tests.hostile import adversarial_inputs
from tests.hostile.input_declarations import SLUGS, benches, keys

Link = tuple[str, tuple[tuple[str, str], ...]]
FRAME = ("lang", "present", "embed", "embed_options")


def values(control: controls.Control) -> st.SearchStrategy[Any]:
    """Values that a control takes, its ends more often than what lies between them."""
    match control:
        case controls.Slider(low=low, high=high):
            between = (
                st.integers(int(low), int(high))
                if isinstance(control.default, int)
                else st.floats(low, high)
            )
            return st.one_of(st.sampled_from((low, high, control.default)), between)
        case controls.Seed():
            return st.one_of(st.sampled_from((0, 9999)), st.integers(0, 9999))
        case controls.SelectSlider(stops=stops):
            return st.one_of(st.sampled_from((stops[0], stops[-1])), st.sampled_from(stops))
        case controls.Choice(many=True, options=options):
            some = st.lists(
                st.sampled_from(options), min_size=1, max_size=len(options), unique=True
            )
            return st.one_of(st.just(list(options)), some).map(tuple)
        case controls.Choice(options=options):
            return st.sampled_from(options)
        case controls.Sortable(default=default):
            return st.permutations(default).map(tuple)
        case controls.Toggle():
            return st.booleans()
        case controls.TextInput(limit=limit):
            filled = st.sampled_from(("word ", "x", "0.1 ", "a.", "我", "ab")).map(
                lambda word: (word * limit)[:limit]
            )
            return st.one_of(adversarial_inputs.texts, filled, st.just(control.default))
    raise TypeError(f"no values for {type(control).__name__}")


def written(control: controls.Control) -> st.SearchStrategy[str]:
    """The same as they stand in a link."""
    return values(control).map(
        lambda value: repr(value) if isinstance(value, float) else controls.encoded(value)
    )


@st.composite
def extreme(draw: st.DrawFn, slug: str) -> Link:
    """Every control at once, at values that it takes."""
    existing = keys(slug)
    ends = draw(st.sampled_from((None, 0, -1)))
    pairs = []
    for key, control in existing.items():
        few = controls.Choice | controls.Toggle | controls.TextInput
        if ends is not None and not isinstance(control, few):
            value = controls.encoded(control.bounds()[ends])
        else:
            value = draw(written(control))
        pairs.append((key, value))
    pairs += [("lang", draw(st.sampled_from(("en", "zh"))))]
    if draw(st.booleans()):
        pairs.append(("present", "true"))
    return slug, tuple(pairs)


def _names(slug: str) -> st.SearchStrategy[str]:
    own = tuple(keys(slug))
    others = tuple(key for other in SLUGS if other != slug for key in keys(other))
    code = catalog.lesson(slug).code
    odd = (
        f"{code}.part", f"{code}.", code, f"{code}..", f"{code}.{next(iter(benches(slug)))}",
        f"{own[0]}.x", f"{own[0]}.top", f"{own[0]}.earlier", f"{own[0]}.pick", f"{code}.tabs",
        f"_{code}.tabs", "_owner", "theme", f"{code}.real.chart", f"{own[0]}[]", own[0].upper(),
        "__class__", "", ".", "go.next", "share", "about", f"{code}.notebook",
        f"{code}.predict.decay", f"{code}.exercise.memory.variant",
    )  # fmt: skip
    return st.one_of(
        st.sampled_from(own),
        st.sampled_from(own),
        st.sampled_from(own),
        st.sampled_from((*FRAME, f"{code}.part")),
        st.sampled_from(others),
        st.sampled_from(odd),
        adversarial_inputs.letters,
    )


@st.composite
def broken(draw: st.DrawFn, slug: str) -> Link:
    """Unknown keys, values of the wrong kind, keys that stand twice, values of other controls."""
    existing = keys(slug)
    pairs = []
    for key in draw(st.lists(_names(slug), min_size=1, max_size=25)):
        fitting = [written(existing[key])] if key in existing else []
        pairs.append(
            (key, draw(st.one_of(adversarial_inputs.junk, adversarial_inputs.junk, *fitting)))
        )
        if draw(st.integers(0, 9)) == 0:
            pairs.append((key, draw(adversarial_inputs.junk)))
    return slug, tuple(pairs)


def of(slug: str) -> st.SearchStrategy[Link]:
    """Links to one lesson: half possible and extreme, half broken."""
    return st.one_of(extreme(slug), broken(slug))


def links(slugs: Sequence[str] = SLUGS) -> st.SearchStrategy[Link]:
    """Links to these lessons."""
    return st.sampled_from(slugs).flatmap(of)


def query(pairs: Sequence[tuple[str, str]]) -> str:
    """The pairs as a query string; halves of surrogate pairs as the bytes that they would be."""

    def quoted(text: str) -> str:
        return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe="")

    return "&".join(f"{quoted(key)}={quoted(value)}" for key, value in pairs)


def address(link: Link, host: str = "http://localhost:8501") -> str:
    """Something to click on."""
    slug, pairs = link
    return f"{host}/{slug}?{query(pairs)}"
