"""`ProtocolClient`: a client that speaks Streamlit's websocket protocol without a browser.

A hundred browsers do not fit on the measured machine; a hundred of these clients do. Like the
browser, a client requests the page, opens the websocket, sends the URL, caches messages that the
server may refer to later, and sends a control's new value for the control's fragment. It requests
benches when they are scrolled into view (`bench/lazy_load.js`), and reports debounced settings
(`bench/debounce.js`), which redraws the dependent benches in view. It does not render. It can also
send messages that no browser sends (`say`, `ask`, `socket`). Streamlit's messages are a private
API; all knowledge of them in benchmarks and tests is in this module.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import re
import time
from collections.abc import Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar
from urllib.parse import urlencode, urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Delta_pb2 import Delta
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from seqviz.lessons.framework.controls import encoded

REST_SECONDS = 0.25  # delay of debounce.js
CACHED_RUNS = 2  # runs for which the browser caches a message (global.maxCachedMessageAge)
PATIENCE = 60.0
GZIP = b"\x1f\x8b"  # signature of compressed data
T = TypeVar("T")
SETTLE, NEAR, CHART = "seqviz_debounce", "seqviz_lazy_load", "seqviz_chart"
HAND = ".commit"  # suffix of a bench's key: its commit component
SLIDER = ".slider"  # suffix of a parameter's key: its slider component
PLACE = ".placeholder"  # suffix of a bench's key: its placeholder


def run_async(lesson: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a new thread, as Playwright's event loop occupies this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, lesson).result()


@dataclass(frozen=True)
class Widget:
    """Control or component as described by the page.

    Attributes:
        fragment: id of its fragment.
        message: its protobuf message.
    """

    fragment: str
    message: Any

    @property
    def id(self) -> str:
        """Id of the widget."""
        return str(self.message.id)

    @property
    def told(self) -> dict[str, Any]:
        """Data of a component of this app (`seqviz.ui.page.components`)."""
        (data,) = json.loads(self.message.json)
        return dict(data)

    @property
    def events(self) -> str:
        """Widget id under which a component reports events."""
        return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{self.id}__events"


@dataclass
class ProtocolClient:
    """Client with one connection: `async with ProtocolClient(url, slug) as student`.

    A closed connection raises ConnectionClosed of `websockets` in all waiting calls. A server
    without capacity for a new client raises ConnectionRefusedError. Waiting longer than `patience`
    raises TimeoutError.

    Attributes:
        url: address of the server.
        page: path of the page.
        parameters: parameters of the URL, or its complete query as one text.
        patience: timeout in seconds for each message.
        source: local address of the connection (127.0.0.2); "" for the default.
        cookies: cookies of the device, which may have several tabs; None neither keeps nor sends
            cookies, and does not request the HTML page that sets them.
        widgets: controls and components of the page by key.
        charts: number of charts drawn in the last run.
        errors: errors of the page so far.
        warnings: warnings of the page so far.
        said: other messages of the page so far.
        progress: text of the latest progress bar.
        polls: interval in seconds of each fragment that reruns itself (such as a job's progress).
        body: latest downloaded file or picture.
        socket: the websocket.
    """

    url: str
    page: str
    parameters: Mapping[str, str] | str = field(default_factory=dict)
    patience: float = PATIENCE
    source: str = ""
    cookies: dict[str, str] | None = None
    widgets: dict[str, Widget] = field(default_factory=dict)
    charts: int = 0
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    progress: str = ""
    polls: dict[str, float] = field(default_factory=dict)
    body: bytes = field(default=b"", repr=False)
    socket: ClientConnection = field(init=False, repr=False)

    def __post_init__(self) -> None:
        link = self.parameters
        self._query = link if isinstance(link, str) else urlencode({"lang": "en", **link})
        self._hash = self._session = ""
        self._cached: dict[str, tuple[ForwardMsg, int]] = {}
        self._run = 0
        self._line: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._settings: dict[str, str] = {}  # bench -> settings that debounce.js last reported
        self._waiting: set[str] = set()  # benches shown as placeholders
        self._seen: dict[str, tuple[str, str, str | None]] = {}  # bench -> visible live picture
        self._arrays: dict[str, str] = {}  # bench -> large arrays of its last picture
        self._rests = 0

    async def __aenter__(self) -> ProtocolClient:
        if self.cookies is not None:
            await self._visit()
        self.socket = await connect(
            f"ws://{urlsplit(self.url).netloc}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
            open_timeout=self.patience,
            close_timeout=2,
            ping_interval=None,  # browsers send no pings
            compression=None,
            additional_headers=self._sent_cookies(),
            **self._from(),
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._line is not None:
            self._line[1].close()
        await self.socket.close()

    async def open(self) -> float:
        """Open the page; return the seconds until its script has finished."""
        return await self.ask()

    async def move(self, key: str, value: Any) -> float:
        """Commit a control's new value; return the seconds until the bench is redrawn.

        For a slider this is the commit after dragging. Where the latest `picture` shows the same
        value and layout as a redraw would, only the commit itself is reported.

        Args:
            key: key of the control.
            value: the new value.

        Raises:
            KeyError: the page has no such control.
        """
        if slider := self.widgets.get(f"{key}{SLIDER}"):
            bench = key.rpartition(".")[0]
            name, text, shape = self._seen.pop(bench, ("", "", None))
            drag = self.widgets.get(f"{bench}{HAND}")
            if (
                drag
                and shape
                and (name, text, shape) == (key, encoded(value), drag.told["layout_signature"])
            ):
                self._rests += 1
                payload = {"values": {key: text}, "layout_signature": shape, "number": self._rests}
                return await self._tell(drag, "commit", payload)
            return await self._tell(slider, "value", encoded(value))
        widget = self.widgets[key]
        state = WidgetState(id=widget.id)
        if isinstance(value, str):
            state.string_value = value
        elif isinstance(value, bool):
            state.bool_value = value
        else:
            state.double_array_value.data.append(value)
        return await self.ask([state], widget.fragment)

    def slider(self, key: str) -> dict[str, Any] | None:
        """Return the options of a slider (`components/slider.js`); None for another control."""
        widget = self.widgets.get(f"{key}{SLIDER}")
        return None if widget is None else dict(widget.told["options"])

    def live(self, key: str) -> dict[str, Any]:
        """Return the fast-path descriptor of a control's bench (`fast_path.source`).

        Raises:
            KeyError: the bench has no fast path.
        """
        chart = self.widgets[f"{key.rpartition('.')[0]}.chart"].message.bytes
        return dict(json.loads(chart.partition(b"\n")[0])["live"])

    async def picture(self, key: str, value: Any, moving: bool = False) -> int:
        """Request a live picture as live.js does during dragging; return the HTTP status.

        All requests share one connection, which cancellation closes. As in a browser, large arrays
        of the former response are not sent again.

        Args:
            key: key of the slider.
            value: its value.
            moving: dragging continues.

        Raises:
            KeyError: the bench has no fast path.
        """
        live = self.live(key)
        query = urlencode({**live["query"], key: encoded(value)})
        has = self._arrays.get(live["bench"], "")
        headers = {"X-SeqViz-Session": live["token"], "X-SeqViz-Known-Arrays": has}
        headers |= {"X-SeqViz-Dragging": "1"} if moving else {}
        status, _, self.body = await self._get(f"{live['address']}?{query}", headers)
        if status == 200:
            self.show(key, value, self.body)
        return status

    def show(self, key: str, value: Any, answer: bytes) -> None:
        """Record that a picture is visible.

        Args:
            key: key of the slider.
            value: its value in the picture.
            answer: response of the fast path.
        """
        around, bench = json.loads(answer.partition(b"\n")[0]), key.rpartition(".")[0]
        self._seen[bench] = (key, encoded(value), around["layout_signature"])
        self._arrays[bench] = ",".join(around["arrays"])

    async def download(self, key: str) -> int:
        """Generate and fetch a download button's file; return the HTTP status, 0 without a file."""
        await self.socket.send(self.file_request(key))
        while True:
            message = await self._receive()
            self._take(message)
            if message.WhichOneof("type") == "backend_operation_response":
                break
        address = message.backend_operation_response.deferred_file.url
        if not address:
            return 0
        status, _, self.body = await self._get(address, {})
        return status

    def file_request(self, key: str, name: str = "") -> bytes:
        """Return the message that requests the file of a download button.

        Args:
            key: key of the button.
            name: id of the request, by default the key.
        """
        back = BackMsg()
        request = back.backend_operation_request
        request.request_id, request.session_id = name or key, self._session
        request.deferred_file.file_id = self.widgets[key].message.deferred_file_id
        return back.SerializeToString()

    async def _visit(self) -> None:
        """Request the HTML page and keep its cookies."""
        page = f"/{self.page}?{self._query}"
        status, head, _ = await self._get(page, {"Accept": "text/html"})
        if status != 200:
            raise ConnectionRefusedError(f"the page: {status}")
        for name, value in re.findall(r"^set-cookie: *([^=;\s]+)=([^;\r\n]*)", head, re.I | re.M):
            assert self.cookies is not None
            self.cookies[name] = value

    def _sent_cookies(self) -> dict[str, str]:
        pairs = "; ".join(f"{name}={value}" for name, value in (self.cookies or {}).items())
        return {"Cookie": pairs} if pairs else {}

    def _from(self) -> dict[str, Any]:
        """Return the connection arguments for the source address."""
        return {"local_addr": (self.source, 0)} if self.source else {}

    async def _get(self, address: str, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        """Return status, head and body of a GET request on the kept connection."""
        position = urlsplit(self.url)
        sent = {
            "Host": position.netloc,
            "Accept-Encoding": "gzip",
            **self._sent_cookies(),
            **headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in sent.items())
        request = f"GET {address} HTTP/1.1\r\n{lines}\r\n".encode()
        line, self._line = self._line, None
        async with asyncio.timeout(self.patience):
            if line is not None:
                with suppress(OSError, asyncio.IncompleteReadError):  # closed by a timeout
                    return await self._asked(line, request)
            line = await asyncio.open_connection(position.hostname, position.port, **self._from())
            return await self._asked(line, request)

    async def _asked(
        self, line: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes
    ) -> tuple[int, str, bytes]:
        """Send a request; return status, head and body of the response."""
        reader, writer = line
        try:
            writer.write(request)
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            size = re.search(r"content-length: (\d+)", head, re.I)
            body = await reader.readexactly(int(size[1]) if size else 0)
            self._line = line
        finally:
            if self._line is not line:
                writer.close()
        return int(head.split()[1]), head, gzip.decompress(body) if body[:2] == GZIP else body

    async def press(self, key: str) -> float:
        """Click a button; return the seconds until its effect is drawn."""
        widget = self.widgets[key]
        return await self.ask([WidgetState(id=widget.id, trigger_value=True)], widget.fragment)

    async def say(self, states: Mapping[str, Mapping[str, Any]]) -> float:
        """Run the page with arbitrary widget states: id -> {field of the message: value}."""
        return await self.ask([WidgetState(id=name, **value) for name, value in states.items()])

    async def poll(self) -> float:
        """Wait, then run each self-rerunning fragment once; return the seconds of the longest."""
        longest = 0.0
        for fragment, interval in list(self.polls.items()):
            await asyncio.sleep(interval)
            longest = max(longest, await self.ask((), fragment, auto=True))
        return longest

    async def whole(self) -> float:
        """Request all placeholder benches, as lazy_load.js does before printing."""
        return await self.scroll(every=True)

    async def scroll(self, to: str = "", every: bool = False) -> float:
        """Request benches that come into view, as lazy_load.js does.

        Args:
            to: last bench to request; "" for the next one.
            every: request all benches.

        Returns:
            Seconds until they are drawn, 0.0 where there are none to request.
        """
        for widget in [w for w in self.widgets.values() if _is(w, NEAR)]:
            benches = widget.told["benches"]
            waiting = [name for name in benches if name in self._waiting]
            last = waiting.index(to) + 1 if to in waiting else 0 if to else 1
            count = len(waiting) if every else last
            if waiting[:count]:
                self._waiting.difference_update(waiting[:count])
                return await self._tell(widget, "visible", waiting[:count])
        return 0.0

    async def rest(self, visible: bool) -> float:
        """Report settled settings and redraw dependent benches, as debounce.js does.

        Args:
            visible: the first dependent bench is in the viewport; the others are not.

        Returns:
            Seconds of the longest run that this caused, 0.0 for none.
        """
        payloads = [w for w in self.widgets.values() if _is(w, SETTLE) and self._changed(w)]
        if not payloads:
            return 0.0
        await asyncio.sleep(REST_SECONDS)
        longest = 0.0
        for widget in payloads:
            data = widget.told
            self._settings[data["bench"]] = data["settings"]
            request = data["followers"][:1]
            if not (visible and request):
                continue
            taken = await self._tell(widget, "commit", request)
            longest = max(longest, taken)
        return longest

    def request(
        self, states: Sequence[WidgetState] = (), fragment: str = "", auto: bool = False
    ) -> bytes:
        """Return the message that requests a run.

        Args:
            states: new widget states.
            fragment: id of the fragment; "" for the page.
            auto: the run is an automatic rerun of a fragment.
        """
        back = BackMsg()
        client = back.rerun_script
        client.query_string, client.page_name = self._query, self.page
        client.page_script_hash, client.fragment_id = self._hash, fragment
        client.context_info.color_scheme = "light"
        client.context_info.locale = "en-US"
        client.context_info.url = f"{self.url}/{self.page}"
        client.cached_message_hashes.extend(self._cached)
        client.widget_states.widgets.extend(states)
        client.is_auto_rerun = auto
        return back.SerializeToString()

    async def ask(
        self, states: Sequence[WidgetState] = (), fragment: str = "", auto: bool = False
    ) -> float:
        """Request a run with new widget states and wait for its end; return its seconds.

        Args:
            states: new widget states.
            fragment: id of the fragment; "" for the page.
            auto: the run is an automatic rerun of a fragment.
        """
        message = self.request(states, fragment, auto)
        self._run += 1
        self.charts = 0
        started = time.perf_counter()
        await self.socket.send(message)
        while not self._take(await self._receive()):
            pass
        seconds = time.perf_counter() - started
        self._forget()
        return seconds

    async def _receive(self) -> ForwardMsg:
        # Python 3.11's `wait_for` can lose a `cancel`.
        async with asyncio.timeout(self.patience):
            raw = await self.socket.recv()
        return ForwardMsg.FromString(raw if isinstance(raw, bytes) else raw.encode())

    async def _tell(self, widget: Widget, event: str, value: object) -> float:
        """Send an event of a component."""
        message = json.dumps([{"event": event, "value": value}])
        state = WidgetState(id=widget.events, json_trigger_value=message)
        return await self.ask([state], widget.fragment)

    def _changed(self, widget: Widget) -> bool:
        data = widget.told
        payload = self._settings.setdefault(data["bench"], data["settings"])
        return bool(payload != data["settings"])

    def _take(self, message: ForwardMsg) -> bool:
        """Process one message; return True where it ends the run."""
        kind = message.WhichOneof("type")
        if kind == "ref_hash":
            retained, _ = self._cached[message.ref_hash]
            self._cached[message.ref_hash] = (retained, self._run)
            message, kind = retained, retained.WhichOneof("type")
        elif message.metadata.cacheable:
            self._cached[message.hash] = (message, self._run)
        if kind == "new_session":
            self._hash = message.new_session.page_script_hash
            self._session = message.new_session.initialize.session_id or self._session
            if not message.metadata.run.fragment_ids:
                self.polls.clear()  # a page run starts
                self._waiting.clear()
        elif kind == "navigation":
            self._hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self._query = message.page_info_changed.query_string
        elif kind == "page_not_found":
            self.errors.append("page not found")
        elif kind == "delta":
            self._draw(message.delta)
        elif kind == "auto_rerun":
            self.polls[message.auto_rerun.fragment_id] = message.auto_rerun.interval
        elif kind == "stop_auto_rerun":
            for fragment in message.stop_auto_rerun.fragment_ids:
                self.polls.pop(fragment, None)
        elif kind == "script_finished":
            if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                self.errors.append("compile error")
            return message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
        return False

    def _draw(self, delta: Delta) -> None:
        key = _key(delta.add_block.id)
        if key.endswith(PLACE):
            self._waiting.add(key.split(".")[1])
        if delta.WhichOneof("type") != "new_element":
            return
        element: Element = delta.new_element
        kind = element.WhichOneof("type")
        if kind is None:
            return
        message = getattr(element, kind)
        if kind == "exception" or (kind == "alert" and message.format == message.ERROR):
            self.errors.append(f"{kind}: {getattr(message, 'body', '') or message.message}")
        elif kind == "alert" and message.format == message.WARNING:
            self.warnings.append(message.body)
        elif kind in {"alert", "toast"}:
            self.said.append(message.body)
        elif kind == "progress":
            self.progress = message.text
        if name := getattr(message, "id", ""):
            widget = self.widgets[_key(name)] = Widget(delta.fragment_id, message)
            self.charts += _is(widget, CHART)
            if _is(widget, SETTLE):
                self._changed(widget)  # records the initial settings

    def _forget(self) -> None:
        oldest = self._run - CACHED_RUNS
        self._cached = {h: entry for h, entry in self._cached.items() if entry[1] > oldest}


def _key(widget_id: str) -> str:
    """Return the key of a widget; ids have the form `$$ID-<hash>-<key>`."""
    return widget_id.split("-", 2)[-1]


def _is(widget: Widget, component: str) -> bool:
    return getattr(widget.message, "component_name", "") == component
