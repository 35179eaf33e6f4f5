"""Results that come with the app: what is written is what is found, or a refusal."""

from __future__ import annotations

import hashlib
import io
import json
import os

import numpy as np
import pytest

from seqviz.compute.bert_accuracy.results import (
    FillIn,
    FillSettings,
    SearchSurface,
    SystemPredictions,
    Tuned,
    TuneSettings,
    WordMaskingCurve,
)
from seqviz.core.errors import UserError
from seqviz.data import precomputed

ABOUT = {"date": "2026-11-21", "device": "CPU", "seconds": 12.5, "script": "by hand"}
RANDOM = np.random.RandomState(0)
COUNT = 7


def experiment(**_):
    """Stands for the function whose result is kept: only its name matters."""


def chances(*shape):
    return RANDOM.uniform(size=shape)


def ranks(*shape):
    return RANDOM.randint(1, 30522, shape)


TRUTH = chances(COUNT) > 0.5
FILL = FillIn(FillSettings(0.3, 0.7, 0.2, 7, 4), RANDOM.randint(0, 3, 9), ranks(9), ranks(9))
RESULTS = {
    "answers": (SystemPredictions("lstm", chances(2, COUNT)), SystemPredictions("gru", chances(1,
        COUNT))),
    "knife": WordMaskingCurve(("random", "content"), np.array([0, 0.5, 1]), chances(2, 3, COUNT),
        TRUTH),
    "fill": FILL,
    "tuned": Tuned(
        TuneSettings("minilm", "lora", "cls", runs=2), chances(2, 4), chances(2, 4),
        np.array([[np.nan, 0.5, 0.75, 1]] * 2), chances(2, COUNT), 1_538, 109_483_778, 17.25,
    ),
    "surface": SearchSurface(np.geomspace(1e-5, 0.1, 4), np.array([16, 32, 64]), chances(3, 4)),
    "large": SearchSurface(np.geomspace(1e-5, 0.1, 400), np.array([16, 32, 64]), chances(3, 400)),
}  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """No results at all; what other tests have read is not remembered here."""
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path / "measured")
    precomputed._read.cache_clear()
    yield tmp_path / "measured"
    precomputed._read.cache_clear()


def written_and_found(result):
    precomputed.write(experiment, {}, result, ABOUT)
    return precomputed.find(experiment, {}).result


def parts(result, position=""):
    """All that a result is made of, with its place; of what holds others the kind."""
    if isinstance(result, tuple):
        yield position, tuple
        for k, part in enumerate(result):
            yield from parts(part, f"{position}.{k}")
    elif hasattr(result, "__dataclass_fields__"):
        yield position, type(result)
        for name in result.__dataclass_fields__:
            yield from parts(getattr(result, name), f"{position}.{name}")
    else:
        yield position, result


def same(result, expected):
    """The same structure; arrays as close as their small form is."""
    for (position, item), (its, other) in zip(parts(result), parts(expected), strict=True):
        assert position == its
        assert type(item) is type(other), position
        if not isinstance(other, np.ndarray):
            assert item == other, position
        elif other.dtype.kind != "f":
            np.testing.assert_array_equal(item, other, position)
        elif position.endswith("probability"):
            # half precision of a distance of at most 1/2: 11 bits
            np.testing.assert_allclose(item, other, rtol=0, atol=2**-13)
            np.testing.assert_array_equal(item > 0.5, other > 0.5, position)
        else:  # the places on an axis are kept to the last digit
            few = other.size <= 1000
            np.testing.assert_allclose(item, other, rtol=0 if few else 2**-24, err_msg=position)


# ------------------------------------------------------------------------------- there and back
@pytest.mark.parametrize("name", RESULTS)
def test_precomputed_round_trip_returns_read_only_result(name):
    keywords = {"model": "minilm", "shares": (0.1, 0.5), "settings": FILL.settings}
    path = precomputed.write(experiment, keywords, RESULTS[name], ABOUT)
    result = precomputed.find(experiment, keywords)
    assert (result.date, result.device, result.seconds) == ("2026-11-21", "CPU", 12.5)
    same(result.result, RESULTS[name])
    same(precomputed.result("experiment", **keywords), RESULTS[name])
    assert path.parent == precomputed.FOLDER
    arrays = [part for _, part in parts(result.result) if isinstance(part, np.ndarray)]
    assert arrays
    for array in arrays:
        assert array.dtype in (np.float64, np.int64, np.bool_)  # what the functions themselves give
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


