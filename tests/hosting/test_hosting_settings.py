"""Every setting: an environment variable declared once, documented, refused where it is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seqviz.core import settings
from seqviz.models import device, forward_cache, registry, store
from testing.server import serve
from tests.tiers import first_only

ROOT = Path(__file__).resolve().parents[2]
NAMES = [setting.name for setting in settings.SETTINGS]
DEPRECATED = {
    setting.deprecated: setting.name for setting in settings.SETTINGS if setting.deprecated
}
FOR_TESTS = {"SEQVIZ_REQUIRE_BROWSER", "SEQVIZ_REQUIRE_MODELS", "SEQVIZ_VENV"}
# One value of each that cannot be meant.
WRONG = {
    "SEQVIZ_DEVICE": "tpu",
    "SEQVIZ_THREADS": "0",
    "SEQVIZ_CUDA_GRAPHS": "yes",
    "SEQVIZ_WORKERS": "all",
    "SEQVIZ_ENGINE": "dask",
    "SEQVIZ_RAY_ADDRESS": "http://cluster:10001/",
    "SEQVIZ_RAY_SECONDS": "0",
    "SEQVIZ_REDIS_URL": "http://cache:6379",
    "SEQVIZ_CACHE": "~nobody-of-this-name/cache",
    "SEQVIZ_MODELS": "no such model",
    "SEQVIZ_PRELOAD": "minilm, no such model",
    "SEQVIZ_FORWARD_CACHE_MB": "nan",
    "SEQVIZ_CACHE_MB": "0",
    "SEQVIZ_LANGUAGE": "de",
    "SEQVIZ_GUIDED": "yes",
    "SEQVIZ_SESSION_JOBS": "-1",
    "SEQVIZ_SESSION_SECONDS": "20 s",
    "SEQVIZ_CPU_REFILL": "0",
    "SEQVIZ_SESSION_TOKENS": "2e4",
    "SEQVIZ_MAX_CLIENTS": "all",
    "SEQVIZ_PROXIES": "-1",
    "SEQVIZ_ROOM_KEY": "too short a key",
    "SEQVIZ_QUEUE": "many",
    "SEQVIZ_STALL_SECONDS": "0",
    "SEQVIZ_GC_FREEZE": "on",
    "SEQVIZ_UPLOAD_MB": "6",
    "SEQVIZ_FRAME_ANCESTORS": "*; script-src *",
    "SEQVIZ_METRICS": "yes",
    "SEQVIZ_METRICS_TOKEN": "short",
    "SEQVIZ_STREAMLIT_PATCHES": "off",
    "SEQVIZ_LOG_LEVEL": "loud",
    "SEQVIZ_LOG_FORMAT": "xml",
}


@pytest.fixture(autouse=True)
def _nothing_is_set(monkeypatch):
    for name in (*NAMES, *DEPRECATED):
        monkeypatch.delenv(name, raising=False)


def test_settings_match_operations_manual():
    rows = re.findall(
        r"^\| `(SEQVIZ_\w+)` \| (.*?) \| (.*) \|$", (ROOT / "docs/operations.md").read_text(), re.M
    )
    assert rows == [
        (setting.name, setting.default_text or f"`{setting.default}`", setting.meaning)
        for setting in settings.SETTINGS
    ]


def test_settings_are_read_only_through_settings_module():
    result = {}
    for path in [ROOT / "app.py", *(ROOT / "seqviz").rglob("*.py"), *(ROOT / "pages").glob("*.py")]:
        if path.name == "settings.py":
            continue
        text = path.read_text("utf-8")
        direct = re.findall(r"(?:environ|getenv)\W[^\n]*?[\"'](SEQVIZ_\w+)", text)
        request = re.findall(r"settings\.value\(\s*[\"'](\w+)", text)
        if direct or not {*request} <= {*NAMES}:
            result[path.name] = direct or request
    assert result == {}


def test_settings_include_every_name_in_scripts_and_image():
    files = [ROOT / "Dockerfile", ROOT / ".ci/run", *(ROOT / "tools").iterdir()]
    named = {
        name
        for path in files
        if path.is_file()
        for name in re.findall(r"SEQVIZ_[A-Z_]+", path.read_text("utf-8"))
    }
    assert named - FOR_TESTS <= {*NAMES}


def check() -> None:
    """As the app does before its first visitor."""
    settings.check()
    registry.check()


def test_settings_treat_blank_as_default(monkeypatch):
    check()
    plain = {name: settings.value(name) for name in NAMES}
    for name in NAMES:
        monkeypatch.setenv(name, "  ")
    assert {name: settings.value(name) for name in NAMES} == plain
    assert plain["SEQVIZ_SESSION_JOBS"] == 3
    assert plain["SEQVIZ_LANGUAGE"] is None
    assert plain["SEQVIZ_METRICS"] is True


def test_settings_read_environment_on_each_call(monkeypatch):
    monkeypatch.setenv("SEQVIZ_QUEUE", "4")
    assert settings.value("SEQVIZ_QUEUE") == 4
    monkeypatch.setenv("SEQVIZ_QUEUE", " 5 ")
    assert settings.value("SEQVIZ_QUEUE") == 5
    monkeypatch.setenv("SEQVIZ_LANGUAGE", "ZH")
    assert settings.language(None, "en-US") == "zh"
    assert settings.language("en", "zh-CN") == "en"
    monkeypatch.setenv("SEQVIZ_PRELOAD", "minilm , smollm2,")
    assert settings.value("SEQVIZ_PRELOAD") == ("minilm", "smollm2")
    monkeypatch.setenv("SEQVIZ_FRAME_ANCESTORS", "'self' https://school.example:8443")
    assert settings.value("SEQVIZ_FRAME_ANCESTORS") == "'self' https://school.example:8443"
    monkeypatch.setenv("SEQVIZ_CACHE", "~/elsewhere")
    assert store.cache() == Path.home() / "elsewhere"


def test_settings_reject_wrong_value_and_hide_secrets(monkeypatch):
    """Each wrong value is rejected in one sentence that names it, unless it could be a password."""
    assert WRONG.keys() == {*NAMES}
    secret = {
        setting.name for setting in settings.SETTINGS if setting.secret
    }  # it could be a password
    assert secret == {name for name in NAMES if name.endswith(("_KEY", "_REDIS_URL", "_TOKEN"))}
    for name, wrong in WRONG.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, wrong)
            with pytest.raises(ValueError, match=name) as caught:
                check()
            message = str(caught.value)
            assert (wrong.split(", ")[-1] in message) == (name not in secret)
            assert message.endswith(".")
            assert "\n" not in message


@pytest.mark.parametrize(("name", "wrong", "right"), [
    ("SEQVIZ_REDIS_URL", ("redis://cache:99999", "redis://:pass@cache:port", "redis://cache:0",
                       "redis://[::1:6379", "rediss://cache:-1"),
     ("redis://cache", "redis://:pass@cache:6379/1", "redis://[::1]:6379", "unix:///run/redis")),
    ("SEQVIZ_RAY_ADDRESS", ("head:99999", "head:0"), ("auto", "head:6379")),
])  # fmt: skip
def test_settings_reject_invalid_port(monkeypatch, name, wrong, right):
    for text in wrong:
        monkeypatch.setenv(name, text)
        with pytest.raises(ValueError, match=rf"{name} must be [^\n]*\.$"):
            settings.value(name)
    for text in right:
        monkeypatch.setenv(name, text)
        assert settings.value(name) == text


def test_settings_fall_back_to_deprecated_name(monkeypatch, caplog):
    """With one line in the log, and in the sentence about a wrong value."""
    assert not DEPRECATED.keys() & {*NAMES}
    right = {"SEQVIZ_REDIS_URL": "redis://cache:6379"}
    for old, name in DEPRECATED.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, right.get(name, "1"))
            current = settings.value(name)
            settings.log_deprecated()
            assert not caplog.records
            patch.setenv(old, WRONG[name])
            assert settings.value(name) == current
            patch.setenv(name, " ")
            with pytest.raises(ValueError, match=f"{old} must be"):
                settings.value(name)
            patch.setenv(old, right.get(name, "1"))
            assert settings.value(name) == current
            settings.log_deprecated()
        (line,) = [record.getMessage() for record in caplog.records]
        assert line == f"settings: {old} is deprecated, set {name}"
        caplog.clear()


def test_settings_reject_preload_of_model_not_offered(monkeypatch):
    monkeypatch.setenv("SEQVIZ_MODELS", "minilm")
    monkeypatch.setenv("SEQVIZ_PRELOAD", "smollm2")
    with pytest.raises(ValueError, match="SEQVIZ_PRELOAD must be names of minilm, not 'smollm2'"):
        check()


def test_settings_reject_file_as_cache(monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("SEQVIZ_CACHE", str(tmp_path / "file"))
    with pytest.raises(ValueError, match="SEQVIZ_CACHE must be a folder"):
        check()


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("SEQVIZ_DEVICE", device.choose.__wrapped__),
        ("SEQVIZ_THREADS", device.prepare_torch.__wrapped__),
        ("SEQVIZ_FORWARD_CACHE_MB", lambda: forward_cache._shelf.put(("m", "t", "", None), None)),
    ],
)
def test_settings_readers_reject_wrong_value(monkeypatch, name, reader):
    monkeypatch.setenv(name, WRONG[name])
    with pytest.raises(ValueError, match=f"{name} must be"):
        reader()


@pytest.mark.parametrize("name", first_only(["SEQVIZ_QUEUE", "SEQVIZ_LOG_FORMAT"]))
def test_server_does_not_start_with_wrong_setting(name):
    with (
        pytest.raises(RuntimeError, match=rf"{name} must be .*, not '{WRONG[name]}'\.") as refused,
        serve(environment={name: WRONG[name]}),
    ):
        pass
    assert "Traceback" not in str(refused.value)
