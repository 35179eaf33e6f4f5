"""Subset Streamlit's fonts: `pip install fonttools brotli`, `python tools/fonts.py`.

Streamlit's icon font has 4,300 icons in 375 kB, of which a page shows 20; its text fonts cover all
scripts of Adobe's originals. A file in `assets/fonts` has the name of Streamlit's file, which
contains a hash, and is served in its place (`seqviz/ui/server/static_files.py`); a Streamlit
version with another font serves its own. `contents.txt` lists the glyphs, and a test compares it
with the texts of the app. Other characters, such as Chinese, use the reader's fonts.

Adobe reserves the name "Source" for its own files (OFL), so the subsets have other internal names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import streamlit
from fontTools import subset
from fontTools.ttLib import TTFont

ROOT = Path(__file__).resolve().parent.parent
FONTS = ROOT / "assets" / "fonts"
STREAMLIT = Path(streamlit.__file__).parent
ICONS = "MaterialSymbols-Rounded"
TYPE = ("SourceSansVF-Upright", "SourceSansVF-Italic", "SourceCodeVF-Upright")
SIGNS = "abcdefghijklmnopqrstuvwxyz0123456789_"  # characters of icon names
# Western and Central European letters, Greek; sub- and superscripts, arrows, mathematical signs.
RANGES = ((0x20, 0x7E), (0xA0, 0x17F), (0x391, 0x3C9), (0x2010, 0x2027), (0x2030, 0x203A),
          (0x2070, 0x209C), (0x2190, 0x2199), (0x2200, 0x2265))  # fmt: skip
CHINESE = range(0x3000, 0xFB00)


def written() -> set[int]:
    """Return the code points of all texts of the app, without Chinese."""
    texts = [*ROOT.glob("assets/l*/**/*.md"), *ROOT.glob("assets/l*/**/*.toml"),
             *ROOT.glob("seqviz/**/*.py")]  # fmt: skip
    signs = {ord(sign) for text in texts for sign in text.read_text("utf-8")}
    return {sign for sign in signs if sign >= 0x20 and sign not in CHINESE}


def named() -> set[str]:
    """Return icon names used by the app and Streamlit, and other possible names in its scripts."""
    ours = [*ROOT.glob("seqviz/**/*.py"), *ROOT.glob("pages/*.py"), ROOT / "app.py"]
    scripts = list((STREAMLIT / "static" / "static" / "js").glob("*.js"))
    results: set[str] = set()
    for path in (*ours, *scripts):
        text = path.read_text("utf-8")
        results.update(re.findall(r":material/([a-z0-9_]+)", text))
        if path in scripts:
            results.update(re.findall(r"[\"'`]([a-z]+_[a-z0-9_]+)[\"'`]", text))
    return results


def ligatures(font: TTFont) -> dict[str, str]:
    """Return the glyph of each icon by name."""
    sign = {glyph: chr(code) for code, glyph in font.getBestCmap().items()}
    result = {}
    for lookup in font["GSUB"].table.LookupList.Lookup:
        for table in lookup.SubTable:
            table = getattr(table, "ExtSubTable", table)
            for first, ends in table.ligatures.items():
                for end in ends:
                    result["".join(sign[entry] for entry in (first, *end.Component))] = end.LigGlyph
    return result


def write(source: Path, signs: Iterable[int], glyphs: Iterable[str], closed: bool) -> None:
    """Write a subset of a font.

    Args:
        source: Streamlit's font.
        signs: code points to keep.
        glyphs: further glyphs to keep.
        closed: also keep the ligatures of these characters.
    """
    options = subset.Options(flavor="woff2", layout_closure=closed, name_IDs=[0, 1, 2, 13, 14])
    font = subset.load_font(str(source), options)
    chosen = subset.Subsetter(options)
    chosen.populate(unicodes=signs, glyphs=glyphs)
    chosen.subset(font)
    for record in font["name"].names:
        if record.nameID == 1:
            record.string = f"SeqViz {source.name.split('.')[0].replace('Source', '')}"
    subset.save_font(font, str(FONTS / source.name), options)
    print(f"{source.name}: {source.stat().st_size:,} to {(FONTS / source.name).stat().st_size:,}")


def main() -> None:
    media = STREAMLIT / "static" / "static" / "media"
    FONTS.mkdir(exist_ok=True)
    for old in FONTS.glob("*.woff2"):
        old.unlink()
    signs = written() | {code for first, last in RANGES for code in range(first, last + 1)}
    for name in TYPE:
        (source,) = media.glob(f"{name}.*")
        write(source, signs, (), closed=True)
    (source,) = media.glob(f"{ICONS}.*")
    all_icons = ligatures(TTFont(source))
    icons = sorted(named() & set(all_icons))
    write(source, map(ord, SIGNS), [all_icons[icon] for icon in icons], closed=False)
    lines = (" ".join(icons), "".join(map(chr, sorted(signs))))
    (FONTS / "contents.txt").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
