"""A real cluster on this machine: the same readings, and trainings that app replicas share."""

from __future__ import annotations

import asyncio
import io
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import is_dataclass
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from seqviz.experiments import attention
from seqviz.integrations.ray import client
from seqviz.integrations.ray.version import code
from seqviz.jobs import JobQueue, queue
from seqviz.models import forward_cache, pretrained, texts
from testing.cluster import NO_RAY, cluster
from tests.integrations.ray import cluster_tasks

pytestmark = [
    pytest.mark.skipif(bool(NO_RAY), reason=NO_RAY),
    pytest.mark.timeout(300),
]
TEXTS = ("Dull.", "A film that is neither funny nor sad.", "It was, in the end, worth it.")
LONG = "Who looks at whom, and how strongly? " * 25  # some 250 tokens: 18 MB of weights
TOLERANCE = 1e-5  # float32 in another batch, relative to the largest


@pytest.fixture(scope="module")
def there():
    with cluster(2) as result:
        yield result


@pytest.fixture(scope="module")
def reads(there):
    """A model is there as well."""
    there.deploy("minilm", "--most", "1", "--processors", "0.5")


@pytest.fixture
def engine(there, monkeypatch):
    for name, value in there.environment.items():
        monkeypatch.setenv(name, value)
    engine = client.Engine(there.address, 20.0)
    monkeypatch.setattr(forward_cache, "remote_forward", engine.forward)
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    monkeypatch.setattr(queue, "remote_executor", engine.train)
    # Its first worker may be long in coming on a busy machine, which is another test's subject.
    monkeypatch.setattr(client, "FULL_SECONDS", 120.0)
    assert engine.wait(60), engine.state
    yield engine
    engine.close()


@pytest.fixture
def replicas():
    """The queues of two app replicas."""
    both = JobQueue(), JobQueue()
    yield both
    for item in both:
        item.close()


def same(result, mine) -> None:
    for part in ("weights", "norms", "vectors", "following"):
        a, b = getattr(result, part), getattr(mine, part)
        assert a.shape == b.shape
        assert np.abs(a - b).max(initial=0) <= TOLERANCE * np.abs(b).max(initial=1)
    assert result.tokens.pieces == mine.tokens.pieces
    assert np.array_equal(result.allowed, mine.allowed)


def check_readings(model: str) -> None:
    loaded = pretrained.load(model)
    with ThreadPoolExecutor(9) as pool:  # at once: they are read in common passes
        requests = [f"{text} {n}" for n in range(3) for text in TEXTS]
        result = list(pool.map(lambda text: forward_cache.read(model, text), requests))
    for text, item in zip(requests, result, strict=True):
        same(item, forward_cache.forward(loaded, texts.tokens(loaded, text)))


@pytest.mark.usefixtures("reads")
def test_cluster_forward_matches_local(engine):
    check_readings("minilm")
    assert engine.counts["forward", "answered"] == 9
    assert engine.cluster.replicas == {"minilm": 1}


@pytest.mark.usefixtures("reads")
@pytest.mark.parametrize("draw", [
    attention.head, attention.mosaic, attention.tensor,
    *(partial(attention.average, over=over) for over in attention.AVERAGES),
])  # fmt: skip
def test_cluster_sends_only_drawn_part_of_long_text(engine, draw):
    result = draw("minilm", LONG)
    sent = engine.bytes["forward"]
    assert engine.counts["forward", "answered"] == 2  # the reading without its weights; then this
    forward_cache._shelf = forward_cache.ForwardCache()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forward_cache, "remote_forward", None)
        mine = draw("minilm", LONG)
        full = forward_cache.read("minilm", LONG)
    near(result, mine)
    everything = draw is attention.tensor
    assert sent < full.weights.nbytes * (1.2 if everything else 0.12), sent


def near(result, mine) -> None:
    """Arrays within the tolerance, the rest equal."""
    if isinstance(result, bytes):
        result, mine = (dict(np.load(io.BytesIO(item))) for item in (result, mine))
    if is_dataclass(result):
        result, mine = vars(result), vars(mine)
    if isinstance(result, dict):
        assert result.keys() == mine.keys()
        for name in result:
            near(result[name], mine[name])
    elif isinstance(result, np.ndarray) and result.dtype.kind == "f":
        assert result.shape == mine.shape
        assert np.abs(result - mine).max(initial=0) <= TOLERANCE * np.abs(mine).max(initial=1)
    else:
        assert np.array_equal(result, mine)


