"""Learning to remember: RNN, LSTM and GRU trained side by side on tasks with a long delay.

Importing this package costs numpy only; torch is imported by the first comparison.
"""

from seqviz.compute.recall.comparison import compare
from seqviz.compute.recall.longest_delay import find_longest_delay
from seqviz.compute.recall.results import (
    Comparison,
    ComparisonReport,
    LongestDelay,
    LongestDelayReport,
)
from seqviz.compute.recall.seeds import compare_seeds
from seqviz.compute.recall.settings import CELLS, RecallSettings
from seqviz.compute.recall.tasks import TASKS, baseline
