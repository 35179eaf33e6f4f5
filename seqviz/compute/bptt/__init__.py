"""Backpropagation through time, measured: how far an error reaches, and by which paths.

Everything here needs only numpy; the check against autograd imports torch when it is asked for.
"""

from seqviz.compute.bptt.cliff import BIASES, WEIGHTS, Surface, Walk, surface, walk
from seqviz.compute.bptt.clipping import Descent, descend
from seqviz.compute.bptt.experiment import (
    CELLS,
    INITS,
    LOSSES,
    SIGNALS,
    Experiment,
    Signal,
    Unrolled,
    recurrent_matrix,
    signal,
    split,
    unroll,
)
from seqviz.compute.bptt.norms import (
    FLOAT32,
    THRESHOLD,
    LogNorms,
    Reach,
    Spectrum,
    log_norms,
    reach,
    spectrum,
)
from seqviz.compute.bptt.pairs import (
    NORMS,
    PARTS,
    PairNorms,
    PairSpectrum,
    pair_norms,
    pair_spectrum,
)
from seqviz.compute.bptt.paths import Paths, Recursion, paths, recursion
from seqviz.compute.bptt.simplified_gru import SimplifiedGRU, simplified_gru
from seqviz.compute.bptt.truncation import (
    KINDS,
    Randomized,
    Terms,
    Truncation,
    randomized,
    terms,
    truncation,
)
from seqviz.compute.bptt.weight_steps import MATRICES, WeightSteps, weight_steps