@pytest.mark.nightly
def test_cluster_routes_repeated_text_to_same_replica(monkeypatch):
    with cluster(2) as two:
        for name, value in two.environment.items():
            monkeypatch.setenv(name, value)
        two.deploy("minilm", "--least", "2", "--most", "2", "--processors", "0.5")
        engine = client.Engine(two.address, 20.0)
        try:
            assert engine.wait(60)
            tokens = texts.tokens(pretrained.load("minilm"), LONG)
            request = partial(
                engine.forward, "minilm", tokens, forward_cache.OWN, None, cluster_tasks.process
            )
            first, _ = request()
            time.sleep(1.0)  # Ray passes on who has what
            assert {request()[0] for _ in range(8)} == {first}
        finally:
            engine.close()


def test_cluster_shares_equal_trainings_across_app_replicas(engine, replicas, tmp_path):
    """Equal trainings of two app replicas run once, and a later one gets the cached result."""
    mark = str(tmp_path / "runs")
    jobs = [
        replica.submit(cluster_tasks.count, n=60, mark=mark, owner="a", device="cpu")
        for replica in replicas
    ]
    for job in jobs:
        assert job.wait(60)
        assert list(job.result) == list(range(60))
        assert job.where
        assert job.trail[-1] == 59
        assert job.fraction == 1.0
    third = JobQueue()
    later = third.submit(cluster_tasks.count, n=60, mark=mark, owner="c", device="cpu")
    assert later.wait(20)
    assert later.state == "done"
    third.close()
    assert (tmp_path / "runs").read_text() == "begun\n"


def test_cluster_cancel_stops_job_and_remote_process(engine, replicas, tmp_path):
    mark = tmp_path / "runs"
    job = replicas[0].submit(cluster_tasks.silent, mark=str(mark), owner="a", device="cpu")
    while not mark.exists():
        time.sleep(0.05)
    began = time.monotonic()
    job.unsubscribe("a")
    assert job.wait(10)
    assert (job.state, time.monotonic() - began < 1.0) == ("cancelled", True)
    while engine.cluster.runs:
        assert time.monotonic() - began < 20
        time.sleep(0.1)


@pytest.mark.nightly
def test_cluster_passes_training_error_unchanged(engine, replicas):
    job = replicas[0].submit(cluster_tasks.refuses, word="x", owner="a", device="cpu")
    assert job.wait(60)
    assert (job.error.code, job.error.details) == ("no_word", {"word": "x"})


@pytest.mark.nightly
@pytest.mark.parametrize(("times", "state"), [(1, "done"), (2, "failed")])
def test_cluster_retries_dead_worker_once(engine, replicas, tmp_path, times, state):
    mark = tmp_path / "runs"
    job = replicas[0].submit(
        cluster_tasks.dies, times=times, mark=str(mark), owner="a", device="cpu"
    )
    assert job.wait(120)
    assert (job.state, job.note) == (state, "worker_died")
    assert mark.read_text() == "begun\n" * 2
    assert state == "done" or job.error.code == "worker_died"


# A model's deployment as another version of SeqViz leaves it: all that it is asked is which it is.
DEPLOYED = """
import sys
import ray
from ray import serve
from seqviz.integrations.ray.cluster import NAMESPACE, PREFIX

@serve.deployment(ray_actor_options={"num_cpus": 0})
class Reads:
    def __init__(self, version):
        self.version = version

    def code(self):
        return self.version

ray.init(address=sys.argv[1], namespace=NAMESPACE, log_to_driver=False)
if version := sys.argv[2]:
    serve.start(proxy_location="Disabled")
    serve.run(Reads.bind(version), name=PREFIX + "gpt2", route_prefix=None)
else:
    serve.delete(PREFIX + "gpt2")
"""


def test_cluster_marks_other_version_incompatible_until_redeployed(there, engine, caplog):
    def deploy(version: str) -> None:
        command = [sys.executable, "-c", DEPLOYED, there.address, version]
        subprocess.run(command, env=dict(there.environment), check=True, timeout=150)

    def becomes(state: str) -> bool:
        last = time.monotonic() + 60
        while engine.state != state and time.monotonic() < last:
            time.sleep(0.1)
        return engine.state == state

    assert engine.state == "connected"
    try:
        deploy("another")
        assert becomes("incompatible")
        assert engine.cluster.others == {"gpt2": "another"}
        assert "gpt2" not in engine.cluster.replicas
        assert f"the deployment of gpt2 runs another SeqViz (another, here {code()})" in caplog.text
        deploy(code())
        assert becomes("connected")
        assert engine.cluster.replicas["gpt2"] == 1
    finally:
        deploy("")


