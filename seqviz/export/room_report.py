"""Report of a room as a notebook: votes as text, figures as calls. Entry point: `build`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import numpy as np

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import Text, escape_markdown, percent
from seqviz.lessons.framework.room_validation import lesson_controls
from seqviz.stats import proportions


def build(left: Mapping[str, Any], text: Text, address: str) -> bytes:
    """Return the report of a room as an .ipynb file.

    It contains no names and no seat of a participant; `left` has only the number of seats.

    Args:
        left: `RoomSummary.to_dict` of the room.
        text: texts in the teacher's language.
        address: URL of the app with a trailing slash, for links.
    """
    import nbformat.v4 as nb  # slow to import, and only needed for reports

    cells: list[Any] = []

    def say(words: str) -> None:
        cells.append(nb.new_markdown_cell(words))

    def do(code: str) -> None:
        cells.append(nb.new_code_cell(code))

    def shows(location: Mapping[str, Any], caption: str = "") -> None:
        say(f"[{_named(location, text)}]({_link(location, text, address)}){caption}")
        if code := call(location, text.lang):
            do(code)

    title = text("class_notebook.seats", count=left["seats"])
    say(f"# {text('class_notebook.title')}\n\n{title}\n\n{text('frame.notebook_setup')}")
    do("import numpy as np\n\nfrom seqviz import lessons\n"
       "from seqviz.stats.estimate import mean_ci\n"
       "from seqviz.stats.intervals import median_rank")  # fmt: skip
    for question in left["questions"]:
        say(_question(question, text))
    for kind in ("sent", "texts", "runs", "sketches"):
        if result := left.get(kind):
            say(f"## {text(f'class_notebook.{kind}')}")
        for item in result or ():
            if kind == "sketches":
                say(_words(item["key"], text, "question"))
                do(f"drawn = np.array({item['drawn']!r})  # 0 … {item['most']!r}\n"
                   "np.median(drawn, axis=0) if drawn.size else None")  # fmt: skip
                if item["kind"] != "cell":
                    say(text("class_notebook.interval"))
                    do("rank = median_rank(len(drawn))\n"
                       "np.sort(drawn, axis=0)[[rank - 1, -rank]] if rank else ()")  # fmt: skip
                continue
            own = {item["key"]: item["text"]} if kind == "texts" else {}
            shows({**item, "values": {**item["values"], **own}},
                  f"\n\n{escape_markdown(item['text'])}" if own else "")  # fmt: skip
            if kind == "runs":
                do(_run(item))
    if left["goals"]:
        rows = [
            [_words(_key(goal, "target"), text, "task"), n] for goal, n in left["goals"].items()
        ]
        head = ["", text("class_notebook.seats_in")]
        say(f"## {text('class_notebook.goals')}\n\n{_table(head, rows)}")
    return written(cells)


def written(cells: Sequence[Any]) -> bytes:
    """Return notebook cells as the bytes of an .ipynb file; equal cells give equal files."""
    import nbformat.v4 as nb
    from nbformat import writes

    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    book = nb.new_notebook(
        cells=list(cells),
        metadata={
            "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
            "language_info": {"name": "python"},
        },
    )
    return writes(book).encode("utf-8")


def call(location: Mapping[str, Any], language: str) -> str:
    """Return the Python call that reproduces a bench at its settings; "" for an unknown bench.

    Settings that no control accepts are ignored, as on a page, and so are those of benches on which
    this one does not depend.

    Args:
        location: what a room shows: "lesson" (slug), "bench" (name) and "values" (permalink texts
            by permalink key).
        language: language code.
    """
    slug, name = location["lesson"], location["bench"]
    module = getattr(lessons, slug) if lesson_controls(slug) else None
    if module is None or (bench := module.lesson.benches.get(name)) is None:
        return ""
    values = bench.parse_link(location["values"])
    held = name if getattr(module, name, None) is bench else f'lesson.benches["{name}"]'
    given = f"{values!r}, " if values else ""
    if language != "en":
        return f'lessons.{slug}.{held}.run({given or "{}, "}"{language}")'
    if any("." in control for control in values):
        return f"lessons.{slug}.{held}.run({given.removesuffix(', ')})"
    return f"lessons.{slug}.{held}({', '.join(f'{k}={v!r}' for k, v in values.items())})"


def _run(item: Mapping[str, Any]) -> str:
    pairs = [(seed, x) for seed, x in zip(item["seeds"], item["found"], strict=True)
             if x is not None and np.isfinite(x).all()]  # fmt: skip
    return (
        f"seeds = np.array({[seed for seed, _ in pairs]!r})\n"
        f"found = np.array({[x for _, x in pairs]!r})\n"
        "n = len(found)\n"
        "for kind in found.reshape(n, -1).T if n else ():\n"
        "    ci = mean_ci(kind)\n"
        "    print(f'n = {n}, mean {ci.mean:.4g} ± {ci.high - ci.mean:.2g} (95%, t)')\n"
        "if not n:\n"
        "    print('n = 0')"
    )


def _question(item: Mapping[str, Any], text: Text) -> str:
    """Return a question, its options with votes and intervals, and the flow between the rounds."""
    key, rounds = item["key"], item["counts"]
    position = _place(key)
    known_one = text.has(f"{position}.options")
    options = (
        text.items(f"{position}.options")
        if known_one
        else [str(k + 1) for k in range(item["options"])]
    )
    right = int(text(f"{position}.answer")) if text.has(f"{position}.answer") else -1
    rows = []
    for k, option in enumerate(options[: item["options"]]):
        mark = f" **({text('frame.right').rstrip('.。')})**" if k == right else ""
        rows.append([option + mark, *(_share(votes[k], sum(votes)) for votes in rounds)])
    heads = [text("room.round", round=k + 1) for k in range(len(rounds))]
    parts = [_words(key, text, "question"), _table(["", *heads], rows)]
    if item["flow"]:
        head = ["", *(f"→ {k + 1}" for k in range(item["options"]))]
        parts += [
            text("room.flow"),
            _table(head, [[k + 1, *row] for k, row in enumerate(item["flow"])]),
        ]
    return "\n\n".join(parts)


def _share(count: int, of: int) -> str:
    if not of:
        return "0"
    result = proportions.of(count, of)
    return (
        f"{count} / {of}: {percent(result.share)} ({percent(result.low)} … {percent(result.high)})"
    )


def _table(head: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(str(item).replace('|', chr(92) + '|') for item in line)} |"
                     for line in lines)  # fmt: skip


def _slug(code: str) -> str:
    return next((lesson.slug for lesson in catalog.LESSONS if lesson.code == code), code)


def _place(key: str) -> str:
    """Return the text key of a page key: ar.predict.decay -> ar_fitting.predict.decay."""
    code, _, rest = key.partition(".")
    return f"{_slug(code)}.{rest}"


def _key(goal: str, kind: str) -> str:
    slug, _, name = goal.partition("/")
    return f"{slug}.{kind}.{name}"


def _words(key: str, text: Text, part: str) -> str:
    """Return a question or task after the lesson's title; the key itself if it has no text."""
    position = _place(key)
    words = text(f"{position}.{part}") if text.has(f"{position}.{part}") else key
    slug = position.partition(".")[0]
    return (
        f"**{text(f'{slug}.title')}.** {words}"
        if text.has(f"{slug}.title")
        else escape_markdown(words)
    )


def _named(location: Mapping[str, Any], text: Text) -> str:
    slug, bench = location["lesson"], location["bench"]
    names = [text(key) for key in (f"{slug}.title", f"{slug}.bench.{bench}") if text.has(key)]
    return ": ".join(names) or text("frame.map")


def _link(location: Mapping[str, Any], text: Text, address: str) -> str:
    request = urlencode({**location["values"], "lang": text.lang})
    bench = f"#bench-{location['bench']}" if location["bench"] else ""
    return f"{address}{location['lesson']}?{request}{bench}"
