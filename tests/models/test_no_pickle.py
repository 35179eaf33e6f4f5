"""No pickle is loaded from anywhere, and nothing that a file or a student brings is run as code."""

from __future__ import annotations

import ast
import io
import json
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from seqviz.core.errors import UserError
from seqviz.core.i18n import ASSETS
from seqviz.data import DataError, parse, precomputed
from seqviz.experiments.bert_accuracy import features
from seqviz.models import pretrained, store
from tests.models.hub import sha256

ROOT = ASSETS.parent
PARTS = ("seqviz", "pages", "tools")  # what is served, and what makes what is served
RUN_WHAT_THEY_READ = ("pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve",
                      "marshal", "jsonpickle", "sqlite3.dump")  # fmt: skip
FILES = [ROOT / "app.py", *(p for part in PARTS for p in sorted((ROOT / part).rglob("*.py")))]


def called(node: ast.Call) -> str:
    """The name of what is called, as it is written: np.load, torch.load, eval."""
    return ast.unparse(node.func)


def keyword(node: ast.Call, name: str) -> str | None:
    return next((ast.unparse(k.value) for k in node.keywords if k.arg == name), None)


def faults(source: str) -> Iterator[str]:
    """What a file does that could run a stranger's code."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
            yield from (n for n in names if n.split(".")[0] in RUN_WHAT_THEY_READ)
        if not isinstance(node, ast.Call):
            continue
        name = called(node)
        last = name.rsplit(".", 1)[-1]
        if name in ("eval", "exec", "__import__", "compile") or last in (
            "read_pickle", "to_pickle", "unsafe_load", "full_load", "load_module",
        ):  # fmt: skip
            yield name
        if name in ("np.load", "numpy.load") and keyword(node, "allow_pickle") != "False":
            yield "np.load without allow_pickle=False"
        if name in ("torch.load", "torch.hub.load", "yaml.load", "os.system", "os.popen"):
            yield name
        if keyword(node, "shell") not in (None, "False"):
            yield f"{name}(shell=...)"
        if keyword(node, "persist") not in (None, "None", "False"):  # cache_data: pickles on disk
            yield f"{name}(persist=...)"
        if keyword(node, "trust_remote_code") not in (None, "False"):
            yield f"{name}(trust_remote_code=...)"
        # Unset, transformers asks at a terminal whether code from the folder may run.
        auto = last == "from_pretrained" or (last == "from_config" and "Auto" in name)
        if auto and keyword(node, "trust_remote_code") is None:
            yield f"{name} without trust_remote_code=False"
        if keyword(node, "allow_pickle") not in (None, "False"):
            yield f"{name}(allow_pickle=...)"
        model = last == "from_pretrained" and name.startswith(("maker", "AutoModel"))
        if model and not keyword(node, "gguf_file") and keyword(node, "use_safetensors") != "True":
            yield f"{name} without use_safetensors=True"


@pytest.mark.parametrize(
    "line",
    ["import pickle", "from joblib import load", "from pickle import loads", "np.load(path)",
     "np.load(path, allow_pickle=True)", "torch.load(path)", "eval(text)", "yaml.load(f)",
     "subprocess.run(c, shell=True)", "st.cache_data(persist='disk')", "pd.read_pickle(path)",
     "AutoModel.from_pretrained(f, trust_remote_code=False)", "AutoTokenizer.from_pretrained(f)",
     "tf.AutoModel.from_config(c)", "AutoConfig.from_pretrained(f, trust_remote_code=None)",
     "maker.from_pretrained(f, trust_remote_code=True)"],
)  # fmt: skip
def test_faults_detects_unsafe_line(line):
    assert list(faults(line))


# Between our own processes and a Ray cluster, which unpickles whatever it is sent itself: who can
# speak with it has the token and runs programs there anyway (docs/threats.md). None reads a file.
OF_THE_CLUSTER = ("seqviz/integrations/ray/client.py", "seqviz/integrations/ray/cluster.py")


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_source_file_has_no_unsafe_loading(path):
    existing = ["pickle"] if path.relative_to(ROOT).as_posix() in OF_THE_CLUSTER else []
    assert list(faults(path.read_text("utf-8"))) == existing


def test_local_engine_imports_no_ray_integration():
    """The app of everybody else has no such line: it is imported with SEQVIZ_ENGINE=ray alone."""
    arguments = (
        "import sys, seqviz.ui.app.application as app; app._engine('begin'); "
        "print([name for name in sys.modules if name.startswith('seqviz.integrations.ray')])"
    )
    environment = {**os.environ, "SEQVIZ_ENGINE": "local"}
    result = subprocess.run(
        [sys.executable, "-c", arguments],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert result.stdout.strip() == "[]"


def test_assets_contain_no_pickle_formats():
    kinds = {path.suffix for path in ASSETS.rglob("*") if path.is_file()}
    assert kinds.isdisjoint({".pkl", ".pickle", ".pt", ".pth", ".bin", ".ckpt", ".joblib", ".npy"})


class Bomb:
    """Unpickled, it leaves a mark on the disk."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self):
        return (Path.touch, (self.mark,))


