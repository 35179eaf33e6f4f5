"""Backpropagation through time: norms, paths and truncation of gradients.

Everything here needs only numpy; torch is imported when a check against autograd runs.
"""

from seqviz.compute.vanishing_gradients.cliff import (
    BIASES,
    NUDGE,
    WEIGHTS,
    DescentPath,
    ErrorSurface,
    surface,
    walk,
)
from seqviz.compute.vanishing_gradients.clipping import Descent, descend
from seqviz.compute.vanishing_gradients.experiment import (
    CELLS,
    INITS,
    LOSSES,
    SIGNALS,
    GradientExperiment,
    Signal,
    Unrolled,
    recurrent_matrix,
    signal,
    split,
    unroll,
)
from seqviz.compute.vanishing_gradients.norms import (
    FLOAT32,
    THRESHOLD,
    GradientReach,
    LogNorms,
    MatrixSpectrum,
    log_norms,
    reach,
    spectrum,
)
from seqviz.compute.vanishing_gradients.pairs import (
    NORMS,
    STATE_PARTS,
    PairNorms,
    PairSpectrum,
    pair_norms,
    pair_spectrum,
)
from seqviz.compute.vanishing_gradients.paths import PathContributions, Recursion, paths, recursion
from seqviz.compute.vanishing_gradients.simplified_gru import SimplifiedGRU, simplified_gru
from seqviz.compute.vanishing_gradients.truncation import (
    TRUNCATIONS,
    GradientTerms,
    Randomized,
    Truncation,
    randomized,
    terms,
    truncation,
)
from seqviz.compute.vanishing_gradients.weight_steps import MATRICES, WeightSteps, weight_steps
