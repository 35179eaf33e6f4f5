"""BertViz' pages: the weights and tokens in them, what they load, and how large they get."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import warnings
from html.parser import HTMLParser

import numpy as np
import pytest

from seqviz.core.errors import UserError
from seqviz.experiments.bertviz.page import MAX_PAGE_BYTES, VIEWS, most_tokens, page
from tools.vendor import FILES, STATIC

WORDS = ("[CLS]", "a", "cat", "[SEP]", "it", "sat", "[SEP]")
HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<!--<script>",
    "-->",
    "<img src=x onerror=alert(1)>",
    "\"'\\",
    "`${alert(1)}`",
    "; // HACK: ",
    "const params = ",
    "PYTHON_PARAMS",
    "bertviz-00000000000000000000000000000000",
    "&lt;b&gt;",
    "line\u2028paragraph\u2029end\nof\r\x00",
    "\ud800",
    "مرحبا",
    "😀",
    "",
)
each_view = pytest.mark.parametrize("view", VIEWS)


def weights(layers: int, heads: int, length: int) -> np.ndarray:
    scores = np.exp(np.random.RandomState(0).randn(layers, heads, length, length))
    return (scores / scores.sum(-1, keepdims=True)).astype(np.float32)


def data(html: str) -> dict:
    """What the page's script draws."""
    return json.JSONDecoder().raw_decode(html.partition("const params = ")[2])[0]


