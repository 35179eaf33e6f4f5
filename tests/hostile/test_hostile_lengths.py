"""A text longer than its field: Streamlit stops the hand in the browser, not a message or a link.

Every field gets a megabyte past the browser, and a long text in a link. The page names the limit,
stays whole and quick, and the link that it writes carries no more than the field takes.
"""

from __future__ import annotations

from itertools import product

import pytest
from streamlit.testing.v1.element_tree import TextInput

from seqviz.compute.positions.orders import MOST_WORDS
from seqviz.core.i18n import LANGUAGES, Placeholder, Text, catalogue
from seqviz.experiments.bert_accuracy import encoding, word_masking
from seqviz.lessons.framework import controls as kinds
from seqviz.lessons.framework.control_schema import active_controls
from seqviz.models import texts
from tests.hostile.app_page import Visit, opened
from tests.hostile.fuzz_paste import PLACES
from tests.hostile.input_declarations import benches, text_fields
from tests.tiers import first_only

MEGABYTE = ("so it is " * 120_000)[: 2**20]
LONG = 11_000  # more than any field takes; of what is longer by far Streamlit reads no link
SECONDS = 5.0  # of processor time, for one run of a page
FIELDS = {key: (slug, control) for slug, key, control in text_fields()}
LESSONS = tuple(dict.fromkeys(slug for slug, _ in FIELDS.values()))


def scene_of(key: str) -> dict[str, str]:
    """Settings under which a field is on the page: the first options that bring it there."""
    bench, _, name = key.rpartition(".")
    declared = benches(FIELDS[key][0])[bench.partition(".")[2]]
    menus = {
        item: (control.default, *(o for o in control.options if o != control.default))
        for item, control in kinds.controls(declared)
        if isinstance(control, kinds.Choice) and not control.many
    }
    for options in product(*menus.values()):
        values = dict(zip(menus, options, strict=True))
        if name in {item for item, _, _ in active_controls(kinds.parse_params(declared, values))}:
            return {f"{bench}.{value}": option for value, option in values.items()}
    raise ValueError(key)


def field_of(page: Visit, key: str) -> TextInput:
    (field,) = [item for item in page.app.text_input if item.key == key]
    return field


def in_link(page: Visit, key: str) -> str:
    value = page.app.query_params.get(key, "")
    return value[0] if isinstance(value, list) else value


def fields_of(slug: str) -> list[str]:
    return [key for key, (where, _) in FIELDS.items() if where == slug]


@pytest.mark.parametrize("slug", first_only(sorted(LESSONS, key=lambda slug: slug != "gates")))
def test_text_field_limits_megabyte_message_within_seconds(minilm, smollm2, slug):
    page = opened(slug, tuple({"lang": "en", **scene_of(fields_of(slug)[0])}.items()))
    assert page.faults() == []
    for key in fields_of(slug):
        for name, value in scene_of(key).items():
            page.app.session_state[name] = value
        page.run()
        page.seconds.clear()
        field_of(page, key).set_value(MEGABYTE)  # as a message from the browser
        page.run()
        assert page.faults() == [], key
        assert max(page.seconds) < SECONDS, key
        limit = FIELDS[key][1].limit
        assert len(in_link(page, key)) <= limit, key
        check_the_limit_is_named(page, key, "en")
        field_of(page, key).set_value(FIELDS[key][1].default)


@pytest.mark.parametrize("slug", first_only(LESSONS, retained=2))
def test_text_field_truncates_long_text_from_link(minilm, smollm2, slug):
    scenes = [scene_of(key) for key in fields_of(slug)]
    request = {name: value for scene in reversed(scenes) for name, value in scene.items()}
    long = {key: MEGABYTE[:LONG] for key in fields_of(slug) if key not in PLACES}
    page = opened(slug, tuple({"lang": "zh", **request, **long}.items()))
    assert page.faults() == []
    here = [field.key for field in page.app.text_input if field.key in long]
    assert here
    for key in here:
        assert len(page.app.session_state[key]) <= FIELDS[key][1].limit
        assert len(in_link(page, key)) <= FIELDS[key][1].limit
        check_the_limit_is_named(page, key, "zh")
    for sentence in reading_limits(slug, "zh"):
        assert sentence in said(page), sentence


def check_the_limit_is_named(page: Visit, key: str, lang: str) -> None:
    control = FIELDS[key][1]
    field = field_of(page, key)
    named = Text(lang)("frame.text_limit", limit=control.limit)
    assert field.help.endswith(named), key
    assert field.proto.max_chars == control.limit


def reading_limits(slug: str, lang: str) -> set[str]:
    """What a page says where the text has more tokens or words than it reads."""
    text = Text(lang)
    if slug == "attention":
        return {
            text("attention.note.cut", limit=texts.MAX_TEXT_TOKENS, left=Placeholder("")).split(
                "，"
            )[0]
        }
    if slug == "bert_accuracy":
        read = {word_masking.MAX_USER_TOKENS, encoding.MAX_TOKENS, texts.MAX_TEXT_TOKENS}
        return {text("bert_accuracy.note.first_tokens", limit=maximum - 2) for maximum in read}
    if slug == "positions":
        return {
            text("positions.note.first_tokens", limit=texts.MAX_TEXT_TOKENS - 2),
            text("positions.problem.many_words", limit=MOST_WORDS),
        }
    return set()


def said(page: Visit) -> str:
    kinds = ("markdown", "caption", "warning", "info")
    return "\n".join(item.value for kind in kinds for item in page.app.get(kind))


def test_text_field_help_states_model_limit():
    for lang in LANGUAGES:
        existing = catalogue(lang)
        for name in ("encoder", "decoder"):
            assert str(texts.MAX_TEXT_TOKENS) in existing[f"attention.control.{name}.help"]
        for name in ("first", "second"):
            assert str(MOST_WORDS) in existing[f"positions.control.{name}.help"]
