"""Both languages complete: the same keys, placeholders, lists and sections; every key asked for.

The words a lesson's controls need are walked through in `tests/pages/test_every_lesson.py`.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqviz.content import catalog, glossary
from seqviz.core import i18n, units
from seqviz.core.i18n import (
    ASSETS,
    FORMATS,
    LANGUAGES,
    Placeholder,
    Text,
    catalogue,
    escape_markdown,
    fill,
    format_value,
    number,
    percent,
    sections,
)
from seqviz.core.units import JOINER, NO_BREAK, unbroken
from seqviz.data import PROBLEM_CODES
from seqviz.experiments.transformer import architectures
from tests.line_breaks import parted

ROOT = ASSETS.parent
SLUGS = [record.slug for record in catalog.LESSONS]
PLACEHOLDER = re.compile(r"{(\w+)(?:\.\w+)*(:[^{}]*)?}")
HAN = re.compile(r"[\u4e00-\u9fff]")
# A sentence this long that has words is prose; anything else may be a symbol, a name, a formula.
PROSE = 25
WORD = re.compile(r"[A-Za-z]{3,}")
NAMESPACES = ("figure", "alt", "frame", "work", "home", "nav", "stage")
KEY = re.compile(rf"(?:{'|'.join(NAMESPACES)})\.[a-z0-9_.]+")


ORDINAL = re.compile(r"}(?:st|nd|rd|th)\b")  # of 3, "3th"


def flat(value: Any) -> list[str]:
    """Every sentence in a value of the catalogue."""
    if isinstance(value, list):
        return [sentence for item in value for sentence in flat(item)]
    return [str(value)]


def placeholders(value: Any) -> list[set[tuple[str, str]]]:
    """Of each sentence the names of its fields, with the format of each."""
    return [set(PLACEHOLDER.findall(sentence)) for sentence in flat(value)]


def shape(value: Any) -> Any:
    """Nested lengths of a list; the type of anything else."""
    return [shape(item) for item in value] if isinstance(value, list) else type(value)


def wanted(key: str) -> set[str]:
    """The placeholders of a key in all languages together."""
    return {
        name
        for lang in LANGUAGES
        for fields in placeholders(catalogue(lang)[key])
        for name, _ in fields
    }


def lesson_key(key: str, own_text: str = SLUGS[0]) -> str | None:
    """The key of a lesson's word, in its own or the first lesson that has it, or the shared one."""
    existing = catalogue("en")
    return next(
        (k for k in (*(f"{s}.{key}" for s in (own_text, *SLUGS)), key) if k in existing), None
    )


# --- the two languages against each other -------------------------------------------------------


def test_catalogue_fields_use_known_formats():
    """Of ours or of Python's, for a number or for words."""
    for lang in LANGUAGES:
        for key, value in catalogue(lang).items():
            for _, spec in set().union(*placeholders(value)):
                name, _, digits = spec.removeprefix(":").partition(".")
                if name.startswith("of "):  # a number with a noun, which Chinese does not inflect
                    assert (lang, name.removeprefix("of ").isalpha()) == ("en", True), key
                elif name in FORMATS:
                    assert not digits or digits.isdigit(), key
                elif spec:
                    assert format(1.5, spec.removeprefix(":")), key


def test_catalogue_has_same_keys_in_both_languages():
    english, chinese = (set(catalogue(lang)) for lang in LANGUAGES)
    assert english == chinese
    assert len(english) > 200  # the catalogue is really read


@pytest.mark.parametrize("lang", LANGUAGES)
def test_no_key_of_figures_is_in_two_files(lang):
    """The files are merged: the later one would silently replace a label of another subject."""
    files = [
        ASSETS / "locale" / f"{lang}.toml",
        *(ASSETS / "locale/figures").glob(f"**/{lang}.toml"),
    ]
    keys = Counter(
        (name, key)
        for path in files
        for name, part in tomllib.loads(path.read_text("utf-8")).items()
        for key in (part if isinstance(part, dict) else [""])
    )
    assert len(keys) > 200
    assert [key for key, n in keys.items() if n > 1] == []


