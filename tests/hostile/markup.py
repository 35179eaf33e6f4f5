"""What a page would do with the words on it: which of them are a command to Markdown, HTML, Plotly.

A page is compared with itself: the markup of the sentences that change with a student's text is
held against the markup of the same sentences with the text that the page comes with.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from google.protobuf.message import Message
from markdown_it import MarkdownIt
from streamlit.testing.v1 import AppTest

from tests.pages.page_assertions import CHART, walk

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
PLAIN = {"text", "softbreak", "hardbreak", "paragraph_open", "paragraph_close", "inline"}
# Streamlit does these to text whose escapes have been read (its StreamlitMarkdown, 1.67).
LATER = {
    "link": re.compile(r"(https?://|www(?=\.))[-.\w]+|[-.\w+]@[-\w]+(\.[-\w]+)+", re.IGNORECASE),
    "icon": re.compile(r":material[/_]\w+:|:streamlit:"),
    "arrow": re.compile(r"(?<!\S)(<->|->|<-|--|[><~]=)(?!\S)"),
}
# And these before: what a backslash stands before is left alone.
BEFORE = {
    "formula": re.compile(r"\$[^$]+\$|\$\$"),
    "directive": re.compile(r":[a-z][a-z0-9-]*\["),
}
TAGS = {"<b>", "</b>", "<i>", "</i>", "<sub>", "</sub>", "<sup>", "</sup>", "<br>", "<br/>",
        "<extra>", "</extra>"}  # fmt: skip
# As Plotly splits a text, and what would be a tag if another text followed; "< 0.1" is none.
_TAG = re.compile(r"<[^<>]*>|<[a-zA-Z/!?][^<>]*")
STRANGE = {"template %{y:.9f}"}  # in a text of `strange` and in no figure of ours
NOT_SHOWN = {"id", "element_id", "form_id", "user_key", "elementId", "formId", "script_path",
             "fragment_id", "icon", "page_script_hash", "url", "component_name"}  # fmt: skip
PLAIN_FIELDS = {"Code.code_text", "TextInput.value", "TextInput.default", "TextInput.placeholder"}


def strings(message: Message) -> Iterator[tuple[str, str]]:
    """("Metric.body", words) for every string in a message and in what it holds."""
    name = getattr(message, "component_name", "") or message.DESCRIPTOR.name
    for field, value in message.ListFields():
        several = not isinstance(value, str | bytes) and hasattr(value, "__iter__")
        for item in value if several and not isinstance(value, Message) else (value,):
            if isinstance(item, Message):
                yield from strings(item)
            elif isinstance(item, str) and field.name not in NOT_SHOWN:
                yield f"{name}.{field.name}", item
            elif isinstance(item, bytes) and name == CHART:  # two lines of JSON
                yield from ((f"{name}.json", line) for line in item.decode().split("\n"))


def on_page(app: AppTest) -> set[tuple[str, str]]:
    """Every string that the page sends to the browser to be shown."""
    results: set[tuple[str, str]] = set()
    for node in walk(app._tree.main):
        message = getattr(node, "proto", None)
        if isinstance(message, Message):
            results.update(strings(message))
    return results


def commands(location: str, words: str) -> set[str]:
    """What a string tells the browser to do besides showing it."""
    if location in PLAIN_FIELDS:
        return set()
    if location == "Html.body":
        return _tags(words)
    if location == "IFrame.srcdoc":
        return {f"scripts: {words.lower().count('<script')}", *_outer_tags(words)}
    if location.endswith(".json") and location.split(".")[0] != CHART:
        return set()  # data of a component of ours, whose scripts set text and no HTML
    if location.endswith(".json"):
        return set().union(*(_plotly(key, item) for key, item in _texts(json.loads(words))), set())
    return _markdown(words)


def added(page: AppTest, usual: AppTest) -> set[str]:
    """Commands on a page that are not on the usual one: a text has given them."""
    now, before = on_page(page), on_page(usual)
    existing = set().union(*(commands(*item) for item in before), set())
    return {
        f"{item[0]} {command}" for item in now - before for command in commands(*item) - existing
    }


def _markdown(words: str) -> set[str]:
    result = set()
    for block in READER.parse(words):
        for token in (block, *(block.children or ())):
            if token.type == "text":
                result |= {
                    f"{n} {m[0]}" for n, p in LATER.items() for m in p.finditer(token.content)
                }
            elif token.type not in PLAIN:
                target = token.attrGet("href") or token.attrGet("src") or ""
                digits = "" if token.type != "code_inline" else token.content.isdecimal()
                result.add(f"{token.type} {target}{digits}".strip())
    unescaped = re.sub(r"\\[^\w\s]", "", words)
    return result | {name for name, pattern in BEFORE.items() if pattern.search(unescaped)}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add(" ".join(("tag", tag, *sorted(name for name, _ in attrs))))

    def handle_comment(self, data: str) -> None:
        self.found.add("comment")

    def handle_decl(self, decl: str) -> None:
        self.found.add(f"declaration {decl}")


def _tags(words: str) -> set[str]:
    reader = _Tags()
    reader.feed(words)
    reader.close()
    strange = {item for item in re.findall(r"style=\"([^\"]*)\"", words) if "url(" in item}
    return reader.found | {f"style {item}" for item in strange}


def _outer_tags(words: str) -> set[str]:
    """The tags of a document, as a browser reads it: what is in a script is no tag."""
    return _tags(words) - {"comment"}


def _texts(node: Any, key: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(node, dict):
        for name, value in node.items():
            if name not in ("meta", "alt", "colorscale", "source"):  # no markup, and the picture
                yield from _texts(value, name)
    elif isinstance(node, list):
        for value in node:
            yield from _texts(value, key)
    elif isinstance(node, str):
        yield key, node


def _plotly(key: str, words: str) -> set[str]:
    result = {f"pseudo-HTML {tag}" for tag in _TAG.findall(words) if tag not in TAGS}
    if key in ("hovertemplate", "texttemplate"):
        result |= {f"template {name}" for name in re.findall(r"%\{[^}]*\}?", words)} & STRANGE
    if "$" in words and words.strip().startswith("$") and words.strip().endswith("$"):
        result.add("formula")  # Plotly gives it to MathJax, where there is one
    return result
