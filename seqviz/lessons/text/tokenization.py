"""Benches on tokenization: seven tokenizers, byte-pair merges, WordPiece look-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from seqviz.compute.text.tokenization.cut import (
    Strips,
    Tokenization,
    display_width,
    graphemes,
    visible_form,
)
from seqviz.compute.text.tokenization.merges import LearnedMerges
from seqviz.core.errors import UserError
from seqviz.core.i18n import number, percent
from seqviz.data.reviews import sentiment_split
from seqviz.experiments.text.tokenization import cutters as cutter_tools
from seqviz.experiments.text.tokenization import learned as own
from seqviz.experiments.text.tokenization.vocabularies import ROLES, has_tokenizer
from seqviz.figures.text.tokenization.ladder import tried_prefixes
from seqviz.figures.text.tokenization.merges import bytes_per_token, pair_counts, pair_name
from seqviz.figures.text.tokenization.special import special_ids
from seqviz.figures.text.tokenization.strips import cut_strips, part_of, parts
from seqviz.lessons.framework.controls import choice, on, slider, step_slider, text_input, view
from seqviz.lessons.framework.lesson import read_params
from seqviz.lessons.framework.show import Show

TEXT = "AI and ML course is interesting and easy! 人工智能与机器学习这门课真有意思"
SAMPLE = "the newest and lowest film"  # one line
AMOUNTS = {"20": 20, "200": 200, "2000": 2000, "all": own.ALL}
REVIEWS = 8_072  # labeled reviews for training
COSTLY, FEW = 3, 4  # target: minimum tokens per character, minimum number of characters
_PARTS = 20  # more than a text of 500 wide characters has
_IDS = 60  # maximum number of ids listed
Values = Mapping[str, Any]


# --- cutters --------------------------------------------------------------------------------------


def _parts(values: Values) -> float:
    """Return the number of figures that a text needs."""
    text = text_of(values["text"], values["review"])
    return float(parts([display_width(grapheme) for grapheme in graphemes(text)]))


def text_of(typed: str, review: int) -> str:
    """Return the typed text, or the review with a number from 1 in its place."""
    return sentiment_split()[0].texts[review - 1] if review else typed


@dataclass(frozen=True)
class CuttersParams:
    """Controls of the bench on seven tokenizers."""

    view: str = view(("strips", "special"), "strips")
    text: str = text_input(TEXT, above=True, typed=True, when=on(view="strips"))
    strip: str = choice(cutter_tools.NAMES, "gpt2", menu=True, when=on(view="strips"))
    review: int = slider(0, REVIEWS, 0, more=True, when=on(view="strips"))
    special: str = choice(("added", "bare", *ROLES), "added", menu=True, more=True,
                          when=on(view="strips"))  # fmt: skip
    part: int = step_slider(1, _PARTS, 1, within=_parts,
                        when=lambda v: v["view"] == "strips" and _parts(v) > 1)  # fmt: skip


def cutters(p: CuttersParams, show: Show) -> None:
    if p.view == "special":
        return say_special(show)
    above = read_params("merges", MergesParams)
    learned = learned_above(above, show)
    names = cutter_tools.available_cutters()
    chosen = p.strip if p.strip in names else "gpt2"
    text = cutter_tools.inserted(text_of(p.text, p.review), chosen, p.special)
    cuts = show.run(cutter_tools.cut_by_all, text, names, learned, above.merges, name="cuts")
    show.figure(cut_strips, cuts, chosen, p.part)
    cut = show.derive(cuts.of, chosen, name="cut")
    show.readouts(cut, "tokens", unknown_share="share_unknown")
    chinese = show.readout("per_chinese", cuts.per_character, chosen, True)
    others = show.readout("per_other", cuts.per_character, chosen, False)
    key = "both" if chinese > 0 and others > 0 else "one"
    show.note(
        f"cutters.{key}", name=show.option("strip", chosen), tokens=cut.tokens,
        characters=len(text), chinese=chinese, others=others,
        times=chinese / others if key == "both" else float("nan"),
        each=cut.tokens / len(text),
    )  # fmt: skip
    if p.review:
        show.facts(sentiment_split()[0].described, p.review, note="cutters.review")
    say_back(text, cut, show)
    say_ids(chosen, cut, p.special, show)
    own, others_own = cutter_tools.special_typed(cuts, chosen)
    for key, tokens in (("special_read", own), ("special_plain", others_own)):
        if tokens:
            payload = show.words("lost.and").join(tokens)
            show.note(f"cutters.{key}", name=show.option("strip", chosen), found=payload)
    visible = part_of(cuts.columns.tolist(), p.part)
    if visible[-1][1] - visible[0][0] < len(cuts.characters):
        show.note(
            "cutters.part", first=visible[0][0] + 1, last=visible[-1][1], all=len(cuts.characters)
        )
    for gone in cutter_tools.missing():
        show.notice("cutters.missing", name=show.option("strip", gone))
    bill(cuts, show)
    each = cuts.of("gpt2").tokens / len(text)
    reached = each >= COSTLY and len(text) >= FEW
    show.target("costly", reached, each=each, characters=len(text))


def say_back(text: str, cut: Tokenization, show: Show) -> None:
    """State whether decoding restores the text, and what is lost."""
    if cut.back == text:
        return show.note("cutters.back")
    lost = [show.words(f"lost.{name}") for name in cut.lost]
    show.note("cutters.lost", lost=show.words("lost.and").join(lost),
        back=visible_form(cut.back),
              unknown=int(cut.unknown.sum()), share=cut.share_unknown)  # fmt: skip


def say_ids(chosen: str, cut: Tokenization, special: str, show: Show) -> None:
    """State the ids of the network's input, and what a change of the special tokens does."""
    names, ids = show.derive(cutter_tools.framed, chosen, cut, special == "bare", name="framed")
    if special != "added":
        name, token = (
            show.option("strip", chosen),
            show.derive(cutter_tools.token_of, chosen, special, name="token"),
        )
        left_out = len(cutter_tools.framed(chosen, cut)[1]) - len(ids)
        key = "bare" if special == "bare" else "inserted" if token else "no_role"
        show.note(f"cutters.{key}", name=name, token=token, left_out=left_out)
    if not ids or min(ids) < -1 or max(ids) < 0:
        return show.notice("cutters.no_ids", name=show.option("strip", chosen))
    some = ", ".join(str(item) if item >= 0 else "–" for item in ids[:_IDS])
    more = ", …" if len(ids) > _IDS else ""
    show.note("cutters.ids", count=len(ids), ids=f"{some}{more}",
        first=visible_form(names[0]),
              last=visible_form(names[-1]))  # fmt: skip


