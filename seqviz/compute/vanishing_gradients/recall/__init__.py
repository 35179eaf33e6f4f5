"""Comparison of RNN, LSTM and GRU trained side by side on tasks with a long delay.

Importing this package imports only numpy; torch is imported by the first comparison.
"""

from seqviz.compute.vanishing_gradients.recall.comparison import compare
from seqviz.compute.vanishing_gradients.recall.longest_delay import find_longest_delay
from seqviz.compute.vanishing_gradients.recall.results import (
    CellComparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.vanishing_gradients.recall.seeds import compare_seeds
from seqviz.compute.vanishing_gradients.recall.settings import CELLS, RecallSettings
from seqviz.compute.vanishing_gradients.recall.tasks import TASKS, baseline