def test_precomputed_write_replaces_only_same_call():
    for number, name in enumerate(("fill", "knife", "tuned")):
        precomputed.write(experiment, {"sentences": number}, RESULTS[name], ABOUT)
    precomputed.write(experiment, {"sentences": 1}, RESULTS["surface"], {**ABOUT, "seconds": 1.0})
    for number, name in enumerate(("fill", "surface", "tuned")):
        same(precomputed.find(experiment, {"sentences": number}).result, RESULTS[name])
    assert precomputed.find(experiment, {"sentences": 1}).seconds == 1.0
    files = {path.name for path in precomputed.FOLDER.iterdir()} - {"index.json"}
    assert {entry["file"] for entry in entries()} == files  # nothing is left of the old one
    assert len(entries()) == len(files) == 3


KNOWN = {"sentences": 2000, "shares": (0.1, 0.5), "settings": FillSettings(0.3)}


@pytest.mark.parametrize(
    "keywords",
    [
        {**KNOWN, "sentences": 2001},
        {**KNOWN, "shares": (0.1, 0.6)},
        {**KNOWN, "shares": (0.1,)},
        {**KNOWN, "settings": FillSettings(0.3, 0.7)},
        {**KNOWN, "seed": 0},
        {"sentences": 2000},
        {},
    ],
)
def test_precomputed_find_returns_none_for_other_call(keywords):
    assert precomputed.find(experiment, KNOWN) is None  # nor where nothing was ever written
    precomputed.write(experiment, KNOWN, RESULTS["knife"], ABOUT)
    assert precomputed.find(experiment, keywords) is None
    assert precomputed.find(folder, KNOWN) is None  # another function
    with pytest.raises(ValueError, match="No result of experiment"):
        precomputed.result("experiment", **keywords)
    by_value = {
        **dict(reversed(KNOWN.items())),
        "settings": FillSettings(share=0.3, mask=0.8),
    }
    assert precomputed.find(experiment, by_value) is not None


# ------------------------------------------------------------------------------ half precision
EDGE = 0.5 + np.array(
    [0, 1e-9, -1e-9, 1e-16, -1e-16, 2**-25, -(2**-25), 2**-24, 1e-5, -1e-5, 0.5, -0.5]
)
NEAR = 0.5 + RANDOM.choice([-1, 1], 5000) * 10 ** RANDOM.uniform(-17, -0.4, 5000)


@pytest.mark.parametrize(
    "probability",
    [np.concatenate([EDGE, NEAR, chances(5000)]), EDGE.astype(np.float32), [np.nan, 0.25, np.nan]],
    ids=["double", "single", "missing"],
)
def test_precomputed_half_precision_keeps_threshold_decisions(probability):
    """Whatever the lesson asks: more than 1/2, at least 1/2, exactly 1/2."""
    expected = np.asarray(probability)
    result = written_and_found(SystemPredictions("x", expected[None])).probability[0]
    for request in (np.greater, np.greater_equal, np.equal):
        np.testing.assert_array_equal(request(result, 0.5), request(expected, 0.5))
    np.testing.assert_allclose(result, expected, rtol=0, atol=2**-13)
    ends = np.isin(expected, [0, 1])
    np.testing.assert_array_equal(result[ends], expected[ends])


@pytest.mark.parametrize("largest", [2**15 - 1, 2**15, 2**31, 0, -(2**15)])
def test_precomputed_round_trip_keeps_integers(largest):
    result = written_and_found(SearchSurface(np.ones(2), np.array([largest, 1]), np.ones((2, 2))))
    np.testing.assert_array_equal(result.batch, [largest, 1])


# ------------------------------------------------------------------------------------- damage
@pytest.fixture
def written():
    return precomputed.write(experiment, {"a": 1}, RESULTS["knife"], ABOUT)


def refused() -> UserError:
    precomputed._read.cache_clear()
    with pytest.raises(UserError) as refusal:
        precomputed.find(experiment, {"a": 1})
    assert refusal.value.code == "damaged"
    with pytest.raises(UserError):
        precomputed.result("experiment", a=1)
    return refusal.value