def bill(cuts: Strips, show: Show) -> None:
    """List the cost of each tokenizer, and what it loses."""
    every = [(name, cuts.of(name)) for name in cuts.names]
    show.rows("bill", {
        "cut.cutter": [show.text(f"figure.cut_{name}") for name, _ in every],
        "cut.tokens": [f"{cut.tokens:,}" for _, cut in every],
        "cut.chinese": [number(cuts.per_character(name, True)) for name, _ in every],
        "cut.others": [number(cuts.per_character(name, False)) for name, _ in every],
        "cut.unknown": [percent(cut.share_unknown) for _, cut in every],
        "cut.lost": [
            show.words("lost.and").join(show.words(f"lost.{item}") for item in cut.lost)
            or show.words("lost.nothing")
            for _, cut in every
        ],
    })  # fmt: skip


def say_special(show: Show) -> None:
    """Show the special tokens of the tokenizers."""
    result = show.derive(cutter_tools.special_tokens)
    show.figure(special_ids, result, tuple(ROLES))
    many = show.words("lost.and").join(
        f"{show.option('strip', name)} {len(tokens)}" for name, tokens in result.items()
    )
    written = {token for tokens in result.values() for token, _ in tokens.values()}
    never = [item for item in ("[BOS]", "[EOS]") if item not in written]
    show.note("cutters.special", many=many, roles=len(ROLES), different=len(written),
              never=show.words("lost.or").join(never))  # fmt: skip
    show.rows("special", {
        "cut.role": [show.text(f"figure.special_{role}") for role in ROLES],
        **{f"cut.{name}": [tokens.get(role, ("–", 0))[0] for role in ROLES]
           for name, tokens in result.items()},
    })  # fmt: skip


# --- merges ---------------------------------------------------------------------------------------


def _most(values: Values) -> float:
    """Return the number of merges that the corpus gives."""
    corpus, amount = values["corpus"], AMOUNTS[values["amount"]]
    if corpus == "reviews" and amount >= 200:
        return own.MAX_MERGES
    return float(len(own.learned(corpus, amount if corpus == "reviews" else own.ALL).pairs))


@dataclass(frozen=True)
class MergesParams:
    """Controls of the bench on byte-pair merges."""

    view: str = view(("frequent", "compression"), "frequent")
    corpus: str = choice(("reviews", "toy", "minbpe"), "reviews")
    amount: str = choice(tuple(AMOUNTS), "all", when=on(corpus="reviews"), more=True)
    merges: int = slider(0, own.MAX_MERGES, 300, within=_most)
    sample: str = text_input(SAMPLE, when=on(corpus=("reviews", "toy")), more=True)


def learned_as(p: MergesParams, show: Show) -> LearnedMerges:
    """Return the merges of the chosen corpus; those of all reviews are shipped with the app."""
    if p.corpus == "reviews" and p.amount == "all":
        return show.job(own.train_tokenizer, amount=own.ALL)
    return show.run(own.learned, p.corpus, amount_of(p))


def amount_of(p: MergesParams) -> int:
    """Return the number of reviews to learn from; all for other corpora."""
    return AMOUNTS[p.amount] if p.corpus == "reviews" else own.ALL


