"""What a figure of the first lesson saves as CSV loads again, or is refused in a sentence."""

from __future__ import annotations

import numpy as np
import pytest

from seqviz.data import DataError, column, parse, remarks, upload
from seqviz.lessons import ar_fitting
from seqviz.ui.page import export

CASES = {
    "process": [{}, {"n": 50}, {"view": "lag_plot"}, {"view": "roots", "order": 3}],
    "real": [
        *({"view": view} for view in ("fan", "correlations", "order", "residuals")),
        {"source": "co2", "view": "correlations"},
        {"source": "macro_inflation", "view": "residuals"},
    ],
    "fit": [{}, {"view": "order"}],
    "forecast": [{}, {"view": "errors"}],
}
HAVE_A_SERIES = {("process", None), ("real", "correlations"), ("real", "residuals")}


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("bench", "values"), [(bench, case) for bench, cases in CASES.items() for case in cases]
)
def test_csv_export_loads_again_or_is_rejected(bench, values, lang):
    """An exported series round-trips; a table with several or short series is rejected."""
    figure = ar_fitting.lesson.benches[bench].run(values, lang).figure
    table = parse(export.csv(figure))
    name = table.numeric_columns[upload.likely(table)]
    if (bench, values.get("view")) in HAVE_A_SERIES:
        np.testing.assert_array_equal(column(table, name), figure.traces[0]["y"])
        assert [remark.code for remark in remarks(table, name)] == ["left_out"]
        return
    for other in table.numeric_columns:
        with pytest.raises(DataError) as caught:
            column(table, other)
        assert caught.value.code in ("several_series", "too_short")
        assert caught.value.code == "too_short" or caught.value.details["column"] == "series"
