"""The jobs on test sentences tell how far they are, and leave the shared model as it was."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.compute.bert_accuracy.results import FillSettings
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.bert_accuracy import direction, fill, padding, word_masking
from seqviz.jobs import CancelledError
from seqviz.models import texts
from tests.experiments.bert_accuracy import fill_file
from tests.models.reference_model import passed

TEST = sentiment_split()[1]


@pytest.fixture(scope="module", autouse=True)
def folder(minilm, tmp_path_factory):
    """A random fill-in file: what is asked here does not depend on how good it is."""
    path = tmp_path_factory.mktemp("jobs")
    with fill_file.installed(path, minilm.network):
        yield


def knife(count, report):
    return word_masking.mask_words("minilm", count, (0.0, 0.5), report)


def pads(count, report):
    return padding.padding("minilm", count, (16, 48), report)


def looks(count, report):
    return direction.direction("minilm", count, report, training=20)


def fills(count, report):
    return fill.fill_in(FillSettings(sentences=count), report)


@pytest.mark.parametrize("job", [knife, pads, looks, fills])
def test_job_reports_progress(job):
    reports = []
    result = job(12, lambda *report: reports.append(report))
    fractions = [fraction for _, fraction in reports]
    assert fractions == sorted(fractions)
    assert all(record == fraction for record, fraction in reports)
    assert fractions[-1] == pytest.approx(1)
    if job is not fills:
        assert 0 <= fractions[0] < 0.5
        np.testing.assert_array_equal(result.positive, TEST.positive[:12])


@pytest.mark.parametrize("job", [knife, pads, looks, fills])
def test_job_leaves_shared_model_unchanged_on_cancel(minilm, job):
    tokens, observed = texts.tokens(minilm, TEST.texts[0]), []
    before = passed(minilm.network, tokens)[1]

    def report(record, fraction=None):
        observed.append(fraction)
        if len(observed) == 2:
            raise CancelledError

    with pytest.raises(CancelledError):
        job(2000, report)
    assert len(observed) == 2
    np.testing.assert_array_equal(passed(minilm.network, tokens)[1], before)
