"""Files that came with the app are damaged: a sentence in the bench that needs them, no more."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from seqviz.core.i18n import LANGUAGES, escape_markdown
from seqviz.data import precomputed, reviews
from seqviz.experiments.bert_accuracy import features, heads, systems
from seqviz.models import checkpoints
from seqviz.ui.runtime import result_cache
from tests.pages.page_assertions import alerts, bench, figures
from tests.tiers import first_only

EACH = pytest.mark.parametrize("lang", first_only(LANGUAGES))
REMEMBERED = (
    *(precomputed._read, systems.answers, systems._probability, heads.standard_head, reviews._load),
    *(reviews.sentiment_split, features.parts, checkpoints.load),
)


def forget() -> None:
    """As a server that has just been started."""
    for remembered in (*REMEMBERED, result_cache.result_cache):
        remembered.cache_clear()


@pytest.fixture
def fresh():
    """`fresh(module)`: a copy of the module's folder, which the app reads from now on."""
    with pytest.MonkeyPatch.context() as patch:

        def copied(module, folder: Path) -> Path:
            shutil.copytree(module.FOLDER, folder)
            patch.setattr(module, "FOLDER", folder)
            forget()
            return folder

        yield copied
    forget()


def cut(path: Path) -> None:
    """What a disk that was full, or a copy that broke off, leaves."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path: Path) -> None:
    """One bit of the middle is another."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))


def gone(path: Path) -> None:
    path.unlink()


DAMAGES = pytest.mark.parametrize(("damage", "lang"), [(flipped, "en"), (gone, "zh")])


def told(page, file: str) -> set[str]:
    """The benches that say that this file is damaged; all others have what they always have."""
    sentence = page.text("problem.damaged", file=escape_markdown(file))
    assert not page.app.error
    assert not page.app.exception
    assert set(page.warned()) == {sentence}
    return {name for name in page.lesson.benches if alerts(bench(page.app, name))["warning"]}


def drawn(page) -> set[str]:
    return {name for name in page.lesson.benches if figures(bench(page.app, name))}


@DAMAGES
def test_gates_page_reports_damaged_checkpoint_in_its_benches(visit, fresh, tmp_path, damage, lang):
    damage(fresh(checkpoints, tmp_path / "checkpoints") / "characters_lstm.safetensors")
    page = visit("gates", lang)
    harmed = told(page, "characters_lstm.safetensors")
    assert "watch" in harmed
    assert drawn(page) == set(page.lesson.benches) - harmed
    assert {"conventions", "size"} <= drawn(page)
    page.run(ga__watch__cell="gru", ga__force__cell="gru")  # the other network answers
    assert "watch" in drawn(page)


@DAMAGES
def test_bert_page_reports_damaged_result_in_its_benches(visit, fresh, tmp_path, damage, lang):
    folder = fresh(precomputed, tmp_path / "measured")
    index = json.loads((folder / "index.json").read_text("utf-8"))
    calls = {entry["call"]: entry["file"] for entry in index}
    file = folder / calls['direction {"model": "minilm", "sentences": 2000}']
    damage(file)
    page = visit("bert_accuracy", lang)
    harmed = told(page, file.name)
    assert harmed == {"looks", "compare"}  # two show it
    assert drawn(page) == set(page.lesson.benches) - harmed


@EACH
def test_bert_page_reports_damaged_result_index(visit, fresh, tmp_path, lang):
    folder = fresh(precomputed, tmp_path / "measured")
    cut(folder / "index.json")
    page = visit("bert_accuracy", lang)
    harmed = told(page, "index.json")
    assert {"knife", "fill", "padding", "looks", "tune", "search", "compare"} <= harmed
    assert set(page.lesson.benches) - harmed <= drawn(page)
    assert "count" not in harmed


@DAMAGES
def test_bert_page_reports_damaged_reviews(visit, fresh, tmp_path, damage, lang):
    damage(fresh(reviews, tmp_path / "data") / "movie_reviews.tsv.bz2")
    page = visit("bert_accuracy", lang)
    harmed = told(page, "movie_reviews.tsv.bz2")
    assert harmed
    assert set(page.lesson.benches) - harmed <= drawn(page)
    assert "count" not in harmed