def test_catalogue_list_lengths_match():
    english, chinese = (catalogue(lang) for lang in LANGUAGES)
    assert [key for key in english if shape(english[key]) != shape(chinese[key])] == []


def test_catalogue_placeholders_match():
    """Also their formats, but for numbers with an English noun."""
    english, chinese = (catalogue(lang) for lang in LANGUAGES)
    for key in english:
        for ours, theirs in zip(
            placeholders(english[key]), placeholders(chinese[key]), strict=True
        ):
            counted = {name for name, spec in ours if spec.startswith(":of ")}
            assert {name for name, _ in ours} == {name for name, _ in theirs}, key
            assert {item for item in ours if item[0] not in counted} == {
                item for item in theirs if item[0] not in counted
            }, key


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalogue_has_no_empty_sentence(lang):
    empty = [
        key
        for key, value in catalogue(lang).items()
        if not key.endswith(".feedback")  # empty for the right option, see test_questions
        and any(not s.strip() for s in flat(value))
    ]
    assert not empty


def test_quiz_answers_match_across_languages_and_stay_in_range():
    english, chinese = (catalogue(lang) for lang in LANGUAGES)
    quizzes = [key.removesuffix(".answer") for key in english if key.endswith(".answer")]
    quizzes = [key for key in quizzes if f"{key}.options" in english]
    assert len(quizzes) >= 4
    for quiz in quizzes:
        answer = english[f"{quiz}.answer"]
        assert answer == chinese[f"{quiz}.answer"], quiz
        assert 0 <= answer < len(english[f"{quiz}.options"]), quiz
        for words in (english, chinese):
            options = words[f"{quiz}.options"]
            assert len(set(options)) == len(options), quiz


def test_catalogue_translates_prose():
    english, chinese = (catalogue(lang) for lang in LANGUAGES)
    same = []
    for key in english.keys() & chinese.keys():
        pairs = zip(flat(english[key]), flat(chinese[key]), strict=False)
        same += [
            (key, e)
            for e, c in pairs
            # Tags and placeholders are no words: a label may be a formula and nothing else.
            if len(e) > PROSE
            and len(WORD.findall(re.sub("<[^>]*>|{[^}]*}", " ", e))) > 2
            and (e == c or not HAN.search(c))
        ]
    assert not same


def is_name(label: str, prose: str) -> bool:
    """Whether Chinese sentences print it as it is, or it is code, a quoted word or a model."""
    code_or_quotation = re.compile(r"\bnn\.\w+(?:\([^)]*\))?|“[^”]*”")
    parts = [part for part in re.split("[（）]", code_or_quotation.sub("", label)) if part.strip()]
    return all(
        (part in prose and re.search(rf"(?<![A-Za-z]){re.escape(part)}(?![A-Za-z])", prose))
        or part.lower().replace(" ", "_") in architectures.NAMES
        for part in parts
    )


def test_catalogue_translates_chinese_labels_except_names():
    """A label too short for the test above; placeholders, formulas and code are no words."""
    no_words = re.compile(r"{[^}]*}|\$[^$]*\$|`[^`]*`|<[^>]*>")
    labels = [sentence for value in catalogue("zh").values() for sentence in flat(value)]
    prose = [text for slug in SLUGS for text in sections(slug, "zh").values()]
    chinese = "\n".join(sentence for sentence in (*labels, *prose) if HAN.search(sentence))
    left = {
        sentence
        for sentence in labels
        if not HAN.search(sentence)
        and re.search("[a-z]{4}|[a-z]{2} [a-z]{2}", no_words.sub(" ", sentence))
        and not is_name(sentence, chinese)
    }
    assert left == set()


def test_is_name_rejects_most_english_labels():
    """Of the English labels not one in twenty could stand in a Chinese text unnoticed."""
    labels = {sentence for value in catalogue("en").values() for sentence in flat(value)}
    prose = "\n".join(s for v in catalogue("zh").values() for s in flat(v) if HAN.search(s))
    words = [label for label in labels if re.search("[a-z]{4}", label) and not HAN.search(label)]
    assert sum(is_name(label, prose) for label in words) < len(words) / 20


