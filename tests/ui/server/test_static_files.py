"""What a browser loads once: compressed, kept, and the same bytes as on the disk."""

from __future__ import annotations

import gzip
import hashlib
import http.client
import re
from pathlib import Path
from urllib.parse import urlsplit

import brotli
import pytest
import streamlit as st

from seqviz.core import brotli_assets
from seqviz.core.paths import ASSETS, ROOT, STATIC
from seqviz.ui.server import index_page, policy, static_files
from tools import vendor

OPENED = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}
FOREVER = static_files.FOREVER.decode()


def get(server, path, **headers):
    line = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=20)
    line.request("GET", path, headers={name.replace("_", "-"): v for name, v in headers.items()})
    answer = line.getresponse()
    return answer.status, answer.headers, answer.read()


def versioned(name: str) -> str:
    return f"{static_files.OURS}{static_files.digest()}/{name}"


@pytest.mark.parametrize(("accepted", "encoding"), [
    ("gzip, deflate, br, zstd", "br"), ("gzip", "gzip"), ("identity", None),
])  # fmt: skip
def test_static_file_negotiates_content_encoding(server, accepted, encoding):
    path = f"{static_files.OURS}bench/chart.js"
    status, headers, body = get(server, path, Accept_Encoding=accepted)
    assert (status, headers["content-encoding"]) == (200, encoding)
    assert OPENED[encoding](body) == (STATIC / "bench/chart.js").read_bytes()
    if encoding:
        assert headers["vary"] == "Accept-Encoding"
        again = get(server, path, Accept_Encoding=accepted, If_None_Match=headers["etag"])
        assert (again[0], again[2]) == (304, b"")


def test_static_file_caches_forever_only_with_hash(server):
    """Files without a hash in their name are revalidated."""
    retained = get(server, versioned("bench/live.js"), Accept_Encoding="br")[1]
    assert retained["cache-control"] == FOREVER
    request = get(server, f"{static_files.OURS}bench/live.js", Accept_Encoding="br")[1]
    assert request["cache-control"] == "no-cache"
    page = get(server, "/")[2].decode()
    script = re.search(r'src="\./(static/js/index\.[^"]+)"', page)[1]
    status, headers, body = get(server, f"/{script}", Accept_Encoding="br")
    assert (status, headers["cache-control"]) == (200, FOREVER)
    full = brotli.decompress(body)
    assert full == get(server, f"/{script}", Accept_Encoding="identity")[2]
    assert len(body) < 0.4 * len(full)


def test_plotly_bundle_decompresses_for_clients_without_brotli(server):
    retained = (STATIC / "plotly.min.js.br").read_bytes()
    content = brotli_assets.read_asset(STATIC / "plotly.min.js")
    assert hashlib.sha256(content).hexdigest() == vendor.BUNDLE.sha256
    assert get(server, versioned("plotly.min.js"), Accept_Encoding="br")[2] == retained
    for path in (versioned("plotly.min.js"), f"{static_files.OURS}plotly.min.js"):
        for accepted, opened in (("gzip", gzip.decompress), ("identity", bytes)):
            status, headers, body = get(server, path, Accept_Encoding=accepted)
            assert (status, opened(body)) == (200, content)
            assert headers["content-type"].startswith("text/javascript")
            assert headers["content-length"] == str(len(body))
            again = get(server, path, Accept_Encoding=accepted, If_None_Match=headers["etag"])
            assert (again[0], again[2]) == (304, b"")


def test_page_preloads_early_files(server):
    early = get(server, "/ar_fitting")[1]["link"]
    for name in static_files.preloaded():
        assert f"<{versioned(name)}>; rel=" in early
        assert get(server, versioned(name), Accept_Encoding="br")[0] == 200


def test_preloaded_scripts_include_all_that_they_import():
    """One that is left out waits behind Streamlit's scripts, and the first figure with it."""
    names = static_files.preloaded()
    assert len(set(names)) == len(names)
    for name in names[1:]:
        script = STATIC / name
        for line in script.read_text("utf-8").splitlines():
            if line.startswith(("import", "}")) and 'from ".' in line:
                imported = (script.parent / line.split('"')[1]).resolve()
                assert imported.relative_to(STATIC).as_posix() in names, (name, imported)
    assert {"bench/chart.js", "bench/pins.js", "components/format.js"} <= set(names)


@pytest.mark.parametrize("path", [
    f"{static_files.OURS}none.js", f"{static_files.OURS}../locale/en.toml",
    f"{static_files.OURS}000000000000/bench/chart.js", "/static/../../setup.py",
])  # fmt: skip
def test_static_file_rejects_unknown_path(server, path):
    assert get(server, path, Accept_Encoding="br")[0] >= 400


@pytest.mark.parametrize("font", sorted(static_files.FONTS.glob("*.woff2")), ids=lambda f: f.name)
def test_font_subset_replaces_streamlit_font(server, font):
    """Streamlit has a file of this name, of which ours is a part; a new one of ours is heard of."""
    full = Path(st.__file__).parent / "static" / "static" / "media" / font.name
    status, headers, body = get(server, f"/static/media/{font.name}")
    assert (status, body) == (200, font.read_bytes())
    assert len(body) < 0.4 * full.stat().st_size
    assert (headers["content-type"], headers["cache-control"]) == ("font/woff2", "no-cache")
    again = get(server, f"/static/media/{font.name}", If_None_Match=headers["etag"])
    assert (again[0], again[2]) == (304, b"")


def test_font_subset_contains_all_used_icons_and_signs():
    """Else `python tools/fonts.py`: an icon that is missing shows its name in letters."""
    icons, signs = (static_files.FONTS / "contents.txt").read_text("utf-8").split("\n", 1)
    code = [ROOT / "app.py", *ROOT.glob("pages/*.py"), *ROOT.glob("seqviz/**/*.py"),
            *ASSETS.glob("l*/**/*.md"), *ASSETS.glob("l*/**/*.toml")]  # fmt: skip
    # Whole names only: one that is put together is neither found here nor by the tool.
    expected = {icon for path in code
              for icon in re.findall(r":material/([^:]*):", path.read_text("utf-8"))}  # fmt: skip
    assert len(expected) > 15
    assert expected <= set(icons.split())
    words = [path.read_text("utf-8") for path in ASSETS.glob("l*/**/*en*") if path.is_file()]
    assert len(words) > 6
    latin = {sign for text in words for sign in text if "\x20" <= sign < "\u3000"}
    assert latin <= set(signs)


@pytest.mark.parametrize("accepted", ["gzip, br", "identity"])
def test_page_inlines_startup_scripts_allowed_by_policy(server, accepted):
    """The page carries the server configuration before Streamlit requests it."""
    request = {"Accept": "text/html", "Accept_Encoding": accepted}
    status, headers, body = get(server, "/gates", **request)
    assert (status, headers["etag"], headers["content-length"]) == (200, None, str(len(body)))
    opened = OPENED[headers["content-encoding"]](body).decode()
    first, *others = policy.inline_scripts(opened)
    assert first == index_page.script()
    assert len(others) == 2
    assert index_page.theme_script() in others
    for script in (first, *others):
        assert policy.digest(script) in headers["content-security-policy"]
    assert get(server, "/gates", If_Modified_Since=headers["date"], **request)[0] == 200
