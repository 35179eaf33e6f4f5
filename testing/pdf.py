"""The pages of a PDF that Chromium has printed: how far down each of them has ink."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence

import numpy as np

_OBJECT = re.compile(rb"(\d+) 0 obj(.*?)endobj", re.DOTALL)
_STREAM = re.compile(rb"stream\r?\n(.*?)\nendstream", re.DOTALL)
_TOKEN = re.compile(rb"\[|\]|<[0-9A-Fa-f]*>|\((?:\\.|[^\\)])*\)|[^\s\[\]<>()]+")
_PAINTS = (b"f", b"f*", b"S", b"B", b"n")  # and end the path
_POINTS = {b"m": 2, b"l": 2, b"c": 6, b"re": 4}  # numbers of an operator that moves the pen


def inked(pdf: bytes) -> list[float]:
    """Return for each page the lowest y at which something is drawn, from 0 (top) to 1 (bottom).

    Ink is text, an image or a path that is painted; clips, and what is filled with white, are not.
    """
    objects = {int(number): body for number, body in _OBJECT.findall(pdf)}
    pages = [body for body in objects.values() if re.search(rb"/Type\s*/Page\b", body)]
    result = []
    for page in pages:
        height = _numbers(rb"MediaBox", page)[3]
        contents = re.search(rb"/Contents\s+(\d+)", page)
        assert contents
        drawn = [height, *_drawn(objects[int(contents[1])], objects, np.eye(3))]
        result.append(1 - max(min(drawn), 0.0) / height)
    return result


def _numbers(name: bytes, body: bytes) -> list[float]:
    values = re.search(rb"/%b\s*\[([^\]]*)\]" % name, body)
    return [float(value) for value in values[1].split()] if values else []


def _matrix(numbers: Sequence[float | bytes]) -> np.ndarray:
    a, b, c, d, e, f = map(float, numbers[-6:])
    return np.array([[a, b, 0], [c, d, 0], [e, f, 1]])


def _drawn(body: bytes, objects: dict[int, bytes], matrix: np.ndarray) -> Iterator[float]:
    """Yield the y of all that a page or form draws, in points from the lower edge of the page."""
    text, fill = np.eye(3), b"0 0 0"
    stack: list[tuple[np.ndarray, bytes]] = []
    operands: list[bytes] = []
    path: list[float] = []

    def y(px: float, py: float, local: np.ndarray) -> float:
        return float((np.array([px, py, 1.0]) @ local)[1])

    stream = _STREAM.search(body)
    assert stream
    is_packed = b"/FlateDecode" in body[: stream.start()]
    for token in _TOKEN.findall(zlib.decompress(stream[1]) if is_packed else stream[1]):
        if re.fullmatch(rb"[-+.\d]+|[\[\]/<(].*", token, re.DOTALL):
            operands.append(token)
            continue
        if token == b"q":
            stack.append((matrix, fill))
        elif token == b"Q":
            matrix, fill = stack.pop()
        elif token == b"cm":
            matrix = _matrix(operands) @ matrix
        elif token == b"rg":
            fill = b" ".join(operands[-3:])
        elif token == b"Tm":
            text = _matrix(operands)
        elif token in (b"Tj", b"TJ"):
            yield y(0, 0, text @ matrix)
        elif token == b"Do":
            part = objects[int(operands[-1][2:])]  # "/X74" is object 74
            if b"/Form" in part.partition(b"stream")[0]:
                own = _numbers(rb"Matrix", part)
                yield from _drawn(part, objects, _matrix(own) @ matrix if own else matrix)
            else:
                yield from (y(0, 0, matrix), y(0, 1, matrix))
        elif token in _POINTS:
            points = [float(item) for item in operands[-_POINTS[token] :]]
            if token == b"re":
                points += [points[0] + points[2], points[1] + points[3]]
                del points[2:4]
            path += [y(*pair, matrix) for pair in zip(points[::2], points[1::2], strict=True)]
        elif token in _PAINTS:
            if token != b"n" and (token == b"S" or fill != b"1 1 1"):
                yield from path
            path = []
        operands = []