def test_catalogue_has_chinese_in_english_only_for_text_rows():
    # Rows about the Chinese texts may quote them; nothing else may have been left untranslated.
    left = [
        key
        for key, value in catalogue("en").items()
        if ".texts." not in key and any(HAN.search(sentence) for sentence in flat(value))
    ]
    assert not left


def test_markdown_bold_closes_in_chinese():
    """Asterisks between a sign and a letter close nothing in Markdown: they would be shown."""
    wrong = []
    for path in (ASSETS / "lessons").rglob("zh.*"):
        for line in path.read_text("utf-8").splitlines():
            parts = line.split("**")
            bold = zip(parts[1::2], parts[2::2], strict=False)
            wrong += [
                item for item, then in bold if item[-1:] in "。：！？”）" and then[:1].isalnum()
            ]
    assert not wrong


def test_catalogue_has_no_ordinal_after_placeholder():
    message = catalogue("en").items()
    assert [
        key for key, value in message if any(ORDINAL.search(item) for item in flat(value))
    ] == []


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalogue_and_prose_have_no_exclamation_marks(lang):
    loud = [
        key
        for key, value in catalogue(lang).items()
        if any(re.search("[!!]", s) for s in flat(value))
    ]
    assert not loud
    for slug in SLUGS:
        for name, body in sections(slug, lang).items():
            assert not re.search("[!!]", body), (slug, name)


# --- prose --------------------------------------------------------------------------------------


@pytest.mark.parametrize("slug", SLUGS)
def test_prose_sections_match_across_languages(slug):
    english, chinese = (sections(slug, lang) for lang in LANGUAGES)
    assert list(english) == list(chinese)  # the order too: a notebook prints them as they come
    for name in english:
        assert english[name], name
        assert chinese[name], name
        assert english[name] != chinese[name], name
        assert HAN.search(chinese[name]), name


@pytest.mark.parametrize("slug", SLUGS)
def test_prose_equations_match_across_languages(slug):
    display = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
    english, chinese = (
        {name: display.findall(body) for name, body in sections(slug, lang).items()}
        for lang in LANGUAGES
    )
    # Words inside an equation (\text{...}) may be translated; the mathematics may not differ.
    words = re.compile(r"\\text\{[^}]*\}")
    for name in english:
        assert [words.sub("", e).split() for e in english[name]] == [
            words.sub("", c).split() for c in chinese[name]
        ], name


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", SLUGS)
def test_prose_has_balanced_math_and_emphasis(slug, lang):
    for name, body in sections(slug, lang).items():
        assert body.count("$") % 2 == 0, name
        assert body.count("**") % 2 == 0, name
        assert not PLACEHOLDER.search(re.sub(r"\$\$[^$]*\$\$|\$[^$]*\$", "", body)), name


# --- every key that the code asks for -----------------------------------------------------------


def python(*folders: str) -> Iterator[tuple[Path, ast.Module]]:
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield path, ast.parse(path.read_text("utf-8"))


def constants(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalogue_has_every_key_in_code(lang):
    result = {
        (path.name, value)
        for path, tree in python("seqviz/figures", "seqviz/ui", "pages")
        for value in constants(tree)
        if KEY.fullmatch(value) and not value.endswith((".toml", ".md", ".css", ".js", ".py"))
    }
    assert {"figure.theory", "alt.by_hand", "frame.failed"} <= {key for _, key in result}
    existing = catalogue(lang)
    missing = [
        (name, key)
        for name, key in result
        # The fixed start of a key that is completed at run time has at least two continuations.
        if (
            sum(k.startswith(key) for k in existing) < 2
            if key.endswith("_")
            else key not in existing
        )
    ]
    assert not missing


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalogue_has_every_figure_label(lang):
    """Keys that a figure completes: `label = style.labels("figure.shots_")`, `label("amount")`."""
    labels = []
    for _, tree in python("seqviz/figures"):
        for function in (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)):
            prefixes = [key for name, key, _ in calls(function, {"labels"})]
            keys = [key for name, key, _ in calls(function, {"label"})]
            assert len(prefixes) <= 1, function.name
            labels += [prefix + key for prefix in prefixes for key in keys]
    assert "figure.shots_amount" in labels
    assert not [key for key in labels if key not in catalogue(lang)]


