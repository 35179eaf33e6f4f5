"""What counts as a text is declared, and its reader says how many tokens it is."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator

import pytest

from seqviz import experiments
from seqviz.compute.gates import observation
from seqviz.core.errors import MessageError
from seqviz.experiments import attention, gates
from seqviz.models import checkpoints, texts
from seqviz.models.texts import ModelText, ReadBy, read_by, tokens_read
from seqviz.ui.quota.charging import QuotaScope, quota_checked
from seqviz.ui.runtime import run_context
from seqviz.ui.runtime.clients import ClientQuota, LeakyBucket

CHINESE = "这只动物没有过马路因为它太累了而且没有人介意所以它坐下来等待天亮了"[:32]
ENGLISH = "Unbelievably, the animal didn't cross the street: it was too tired."
NAMES = {"text", "texts", "other", "compare", "first", "second", "sentence", "pair", "prompt"}


@pytest.fixture
def account(monkeypatch) -> Iterator[ClientQuota]:
    """What one session has used, in a room of its own."""
    monkeypatch.setenv("SEQVIZ_SESSION_TOKENS", "6000")
    mine = ClientQuota(tokens=LeakyBucket(clock=lambda: 0.0))  # so that nothing drains
    with run_context.acting_as(run_context.Session("", 0.0, account=mine), "", ""):
        yield mine


@pytest.fixture(params=["minilm", "smollm2"])
def model(request):
    return request.getfixturevalue(request.param)


def call(function, *args, **keywords):
    with QuotaScope().charging():
        return quota_checked(function)(*args, **keywords)


def tells(model: str, text: ModelText, other: ModelText = "", over: str = "layer") -> None:
    """As an experiment; the last parameter is an option."""


def reads_many(model: str, texts: tuple[ModelText, ...], note: ModelText | None = None) -> None:
    """Several texts, and one that may not be there."""


def names_only(model: str, over: str, text: str) -> None:
    """Nothing is declared."""


@pytest.mark.parametrize("text", [CHINESE, ENGLISH], ids=["Chinese", "English"])
def test_quota_counts_tokenizer_tokens(account, model, text):
    assert (len(CHINESE), " " in CHINESE) == (32, False)
    counted = len(texts.tokens(model, text).ids)
    assert call(attention.count, model.card.name, text) == counted
    assert account.tokens.used == counted


def test_quota_ignores_model_names_and_options(account, minilm):
    long = "an option with so many words that it looks like a text"
    call(tells, "minilm", "", over=long)
    call(names_only, long, long, long)
    assert account.tokens.used == 0


def test_quota_counts_text_once_per_session(account, minilm):
    call(tells, "minilm", ENGLISH, ENGLISH)
    call(tells, "minilm", text="", other=ENGLISH)
    call(attention.count, "minilm", ENGLISH)
    assert account.tokens.used == len(texts.tokens(minilm, ENGLISH).ids)


def test_quota_counts_each_of_several_texts(account, minilm):
    call(reads_many, "minilm", (CHINESE, ENGLISH), "Hm.")
    expected = sum(tokens_read(minilm, text) for text in (CHINESE, ENGLISH, "Hm."))
    assert account.tokens.used == expected


def test_quota_rejects_new_text_over_limit(account, monkeypatch, minilm):
    monkeypatch.setenv("SEQVIZ_SESSION_TOKENS", "10")
    call(tells, "minilm", ENGLISH)
    with pytest.raises(MessageError) as caught:
        call(tells, "minilm", CHINESE)
    assert caught.value.code == "token_limit"
    call(tells, "minilm", ENGLISH)  # what has been read is there


@pytest.mark.parametrize("name", ["characters_lstm", "sentiment_gru", "latch_lstm"])
def test_quota_counts_symbols_of_small_network(account, name):
    text = {"latch_lstm": "1 . . 0 ."}.get(name, ENGLISH)
    observed = call(gates.observe, name, text, "h", by="correlation", feature="position")
    assert account.tokens.used == len(observed.pieces)


def test_quota_sums_symbols_of_several_networks(account):
    names = ("characters_lstm", "characters_gru")
    call(gates.expect, names, "The flights the airline was cancelling", "was", "were")
    assert account.tokens.used == 2 * (38 + 3 + 4)


def test_tokens_read_caps_long_text(minilm):
    network = checkpoints.load("characters_lstm")
    assert observation.symbols_read(network, "word " * 5000) == observation.MAX_SYMBOLS
    assert observation.symbols_read(network, " ") == 0
    assert tokens_read(minilm, "word " * 5000) == texts.MAX_TEXT_TOKENS


def test_tokens_read_returns_zero_for_empty_text(smollm2):
    assert tokens_read(smollm2, "") == 0


def test_quota_estimates_tokens_without_model(account):
    call(tells, "nobody_has_this_model", CHINESE)
    assert account.tokens.used == 32


def functions():
    """Every function that a module of `seqviz.experiments` offers."""
    for walk_package in pkgutil.walk_packages(experiments.__path__, "seqviz.experiments."):
        module = importlib.import_module(walk_package.name)
        for name, function in vars(module).items():
            here = inspect.isfunction(function) and function.__module__ == module.__name__
            if here and not name.startswith("_"):
                yield f"{walk_package.name}.{name}", function


def of_text(hint: object) -> bool:
    return hint is str or any(map(of_text, typing.get_args(hint)))


def test_experiments_declare_every_text_parameter():
    observed, missing = 0, []
    for position, function in functions():
        for name, hint in typing.get_type_hints(function).items():
            if name in NAMES and of_text(hint):
                observed += 1
                if name not in read_by(function):
                    missing.append(f"{position}: {name}")
    assert observed > 25
    assert not missing, "say who reads it, `Read` of seqviz.models.texts: " + ", ".join(missing)


def test_read_by_names_existing_parameter():
    for position, function in functions():
        for by in read_by(function).values():
            assert isinstance(by, ReadBy)
            assert by.reader in inspect.signature(function).parameters, position
