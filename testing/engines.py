"""Firefox and WebKitGTK as Debian ships them, without a driver package: `firefox`, `webkit`.

Firefox speaks WebDriver BiDi over a websocket, WebKitGTK classic WebDriver over HTTP. Both know the
same input actions, and a page is otherwise used through scripts.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Protocol

from testing.chromium import WHOLE
from testing.server import HOST, free_port

MINI_BROWSER = "/usr/lib/*-linux-gnu/webkit2gtk-4.1/MiniBrowser"
HOW_TO_GET = "No {name}: `apt-get install firefox-esr webkit2gtk-driver xvfb`."
PATIENCE = 20.0  # seconds
WINDOW = (1280, 800)
START = 60.0  # seconds until a browser has started
SCREEN = "2000x1600x24"  # of the X server; the largest window
# A mouse in headless Firefox, no request of the browser's own, no other host.
PREFERENCES: dict[str, int | str | bool] = {
    "app.normandy.enabled": False,
    "browser.shell.checkDefaultBrowser": False,
    "datareporting.policy.dataSubmissionEnabled": False,
    "intl.accept_languages": "en-US",
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.proxy.http": HOST,
    "network.proxy.http_port": 9,
    "network.proxy.ssl": HOST,
    "network.proxy.ssl_port": 9,
    "network.proxy.type": 1,
    "services.settings.server": f"http://{HOST}:9/",
    "ui.allPointerCapabilities": 6,
    "ui.primaryPointerCapabilities": 6,
}
# WebDriver's code points of keys.
KEYS = {
    "Backspace": "\ue003", "Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c",
    "PageUp": "\ue00e", "PageDown": "\ue00f", "End": "\ue010", "Home": "\ue011",
    "ArrowLeft": "\ue012", "ArrowUp": "\ue013", "ArrowRight": "\ue014", "ArrowDown": "\ue015",
}  # fmt: skip
# Errors of the page, where the protocol has no log: what is thrown, rejected or logged as an error.
RECORDER = """() => {
  if (window.seqvizErrors) return location.href;
  const seen = (window.seqvizErrors = []);
  addEventListener("error", ({ message, filename }) =>
    /^ResizeObserver loop/.test(message) || seen.push(`${message} (${filename})`)); // for one frame
  addEventListener("unhandledrejection", ({ reason }) => seen.push(String(reason)));
  const { error } = console;
  console.error = (...said) => { seen.push(said.map(String).join(" ")); error(...said); };
  performance.setResourceTimingBufferSize(10000);
  return location.href;
}"""
FAILED = """() => [...(window.seqvizErrors ?? []), ...performance.getEntriesByType("resource")
  .filter(({ responseStatus }) => responseStatus >= 400)
  .map(({ name, responseStatus }) => `${responseStatus} ${name}`)]"""
# All elements of a selector, those in shadows included.
FIND = """(selector) => {
  const inside = (root) => [...root.querySelectorAll(selector), ...[...root.querySelectorAll("*")]
    .flatMap((one) => (one.shadowRoot ? inside(one.shadowRoot) : []))];
  return inside(document);
}"""
# A place in the first element that is seen and has this text; null without one.
POSITION = f"""([selector, text, x, y]) => {{
  const find = {FIND};
  const seen = (one) => one.checkVisibility({{ visibilityProperty: true }})
    && one.getBoundingClientRect().width > 0 && !one.disabled;
  const found = find(selector)
    .find((one) => seen(one) && (!text || one.textContent.includes(text)));
  if (!found) return null;
  const inside = ({{ top, bottom }}) => top > 60 && bottom < innerHeight - 60;
  if (!inside(found.getBoundingClientRect())) found.scrollIntoView({{ block: "center" }});
  const {{ left, top, width, height }} = found.getBoundingClientRect();
  return [Math.round(left + x * width), Math.round(top + y * height)];
}}"""
# Streamlit's script has run, and nothing has been drawn since the last look.
RESTS = """() => new Promise((resolve) => {
  if (document.querySelector(".stApp")?.dataset.testScriptState !== "notRunning")
    return resolve(false);
  const observer = new MutationObserver(() => { observer.disconnect(); resolve(false); });
  observer.observe(document.body, { subtree: true, childList: true, attributes: true });
  setTimeout(() => { observer.disconnect(); resolve(true); }, 300);
})"""


class NoEngineError(RuntimeError):
    """Error for a missing browser; the message says how to install it."""


class Opener(Protocol):
    """Opens a page as a new visitor in a window of this size."""

    def __call__(self, width: int = ..., height: int = ...) -> EnginePage: ...


class EnginePage(ABC):
    """A page of one visitor, whose cookies and storage nobody else has.

    Attributes:
        downloads: folder of the files that the page saves.
    """

    downloads: Path

    @abstractmethod
    def open(self, url: str) -> None:
        """Go to an address."""

    @abstractmethod
    def run(self, script: str, *arguments: Any) -> Any:
        """Return the result of a function in JavaScript, awaited, through JSON."""

    @abstractmethod
    def act(self, kind: str, actions: Sequence[dict[str, Any]]) -> None:
        """Perform input actions of WebDriver; kind: "pointer" or "key"."""

    @abstractmethod
    def errors(self) -> list[str]:
        """Return the errors and failed requests of the open page."""

    def wait_for(self, script: str, *arguments: Any, seconds: float = PATIENCE) -> Any:
        """Return the first true result of a function in JavaScript.

        Raises:
            TimeoutError: none came in time.
        """
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if result := self.run(script, *arguments):
                return result
            time.sleep(0.1)
        raise TimeoutError(f"nothing came of {script} with {arguments}; {self.errors()}")

    def rest(self) -> None:
        """Wait until the page has come to rest."""
        self.wait_for(RESTS, seconds=3 * PATIENCE)

    def whole(self) -> None:
        """Wait until all benches of a lesson are drawn."""
        self.wait_for("() => Boolean(document.querySelector('.stApp h1'))", seconds=3 * PATIENCE)
        self.wait_for(WHOLE, seconds=3 * PATIENCE)
        self.rest()

    def at(self, selector: str, x: float = 0.5, y: float = 0.5, text: str = "") -> tuple[int, int]:
        """Bring an element into view and return a position in it.

        Args:
            selector: CSS selector; of several elements the first visible one counts.
            x: share of its width.
            y: share of its height.
            text: text in it.
        """
        before, result = None, self.wait_for(POSITION, [selector, text, x, y])
        while result != before:  # what comes into view gets its height
            time.sleep(0.15)
            before, result = result, self.wait_for(POSITION, [selector, text, x, y])
        return result[0], result[1]

    def drag(self, *points: tuple[int, int]) -> None:
        """Press the mouse at the first point and release it at the last."""
        (x, y), *others = points
        moves = [{"type": "pointerMove", "x": x, "y": y, "duration": 40} for x, y in others]
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        self.act("pointer", [{"type": "pointerMove", "x": x, "y": y}, down, *moves, up])

    def click(self, selector: str, text: str = "") -> None:
        """Click the first visible element of a selector that has this text in it."""
        self.drag(self.at(selector, text=text))

    def press(self, *keys: str) -> None:
        """Press keys by their names, or characters."""
        values = [KEYS.get(key, key) for key in keys]
        kinds = ("keyDown", "keyUp")
        self.act("key", [{"type": kind, "value": value} for value in values for kind in kinds])

    def saved(self, suffix: str) -> Path:
        """Return the first file with this suffix that the page has saved, once it is complete."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            for path in self.downloads.glob(f"*{suffix}"):
                if size := path.stat().st_size:
                    time.sleep(0.3)
                    if path.stat().st_size == size:
                        return path
            time.sleep(0.1)
        names = [path.name for path in self.downloads.iterdir()]
        raise TimeoutError(f"no {suffix} came, but {names}; {self.errors()}")

    @staticmethod
    def sources(kind: str, actions: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Return the input sources for `act`."""
        source: dict[str, Any] = {"type": kind, "id": kind, "actions": list(actions)}
        return [source | ({"parameters": {"pointerType": "mouse"}} if kind == "pointer" else {})]


class FirefoxPage(EnginePage):
    """A window of Firefox in a user context of its own."""

    def __init__(self, line: BiDi, context: str, downloads: Path) -> None:
        self.line, self.context, self.downloads = line, context, downloads
        line.errors[context] = []

    def open(self, url: str) -> None:
        self.line.errors[self.context].clear()
        self.line("browsingContext.navigate", context=self.context, url=url, wait="none")
        self.wait_for("(url) => location.href.startsWith(url.split('?')[0])", url)

    def run(self, script: str, *arguments: Any) -> Any:
        answer = self.line(
            "script.callFunction",
            functionDeclaration=f"async () => JSON.stringify(await ({script})"
            f"(...{json.dumps(arguments)}) ?? null)",
            target={"context": self.context},
            awaitPromise=True,
            userActivation=True,
        )
        if answer["type"] == "exception":
            raise RuntimeError(answer["exceptionDetails"]["text"])
        return json.loads(answer["result"]["value"])

    def act(self, kind: str, actions: Sequence[dict[str, Any]]) -> None:
        self.line("input.performActions", context=self.context, actions=self.sources(kind, actions))

    def errors(self) -> list[str]:
        self.run("() => 0")  # what has been said until now is heard
        return self.line.errors[self.context]


class BiDi:
    """WebDriver BiDi: called with a command and its parameters it returns the result.

    Attributes:
        errors: errors in the log and failed requests by browsing context.
    """

    EVENTS = ("log.entryAdded", "network.fetchError", "network.responseCompleted")

    def __init__(self, url: str) -> None:
        from websockets.sync.client import connect

        self.errors: dict[str, list[str]] = {}
        self._numbers = count(1)
        self._socket = connect(url, max_size=None, legacy=True)
        self("session.new", capabilities={})
        self("session.subscribe", events=list(self.EVENTS))

    def __call__(self, method: str, **params: Any) -> Any:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            answer = json.loads(self._socket.recv(timeout=3 * PATIENCE))
            if answer.get("id") == number:
                break
            self._hear(answer)
        if answer["type"] == "error":
            raise RuntimeError(f"{method}: {answer['error']}: {answer['message']}")
        return answer["result"]

    def close(self) -> None:
        """Close the connection."""
        self._socket.close()

    def _hear(self, event: dict[str, Any]) -> None:
        params, said = event["params"], ""
        context = params.get("context") or params.get("source", {}).get("context")
        if event["method"] == "log.entryAdded" and params["level"] == "error":
            said = str(params["text"])
        elif event["method"] == "network.fetchError" and "ABORTED" not in params["errorText"]:
            said = f"{params['errorText']} {params['request']['url']}"
        elif event["method"] == "network.responseCompleted":
            status = params["response"]["status"]
            said = f"{status} {params['request']['url']}" if status >= 400 else ""
        if said:
            self.errors.setdefault(context, []).append(said)


class WebKitPage(EnginePage):
    """The window of a MiniBrowser, through classic WebDriver."""

    def __init__(self, url: str, browser: Path, downloads: Path) -> None:
        self.downloads = downloads
        options = {"binary": str(browser), "args": ["--automation"]}
        wanted = {"webkitgtk:browserOptions": options, "pageLoadStrategy": "none"}
        self._driver = url
        session = self._ask("POST", "", {"capabilities": {"alwaysMatch": wanted}})
        self._session = f"/{session['sessionId']}"
        self._post("timeouts", {"script": 6e4})

    def sized(self, width: int, height: int) -> None:
        """Give the window this size without its frame and toolbar."""
        outer = [width, height]
        for _ in range(20):
            self._post("window/rect", {"width": outer[0], "height": outer[1]})
            time.sleep(0.3)
            inner = self.run("() => [innerWidth, innerHeight]")
            if inner == [width, height]:
                return
            outer = [have + want - now for have, want, now
                     in zip(outer, (width, height), inner, strict=True)]  # fmt: skip
        raise RuntimeError(f"The window has {inner}.")

    def open(self, url: str) -> None:
        self._post("url", {"url": url})
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            with suppress(RuntimeError):  # the old document goes while it is asked
                if self.run(RECORDER).startswith(url.split("?")[0]):
                    return
        raise TimeoutError(f"{url} did not open")

    def run(self, script: str, *arguments: Any) -> Any:
        source = f"""const [given, done] = arguments;
            (async () => JSON.stringify(await ({script})(...given) ?? null))()
              .then((text) => done([true, text]), (error) => done([false, String(error)]));"""
        well, text = self._post("execute/async", {"script": source, "args": [list(arguments)]})
        if not well:
            raise RuntimeError(text)
        return json.loads(text)

    def act(self, kind: str, actions: Sequence[dict[str, Any]]) -> None:
        self._post("actions", {"actions": self.sources(kind, actions)})

    def errors(self) -> list[str]:
        return list(self.run(FAILED))

    def close(self) -> None:
        """End the browser."""
        self._ask("DELETE", self._session)

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self._ask("POST", f"{self._session}/{path}", body)

    def _ask(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(f"{self._driver}/session{path}", data, head, method=method)
        try:
            with urllib.request.urlopen(request, timeout=90) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{path}: {error.read().decode()}") from None


@contextmanager
def firefox() -> Iterator[Opener]:
    """Yield what opens pages in a headless Firefox with a fresh profile, cut off the network.

    Raises:
        NoEngineError: Firefox is missing.
    """
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        downloads = Path(folder) / "downloads"
        downloads.mkdir()
        values = (f"user_pref({json.dumps(k)}, {json.dumps(v)});" for k, v in PREFERENCES.items())
        (Path(folder) / "user.js").write_text("\n".join(values), "utf-8")
        command = [_program("firefox-esr"), "--headless", "--no-remote", "--profile", folder]
        with _running([*command, "--remote-debugging-port", "0"], HOME=folder) as process:
            url = _listened(process, r"BiDi listening on (ws://\S+)")
            line = BiDi(f"{url}/session")
            allowed = {"type": "allowed", "destinationFolder": str(downloads)}
            line("browser.setDownloadBehavior", downloadBehavior=allowed)

            def page(width: int = WINDOW[0], height: int = WINDOW[1]) -> EnginePage:
                user = line("browser.createUserContext")["userContext"]
                opened = line("browsingContext.create", type="window", userContext=user)
                context = opened["context"]
                viewport = {"width": width, "height": height}
                line("browsingContext.setViewport", context=context, viewport=viewport)
                return FirefoxPage(line, context, downloads)

            try:
                yield page
            finally:
                line.close()


@contextmanager
def webkit() -> Iterator[Opener]:
    """Yield what opens pages in WebKitGTK, each in a browser of its own, on an X server of its own.

    Raises:
        NoEngineError: WebKitGTK, its driver or Xvfb is missing.
    """
    browser = next(Path("/").glob(MINI_BROWSER.lstrip("/")), None)
    if browser is None:
        raise NoEngineError(HOW_TO_GET.format(name="MiniBrowser"))
    driver, screen = _program("WebKitWebDriver"), _program("Xvfb")
    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        downloads = home / "downloads"
        downloads.mkdir()
        (home / ".config").mkdir()
        (home / ".config/user-dirs.dirs").write_text('XDG_DOWNLOAD_DIR="$HOME/downloads"\n')
        command = [screen, "-displayfd", "2", "-screen", "0", SCREEN, "-nolisten", "tcp"]
        display = _listened(stack.enter_context(_running(command)), r"^(\d+)$")
        names = {"DISPLAY": f":{display}", "HOME": str(home), "LANG": "en_US.UTF-8"}

        def page(width: int = WINDOW[0], height: int = WINDOW[1]) -> EnginePage:
            port = free_port()
            stack.enter_context(_running([driver, f"--port={port}"], **names))
            _until_open(port)
            opened = WebKitPage(f"http://{HOST}:{port}", browser, downloads)
            stack.callback(opened.close)
            opened.sized(width, height)
            return opened

        yield page


ENGINES: dict[str, Callable[[], Any]] = {"firefox": firefox, "webkit": webkit}


def _program(name: str) -> str:
    """Return the path of a program."""
    path = shutil.which(name)
    if path is None:
        raise NoEngineError(HOW_TO_GET.format(name=name))
    return path


@contextmanager
def _running(command: Sequence[str], **names: str) -> Iterator[subprocess.Popen[str]]:
    """Yield a process with these names in its environment, and terminate it at the end."""
    process = subprocess.Popen(
        command,
        env=os.environ | names,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _listened(process: subprocess.Popen[str], pattern: str) -> str:
    """Return the first group of a pattern in a line that a process prints to stderr."""
    said: list[str] = []
    heard = threading.Event()

    def listen() -> None:  # to the end: a process whose pipe is full would wait
        for line in process.stderr or ():
            match = re.search(pattern, line.strip())
            if match and not heard.is_set():
                said.append(match[1])
                heard.set()

    threading.Thread(target=listen, daemon=True).start()
    if not heard.wait(START):
        raise RuntimeError(f"{process.args!r} did not start")
    return said[0]


def _until_open(port: int) -> None:
    """Wait until the driver on a port responds."""
    end = time.monotonic() + START
    while time.monotonic() < end:
        with suppress(OSError), urllib.request.urlopen(f"http://{HOST}:{port}/status", timeout=5):
            return
        time.sleep(0.1)
    raise RuntimeError("WebKitWebDriver did not start")
