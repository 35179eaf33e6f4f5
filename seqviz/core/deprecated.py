"""Import aliases for modules and names of version 0.1, with a DeprecationWarning: `install`.

Notebooks exported by version 0.1 import the old names. The finder comes after Python's own
finders, so current names are never looked up here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import warnings
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

# Packages and modules. Submodules move with their package; the longest matching entry applies.
MODULES = {
    "seqviz.engine": "seqviz.integrations.ray",
    "seqviz.catalog": "seqviz.content.catalog",
    "seqviz.compute.accuracy": "seqviz.compute.bert_accuracy",
    "seqviz.compute.accuracy.findings": "seqviz.compute.bert_accuracy.results",
    "seqviz.compute.attention.findings": "seqviz.compute.attention.results",
    "seqviz.compute.autoregression": "seqviz.compute.ar_fitting",
    "seqviz.compute.bptt": "seqviz.compute.vanishing_gradients",
    "seqviz.compute.costs": "seqviz.compute.recurrent.costs",
    "seqviz.compute.decoding": "seqviz.compute.gpt",
    "seqviz.compute.gpt.losses": "seqviz.compute.gpt.surprise",
    "seqviz.compute.gpt.many": "seqviz.compute.gpt.draw",
    "seqviz.compute.gpt.uniform": "seqviz.compute.gpt.draw",
    "seqviz.compute.gpt.ways": "seqviz.compute.gpt.futures",
    "seqviz.compute.interpretability": "seqviz.compute.transformer.interpretability",
    "seqviz.compute.intervals": "seqviz.stats.intervals",
    "seqviz.compute.positions.findings": "seqviz.compute.positions.results",
    "seqviz.compute.proportions": "seqviz.stats.proportions",
    "seqviz.compute.recall": "seqviz.compute.vanishing_gradients.recall",
    "seqviz.compute.states": "seqviz.compute.recurrent.states",
    "seqviz.compute.tagging": "seqviz.compute.recurrent.tagging",
    "seqviz.compute.tokenization": "seqviz.compute.text.tokenization",
    "seqviz.compute.vectors": "seqviz.compute.text.vectors",
    "seqviz.compute.windows": "seqviz.compute.text.windows",
    "seqviz.compute.wirings": "seqviz.compute.recurrent.wirings",
    "seqviz.experiments.accuracy": "seqviz.experiments.bert_accuracy",
    "seqviz.experiments.architectures": "seqviz.experiments.transformer.architectures",
    "seqviz.experiments.bertviz_page": "seqviz.experiments.bertviz.page",
    "seqviz.experiments.bertviz_scripts": "seqviz.experiments.bertviz.scripts",
    "seqviz.experiments.costs": "seqviz.experiments.recurrent.costs",
    "seqviz.experiments.decoding": "seqviz.experiments.gpt",
    "seqviz.experiments.functional": "seqviz.experiments.transformer.functional",
    "seqviz.experiments.gpt.prompts": "seqviz.experiments.gpt.shots",
    "seqviz.experiments.gpt.ways": "seqviz.experiments.gpt.futures",
    "seqviz.experiments.head_effects": "seqviz.experiments.attention.head_effects",
    "seqviz.experiments.head_trials": "seqviz.experiments.attention.head_trials",
    "seqviz.experiments.interpretability": "seqviz.experiments.transformer.interpretability",
    "seqviz.experiments.states": "seqviz.experiments.recurrent.states",
    "seqviz.experiments.tagging": "seqviz.experiments.recurrent.tagging",
    "seqviz.experiments.tokenization": "seqviz.experiments.text.tokenization",
    "seqviz.experiments.vectors": "seqviz.experiments.text.vectors",
    "seqviz.experiments.windows": "seqviz.experiments.text.windows",
    "seqviz.figures.accuracy": "seqviz.figures.bert_accuracy",
    "seqviz.figures.accuracy.parts": "seqviz.figures.bert_accuracy.bars_and_labels",
    "seqviz.figures.attention.parts": "seqviz.figures.attention.inside_head",
    "seqviz.figures.autoregression": "seqviz.figures.ar_fitting",
    "seqviz.figures.costs": "seqviz.figures.recurrent.costs",
    "seqviz.figures.decoding": "seqviz.figures.gpt",
    "seqviz.figures.gates.looks": "seqviz.figures.gates.style",
    "seqviz.figures.gpt.labels": "seqviz.figures.gpt.scores",
    "seqviz.figures.gpt.losses": "seqviz.figures.gpt.surprise",
    "seqviz.figures.gpt.repeated": "seqviz.figures.gpt.surprise",
    "seqviz.figures.gpt.sizes": "seqviz.figures.gpt.cost",
    "seqviz.figures.gpt.written": "seqviz.figures.gpt.steps",
    "seqviz.figures.gradients": "seqviz.figures.vanishing_gradients",
    "seqviz.figures.gradients.parts": "seqviz.figures.vanishing_gradients.style",
    "seqviz.figures.grammar": "seqviz.plotting",
    "seqviz.figures.grammar.done": "seqviz.plotting.progress_figure",
    "seqviz.figures.grammar.still": "seqviz.plotting.static_image",
    "seqviz.figures.grammar.wordless": "seqviz.plotting.card_picture",
    "seqviz.figures.interpretability": "seqviz.figures.transformer.interpretability",
    "seqviz.figures.lac": "seqviz.figures.recurrent.lac",
    "seqviz.figures.positions.parts": "seqviz.figures.positions.style",
    "seqviz.figures.replicates": "seqviz.figures.seed_experiment",
    "seqviz.figures.states": "seqviz.figures.recurrent.states",
    "seqviz.figures.tagging": "seqviz.figures.recurrent.tagging",
    "seqviz.figures.tokenization": "seqviz.figures.text.tokenization",
    "seqviz.figures.vectors": "seqviz.figures.text.vectors",
    "seqviz.figures.windows": "seqviz.figures.text.windows",
    "seqviz.figures.wirings": "seqviz.figures.recurrent.wirings",
    "seqviz.glossary": "seqviz.content.glossary",
    "seqviz.models.branches": "seqviz.models.kv_tree",
    "seqviz.models.tap": "seqviz.models.attention_hook",
    "seqviz.models.together": "seqviz.models.micro_batch",
    "seqviz.refusal": "seqviz.core.errors",
    "seqviz.text": "seqviz.core.i18n",
    "seqviz.units": "seqviz.core.units",
}
# Functions and classes, by their current module.
NAMES: dict[str, dict[str, str]] = {
    "seqviz.compute.ar_fitting": {"Path": "SimulatedPath"},
    "seqviz.compute.attention.results": {
        "Map": "AttentionMap",
        "Parts": "HeadParts",
        "Text": "ReadText",
    },
    "seqviz.compute.attention.saturation": {"Saturation": "SoftmaxSaturation"},
    "seqviz.compute.attention.trials": {"Trials": "HeadTrials"},
    "seqviz.compute.attention.walkthrough": {"Walk": "AttentionWalkthrough"},
    "seqviz.compute.bert_accuracy.results": {
        "Answers": "SystemPredictions",
        "Knife": "WordMaskingCurve",
    },
    "seqviz.compute.gates.agreement": {"Pair": "AgreementPair"},
    "seqviz.compute.positions.sinusoidal": {"found_rotation": "fit_rotation"},
    "seqviz.compute.recurrent.costs.counting": {"Wiring": "NetworkSizes"},
    "seqviz.compute.recurrent.tagging.lac": {"Counted": "TagChanges", "Tagged": "TagSequence"},
    "seqviz.compute.recurrent.tagging.letters_compared": {"Estimate": "ErrorRate"},
    "seqviz.compute.recurrent.wirings.collapse": {"Collapse": "CollapseTrace"},
    "seqviz.compute.recurrent.wirings.graph": {"Wiring": "WiringGraph"},
    "seqviz.compute.recurrent.wirings.step": {"Steps": "CellSteps"},
    "seqviz.compute.text.tokenization.cut": {
        "Cut": "Tokenization",
        "seen": "visible_form",
        "width": "display_width",
    },
    "seqviz.compute.text.tokenization.merges": {"Learned": "LearnedMerges"},
    "seqviz.compute.text.vectors.learned": {"Learned": "LearnedVectors"},
    "seqviz.compute.text.windows.vocabulary": {
        "Beside": "LookupComparison",
        "Frequencies": "TokenFrequencies",
    },
    "seqviz.compute.transformer.interpretability.account": {"place": "part_location"},
    "seqviz.compute.transformer.normalization": {"Norms": "NormComparison"},
    "seqviz.compute.vanishing_gradients": {
        "Experiment": "GradientExperiment",
        "Reach": "GradientReach",
        "Spectrum": "MatrixSpectrum",
    },
    "seqviz.compute.vanishing_gradients.recall": {"Comparison": "CellComparison"},
    "seqviz.experiments.bert_accuracy.heads": {"known": "has_standard_head"},
    "seqviz.experiments.bert_accuracy.padding": {"own_padding": "pad_user_text"},
    "seqviz.experiments.bert_accuracy.systems": {"said_by": "predictions_of"},
    "seqviz.experiments.bert_accuracy.word_masking": {
        "knife": "mask_words",
        "own_knife": "mask_user_text",
    },
    "seqviz.experiments.gpt.futures": {"ways": "compare_decoding"},
    "seqviz.experiments.gpt.shots": {"asked": "build_prompt"},
    "seqviz.experiments.recurrent.states.writing": {"letters": "count_letters"},
    "seqviz.experiments.text.tokenization.cutters": {
        "here": "available_cutters",
        "ladder": "prefix_lookups",
    },
    "seqviz.experiments.text.tokenization.vocabularies": {"here": "has_tokenizer"},
    "seqviz.experiments.text.vectors.map": {"place": "project"},
    "seqviz.experiments.text.vectors.neighbors": {"known": "check_word"},
    "seqviz.experiments.transformer.interpretability.lens": {"asked": "default_position"},
    "seqviz.figures.gates.style": {"shown": "visible_symbols"},
    "seqviz.figures.vanishing_gradients.recall": {
        "ladder": "accuracy_by_delay",
        "ladder_progress": "accuracy_by_delay_progress",
    },
    "seqviz.plotting": {"plain": "escape"},
    "seqviz.plotting.tokens": {"plain": "escape"},
}
# Functions with bundled results (`precomputed.result`).
RESULTS = {"knife": "mask_words", "ways": "compare_decoding"}


def renamed(module: str) -> str | None:
    """Return the current name of a module of version 0.1; None where it was not renamed."""
    parts = module.split(".")
    for end in range(len(parts), 1, -1):
        if (moved := MODULES.get(".".join(parts[:end]))) is not None:
            return ".".join([moved, *parts[end:]])
    return None


def alias(name: str) -> property:
    """Return a property that reads a renamed field under its name of version 0.1.

    Args:
        name: current name of the field.
    """

    def read(result: Any) -> Any:
        warnings.warn(f"This field is now {name}.", DeprecationWarning, stacklevel=2)
        return getattr(result, name)

    return property(read)


def names_of(module: str) -> Callable[[str], Any]:
    """Return a module `__getattr__` that resolves names of version 0.1 by `NAMES`.

    Args:
        module: name of a module that was not renamed itself.
    """

    def look_up(name: str) -> Any:
        if (new := NAMES.get(module, {}).get(name)) is None:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        warnings.warn(f"{module}.{name} is now {new}.", DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], new)

    return look_up


class DeprecatedModuleFinder(MetaPathFinder):
    """Import finder for the module names of version 0.1."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return a spec for a renamed module, else None; see `MetaPathFinder`."""
        if not fullname.startswith("seqviz.") or (name := renamed(fullname)) is None:
            return None
        is_package = not fullname.endswith(".__main__")
        return ModuleSpec(fullname, _AliasLoader(name), is_package=is_package)


class _AliasLoader(Loader):
    """Loader of a module that resolves its names in the module that replaces it."""

    def __init__(self, name: str):
        self.name = name

    def get_code(self, _fullname: str) -> Any:
        """Return the code for `python -m` with an old name."""
        spec = importlib.util.find_spec(self.name)
        return spec.loader.get_code(self.name)  # type: ignore[union-attr]

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        importlib.import_module(self.name)  # raises ModuleNotFoundError for unknown submodules
        return ModuleType(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        now = sys.modules[self.name]
        names = NAMES.get(self.name, {})

        def look_up(name: str) -> Any:
            return getattr(now, names.get(name, name))

        module.__getattr__ = look_up  # type: ignore[method-assign]
        warnings.warn(f"{module.__name__} is now {self.name}.", DeprecationWarning, stacklevel=2)


def install() -> None:
    """Install the finder for modules of version 0.1 once per process."""
    if not any(isinstance(finder, DeprecatedModuleFinder) for finder in sys.meta_path):
        sys.meta_path.append(DeprecatedModuleFinder())
