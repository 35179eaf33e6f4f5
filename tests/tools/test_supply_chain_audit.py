"""The audit: pinned, used, licensed; and never "no holes" where nobody was asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from seqviz.core.i18n import ASSETS
from tools import supply_chain_audit as audit

ROOT = ASSETS.parent


@pytest.fixture
def project(tmp_path) -> Path:
    """A project of its own: pinned, and nothing missing or unused."""
    for folder in (*audit.SERVED[1:], *audit.WORKSHOP):
        (tmp_path / folder).mkdir()
    (tmp_path / "app.py").write_text("import json\nimport numpy as np\nfrom seqviz import page\n")
    (tmp_path / "seqviz" / "page.py").write_text("def f():\n    from PIL import Image\n")
    (tmp_path / "tests" / "test_page.py").write_text("import pytest\nimport page\n")
    (tmp_path / "requirements.txt").write_text("# exactly\nnumpy==2.4.6\npillow==13.0.0  # PIL\n")
    (tmp_path / "requirements-dev.txt").write_text("-r requirements.txt\npytest==9.2.0\n")
    return tmp_path


def add(path: Path, line: str) -> None:
    path.write_text(path.read_text() + line + "\n")


def test_audit_accepts_project_in_order(project):
    assert audit.loose(project) == []
    assert audit.mismatches(project) == []


@pytest.mark.parametrize(
    "line", ["scipy", "scipy>=1", "scipy==1.*", "scipy~=1.17", "git+https://x"]
)
def test_audit_names_unpinned_requirement(project, line):
    add(project / "requirements.txt", line)
    (sentence,) = audit.loose(project)
    assert line in sentence


def test_audit_names_missing_and_unused_requirements(project):
    add(project / "seqviz" / "page.py", "    import scipy.stats")
    add(project / "tests" / "test_page.py", "import hypothesis")
    add(project / "requirements.txt", "Py_YAML==6.0.2")
    first, second, third = audit.mismatches(project)
    assert first.startswith("scipy is imported by the app")
    assert second.startswith("hypothesis is imported by tools")
    assert third.startswith("py-yaml is in requirements.txt")


def test_repository_requirements_are_pinned():
    assert audit.loose(ROOT) == []
    assert len(audit.required(ROOT / "requirements.txt")) > 20


def test_repository_requirements_match_imports():
    assert audit.mismatches(ROOT) == []


def test_repository_licenses_are_stated_and_open():
    licenses = {audit.name(d): audit.license_of(d) for d in audit.distributions()}
    assert licenses["streamlit"].startswith("Apache")
    assert "MIT" in licenses["plotly"]
    ours = audit.required(ROOT / "requirements.txt") & set(licenses)
    assert [name for name in ours if licenses[name] == "not stated"] == []
    assert [name for name in licenses if audit.CLOSED.search(licenses[name])] == []
    assert audit.CLOSED.search("GNU Affero General Public License v3")


def listed(*packages: dict) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


HOLE = {"id": "PYSEC-2026-1", "fix_versions": ["2.0"], "aliases": [], "description": ""}
FINE = {"name": "fine", "version": "1.0", "vulns": []}
BAD = {"name": "bad", "version": "1.0", "vulns": [HOLE]}
UNKNOWN = {"name": "ours", "skip_reason": "Dependency not found"}


@pytest.mark.parametrize(
    ("output", "errors", "expected"),
    [
        (listed(FINE, BAD), "", audit.Answer(("bad 1.0 has PYSEC-2026-1; mended in 2.0.",), 2)),
        (listed(FINE), "", audit.Answer((), 1)),
        (listed(FINE, UNKNOWN), "", audit.Answer((), 1, "The service does not know ours.")),
        # Without a network: what pip-audit 2.10.1 then prints, with "No known vulnerabilities".
        (listed(UNKNOWN), "No known vulnerabilities found",
         audit.Answer(unasked="pip-audit could not reach the vulnerability service.")),
        ("", "ConnectionError", audit.Answer(unasked="pip-audit could not reach the vulnerability "
                                             "service.")),
        ("", "No module named pip_audit", audit.Answer(unasked="pip-audit is not installed.")),
    ],
)  # fmt: skip
def test_read_answer_parses_pip_audit_output(output, errors, expected):
    assert audit.read_answer(output, errors) == expected


def test_audit_exits_1_on_finding(project, monkeypatch, capsys):
    monkeypatch.setattr(audit, "ROOT", project)
    monkeypatch.setattr(audit, "SECONDS", 0.01)  # nobody is asked
    add(project / "requirements.txt", "scipy")
    assert audit.main([]) == 1
    out = capsys.readouterr().out
    assert "scipy is not pinned" in out
    assert "The service did not answer" in out


def test_audit_reports_unreachable_service_as_not_checked(project, monkeypatch, capsys):
    """pip-audit itself runs here, against a machine where nobody answers."""
    for name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL", "PIP_CONFIG_FILE"):
        monkeypatch.delenv(name, raising=False)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # discard: closed
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    monkeypatch.setattr(audit, "ROOT", project)
    monkeypatch.setattr(audit, "SECONDS", 20.0)
    assert audit.main([]) == 0
    assert "not checked." in capsys.readouterr().out
    assert audit.main(["--strict"]) == 2