def calls(tree: ast.AST, names: set[str]) -> Iterator[tuple[str, str, set[str]]]:
    """(function, literal first argument, keyword names) of calls without `**`."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        function = node.func.attr if isinstance(node.func, ast.Attribute) else None
        function = node.func.id if isinstance(node.func, ast.Name) else function
        first = node.args[0]
        literal = isinstance(first, ast.Constant) and isinstance(first.value, str)
        spread = any(keyword.arg is None for keyword in node.keywords)
        if function in names and literal and not spread:
            yield function, first.value, {k.arg for k in node.keywords if k.arg}


def test_text_calls_pass_every_placeholder():
    checked = 0
    for path, tree in python("seqviz/figures", "seqviz/ui", "seqviz/lessons", "pages"):
        # A panel of a figure has a method of that name, for words that stand already.
        request = {"text", "described"} if "figures" in path.parts else {"text", "words"}
        for _, key, given in calls(tree, request):
            full = lesson_key(key)
            assert full is not None, (path.name, key)
            missing = wanted(full) - given
            assert not missing, (path.name, key, missing)
            checked += 1
    assert checked > 60


def lesson_tree(slug: str) -> ast.Module:
    """A lesson's benches and the page that has them, as one program."""
    paths = (*sorted((ROOT / "seqviz/lessons" / slug).glob("*.py")), ROOT / "pages" / f"{slug}.py")
    texts = [path.read_text("utf-8") for path in paths]
    return ast.parse("\n".join(t.replace("from __future__ import annotations", "") for t in texts))


@pytest.mark.parametrize("slug", SLUGS)
def test_catalogue_has_every_key_of_page(slug):
    """Metrics, notes, hints, problems, questions, exercises and prose, with their placeholders."""
    tree = lesson_tree(slug)
    existing = catalogue("en")
    observed = set()
    for function, name, given in calls(
        tree, {"note", "notice", "hint", "MessageError", "question", "exercise", "prose", "bench"}
    ):
        observed.add(function)
        if function == "question":
            keys = {f"{slug}.predict.{name}.{k}" for k in ("question", "options", "answer")}
            assert keys <= set(existing), name
            assert f"{slug}.predict.{name}.reveal" in existing, name
        elif function == "exercise":
            keys = {f"{slug}.exercise.{name}.{k}" for k in ("question", "right", "hint")}
            assert keys <= set(existing), name
        elif function == "prose":
            assert name in sections(slug, "en"), name
        elif function == "bench":
            assert f"{slug}.bench.{name}" in existing, name
        else:
            group = {"notice": "note", "MessageError": "problem"}.get(function, function)
            key = lesson_key(f"{group}.{name}", slug)
            assert key is not None, (function, name)
            assert wanted(key) <= given, (function, name, wanted(key) - given)
    # Notes are often named at run time: the pages' own tests see those.
    assert observed >= {"question", "exercise", "prose", "bench"}
    readouts = (
        {
            keyword.arg
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") in ("metrics", "readouts")
            for keyword in node.keywords
            if keyword.arg not in (None, "caption", "digits")  # None: at run time
        }
        | {
            part.value
            for node in ast.walk(tree)
            if isinstance(node, ast.Call)
            and getattr(node.func, "attr", "") in ("readout", "readouts")
            for part in (node.args if node.func.attr == "readouts" else node.args[:1])
            if isinstance(part, ast.Constant) and isinstance(part.value, str)
        }
    )
    assert readouts
    for name in readouts:
        assert f"{slug}.metric.{name}.label" in existing, name
        assert f"{slug}.metric.{name}.help" in existing, name


