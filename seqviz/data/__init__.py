"""Real data: bundled series and files a student brings."""

from seqviz.data.problems import PROBLEM_CODES, DataError, Remark
from seqviz.data.series import BUNDLED, Series, bundled
from seqviz.data.upload import FileTable, column, parse, remarks