@pytest.mark.nightly
def test_cluster_rejects_wrong_token(there, monkeypatch, tmp_path):
    (tmp_path / "token").write_text("0" * 64)
    monkeypatch.setenv("RAY_AUTH_MODE", "token")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    engine = client.Engine(there.address, 20.0)
    assert not engine.wait(30)
    assert engine.state == "disconnected"
    engine.close()


@pytest.mark.nightly
def test_cluster_smollm2_matches_local_and_survives_head_restart(monkeypatch, tmp_path):
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    with cluster(2) as there:
        for name, value in there.environment.items():
            monkeypatch.setenv(name, value)
        there.deploy("smollm2", "--most", "1", "--processors", "0.5")
        engine = client.Engine(there.address, 60.0)
        monkeypatch.setattr(forward_cache, "remote_forward", engine.forward)
        monkeypatch.setattr(queue, "remote_executor", engine.train)
        jobs = JobQueue()
        try:
            assert engine.wait(60)
            check_readings("smollm2")
            assert engine.counts["forward", "answered"] == 9
            mark = tmp_path / "runs"
            job = jobs.submit(cluster_tasks.count, n=300, mark=str(mark), owner="a", device="cpu")
            while not mark.exists():
                time.sleep(0.05)
            there.kill(0)
            assert job.wait(60)
            assert (job.state, job.note, len(job.result)) == ("done", "cluster_away", 300)
            forward_cache.read("smollm2", "Here.")
            assert engine.state == "disconnected"
            there.nodes.clear()
            there.begin(2)
            there.deploy("smollm2", "--most", "1", "--processors", "0.5")
            assert engine.wait(60)
            forward_cache.read("smollm2", "There again.")
            assert engine.counts["forward", "answered"] == 10
        finally:
            jobs.close()
            engine.close()


def test_weights_share_reuses_one_file(monkeypatch, tmp_path):
    """Mapped, bit for bit, once for all processes."""
    from seqviz.integrations.ray import weights

    mine = pretrained.load("minilm")
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path))
    before = {name: parameter.clone() for name, parameter in mine.network.named_parameters()}
    path = weights.share(mine)
    changed = os.stat(path).st_mtime_ns
    assert weights.share(mine) == path
    assert os.stat(path).st_mtime_ns == changed
    for name, item in mine.network.named_parameters():
        assert item.equal(before[name])


def test_reads_batches_texts_of_similar_length(monkeypatch):
    """In this process, by Ray's own batches."""
    from ray import serve

    from seqviz.integrations.ray.cluster import TOKENS, Reads

    model = pretrained.load("minilm")
    monkeypatch.setattr(forward_cache, "_shelf", forward_cache.ForwardCache())
    passes: list[list[int]] = []
    forwards = forward_cache.forwards

    def noted(loaded, request):
        passes.append([len(tokens.ids) for tokens, _ in request])
        return forwards(loaded, request)

    monkeypatch.setattr(forward_cache, "forwards", noted)
    here = SimpleNamespace(_deployment_config=SimpleNamespace(max_ongoing_requests=64))
    monkeypatch.setattr(serve, "get_replica_context", lambda: here)
    reads = Reads.func_or_class("minilm")
    monkeypatch.setattr(reads, "_has", lambda name: asyncio.sleep(0))
    words = [[text, f"{n} {LONG}"][n % 2] for n, text in enumerate([*TEXTS, *TEXTS[:1]] * 3)]
    requests = [texts.tokens(model, f"{word} {n}") for n, word in enumerate(words)]
    ended: list[int] = []

    async def one(tokens):
        result = await reads(tokens, forward_cache.OWN, forward_cache.sent)
        ended.append(len(tokens.ids))
        return result

    async def every():
        return await asyncio.gather(*map(one, requests))

    for tokens, outcome in zip(requests, asyncio.run(every()), strict=True):
        mine = forward_cache.forward(model, tokens)
        same(outcome, forward_cache.sent(mine))
    for lengths in passes:
        assert max(lengths) - min(lengths) < forward_cache.LENGTH_GROUP
        assert max(lengths) * len(lengths) <= TOKENS
    assert len(passes) < len(requests)
    assert ended[-1] > 200
    assert sorted(ended[: len(requests) // 2])[-1] < 50