@pytest.mark.parametrize("slug", SLUGS)
def test_catalogue_has_keys_completed_at_run_time(slug):
    """`show.note(f"{kind}_{verdict}")` and the like: the fixed parts match at least two keys."""
    for node in ast.walk(lesson_tree(slug)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr in {"note", "notice", "metric", "hint"}
            and node.args
            and isinstance(node.args[0], ast.JoinedStr)
        ):
            parts = (
                re.escape(part.value) if isinstance(part, ast.Constant) else "[a-z0-9]+"
                for part in node.args[0].values
            )
            end = r"\.label" if node.func.attr == "metric" else ""
            group = node.func.attr.replace("notice", "note")
            pattern = re.compile(rf"{slug}\.{group}\.{''.join(parts)}{end}")
            results = [key for key in catalogue("en") if pattern.fullmatch(key)]
            assert len(results) > 1, ast.unparse(node)


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("code", PROBLEM_CODES)
def test_catalogue_has_every_file_problem(code, lang):
    key = lesson_key(f"problem.{code}")
    assert key is not None
    assert key in catalogue(lang)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalogue_has_every_stage_and_group(lang):
    words = catalogue(lang)
    for stage in catalog.STAGES:
        assert {f"stage.{stage}.title", f"stage.{stage}.question"} <= set(words)
    for record in catalog.LESSONS:
        assert {f"nav.{record.group}", f"{record.slug}.title", f"{record.slug}.goal"} <= set(words)


# --- how sentences and numbers are made ---------------------------------------------------------


def test_text_raises_on_missing_key_or_value():
    text = Text("en")
    for request in (
        lambda: text("figure.no_such_key"),
        lambda: text("figure.fitted_line", other=1),
    ):
        with pytest.raises(KeyError):
            request()
    with pytest.raises(KeyError, match=r"first\.wish"):
        text.first("first.wish", "second.wish")


def test_text_first_returns_first_existing_key():
    text = Text("en")
    assert text.first("figure.none", "figure.acf", "figure.pacf") == text("figure.acf")
    assert (text.has("frame.failed"), text.has("frame.fail")) == (True, False)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"), (0.0, "0"), (-0.0, "0"), (0.80312, "0.803"), (-0.80312, "−0.803"), (1, "1.00"),
        (-1, "−1.00"), (12.345, "12.3"), (123.456, "123"), (999, "999"), (1000, "1,000"),
        (12345.6, "12,346"), (-1234567.0, "−1,234,567"), (12345678.0, unbroken("1.23 × 10⁷")),
        (-12345678.0, unbroken("−1.23 × 10⁷")), (0.001, "0.00100"), (0.00123, "0.00123"),
        (0.000999, unbroken("9.99 × 10⁻⁴")), (0.00001234, unbroken("1.23 × 10⁻⁵")), (-0.00001234,
        unbroken("−1.23 × 10⁻⁵")),
        (1e300, unbroken("1.00 × 10³⁰⁰")), (float("nan"), "–"), (float("inf"), "∞"),
        (float("-inf"), "−∞"),
        # rounding up to the next power of ten keeps three significant digits
        (9.999, "10.0"), (0.9999, "1.00"), (99.96, "100"), (999.6, "1,000"),
        (9.9996e-5, unbroken("1.00 × 10⁻⁴")), (9.9999e7, unbroken("1.00 × 10⁸")),
        # the smallest float there is: a sliver of a variance must not break a figure
        (5e-324, unbroken("4.94 × 10⁻³²⁴")),
    ],
)  # fmt: skip
def test_number_formats_value_by_magnitude(value, expected):
    assert number(value) == expected


@pytest.mark.parametrize(
    ("value", "digits", "expected"),
    [(0.0123, 2, "0.012"), (1234.5, 2, "1,234"), (2.0, 1, "2"), (3.14159, 5, "3.1416")],
)
def test_number_uses_given_digits(value, digits, expected):
    assert number(value, digits) == expected


@pytest.mark.parametrize(
    ("count", "expected"),
    [(0, "0 tokens"), (1, "1 token"), (2, "2 tokens"), (1200.0, "1,200 tokens")],
)
def test_fill_writes_a_number_with_its_noun(count, expected):
    assert fill("{n:of token}", {"n": count}) == expected


