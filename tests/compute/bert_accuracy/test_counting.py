"""Counts from a configuration against transformers' and peft's modules, which need no weights."""

from __future__ import annotations

from dataclasses import replace

import pytest

from seqviz.compute.bert_accuracy import counting
from seqviz.compute.bert_accuracy.counting import BERT_BASE, BERT_LARGE, DISTILBERT, MINILM

LORA = ("query", "key", "value", "attention.output.dense", "intermediate.dense", "output.dense")
ODD = replace(BERT_BASE, vocabulary=70, width=24, layers=3, heads=3, inner=50, positions=9)


def real_bert(config):
    """The module itself, with shapes but without memory."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    settings = BertConfig(
        vocab_size=config.vocabulary,
        hidden_size=config.width,
        num_hidden_layers=config.layers,
        num_attention_heads=config.heads,
        intermediate_size=config.inner,
        max_position_embeddings=config.positions,
        type_vocab_size=config.types,
        num_labels=config.classes,
    )
    with torch.device("meta"):
        return BertForSequenceClassification(settings)


def shapes(network) -> dict[str, tuple[int, ...]]:
    return {
        name.removeprefix("bert."): tuple(values.shape)
        for name, values in network.named_parameters()
    }


@pytest.mark.parametrize("config", [BERT_BASE, BERT_LARGE, MINILM, replace(ODD, classes=5)])
def test_count_matches_transformers_bert(config):
    expected = shapes(real_bert(config))
    result = counting.count(config)
    assert {part.name: part.shape for part in result.parts} == expected
    assert result.total == result.trainable == sum(part.parameters for part in result.parts)


def test_count_matches_transformers_distilbert():
    import torch
    from transformers import DistilBertConfig, DistilBertForSequenceClassification

    with torch.device("meta"):
        network = DistilBertForSequenceClassification(DistilBertConfig())
    result = counting.count(DISTILBERT, "head")
    # The names differ, so the shapes are compared in whatever order.
    assert sorted(part.shape for part in result.parts) == sorted(shapes(network).values())
    head = [name for name in shapes(network) if "classifier" in name]
    assert result.trainable == sum(network.get_parameter(name).numel() for name in head)


def test_count_reproduces_printed_numbers():
    assert counting.count(BERT_BASE, "head").total == 109_483_778  # row 0-70
    assert counting.count(BERT_BASE, "head").trainable == 1_538
    assert counting.count(DISTILBERT).total == 66_955_010
    totals = [
        counting.count(replace(config, classes=0)).total
        for config in (BERT_BASE, BERT_LARGE, DISTILBERT, MINILM)
    ]
    assert totals == [109_482_240, 335_141_888, 66_362_880, 22_713_216]  # D-52, pretrained.md


@pytest.mark.parametrize(("config", "rank"), [(MINILM, 8), (BERT_BASE, 4), (ODD, 1)])
def test_count_lora_matches_peft(config, rank):
    import torch
    from peft import LoraConfig, inject_adapter_in_model

    settings = LoraConfig(r=rank, target_modules=list(LORA))
    with torch.device("meta"):
        network = inject_adapter_in_model(settings, real_bert(config))
    expected = {
        name.replace(".default", ""): shape
        for name, shape in shapes(network).items()
        if "lora_" in name
    }
    result = counting.count(config, "lora", rank=rank)
    added = [part for part in result.parts if ".lora_" in part.name]
    assert {part.name: part.shape for part in added} == expected
    # Six matrices a layer: four width x width, two between width and inner.
    each = rank * (10 * config.width + 2 * config.inner)
    assert sum(part.parameters for part in added) == config.layers * each
    head = config.classes * (config.width + 1)
    assert result.trainable == config.layers * each + head
    assert result.total == counting.count(config).total + config.layers * each


@pytest.mark.parametrize("config", [BERT_BASE, DISTILBERT, ODD])
def test_count_trains_parts_of_regime(config):
    head = counting.count(config, "head").trainable
    assert counting.count(config, "random").trainable == 0
    pooler = config.pooler * (config.width + 1) * config.width
    layer = counting.count(config, "top", layers=1).trainable - head - pooler
    # Four matrices of the attention, two feed-forward, their biases, two normalizations.
    width, inner = config.width, config.inner
    assert layer == 4 * (width * width + width) + 2 * width * inner + inner + width + 4 * width
    for layers in range(config.layers + 1):
        assert counting.count(config, "top", layers=layers).trainable == (
            head + pooler + layers * layer
        )
    last = [part.name for part in counting.count(config, "top", layers=1).parts if part.trainable]
    assert all(
        f"layer.{config.layers - 1}." in name or "classifier" in name or "pooler" in name
        for name in last
    )
    for regime in ("top", "all"):
        with_pooler, without = (
            counting.count(config, regime, feature=f) for f in ("pooler", "mean")
        )
        assert with_pooler.trainable - without.trainable == pooler
    for regime in ("random", "head", "top", "all"):
        assert counting.count(config, regime).total == counting.count(config).total


def test_groups_partition_parameters():
    counted = counting.count(BERT_BASE, "lora", rank=8)
    result = counting.groups(counted)
    layers = [f"layer {i}" for i in range(1, 13)]
    assert [group.name for group in result] == [
        "embeddings", *layers, "pooler", "classifier", "lora"
    ]  # fmt: skip
    assert sum(group.total for group in result) == counted.total
    assert sum(group.trainable for group in result) == counted.trainable
    assert result[0].total == (30522 + 512 + 2) * 768 + 2 * 768
    assert result[-2].trainable == 1538
    distil = counting.groups(counting.count(DISTILBERT, "head"))
    assert [group.name for group in distil][-2:] == ["layer 6", "classifier"]
    assert distil[-1].trainable == 768 * 769 + 1538


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"regime": "some"}, "one of random"),
        ({"regime": "top", "layers": 13}, "Of 12 layers"),
        ({"regime": "lora", "rank": 0}, "rank"),
    ],
)
def test_count_rejects_bad_settings(settings, words):
    with pytest.raises(ValueError, match=words):
        counting.count(BERT_BASE, **settings)
