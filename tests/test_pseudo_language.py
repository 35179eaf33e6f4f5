"""docs/add-a-language.md, proved by following it: a language of invented letters, by files alone.

What is still English on a page that is read in it stands in the code, where nobody translates it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seqviz import lessons
from seqviz.content import catalog
from seqviz.core.i18n import sections
from seqviz.data import pronoun_pairs
from seqviz.lessons.framework import controls
from seqviz.models import registry
from tests.pseudo_language import KEPT, LANG, NAME, project, pseudo
from tests.tiers import first_only

PAGES = ["home", *(record.slug for record in catalog.LESSONS)]
READER = Path(__file__).with_name("pseudo_read.py")
# A word of three letters, of which not all are capitals, beside no letter of the invented language.
ENGLISH = re.compile(
    r"(?<![\w\u00c0-\u024f\u1e00-\u1eff-])[A-Za-z][a-z]{2,}(?![\w\u00c0-\u024f\u1e00-\u1eff])"
)
SEARCHED = re.compile(r"[\u4e00-\u9fff]|^(?:\w+\?)?lang=")
# Pieces of a tokenizer: their spaces are drawn, or they go on with a word.
PIECE = re.compile(r"[^\s“”]*␣[^\s“”]*|(?:\\?#){2}\w+")
BADGE = re.compile(r":\w+-badge\[|\\\w+|rgba?\(")
# What readers of any language see: names, words of layout; data, and what a model says of them.
NAMED = f"English Var min normal outside stretch tanh {registry.MODELS}"
DATA = {
    "home": " ".join(["lesson bench term softmax transformer ymid cos", *PAGES]),
    "ar_fitting": "Yearly sunspot numbers 1700-2008, NOAA National Geophysical Data Center.",
    "attention": f"you can help translate this sentence {pronoun_pairs.PAIRS}",
    "bert_accuracy": "movie movies moments days actors city filmmakers filmmaking filmmaker comedy",
    "gpt": """
        , the city of Nova Haven was a, in a land far, far away; used work small glom erate
        a day that will forever be etched in the annals of history
        Sometime in the 1920's, a rich New Yorker named Abby Aldrich Rockefeller started an art
        collection that was; century, the British government began to take a more active role in
        the development of the internet
    """,
    "text": """
        ome una unaffabl unaffab unaffa unaff unaf
        lazy moscow huddersfie fabrication migrated violating comic winslow gone shrinking
        thriller horror flick movies sci with style sequences extreme effects scenes monster gags
    """,
    "transformer": "three hundred forty two filen",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    return project(tmp_path_factory.mktemp("pseudo"))


def read(folder: Path, page: str) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, str(READER), LANG, page], cwd=folder, env=environment,
        capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout)[page]


def own_words(slug: str) -> str:
    """The texts that the controls of a lesson have: a reader of any language changes them."""
    benches = getattr(lessons, slug).lesson.benches.values() if slug != "home" else ()
    return " ".join(
        str(value)
        for bench in benches
        for name, control in controls.controls(bench.declaration)
        for value in (control.default, *getattr(control, "options", ()))
    )


def english(messages: list[str], data: str = "") -> dict[str, str]:
    """Words that are English, each with where it stands."""
    existing = set(ENGLISH.findall(f"{data} {NAMED}"))
    result = {}
    for sentence in messages:
        if not sentence.startswith("<style"):
            for word in ENGLISH.findall(BADGE.sub(" ", PIECE.sub(" ", KEPT.sub(" ", sentence)))):
                if word not in existing:
                    result.setdefault(word, sentence[:200])
    return result


@pytest.mark.parametrize("page", first_only(PAGES))
def test_page_in_new_language_has_no_english_left(folder, page):
    message = read(folder, page)
    if page == "home":  # what finds an entry of the search, in all languages, and where it leads
        message = [item for item in message if not SEARCHED.search(item)]
    assert NAME in message  # in the switch
    text = pseudo(sections(page, "en")["sources"]) if page != "home" else ""
    assert any(text in item for item in message)
    assert english(message, f"{DATA.get(page)} {own_words(page)}") == {}


def test_english_detects_untranslated_words():
    assert set(english(["Šöûŕçé öƒ data", "␣there ##ffa", "`code` and $\\\\alpha$", "LSTM"])) == {
        "data",
        "and",
    }
