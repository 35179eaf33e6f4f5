"""A declaration with a control of every kind, for the tests in this folder."""

from __future__ import annotations

from dataclasses import dataclass

from seqviz.lessons.framework.controls import (
    choice,
    localized,
    on,
    seed,
    select_slider,
    slider,
    text_input,
    toggle,
    view,
)

METHODS = ("ols", "yule_walker", "exact_ml")


@dataclass(frozen=True)
class Sample:
    """Every kind of control, front and behind "more", free and bound to another one."""

    figure: str = view(("loss", "map"), "loss")
    phi: float = slider(-1.2, 1.2, 0.8, 0.01)
    order: int = slider(1, 5, 1)
    n: int = select_slider((50, 100, 5000), 100)
    rate: float = select_slider((0.0003, 0.01, 0.1), 0.01, more=True)
    noise: str = choice(("gaussian", "student_t"), "gaussian", menu=True)
    cell: str = choice(("mlp", "rnn"), "rnn")
    methods: tuple[str, ...] = choice(METHODS, METHODS, many=True)
    shuffle: bool = toggle(False)
    seed: int = seed(1, more=True)
    second: float = slider(0.0, 1.0, 0.5, 0.05, when=lambda v: v["order"] > 1)


@dataclass(frozen=True)
class Localized:
    """A text and a choice that open differently in Chinese, beside a control that does not."""

    view: str = view(("order", "tags"), "order")
    line: str = localized(text_input("dog bites man", when=on(view="order")), zh="狗咬人")
    task: str = localized(choice(("spaces", "words"), "spaces"), zh="words")
    n: int = slider(1, 9, 3)