@pytest.mark.parametrize("how", ["gone", "empty", "cut", "one bit", "other", "a folder"])
def test_precomputed_rejects_damaged_file(written, how):
    content = written.read_bytes()
    flipped = bytearray(content)
    flipped[len(content) // 2] ^= 1
    written.unlink()
    if how == "a folder":
        written.mkdir()
    elif how != "gone":
        changed = {"empty": b"", "cut": content[:-1], "one bit": flipped, "other": b"x" * 99}
        written.write_bytes(changed[how])
    assert refused().details == {"file": written.name}


def entries() -> list[dict]:
    return json.loads((precomputed.FOLDER / "index.json").read_text("utf-8"))


def put(index: object) -> None:
    text = index if isinstance(index, str) else json.dumps(index)
    (precomputed.FOLDER / "index.json").write_bytes(text.encode("utf-8", "surrogateescape"))


BROKEN = ("", "[{", "null", "3", '"x"', "[3]", '[{"file": "x"}]', "\udcff\udcfe", "[null]")


@pytest.mark.parametrize("text", BROKEN)
def test_precomputed_rejects_broken_index(written, text):
    put(text)
    assert refused().details == {"file": "index.json"}


def test_precomputed_rejects_index_truncated_anywhere(written):
    text = (precomputed.FOLDER / "index.json").read_text("utf-8").rstrip()
    for end in range(0, len(text), 37):
        put(text[:end])
        refused()


@pytest.mark.parametrize(
    "damage",
    [
        *(f"del entry[{key!r}]" for key in ("file", "sha256", "date", "device", "seconds")),
        "del entry['result']",
        "entry['result']['type'] = 'Nothing'",
        "entry['result']['type'] = 'np'",  # a name of that module that is no result
        "entry['result']['type'] = 'os:system'",  # nor is anything outside of ours
        "entry['result']['fields'] = {}",
        "entry['result']['fields'] = None",
        "entry['result']['fields']['probability']['array'] = 'elsewhere'",
    ],
)
def test_precomputed_rejects_mismatched_entry(written, damage):
    (entry,) = entries()
    exec(damage, {"entry": entry})
    put([entry])
    refused()


class Burglar:
    """Unpickled, it would leave a trace."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.mkdir, (str(self.trace),)


def test_precomputed_rejects_object_array_without_running_code(written, tmp_path):
    """Even with its checksum in order: such a file could run anything."""
    trace, buffer = tmp_path / "trace", io.BytesIO()
    np.savez(buffer, probability=np.array([Burglar(trace)], object))
    written.write_bytes(buffer.getvalue())
    index = entries()
    index[0]["sha256"] = hashlib.sha256(buffer.getvalue()).hexdigest()
    put(index)
    refused()
    assert not trace.exists()


def test_precomputed_write_rejects_object_array():
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        precomputed.write(experiment, {}, (np.array([None]),), ABOUT)
    assert precomputed.find(experiment, {}) is None


# ---------------------------------------------------------------------------------- a full disk
@pytest.mark.parametrize("fails", ["replace", "write"])
@pytest.mark.parametrize("which", [1, 2], ids=["the arrays", "the index"])
def test_precomputed_write_is_atomic_on_full_disk(written, monkeypatch, fails, which):
    before = {path.name: path.read_bytes() for path in precomputed.FOLDER.iterdir()}
    count = 0

    def full(path, *args):
        nonlocal count
        count += 1
        if count == which:
            if fails == "write":
                path.open("wb").write(b"half")
            raise OSError(28, "No space left on device")
        return real(path, *args)

    position, name = (os, "replace") if fails == "replace" else (precomputed.Path, "write_bytes")
    real = getattr(position, name)
    with monkeypatch.context() as patch:
        patch.setattr(position, name, full)
        with pytest.raises(OSError, match="No space"):
            precomputed.write(experiment, {"a": 1}, RESULTS["surface"], {**ABOUT, "seconds": 3.0})
    precomputed._read.cache_clear()
    same(precomputed.find(experiment, {"a": 1}).result, RESULTS["knife"])
    after = {path.name: path.read_bytes() for path in precomputed.FOLDER.iterdir()}
    assert {name: after.get(name) for name in before} == before
    assert not [name for name in after if name.endswith(".new")]
    precomputed.write(experiment, {"a": 1}, RESULTS["surface"], ABOUT)  # there is room again
    same(precomputed.find(experiment, {"a": 1}).result, RESULTS["surface"])
