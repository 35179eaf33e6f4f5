"""What a visitor of the lesson on attention sees, and what the library says it should be."""

from __future__ import annotations

from seqviz.lessons.framework import controls
from tests.pages.page_assertions import bench, figures

SLUG = "attention"
ENCODER = "The animal did not cross the street because it was too tired."
DECODER = "When Mary and John went to the store, John gave a drink to"
MODEL_BENCHES = ("real", "apart", "masks", "ablate")  # each waits for the model


def opened(visit, lang: str = "en", **settings: object):
    """The page with some settings in its link, "real__view" for one."""
    return visit(SLUG, lang, **{f"at__{key}": controls.encoded(v) for key, v in settings.items()})


def read_by(model: str) -> str:
    """The text that a model reads when nobody has changed it."""
    return ENCODER if model == "minilm" else DECODER


def whole(page, names=MODEL_BENCHES) -> bool:
    """Whether each of these benches has its figure, and no bench complains."""
    return not page.warned() and all(len(figures(bench(page.app, name))) == 1 for name in names)