class Tags(HTMLParser):
    """The tags of a page as a browser finds them: a script ends at the first `</script`."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@each_view
def test_page_contains_weights_of_its_layers(view):
    layers = [2] if view == "head" else [0, 1, 2]
    attention = weights(3, 4, 7)
    visible = data(page(view, attention, WORDS, layer=2).html)
    (part,) = visible["attention"]
    # Half of the last of three decimals, and the error of writing 0.123 in float64.
    np.testing.assert_allclose(part["attn"], attention[layers], rtol=0, atol=0.0005 + 1e-12)
    assert visible["include_layers"] == layers
    if view == "head":
        assert part["left_text"] == part["right_text"] == list(WORDS)
        assert visible["layer"] == 2
    else:
        assert visible["include_heads"] == [0, 1, 2, 3]


def test_page_writes_weights_with_three_decimals():
    attention = np.full((1, 1, 3, 3), 1 / 3, np.float32)
    assert '"attn":[[[[0.333,0.333,0.333],' in page("head", attention, "abc").html


@each_view
def test_page_splits_sentence_pair_into_all_and_four_parts(view):
    attention = weights(2, 4, 7)
    parts = data(page(view, attention, WORDS, layer=1, second=4).html)["attention"]
    chosen = attention[1:] if view == "head" else attention
    a, b, full = slice(0, 4), slice(4, 7), slice(0, 7)
    expected = {
        "All": (full, full),
        "Sentence A -> Sentence A": (a, a),
        "Sentence B -> Sentence B": (b, b),
        "Sentence A -> Sentence B": (a, b),
        "Sentence B -> Sentence A": (b, a),
    }
    assert [part["name"] for part in parts] == list(expected)
    for part, (left, right) in zip(parts, expected.values(), strict=True):
        assert part["left_text"] == list(WORDS[left])
        assert part["right_text"] == list(WORDS[right])
        np.testing.assert_allclose(part["attn"], chosen[:, :, left, right], rtol=0, atol=0.000501)


@each_view
def test_page_loads_only_bundled_scripts_with_known_checksums(view):
    tags = Tags(page(view, weights(2, 4, 7), WORDS).html).tags
    sources = [attributes["src"] for _, attributes in tags if "src" in attributes]
    assert sources == ["/app/static/d3.min.js", "/app/static/jquery.min.js"]
    assert not any("href" in attributes for _, attributes in tags)
    sums = {file.name: file.sha256 for file in FILES}
    for source in sources:
        name = source.rpartition("/")[2]
        assert hashlib.sha256((STATIC / name).read_bytes()).hexdigest() == sums[name]


@pytest.mark.parametrize("token", HOSTILE)
@each_view
def test_page_escapes_hostile_tokens(view, token):
    attention = weights(2, 4, 7)
    tokens = [*WORDS[:5], token, "[SEP]"]
    hostile = page(view, attention, tokens, second=4)
    harmless = page(view, attention, WORDS, second=4)
    assert Tags(hostile.html).tags == Tags(harmless.html).tags
    for part in ("left_text", "right_text"):
        assert data(hostile.html)["attention"][0][part] == tokens
    # Everything but the line with the data is the same: no token is anywhere else.
    others = [[line for line in p.html.split("\n") if "const params = " not in line]
              for p in (hostile, harmless)]  # fmt: skip
    assert others[0] == others[1]
    assert hostile.html.isascii()  # so that no separator of lines ends a string
    assert "<" not in json.dumps(data(harmless.html))
    assert hostile.html.count("<") == harmless.html.count("<")


def test_page_truncates_long_token():
    tokens = ["a" * 80, "b" * 81]
    visible = data(page("head", weights(1, 1, 2), tokens).html)["attention"][0]["left_text"]
    assert visible == ["a" * 80, "b" * 79 + "…"]


@each_view
def test_page_is_deterministic_and_keeps_input_unchanged(view):
    attention = weights(2, 4, 7)
    attention.setflags(write=False)
    with warnings.catch_warnings():
        # torch warns of arrays that it may not write to
        warnings.simplefilter("error", UserWarning)
        first, again = (page(view, attention, WORDS, second=4) for _ in range(2))
    assert first == again
    assert first.bytes == len(first.html.encode())


@pytest.mark.parametrize(("layers", "heads", "second"), [(6, 12, None), (6, 12, 5), (2, 4, 5)])
@each_view
def test_page_size_respects_limit_and_rejects_longer_text(view, layers, heads, second, monkeypatch):
    """One token more is refused before the page is built."""
    limit = most_tokens(view, layers, heads, second is not None)
    for length in (limit, limit + 1):
        # the longest to write
        attention = np.full((layers, heads, length, length), 0.123, np.float32)
        if length == limit:
            created = page(view, attention, ["word"] * length, second=second)
    # Brackets: 3 bytes for each row of at least 30 weights of 6 bytes. BertViz' script: 14 KB.
    assert 0.9 * MAX_PAGE_BYTES[view] < created.bytes < 1.03 * MAX_PAGE_BYTES[view] + 16_000
    monkeypatch.setitem(sys.modules, "bertviz", None)  # importing it now is an error
    with pytest.raises(UserError, match=f"at most {limit} tokens here, not {limit + 1}") as caught:
        page(view, attention, ["word"] * (limit + 1), second=second)
    assert caught.value.code == "bertviz_too_long"
    assert caught.value.details == {"tokens": limit + 1, "limit": limit}


ATTENTION = weights(2, 4, 7)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"view": "neuron"}, "A view is one of head, model, not neuron"),
        ({"attention": ATTENTION[0]}, "axes layer, head, query and key"),
        ({"attention": ATTENTION[:, :0]}, "none of them empty"),
        ({"attention": ATTENTION[..., :6]}, "7 x 6 does not fit 7 tokens"),
        ({"tokens": WORDS[:6]}, "7 x 7 does not fit 6 tokens"),
        ({"attention": -ATTENTION}, "between 0 and 1"),
        ({"attention": 9 * ATTENTION}, "between 0 and 1"),
        ({"attention": np.nan * ATTENTION}, "between 0 and 1"),
        ({"layer": 2}, "no layer 2: the 2 layers start at 0"),
        ({"layer": -1}, "no layer -1"),
        ({"second": 0}, "second sentence"),
        ({"second": 7}, "second sentence"),
    ],
)
def test_page_rejects_inconsistent_arguments(changes, words):
    with pytest.raises(ValueError, match=words) as caught:
        page(**{"view": "head", "attention": ATTENTION, "tokens": WORDS, **changes})
    assert not isinstance(caught.value, UserError)


def test_attention_lesson_imports_no_torch_or_bertviz():
    """Two seconds of import: neither the lesson nor what is below it asks for them."""
    script = (
        "import sys; import seqviz.lessons.attention.lesson; "
        "sys.exit(bool({'torch', 'bertviz', 'scipy', 'statsmodels'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=STATIC.parents[1]).returncode == 0
