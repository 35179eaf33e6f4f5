"""Effects of eval() and train(), which switch dropout and not gradients."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from seqviz.compute.bert_accuracy.results import LinearHead, ModeComparison
from seqviz.experiments.bert_accuracy.encoding import hidden, pad, pooled, tokenize
from seqviz.experiments.bert_accuracy.heads import standard_head
from seqviz.experiments.bert_accuracy.trainable_copy import DropoutGenerator, make_trainable
from seqviz.models.pretrained import Pretrained, load
from seqviz.models.texts import ModelText, ReadBy

MODES = ("eval", "train")


def modes(model: str, text: ModelText, repeats: int = 20, seed: int = 0) -> ModeComparison:
    """Run a sentence repeatedly in evaluation and in training mode, without training.

    `network.train()` switches dropout on and `network.eval()` off; in an encoder they do nothing
    else. Gradients are a separate switch: `gradient` [mode, no_grad] is tested as is and under
    `torch.no_grad()`. The standard head reads the mean.

    Args:
        model: name of the encoder.
        text: the sentence, truncated to 64 tokens.
        repeats: number of runs in each mode.
        seed: seed of dropout.
    """
    return measure(load(model), standard_head(model), text, repeats, seed)


def measure(
    pretrained: Pretrained,
    head: LinearHead,
    text: Annotated[str, ReadBy("pretrained")],
    repeats: int,
    seed: int,
) -> ModeComparison:
    """Run `modes` with any head on the mean.

    Args:
        pretrained: the encoder.
        head: the classification head.
        text: the sentence, truncated to 64 tokens.
        repeats: number of runs in each mode.
        seed: seed of dropout.
    """
    import torch

    from seqviz.experiments.bert_accuracy.host_dropout import HostDropout

    ids = tokenize(pretrained, [text])
    trainable_copy = make_trainable(pretrained, "head")
    generator = DropoutGenerator(seed, trainable_copy.device)
    weight = torch.tensor(head.weight, device=trainable_copy.device, requires_grad=True)
    bias = torch.tensor(head.bias, device=trainable_copy.device)

    def logits(count: int) -> torch.Tensor:
        batch = pad(ids * count, pretrained.tokenizer.pad_token_id)
        with generator.installed(), HostDropout():  # every device shows the same draws
            last, pooler = hidden(trainable_copy.network, trainable_copy.device, batch)
        real = torch.from_numpy(batch.real).to(trainable_copy.device)
        return pooled(last, pooler, real).mean @ weight.T + bias

    probability = np.zeros((len(MODES), repeats))
    gradient = np.zeros((len(MODES), 2), bool)
    for row, mode in enumerate(MODES):
        trainable_copy.network.train(mode == "train")
        with torch.no_grad():
            probability[row] = torch.softmax(logits(repeats), 1)[:, 1].cpu().numpy()
        for column, computed in enumerate((True, False)):
            with torch.set_grad_enabled(computed):  # False is what no_grad() does
                gradient[row, column] = logits(1).requires_grad
    return ModeComparison(MODES, probability, gradient)
