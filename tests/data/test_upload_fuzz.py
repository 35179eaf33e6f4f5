"""Whatever the bytes: a table or a DataError, never another exception."""

import numpy as np
import pytest

from seqviz.data import DataError, column, parse

SPECIAL = [
    b"", b"\0", b'"', b"'", b",", b";", b"\t", b"\n", b"\r", b"\r\n", b"\xff", b"\xfe\xff", b"nan",
    b"inf", b"-", b"1e999", b"1,5", b"{0}", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"\xed\xa0\x80",
    b"%s", b"=1+1", b"9" * 400, b"\x1a", b"\xe2\x80\xae",
]  # fmt: skip


def random_bytes(random: np.random.RandomState) -> bytes:
    kind = random.randint(3)
    length = random.randint(0, 2000)
    if kind == 0:
        return random.bytes(length)
    if kind == 1:
        return random.choice([b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]) + random.bytes(length)
    # Few kinds of characters at a time, so that some of the files hold together.
    alphabet = np.frombuffer(b'0123456789\n\n\n.,;\t\r"-+einfa \xe9', dtype=np.uint8)
    return random.choice(alphabet[: random.randint(11, alphabet.size + 1)], size=length).tobytes()


def mutated_csv(random: np.random.RandomState) -> bytes:
    delimiter = [",", ";", "\t"][random.randint(3)]
    width = random.randint(1, 5)
    rows = [
        delimiter.join(f"{value:.3f}" for value in random.normal(size=width)) for _ in range(50)
    ]
    content = bytearray("\n".join([delimiter.join("abcde"[:width]), *rows]).encode())
    for _ in range(random.randint(0, 6)):
        at = random.randint(len(content) + 1)
        cut = at + random.randint(0, 4)
        content[at:cut] = SPECIAL[random.randint(len(SPECIAL))]
    encoded = bytes(content)
    if random.randint(5) == 0:
        encoded = encoded.decode("latin-1").encode("utf-16")
    return encoded


def outcome(content: bytes) -> str:
    """How the last column is read; every value that comes back is usable."""
    try:
        table = parse(content)
    except DataError as problem:
        return problem.code
    last = ""
    for name in table.names:
        try:
            values = column(table, name)
        except DataError as problem:
            last = problem.code
            continue
        last = "read"
        assert values.size >= 30
        assert np.isfinite(values).all()
        assert np.ptp(values) > 0.0
    return last


@pytest.mark.parametrize("make", [random_bytes, mutated_csv])
def test_parse_fuzz_returns_table_or_data_error(make):
    random = np.random.RandomState(20)
    outcomes = {outcome(make(random)) for _ in range(300)}
    # The fuzz reaches the inside: several kinds of outcome, good ones among the mutated files.
    assert len(outcomes) >= 4
    assert make is random_bytes or "read" in outcomes