def learned_above(p: MergesParams, show: Show) -> LearnedMerges:
    """Return the merges for another bench, computed at once instead of in a job."""
    origin, result = show.origin, None
    if p.corpus == "reviews" and p.amount == "all":
        result = show.shipped(own.train_tokenizer, amount=own.ALL)
    show.origin = origin
    return result or show.run(own.learned, p.corpus, amount_of(p))


def merges(p: MergesParams, show: Show) -> None:
    learned = learned_as(p, show)
    amount = amount_of(p)
    if p.view == "compression":
        return say_compression(p, learned, amount, show)
    sample = "aaabdaaabac" if p.corpus == "minbpe" else p.sample
    now = show.derive(learned.after, p.merges, name="now")
    both = show.run(own.before_and_after, learned, p.merges, sample, name="both")
    show.figure(pair_counts, now, learned, both)
    show.readouts(now, "saved", symbols="vocabulary", corpus_bytes="per_token")
    show.note("merges.now", merges=p.merges, now=now)
    if now.counts.max(initial=0) > 1:
        key = "next" if now.equal == 1 else "tie"
        pair = pair_name(learned, now.pairs[0].tolist())
        show.note(f"merges.{key}", pair=pair, count=now.counts[0], equal=now.equal,
                  symbol=now.vocabulary)  # fmt: skip
    else:
        show.note("merges.end", merges=p.merges)
    cut = both.of("own")
    ids = ", ".join(map(str, cut.ids[:_IDS].tolist())) + (", …" if len(cut.ids) > _IDS else "")
    show.note("merges.sample", text=visible_form(sample),
              bytes=both.of("bytes").tokens, tokens=cut.tokens, ids=ids)  # fmt: skip


def say_compression(p: MergesParams, learned: LearnedMerges, amount: int, show: Show) -> None:
    """Show bytes per token of the texts that the merges were learned from, and of others."""
    text = "aaabdaaabac" if p.corpus == "minbpe" else p.sample
    if not text:
        raise UserError("no_text", "There is nothing to read. Type a text.")
    curves = show.run(own.compression, learned, p.corpus, amount, name="curves")
    line = show.run(own.compression_of, learned, text, name="line")
    show.figure(bytes_per_token, curves, line, p.merges)
    at = show.run(own.compression_at, learned, p.corpus, amount, p.merges, name="at")
    mine = show.run(own.compression_of, learned, text, p.merges, name="mine")
    values = [*at.per_token[:, 0].tolist(), float(mine.per_token[0, 0])]
    payload = dict(zip((*at.texts, "own"), values, strict=True))
    for name, value in payload.items():
        show.metric("bytes_" + name, value)
    if len(payload) > 2:
        show.note("merges.held", merges=p.merges, amount=amount, **payload,
                  gap=1 - values[1] / values[0],
                  further=1 - values[2] / values[0])  # fmt: skip
    else:
        show.note("merges.example", merges=p.merges, **payload)


# --- longest match --------------------------------------------------------------------------------


def _lookups(values: Values) -> float:
    """Return the number of look-ups of the word."""
    return (
        float(cutter_tools.prefix_lookups(values["word"]).lookups)
        if has_tokenizer(cutter_tools.ENCODER)
        else 1.0
    )


@dataclass(frozen=True)
class PrefixesParams:
    """Controls of the bench on WordPiece look-ups of one word, longest prefix first."""

    word: str = text_input("unaffable", 60)
    tries: int = step_slider(1, 2000, 0, within=_lookups, opens=_lookups)


def prefixes(p: PrefixesParams, show: Show) -> None:
    if not has_tokenizer(cutter_tools.ENCODER):
        show.model(cutter_tools.ENCODER)
    prefix_lookups = show.run(cutter_tools.prefix_lookups, p.word)
    tries = p.tries or prefix_lookups.lookups
    show.figure(tried_prefixes, prefix_lookups, tries)
    show.readouts(prefix_lookups, "lookups", "parts")
    done = prefix_lookups.after(tries)
    pieces = " ".join(visible_form(item) for item in done)
    if tries < prefix_lookups.lookups:
        show.note("ladder.so_far", tries=tries, all=prefix_lookups.lookups, pieces=pieces or "–")
    else:
        show.note(
            "ladder.unknown" if prefix_lookups.pieces == ("[UNK]",) else "ladder.all",
            tries=tries, word=visible_form(prefix_lookups.word), count=prefix_lookups.parts,
            pieces=pieces, ids=", ".join(map(str, prefix_lookups.ids)),
        )  # fmt: skip
    others = {
        word: show.run(cutter_tools.prefix_lookups, word, name=word)
        for word in ("playing", "interesting")
    }
    if all(len(item.pieces) == 1 for item in others.values()):
        show.note("ladder.whole", **{word: item.ids[0] for word, item in others.items()})
