"""A decoder that writes, against transformers' own generate and against passes without a cache."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from seqviz.compute.gpt import draw
from seqviz.compute.gpt.continuation import parted
from seqviz.compute.gpt.cost import CacheTimes, readings
from seqviz.compute.gpt.filters import Chain
from seqviz.compute.gpt.methods import BEAMS, HOT, METHODS, NUCLEUS
from seqviz.compute.gpt.shots import CONDITIONS
from seqviz.core.errors import UserError
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.gpt import continuation, cost, methods, shots, surprise
from seqviz.experiments.gpt.beam import beam
from seqviz.experiments.gpt.futures import futures
from seqviz.jobs import CancelledError
from seqviz.models import kv_tree, texts
from seqviz.models.kv_tree import ROOT, KVCacheTree
from tests.models.hub import together
from tests.models.reference_model import in_place

PROMPTS = ("Hey readers, today is", "The capital of France is", "你好")
TEXT = PROMPTS[0]
ASKED = "<|im_start|>user\nSay only: yes<|im_end|>\n<|im_start|>assistant\n"


def ids_of(pretrained, text: str) -> torch.Tensor:
    return torch.tensor(texts.tokens(pretrained, text).ids)[None]


def logits_without_cache(pretrained, ids) -> torch.Tensor:
    with torch.inference_mode():
        return pretrained.network(torch.tensor(ids)[None], use_cache=False).logits[0]


def test_kv_tree_matches_uncached_passes_at_all_depths(shallow):
    """Rows of one batch that go on at the root, at first tokens and deeper ones."""
    prompt = texts.tokens(shallow, TEXT).ids

    def work(network, device):
        tree = KVCacheTree(network, device, prompt)
        first, _ = tree.extend([ROOT, ROOT], [260, 253])
        second, _ = tree.extend([first[0]], [1194])
        rows, logits = tree.extend(
            [second[0], ROOT, first[1], first[0], second[0]], [5, 6, 7, 8, 9]
        )
        return tree.logits, [tree.ids(row) for row in rows], logits

    root, paths, logits = shallow.run(work)
    assert paths == [(260, 1194, 5), (6,), (253, 7), (260, 8), (260, 1194, 9)]
    np.testing.assert_allclose(root, logits_without_cache(shallow, prompt)[-1], atol=1e-4)
    for path, row in zip(paths, logits, strict=True):
        plain = logits_without_cache(shallow, [*prompt, *path])[-1]
        np.testing.assert_allclose(row, plain, atol=3e-4)


def test_kv_tree_splits_many_rows_into_passes(shallow):
    prompt = texts.tokens(shallow, TEXT).ids
    some = list(range(300, 300 + kv_tree.ROWS + 3))

    def work(network, device):
        tree = KVCacheTree(network, device, prompt)
        nodes, logits = tree.extend([ROOT] * len(some), some)
        return nodes, logits, tree.extend([ROOT], some[-1:])[1]

    nodes, logits, alone = shallow.run(work)
    assert nodes == list(range(len(some)))
    np.testing.assert_allclose(logits[-1], alone[0], atol=3e-4)


def test_kv_tree_score_suffixes_matches_uncached_passes(shallow):
    prompt, rows = texts.tokens(shallow, TEXT).ids, [[260, 5, 7], [9], [11, 12], [13] * 5]

    def work(network, device):
        return KVCacheTree(network, device, prompt, rows=3).score_suffixes(rows)

    for row, result in zip(rows, shallow.run(work), strict=True):
        plain = logits_without_cache(shallow, [*prompt, *row])[-1]
        np.testing.assert_allclose(result, plain, atol=3e-4)


def test_kv_tree_log_probabilities_match_uncached_passes(shallow):
    prompt, rows = texts.tokens(shallow, TEXT).ids, [[260, 5, 7], [9], [11, 12], [13] * 5]

    def work(network, device):
        return KVCacheTree(network, device, prompt, rows=3).log_probabilities(rows)

    for row, result in zip(rows, shallow.run(work), strict=True):
        plain = np.asarray(logits_without_cache(shallow, [*prompt, *row]), float)
        logs = plain - np.log(np.exp(plain).sum(-1, keepdims=True))
        at = np.arange(len(prompt) - 1, len(prompt) + len(row) - 1)
        np.testing.assert_allclose(result, logs[at, row].sum(), atol=1e-3)


def test_kv_tree_rejects_exceeded_depth_and_node_limits(shallow, monkeypatch):
    def work(network, device):
        tree = KVCacheTree(network, device, np.array([260]))
        (node,), _ = tree.extend([ROOT], [5])
        tree.extend([node], [5])

    monkeypatch.setattr(kv_tree, "DEPTH", 1)
    with pytest.raises(ValueError, match="1 tokens in a row"):
        shallow.run(work)
    monkeypatch.undo()
    monkeypatch.setattr(kv_tree, "NODES", 1)
    with pytest.raises(ValueError, match="1 in all"):
        shallow.run(work)


@pytest.mark.parametrize(
    ("layers", "prompt"), zip(("smollm2", "shallow", "shallow"), PROMPTS, strict=True)
)
def test_greedy_matches_generate(request, layers, prompt):
    model = request.getfixturevalue(layers)
    result = continuation.greedy("smollm2", prompt, 12)
    ids = ids_of(model, prompt)
    full = model.network.generate(ids, max_new_tokens=12, do_sample=False)[0]
    assert list(result.ids) == full[ids.shape[1] :].tolist()
    logs = torch.log_softmax(logits_without_cache(model, full[:-1].numpy()).double(), -1)
    logs = logs[ids.shape[1] - 1 :]
    own = logs.gather(1, full[ids.shape[1] :, None])[:, 0].numpy()
    np.testing.assert_allclose(result.bits, -own / np.log(2), atol=1e-3)
    np.testing.assert_allclose(
        result.entropy, -(logs.exp() * logs).sum(-1).numpy() / np.log(2), atol=2e-3
    )
    assert result.log2 == pytest.approx(own.sum() / np.log(2), abs=1e-3)
    assert (result.rank == 1).all()
    assert result.candidates[:, 0].tolist() == list(result.ids)
    np.testing.assert_allclose(result.chances[:, 0], np.exp(own), atol=1e-3)


def test_generate_max_length_counts_prompt(shallow):
    """S4: a prompt of 5 tokens, max_length=20, so that 15 are written."""
    ids = ids_of(shallow, TEXT)
    full = shallow.network.generate(ids, max_length=20, min_length=20, do_sample=False)
    assert (ids.shape, full.shape) == ((1, 5), (1, 20))


def test_greedy_stops_at_end_token(smollm2):
    result = continuation.greedy("smollm2", ASKED, 40)
    ids = ids_of(smollm2, ASKED)
    full = smollm2.network.generate(ids, max_new_tokens=40, do_sample=False)[0]
    assert list(result.ids) == full[ids.shape[1] :].tolist()
    assert result.ended
    assert len(result.ids) < 40
    assert result.pieces[-1] == "<|im_end|>"
    assert not continuation.greedy("smollm2", TEXT, 3).ended


def test_greedy_continues_after_forced_tokens(shallow):
    plain = continuation.greedy("smollm2", TEXT, 6)
    other = int(plain.candidates[2, 1])
    forced = continuation.greedy("smollm2", TEXT, 3, after=(*plain.ids[:2], other))
    assert forced.ids[:3] == (*plain.ids[:2], other)
    assert parted(plain.ids, forced.ids) == 2
    assert forced.rank[2] == 2
    assert len(forced.ids) == 6
    next_token = continuation.next_token("smollm2", TEXT, forced.ids[:5])
    assert int(next_token.ids[0]) == forced.ids[5]


def test_next_token_matches_model_probabilities_and_rejects_encoder(smollm2):
    next_token = continuation.next_token("smollm2", TEXT)
    exact = torch.softmax(
        logits_without_cache(smollm2, next_token.prompt.ids)[-1].double(), -1
    ).numpy()
    assert len(next_token.ids) == draw.EXACT
    np.testing.assert_allclose(next_token.chances, exact[next_token.ids], rtol=1e-3)
    assert next_token.pieces[0] == "␣a"
    with pytest.raises(UserError) as caught:
        continuation.next_token("minilm", TEXT)
    assert caught.value.code == "decoder_only"


def test_sampled_inverts_cumulative_distribution(shallow):
    uniforms = tuple(np.random.RandomState(3).uniform(size=8))
    result = continuation.sampled("smollm2", TEXT, uniforms)
    ids = list(texts.tokens(shallow, TEXT).ids)
    for step, u in enumerate(uniforms):
        exact = torch.softmax(logits_without_cache(shallow, ids)[-1].double(), -1).numpy()
        token = result.ids[step]
        above = exact[exact > exact[token]].sum()
        assert above - 1e-3 <= u <= above + exact[token] + 1e-3
        assert result.sampling_probability[step] == pytest.approx(exact[token], rel=5e-3)
        ids.append(token)
    again = continuation.sampled("smollm2", TEXT, uniforms)
    assert again.ids == result.ids
    np.testing.assert_array_equal(again.bits, result.bits)


def test_sampled_filters_change_tokens_but_not_bits(shallow):
    """Sampling with top-k and a penalty, as generate with its processors and the given numbers."""
    from transformers import RepetitionPenaltyLogitsProcessor

    prompt = "I went home. I went home. I went"
    chain = Chain(penalty=1.5, top_k=2)
    result = continuation.sampled("smollm2", prompt, (0.99, 0.0, 0.99, 0.5), filters=chain)
    ids = list(texts.tokens(shallow, prompt).ids)
    punish = RepetitionPenaltyLogitsProcessor(1.5)
    for step, (token, u) in enumerate(zip(result.ids, (0.99, 0.0, 0.99, 0.5), strict=True)):
        logits = logits_without_cache(shallow, ids)[-1:].clone()
        own = torch.log_softmax(logits.double(), -1)[0, token]
        changed = punish(torch.tensor(ids)[None], logits)[0]
        two = changed.topk(2)
        probability = two.values.double().softmax(-1)[0]
        assert token == int(two.indices[0 if u < probability else 1])
        assert result.sampling_probability[step] == pytest.approx(
            float(probability if u < probability else 1 - probability), abs=1e-3
        )
        assert result.bits[step] == pytest.approx(-float(own) / np.log(2), abs=0.02)
        ids.append(token)
    plain = continuation.greedy("smollm2", prompt, 3)
    assert continuation.greedy("smollm2", prompt, 3, filters=chain).ids != plain.ids


def test_greedy_stops_on_cancel(shallow):
    payloads = []

    def report(record, share):
        payloads.append((record.text, share))
        if len(payloads) == 3:
            raise CancelledError

    with pytest.raises(CancelledError):
        continuation.greedy("smollm2", TEXT, 20, report=report)
    assert [share for _, share in payloads] == [0.05, 0.1, 0.15]
    assert all(after.startswith(before) for (before, _), (after, _) in pairwise(payloads))


def test_greedy_matches_single_runs_in_concurrent_threads(shallow):
    alone = [continuation.greedy("smollm2", prompt, 8) for prompt in PROMPTS[:2]]
    result = {}
    together(*(
        lambda item=prompt: result.update({item: continuation.greedy("smollm2", item, 8)})
        for prompt in PROMPTS[:2]
    ))  # fmt: skip
    for prompt, before in zip(PROMPTS, alone, strict=False):
        assert result[prompt].ids == before.ids
        np.testing.assert_array_equal(result[prompt].bits, before.bits)


@pytest.mark.parametrize(
    ("layers", "prompt", "beams", "count", "penalty"),
    [("shallow", PROMPTS[0], 3, 8, 1.0), ("shallow", PROMPTS[1], 4, 10, 0.0),
     ("shallow", PROMPTS[2], 2, 8, 2.0), ("smollm2", ASKED, 3, 16, 1.0),
     ("shallow", PROMPTS[0], 1, 6, 1.0)],
)  # fmt: skip
def test_beam_matches_generate(request, layers, prompt, beams, count, penalty):
    model = request.getfixturevalue(layers)
    result = beam("smollm2", prompt, beams, count, penalty)
    ids = ids_of(model, prompt)
    payload = model.network.generate(
        ids, max_new_tokens=count, num_beams=beams, num_return_sequences=beams, do_sample=False,
        length_penalty=penalty, early_stopping=False, output_scores=True,
        return_dict_in_generate=True,
    )  # fmt: skip
    for rank, hypothesis in enumerate(result.hypotheses):
        there = payload.sequences[rank, ids.shape[1] :].tolist()
        assert list(hypothesis.ids) == there[: len(hypothesis.ids)]
        assert set(there[len(hypothesis.ids) :]) <= {2}  # padding
        if beams > 1:
            assert hypothesis.score == pytest.approx(
                float(payload.sequences_scores[rank]), rel=1e-4
            )
        assert hypothesis.score == pytest.approx(hypothesis.log / len(hypothesis.ids) ** penalty)
    assert len(result.hypotheses) == beams
    assert any(item.ended for item in result.hypotheses) == prompt.startswith("<|im_start|>")
    # the rows of what was kept lead to the first hypothesis
    if not result.best.ended:
        row = next(k for k, token in enumerate(result.token[-1]) if token == result.best.ids[-1])
        path = []
        for step in range(count - 1, -1, -1):
            path.append(int(result.token[step, row]))
            row = int(result.parent[step, row])
        assert tuple(reversed(path)) == result.best.ids


@pytest.fixture(scope="module")
def tree(few_layers):
    with in_place(few_layers):
        greedy = continuation.greedy("smollm2", PROMPTS[1], 4)
        odd = (*greedy.ids[:1], 28132, 28132)
        return greedy, odd, futures("smollm2", PROMPTS[1], 4, 4, paths=(greedy.ids, odd))


def test_futures_probabilities_match_uncached_passes(shallow, tree):
    greedy, odd, result = tree
    assert result.log[result.nodes(greedy.ids)[-1]] == pytest.approx(
        greedy.log2 * np.log(2), abs=1e-3
    )
    prompt = list(result.prompt.ids)
    for node in (0, int(result.depth.argmax()), result.nodes(odd)[-1]):
        path = [int(result.token[k]) for k in result.path_to(node)]
        logs = torch.log_softmax(logits_without_cache(shallow, prompt + path).double(), -1)
        own = logs[len(prompt) - 1 : -1].gather(1, torch.tensor(path)[:, None]).sum()
        assert result.log[node] == pytest.approx(float(own), abs=1e-3)
    assert len(result.nodes(odd)) == 3


def test_futures_expands_most_probable_nodes(tree):
    _, odd, result = tree
    inner = [k for k in np.flatnonzero(result.expanded) if k not in result.nodes(odd)]
    still = result.log[~result.expanded & ~result.is_complete]
    # what was read was at no time less probable than what was left, but for the ways given
    assert np.sort(result.log[inner])[2] >= still.min()
    for node in inner:
        children = result.log[result.parent == node]
        assert (np.diff(children[:8]) <= 0).all()
        assert np.exp(children).sum() <= np.exp(result.log[node]) * (1 + 1e-9)
    assert result.covered < 1


def test_futures_best_matches_exhaustive_search(shallow):
    """Two steps, all followers of all likely first tokens."""
    prompt = "The capital of France is"
    ids = texts.tokens(shallow, prompt).ids
    first = torch.log_softmax(logits_without_cache(shallow, ids)[-1].double(), -1)
    best = -np.inf
    for token in first.argsort(descending=True)[:8].tolist():
        after = torch.log_softmax(logits_without_cache(shallow, [*ids, token])[-1].double(), -1)
        best = max(best, float(first[token] + after.max()))
    result = futures("smollm2", prompt, 2, 1)
    assert result.proven
    assert best > float(first.sort(descending=True).values[8])
    assert result.log[result.best] == pytest.approx(best, abs=1e-3)


def test_surprise_matches_model_probabilities(shallow):
    text = "I drink green tea. 你好。"
    result = surprise.surprise("smollm2", text)
    logs = torch.log_softmax(logits_without_cache(shallow, result.tokens.ids).double(), -1)[:-1]
    after = torch.tensor(result.tokens.ids[1:])[:, None]
    own = logs.gather(1, after)
    np.testing.assert_allclose(result.bits, -own[:, 0] / np.log(2), atol=1e-3)
    np.testing.assert_allclose(result.entropy, -(logs.exp() * logs).sum(-1) / np.log(2), atol=2e-3)
    np.testing.assert_array_equal(result.rank, 1 + (logs > own).sum(-1))
    assert result.answer[0] == texts.piece(shallow, int(logs[0].argmax()))
    with pytest.raises(UserError) as caught:
        surprise.surprise("smollm2", "a")
    assert caught.value.code == "one_token"


def test_repeated_matches_single_pass_logits(smollm2):
    from transformers import RepetitionPenaltyLogitsProcessor

    result = surprise.repeated("smollm2", "I like green tea in the morning.", 4, 1.3)
    item = texts.tokens(smollm2, " I like green tea in the morning.").ids
    full = np.tile(item, 4)
    assert result.bits.shape == (4, len(item))
    assert np.isnan(result.bits[0, 0])
    logits = logits_without_cache(smollm2, full)
    punish = RepetitionPenaltyLogitsProcessor(1.3)
    for position in (1, len(item), 3 * len(item) - 1, 4 * len(item) - 1):
        row = logits[position - 1].clone()[None]
        for changed, bits in (
            (row, result.bits),
            (punish(torch.tensor(full[:position])[None], row.clone()), result.penalized),
        ):
            own = torch.log_softmax(changed.double(), -1)[0, full[position]]
            assert bits.ravel()[position] == pytest.approx(-float(own) / np.log(2), abs=2e-3)
    means = result.mean_bits()
    assert (np.diff(means) < 0).all()
    assert result.probability(4) == pytest.approx(2 ** -result.bits[3, 1:].mean())
    assert result.probability(4, penalized=True) < result.probability(4)
    with pytest.raises(ValueError, match="positive"):
        surprise.repeated("smollm2", "I like tea", 2, 0)


def test_repeated_limits_copies_to_context(shallow):
    sentence = "word " * 200
    assert surprise.repeated("smollm2", sentence, 4).copies == 2


def test_spelled_renders_partial_characters_as_bytes(smollm2):
    ids = list(texts.tokens(smollm2, "语言 ok\n").ids)
    assert texts.spelled(smollm2, ids) == "语言 ok\n"
    first = texts.spelled(smollm2, ids[:1])
    assert first.startswith("‹")
    assert "�" not in texts.spelled(smollm2, ids[1:])
    assert texts.spelled(smollm2, [2]) == "<|im_end|>"


def test_time_cache_agrees_with_uncached_pass(shallow):
    payloads = []
    cache_times = cost.time_cache("smollm2", (4, 40), 2, lambda _, share: payloads.append(share))
    assert cache_times.seconds.shape == (3, 2, 2)
    assert (cache_times.seconds > 0).all()
    assert cache_times.agreement().variant == "same"
    assert cache_times.agreement()["difference"] < 1e-3
    assert cache_times.ranks.tolist() == [1, 1]
    assert cache_times.at("prefill", 40) > cache_times.at("decode", 40)
    assert cache_times.times(40) == cache_times.at("anew", 40) / cache_times.at("decode", 40) > 1
    assert payloads == [1 / 3, 2 / 3, 1]
    with pytest.raises(ValueError, match="1 to 512"):
        cost.time_cache("smollm2", (513,), 1)


def test_readings_match_tokens_entering_network(shallow):
    """Every token that enters the network while six are written behind a prompt of five."""
    entered = []
    table = shallow.network.get_input_embeddings()
    handle = table.register_forward_hook(lambda _, given, __: entered.append(given[0].numel()))
    try:
        prompt = len(continuation.greedy("smollm2", TEXT, 6).prompt.ids)
        assert sum(entered) == readings(prompt, 6)
        entered.clear()
        ids = ids_of(shallow, TEXT)
        shallow.network.generate(ids, max_new_tokens=6, do_sample=False, use_cache=False)
        assert sum(entered) == readings(prompt, 6, cached=False)
    finally:
        handle.remove()


def test_cache_times_agreement_detects_difference():
    seconds = np.ones((3, 2, 2))
    cache_times = CacheTimes(np.array([4, 8]), seconds, np.array([0.0, 3.0]), np.array([1, 2]))
    assert cache_times.agreement().variant == "differs"
    assert cache_times.agreement()["difference"] == 3


@pytest.fixture(scope="module")
def shown(few_layers):
    payloads = []
    report = lambda _, share: payloads.append(share)  # noqa: E731
    with in_place(few_layers):
        return shots.few_shots("smollm2", 6, 2, amounts=(0, 2), report=report), payloads


def test_few_shots_matches_full_prompt_passes(shallow, shown):
    result, payload = shown
    request = shots._short(sentiment_split()[1], 6)
    yes, no = (texts.tokens(shallow, word).ids[0] for word in (" positive", " negative"))
    for number, amount, condition in ((0, 0, "right"), (1, 2, "random"), (0, 2, "other")):
        at = CONDITIONS.index(condition), (0, 2).index(amount), number
        masses = []
        for row, (review, label) in enumerate(request):
            start = shots.beginning(number, amount, condition)
            full_text = f"{start}\n\n{shots.question(review)}" if start else shots.question(review)
            message = logits_without_cache(shallow, texts.tokens(shallow, full_text).ids)[
                -1
            ].softmax(-1)
            assert result.positive[at][row] == (message[yes] > message[no])
            assert result.right[at][row] == ((message[yes] > message[no]) == bool(label))
            assert result.named[at][row] == (int(message.argmax()) in (yes, no))
            masses.append(float(message[yes] + message[no]))
        assert result.mass[at] == pytest.approx(np.mean(masses), abs=1e-4)
    assert payload == pytest.approx(np.arange(1, 8) / 7)
    assert (result.draws, result.questions) == (2, 6)
    # without examples there is one condition
    assert (result.right[:, 0] == result.right[0, 0, 0]).all()


def test_examples_are_balanced_and_from_training_set():
    train, test = (set(part.texts) for part in sentiment_split())
    first = shots.examples(0)
    assert len(first) == 8
    assert all(sum(label for _, label in first[k : k + 2]) == 1 for k in range(0, 8, 2))
    assert {review for review, _ in first} <= train - test
    assert first != shots.examples(1)
    right, coin, other = (shots.beginning(3, 8, condition) for condition in CONDITIONS)
    assert right.startswith(shots.beginning(3, 2))
    assert shots.beginning(3, 2, described=True).startswith(shots.TASK)
    assert coin.replace("positive", "negative") == right.replace("positive", "negative")
    assert coin != right
    assert "Sentiment" not in other
    with pytest.raises(ValueError, match="even"):
        shots.few_shots("smollm2", 5)


def test_by_method_matches_generate_and_transformers_warpers(shallow, monkeypatch):
    from transformers import TopPLogitsWarper

    monkeypatch.setattr(methods, "STEPS", 6)
    payloads = []
    by_method = methods.by_method("smollm2", 2, report=lambda _, share: payloads.append(share))
    assert payloads == [0.5, 1]
    assert by_method.bits.shape == (len(METHODS), 2, 6)
    human = methods.sentences(shallow, 2, 0)
    start = torch.tensor(human[1][: methods.BEGINNING])[None]
    uniforms = np.random.RandomState([0, 1]).uniform(size=(4, 6))
    written = shallow.run(
        lambda network, device: methods.written(
            KVCacheTree(network, device, human[1][: methods.BEGINNING]),
            kv_tree.ends(shallow),
            human[1],
            uniforms,
        )
    )
    assert written[0].tolist() == human[1].tolist()
    for beams, row in ((1, 1), (BEAMS, 2)):
        payloads = shallow.network.generate(
            start, max_new_tokens=6, num_beams=beams, do_sample=False
        )
        assert written[row].tolist() == payloads[0].tolist()
    for row, u, change in (
        (3, uniforms[1], TopPLogitsWarper(NUCLEUS)),
        (4, uniforms[3], lambda _, scores: scores),
        (5, uniforms[2], lambda _, scores: scores / HOT),
    ):
        for step, token in enumerate(written[row][methods.BEGINNING :]):
            plain = logits_without_cache(shallow, written[row][: methods.BEGINNING + step])[-1:]
            exact = change(None, plain.clone())[0].double().softmax(-1).numpy()
            above = exact[exact > exact[token]].sum()
            assert exact[token] > 0
            assert above - 2e-3 <= u[step] <= above + exact[token] + 2e-3
    for row, full in enumerate(written):
        logs = torch.log_softmax(logits_without_cache(shallow, full).double(), -1)[:-1]
        own = logs.gather(1, torch.tensor(full[1:])[:, None])[methods.BEGINNING - 1 :, 0]
        np.testing.assert_allclose(by_method.bits[row, 1], -own / np.log(2), rtol=1e-3, atol=2e-3)
    assert "".join(by_method.beginning).replace("␣", " ") == shallow.tokenizer.decode(human[1][:8])
