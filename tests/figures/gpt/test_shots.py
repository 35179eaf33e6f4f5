"""Few-shot accuracy: the chosen condition stands out against the others."""

from __future__ import annotations

import pytest

from seqviz.compute.gpt.shots import CONDITIONS, FewShotAccuracy
from seqviz.figures.gpt.shots import shots_by_amount
from seqviz.plotting.style import LIGHT
from testing.fake import fake


@pytest.mark.parametrize("chosen", CONDITIONS)
def test_right_labels_and_chosen_condition_have_colors_and_intervals(chosen):
    figure = shots_by_amount(fake(FewShotAccuracy, condition=len(CONDITIONS)), chosen)
    lines = [t for t in figure.traces if "lines" in t["mode"] and t.get("xaxis", "x") == "x"]
    assert len({trace["line"].get("dash") for trace in lines}) == len(CONDITIONS)  # without colors
    for condition, trace in zip(CONDITIONS, lines, strict=True):
        is_shown = condition in ("right", chosen)
        assert (trace["line"]["color"] != LIGHT.baseline) == is_shown
        assert ("error_y" in trace) == is_shown
