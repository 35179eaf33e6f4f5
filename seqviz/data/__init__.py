"""Bundled real data, and uploaded series: `bundled`, `parse` and `column`."""

from seqviz.data.problems import PROBLEM_CODES, DataError, Remark
from seqviz.data.series import BUNDLED, Series, bundled
from seqviz.data.upload import FileTable, column, parse, remarks