@pytest.mark.parametrize(
    ("value", "spec", "expected"),
    [(-1.3, "fixed", "−1.30"), (-0.001, "fixed", "0.00"), (0.26, "fixed.1", "0.3")],
)
def test_fill_formats_fixed_decimals(value, spec, expected):
    assert fill(f"{{value:{spec}}}", {"value": value}) == expected


@pytest.mark.parametrize(
    ("share", "digits", "expected"),
    [(0.66139, 1, "66.1%"), (0.35, 0, "35%"), (1, 1, "100.0%"), (12.5, 1, "1,250.0%"),
     (-0.031, 1, "−3.1%"), (float("nan"), 1, "–")],
)  # fmt: skip
def test_percent_formats_share(share, digits, expected):
    assert percent(share, digits) == expected


@pytest.mark.parametrize(
    ("sentence", "value", "expected"),
    [
        ("{x:points}", 0.0314, "3.14"), ("{x:signed}", -0.125, "−0.12"),
        ("{x:signed.1}", 2.04, "+2.0"), ("{x:numbers.2}", (0.5, -2), "0.50, −2.0"),
        ("{x}", -39, "−39"), ("{x:,}", np.int64(-1200), "−1,200"), ("{x}", "a-1", "a-1"),
    ],
)  # fmt: skip
def test_fill_applies_field_format(sentence, value, expected):
    assert fill(sentence, {"x": value}) == expected


@pytest.mark.parametrize(
    ("value", "unit", "expected"),
    [
        (0.661, units.Share, "66.1%"), (0.661, units.WholeShare, "66%"),
        (1538 / 109_483_778, units.FineShare, "0.00140%"), (1.0, units.FineShare, "100%"),
        (-0.00657, units.Decimals, "−0.01"), (-0.0004, units.Cosine, "0.000"),
        (0.0587, units.Cosine, "0.059"), (3e9, units.Decimals, unbroken("3.00 × 10⁹")),
        (0.0004, units.Probability, f"<{NO_BREAK}0.001"), (0.0416, units.Probability, "0.042"),
        (1234.0, units.Count, "1,234"), (float("inf"), units.Count, "∞"), (7, units.Count, "7"),
        (0.2041, units.Seconds, unbroken("0.2 s")), (24.3, units.Seconds, unbroken("24 s")),
        (99.7, units.Seconds, unbroken("99.7 s")), (180.0, units.Seconds, unbroken("3 min")),
        ((0.584, 0.646), units.ShareEnds, "58.4–64.6%"),
        ((-0.1234, 2.5), units.Interval, f"−0.123{NO_BREAK}… 2.50"), ((1, 1200), units.Fraction,
        f"1{NO_BREAK}/{NO_BREAK}1,200"),
        (None, units.Share, "–"), ("words", units.Share, "words"), (0.5, float, "0.500"),
    ],
)  # fmt: skip
def test_format_value_uses_annotated_unit(value, unit, expected):
    def read(result: object) -> object: ...

    read.__annotations__["return"] = unit
    # A number that may be missing has its unit all the same.
    result = make_dataclass("Result", [("field", unit | None)], namespace={"read": property(read)})
    for outcome in (units.unit_of(result, "field"), units.unit_of(result, "read"),
                  units.unit_of(read)):  # fmt: skip
        assert format_value(value, outcome) == expected


@pytest.mark.parametrize(
    "text",
    [
        "![](http://host/x.png)",
        "*a* _b_ `c` ~d~",
        "$x$",
        ":red[a]",
        "# a",
        "<b>",
        "a\\b",
        "x | y",
        "&amp;",
    ],
)
def test_escape_markdown_escapes_every_mark(text):
    escaped = escape_markdown(text)
    # A word joiner, which nobody sees, keeps an address from becoming a link.
    assert re.sub(r"\\(.)", r"\1", escaped).replace("\u2060", "") == text
    assert not re.search(r"(?<!\\)(\\\\)*[*_`~$:#<>|&!\[\]]", escaped)


def test_escape_markdown_keeps_plain_words():
    assert escape_markdown("were 会 é") == "were 会 é"