@pytest.fixture
def bomb(tmp_path) -> tuple[bytes, Path]:
    mark = tmp_path / "it ran"
    raw = pickle.dumps(Bomb(mark))
    pickle.loads(raw)
    assert mark.exists(), "the bomb does not work, and the tests below would show nothing"
    mark.unlink()
    return raw, mark


def archive(bomb: Bomb) -> bytes:
    """An .npz whose arrays are objects, as numpy would pickle them."""
    buffer = io.BytesIO()
    arrays = dict.fromkeys(("cls", "mean", "pooler", "seconds"), np.array([bomb], object))
    np.savez(buffer, **arrays)
    mark = bomb.mark
    buffer.seek(0)
    with np.load(buffer, allow_pickle=True) as file:
        _ = file["cls"]
    assert mark.exists(), "the bomb does not work"
    mark.unlink()
    return buffer.getvalue()


def test_load_rejects_pickle_as_weights_without_running_it(put, bomb):
    raw, mark = bomb
    put(model__safetensors=raw)
    with pytest.raises(UserError) as caught:
        pretrained.load("tiny")
    assert caught.value.code == "model_broken"
    assert not mark.exists()


@pytest.mark.parametrize("name", ["pytorch_model__bin", "training_args__bin", "model__pkl"])
def test_load_ignores_pickle_next_to_weights(put, bomb, name):
    raw, mark = bomb
    put(**{name: raw})
    assert pretrained.load("tiny").network is not None
    assert not mark.exists()


def test_load_treats_pickle_only_model_as_not_fetched(put, bomb):
    raw, mark = bomb
    put(model__safetensors=None, pytorch_model__bin=raw)
    with pytest.raises(UserError) as caught:
        pretrained.load("tiny")
    assert caught.value.code == "not_fetched"
    assert not mark.exists()


def test_load_does_not_run_code_of_model_folder(put, config, bomb):
    """A repository may name a class of its own in its configuration."""
    _, mark = bomb
    code = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
    names = {"AutoModel": "own.Own", "AutoConfig": "own.Own", "AutoTokenizer": ["own.Own", None]}
    put(own__py=code.encode(), config__json=config(auto_map=names))
    pretrained.load("tiny")  # by transformers' own class of that architecture
    assert not mark.exists()


def test_load_neither_runs_nor_prompts_for_unknown_architecture(put, config, bomb, monkeypatch):
    """At a terminal transformers would ask whether it may: "y" would run it."""
    _, mark = bomb
    code = f"from pathlib import Path\nPath({str(mark)!r}).touch()\n"
    names = dict.fromkeys(("AutoModel", "AutoConfig", "AutoModelForCausalLM"), "own.Own")
    put(own__py=code.encode(), config__json=config(auto_map=names, model_type="own"))

    def asked(*_: object) -> str:
        raise AssertionError("somebody was asked")

    monkeypatch.setattr("builtins.input", asked)
    with pytest.raises(UserError) as caught:
        pretrained.load("tiny")
    assert caught.value.code == "model_broken"
    assert not mark.exists()


DEEP = "[" * 100_000, '{"a":' * 50_000


@pytest.mark.parametrize("content", [*DEEP, '{"files": 3}', "null", "\x00"])
def test_load_treats_invalid_manifest_as_not_fetched(put, content):
    (put() / store.MANIFEST).write_text(content, "utf-8")
    with pytest.raises(UserError) as caught:
        pretrained.load("tiny")
    assert caught.value.code == "not_fetched"


@pytest.mark.parametrize("content", [*DEEP, "null", "3"])
def test_load_rejects_invalid_config(put, content):
    put(config__json=content.encode())
    with pytest.raises(UserError) as caught:
        pretrained.load("tiny")
    assert caught.value.code == "model_broken"


def test_features_read_ignores_hostile_cache(tmp_path, bomb):
    raw, mark = bomb
    for number, content in enumerate((raw, archive(Bomb(mark)))):
        path = tmp_path / f"{number}.npz"
        path.write_bytes(content)
        assert features._read(path) is None
        assert not mark.exists()


def test_precomputed_rejects_hostile_result(tmp_path, monkeypatch, bomb):
    """Even where somebody has put its checksum into the index."""
    raw, mark = bomb
    monkeypatch.setattr(precomputed, "FOLDER", tmp_path)
    for name, content in (("raw", raw), ("archive", archive(Bomb(mark)))):
        (tmp_path / f"{name}.npz").write_bytes(content)
        entry = {"call": f"{name} {{}}", "file": f"{name}.npz", "sha256": sha256(content),
                 "date": "", "device": "", "seconds": 1, "result": {"array": "cls"}}  # fmt: skip
        (tmp_path / "index.json").write_text(json.dumps([entry]))
        precomputed._read.cache_clear()
        with pytest.raises(UserError) as caught:
            precomputed.result(name)
        assert caught.value.code == "damaged"
        assert not mark.exists()
    precomputed._read.cache_clear()


def test_parse_rejects_pickle_upload(bomb):
    raw, mark = bomb
    with pytest.raises(DataError):
        parse(raw)
    assert not mark.exists()
