"""What the pages for teachers promise: every link sets its bench, every number is what it shows.

`tools.build_teaching` says how a page marks them.
"""

from __future__ import annotations

import functools
import re

import pytest

from seqviz.core.i18n import LANGUAGES
from seqviz.core.units import unbroken
from seqviz.lessons.framework.lesson import Bench
from seqviz.lessons.framework.output import Output
from tests.tiers import alternate
from tools import build_teaching

PARTS = 5  # what they can say, the lesson, questions, homework, and where to go on


@functools.cache
def page(slug: str, lang: str) -> str:
    return (build_teaching.PAGES / f"{slug}.{lang}.md").read_text("utf-8")


def told(out: Output) -> str:
    """All words that stand around a figure, its description too."""
    visible = [
        f"{readout.label} {readout.value} {readout.caption or ''}"
        for readout in out.readouts.values()
    ]
    rendered = [item.figure.alt for item in out.items if hasattr(item, "figure")]
    return "\n".join([*visible, *out.notes, *rendered])


@functools.cache
def said(link: str) -> str:
    bench, values, language = build_teaching.setting(link)
    assert isinstance(bench, Bench)
    return told(bench.run(values, language, code=False))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", build_teaching.SLUGS)
def test_page_links_set_bench_in_page_language(slug, lang):
    links = build_teaching.links(page(slug, lang))
    assert len(links) >= 6
    for link in links:
        bench, _, language = build_teaching.setting(link)
        assert language == lang
        assert bench.lesson.slug == slug


@pytest.mark.parametrize(("slug", "lang"), alternate(build_teaching.SLUGS))
def test_page_numbers_match_bench(slug, lang):
    promised = list(build_teaching.promises(page(slug, lang)))
    assert len(promised) >= 12
    for item in promised:
        if item.formula:
            number = item.number.split()[0].removesuffix("%")
            digits = len(number.partition(".")[2])
            text = f"{build_teaching.value(item.formula):,.{digits}f}".replace("-", "−")
            assert number == text, f"line {item.line}"
        else:
            assert item.link, f"line {item.line}: {item.number} has no link before it"
            visible = said(item.link)
            assert build_teaching.shows(item.number, visible), (
                f"line {item.line}: {item.number}\n{visible}"
            )


@pytest.mark.parametrize("lang", LANGUAGES)
def test_page_rounding_bounds_match_bench(lang):
    """How large it is differs from one processor to another: a page says below what it is."""
    bound = re.compile(r"(?:less than|不到) 10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)")
    visible = re.compile(unbroken(r"([\d.]+) × 10⁻([⁰¹²³⁴⁵⁶⁷⁸⁹]+)"))
    plain = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    text = page("positions", lang)
    result = list(bound.finditer(text))
    assert len(result) == 3
    for item in result:
        link = build_teaching.links(text[: item.start()])[-1]
        small = [float(a) / 10 ** int(b.translate(plain)) for a, b in visible.findall(said(link))]
        assert small, link
        assert max(small) < 10.0 ** -int(item[1].translate(plain)), link


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", build_teaching.SLUGS)
def test_page_has_no_unpromised_number(slug, lang):
    assert not build_teaching.unpromised(page(slug, lang))


@pytest.mark.parametrize("slug", build_teaching.SLUGS)
def test_page_promises_agree_in_both_languages(slug):
    """The same benches at the same settings (a text may differ), and numbers as many.

    A page names the language of the defaults where its own ones are others.
    """
    ours = [
        sorted(
            re.sub(r"[\w.]+\.defaults=\w+&|lang=\w+|=[^&#]*%[^&#]*", "", link)
            for link in build_teaching.links(page(slug, lang))
        )
        for lang in LANGUAGES
    ]
    assert ours[0] == ours[1]
    numbers = [
        sorted(p.number for p in build_teaching.promises(page(slug, lang))) for lang in LANGUAGES
    ]
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("slug", build_teaching.SLUGS)
def test_page_has_all_parts_minutes_and_homework(slug, lang):
    """Its parts, fifty minutes, and two pieces of homework with a notebook each."""
    text = page(slug, lang)
    assert f"(/{slug}?lang={lang}{build_teaching.COURSE})" in text
    assert len(re.findall(r"^## ", text, re.MULTILINE)) == PARTS
    minutes = re.findall(r"^(\d+)\. \*(\d+)[–-](\d+) ", text, re.MULTILINE)
    starts, ends = [int(start) for _, start, _ in minutes], [int(end) for _, _, end in minutes]
    assert [*starts, 50] == [0, *ends]
    for number in (1, 2):
        name = f"notebooks/{slug}-{number}.{lang}.ipynb"
        assert f"({name})" in text
        assert (build_teaching.PAGES / name).exists()


# ------------------------------------------------------------------------- the checks can say no


@pytest.mark.parametrize(
    ("link", "why"),
    [
        ("/gate?lang=en#bench-force", "no lesson"),
        ("/gates?ga.force.f=0.95#bench-force", "language"),
        ("/gates?ga.force.f=0.95&lang=en", "fragment"),
        ("/gates?ga.force.f=2&lang=en#bench-force", "cannot be"),
        ("/gates?ga.force.f=0.90&lang=en#bench-force", "changed"),
        ("/gates?ga.force.f=0.9&lang=en#bench-force", "default"),
        ("/gates?ga.force.q=0.95&lang=en#bench-force", "cannot be"),
        ("/gates?ga.force.z=0.95&lang=en#bench-force", "apply"),
        ("/gates?ga.learn.task=parity&lang=en#bench-force", "not of this bench"),
    ],
)
def test_setting_rejects_wrong_link(link, why):
    with pytest.raises(ValueError, match=why):
        build_teaching.setting(link)


def test_setting_accepts_upstream_bench_parameter():
    bench, values, _ = build_teaching.setting("/gates?ga.watch.kind=parity&lang=en#bench-force")
    assert (bench.name, values) == ("force", {"watch.kind": "parity"})


def test_shows_matches_only_whole_numbers():
    assert build_teaching.shows("12.4", "it is 12.4.")
    assert not build_teaching.shows("12.4", "112.4, 12.45, 1,12.4")


def test_unpromised_reports_number_without_bold():
    assert build_teaching.unpromised("It ends at 54.4.") == ["line 1: 54.4"]
    assert not build_teaching.unpromised(
        "[f = 0.95](/gates?ga.force.f=0.95&lang=en#bench-force): **54.4**."
    )
    assert build_teaching.unpromised("答对 57.5%。") != []