@pytest.mark.parametrize(
    ("plain", "bound"),
    [
        ("p < 0.001, u = 0.425", "p~<~0.001, u~=~0.425"), ("φ = −0.8", "φ~=~−0.8"),
        ("3.09 × 10⁻⁵ and 2 × 3", "3.09~×~10⁻⁵ and 2~×~3"), ("in 2.4 s, 120 ms",
         "in 2.4~s, 120~ms"),
        ("12 MB, **4.1** bits a step", "12~MB, **4.1**~bits a step"), ("3.5 毫秒", "3.5~毫秒"),
        ("n = {n:,}: {bits} bits", "n~=~{n:,}: {bits}~bits"), ("t = %{x}", "t~=~%{x}"),
        ("p {p}", "p~{p}"), ("|r| = 0.5", f"|r|{JOINER}~=~0.5"), ("< 1%", "<~1%"), ("0 < r < 1",
         "0~<~r~<~1"), ("1 − 0.5", "1 −~0.5"), ("{n} ×, 2 ×", "{n}~×, 2~×"),
        ("3 / 20, 0.1 … 0.3", "3~/~20, 0.1~… 0.3"),
        ("<b>h<sub>t</sub></b> = 1", "<b>h<sub>t</sub></b>~=~1"), ("$n$ = 5", "$n$~=~5"),
        # as they are
        ("`x = 5 s`", "`x = 5 s`"), ("$p < 0.5$ and $n = 3$", "$p < 0.5$ and $n = 3$"),
        ("```\nn = 5\n```", "```\nn = 5\n```"), ("5 steps, a = b", "5 steps, a = b"),
        ("| 3 | s |", "| 3 | s |"), ("| d | = 3 |", "| d | =~3 |"), ('<a title="n = 5">',
         '<a title="n = 5">'), ("a -> 5",
         "a -> 5"),
        ("in 1986 s's", "in 1986 s's"), ("p\u00a0= 5", "p~=~5"),
    ],
)  # fmt: skip
def test_unbroken_binds_numbers_with_no_break_spaces(plain, bound):
    assert units.unbroken(plain).replace(NO_BREAK, "~") == bound.replace("\u00a0", "~")
    assert units.unbroken(units.unbroken(plain)) == units.unbroken(plain)
    assert units.plainly_spaced(units.unbroken(plain)) == units.plainly_spaced(plain)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_catalogue_and_prose_keep_numbers_unbroken(lang):
    message = dict(catalogue(lang))
    for slug in SLUGS:
        message |= {f"{slug} {name}": body for name, body in sections(slug, lang).items()}
    meanings = [meaning for letter in glossary.list_letters() for meaning in letter.meanings]
    words = [item.words for item in (*glossary.terms(), *meanings)]
    words += [letter.remark for letter in glossary.list_letters() if letter.remark]
    message["glossary"] = [word[lang] for word in words]
    wrong = [part for body in message.values() for item in flat(body) for part in parted(item)]
    assert wrong == []
    assert sum(NO_BREAK in item for body in message.values() for item in flat(body)) > 150


def test_parted_detects_breakable_numbers():
    spaced = ("99.2 %", "99.2\u00a0%")
    for words in ("p < 0.001", "3.09 × 10⁻⁵", "{n} bits", "2.4 s", "x − 5", *spaced):
        assert parted(words), words


def test_fill_leaves_noun_of_placeholder_to_the_browser():
    assert fill("{n:of token}", {"n": Placeholder("{n}")}) == "{n:of token}"
    assert fill("{n:of token}", {"n": 1}) == "1 token"


def test_table_has_the_sentences_of_a_prefix_and_a_reader_may_change_it():
    """The thousands of keys are searched once: every bench of a page asks for some tables."""
    first = Text("en").table("sketch")
    assert first["clear"] == Text("en")("sketch.clear")
    assert not any(key.startswith("sketch") for key in first)
    assert first["clear"] != Text("zh").table("sketch")["clear"]
    searched = i18n._table.cache_info().misses
    first.clear()
    assert "clear" in Text("en").table("sketch")
    assert i18n._table.cache_info().misses == searched
