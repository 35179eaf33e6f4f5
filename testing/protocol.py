"""A student without a browser: Streamlit's own protocol over the websocket.

A hundred browsers do not fit on the machine that is measured; a hundred of these do. Each speaks as
the browser does: it asks for the page, opens the websocket, sends the address, keeps the messages
that the server may refer to later, sends a control's new value for the fragment that the control is
in. It asks for the benches that the student scrolls to (`bench/lazy_load.js`), and says that the
settings of a bench have come to rest (`bench/debounce.js`), which redraws those that build on
it and are in sight. What it does not do is paint. It can also say what no browser says (`say`,
`ask`, `socket`). Streamlit's messages are private: what benchmarks and tests know of them is here.
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

REST_SECONDS = 0.25  # after which debounce.js speaks
CACHED_RUNS = 2  # for how many runs the browser keeps a message (global.maxCachedMessageAge)
PATIENCE = 60.0
GZIP = b"\x1f\x8b"  # begins what is compressed
T = TypeVar("T")
SETTLE, NEAR, CHART = "seqviz_debounce", "seqviz_lazy_load", "seqviz_chart"
HAND = ".commit"  # how the key of what hears of a hand at rest ends, after that of its bench
SLIDER = ".slider"  # how the key of a slider's component ends, after that of its parameter
PLACE = ".placeholder"  # how the key of what keeps a bench's place ends


def run_async(lesson: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` in a thread of its own: a Chromium of this process has its loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, lesson).result()


@dataclass(frozen=True)
class Widget:
    """A control as the page describes it: its place, and its message."""

    fragment: str
    message: Any

    @property
    def id(self) -> str:
        return str(self.message.id)

    @property
    def told(self) -> dict[str, Any]:
        """What a component of ours is told (`seqviz.ui.page.components`)."""
        (data,) = json.loads(self.message.json)
        return dict(data)

    @property
    def events(self) -> str:
        """The id under which a component says that something has happened."""
        return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{self.id}__events"


@dataclass
class ProtocolClient:
    """One connection; `async with ProtocolClient(url, slug) as student`.

    parameters: of the link; where they are one text, all of its query. patience: seconds to wait
    for a message, TimeoutError after that. source: the address of this machine that it comes from
    (127.0.0.2), the usual one where it is empty. cookies: those of the student's device, which may
    have several tabs; None: none are kept or sent, and the page in HTML, which gives them, is not
    asked for. widgets: the controls of the page by their keys. charts: how many the last run has
    drawn. errors: what went wrong on the page so far, warnings: what it has warned of, said: its
    other messages. progress: what the last bar of progress said. polls: fragments that ask to be
    run again by themselves (a running job's progress), with their seconds. body: of the last file
    or picture. Where the server hangs up, whatever waits for it raises websockets'
    ConnectionClosed; where it has no page for a newcomer, this raises ConnectionRefusedError.
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
        self._settings: dict[str, str] = {}  # bench -> settings that debounce.js last told
        self._waiting: set[str] = set()  # benches that only keep their place
        self._seen: dict[str, tuple[str, str, str | None]] = {}  # bench -> what stands on screen
        self._arrays: dict[str, str] = {}  # bench -> names of the large ones in its last picture
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
            ping_interval=None,  # a browser sends none
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
        """Ask for the page; seconds until the script has run to its end."""
        return await self.ask()

    async def move(self, key: str, value: Any) -> float:
        """Move a control; seconds until the bench is redrawn. KeyError where it is not there.

        Of a slider this is what the page hears when the hand has come to rest: only that it does,
        where its `picture` stands on screen and shows all that the page would draw.
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
        """What a slider is told (`components/slider.js`); None for another control."""
        widget = self.widgets.get(f"{key}{SLIDER}")
        return None if widget is None else dict(widget.told["options"])

    def live(self, key: str) -> dict[str, Any]:
        """Where the page asks for the pictures of a control's bench (`fast_path.source`).

        KeyError where it says of no route.
        """
        chart = self.widgets[f"{key.rpartition('.')[0]}.chart"].message.bytes
        return dict(json.loads(chart.partition(b"\n")[0])["live"])

    async def picture(self, key: str, value: Any, moving: bool = False) -> int:
        """What live.js does while a slider moves: ask for the picture; the answer's status.

        moving: the hand goes on. KeyError where the page says of no route. One connection is kept
        for all of them; where this is cancelled, it is closed. As in a browser, large arrays of the
        answer before do not travel again.
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
        """A picture stands on screen: of a slider at this value, as the route answers."""
        around, bench = json.loads(answer.partition(b"\n")[0]), key.rpartition(".")[0]
        self._seen[bench] = (key, encoded(value), around["layout_signature"])
        self._arrays[bench] = ",".join(around["arrays"])

    async def download(self, key: str) -> int:
        """Have the file of a download button made, and fetch it; the answer's status.

        0 where the server does not make it.
        """
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
        """The message that asks for the file of a download button; name: of the request."""
        back = BackMsg()
        request = back.backend_operation_request
        request.request_id, request.session_id = name or key, self._session
        request.deferred_file.file_id = self.widgets[key].message.deferred_file_id
        return back.SerializeToString()

    async def _visit(self) -> None:
        """Ask for the page in HTML, and keep its cookies."""
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
        """Where connections come from, for those who make one."""
        return {"local_addr": (self.source, 0)} if self.source else {}

    async def _get(self, address: str, headers: Mapping[str, str]) -> tuple[int, str, bytes]:
        """Status, head and body of the answer. One connection is kept; where this is cancelled, it
        is closed."""
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
                with suppress(OSError, asyncio.IncompleteReadError):  # it was left for too long
                    return await self._asked(line, request)
            line = await asyncio.open_connection(position.hostname, position.port, **self._from())
            return await self._asked(line, request)

    async def _asked(
        self, line: tuple[asyncio.StreamReader, asyncio.StreamWriter], request: bytes
    ) -> tuple[int, str, bytes]:
        """Status, head and body of the answer."""
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
        """Press a button; seconds until what it changes is drawn."""
        widget = self.widgets[key]
        return await self.ask([WidgetState(id=widget.id, trigger_value=True)], widget.fragment)

    async def say(self, states: Mapping[str, Mapping[str, Any]]) -> float:
        """Run the page with any values of any kind: id -> {field of the message: value}."""
        return await self.ask([WidgetState(id=name, **value) for name, value in states.items()])

    async def poll(self) -> float:
        """Wait, then run the fragments that ask for it, once; seconds of the longest."""
        longest = 0.0
        for fragment, interval in list(self.polls.items()):
            await asyncio.sleep(interval)
            longest = max(longest, await self.ask((), fragment, auto=True))
        return longest

    async def whole(self) -> float:
        """What lazy_load.js does before a print: ask for all benches that only keep their place."""
        return await self.scroll(every=True)

    async def scroll(self, to: str = "", every: bool = False) -> float:
        """What lazy_load.js does: ask for the benches down to this one, for the next, or for all.

        Returns the seconds until they are drawn, 0.0 where there is none to ask for.
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
        """What debounce.js does: after a rest, ask for benches that build on changed ones.

        visible: whether the first that builds on a changed one is in sight; the others are not.
        Returns the seconds of the longest run that this caused, 0.0 where there was none.
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
        """The message that asks for a run with new states."""
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
        """Send new states and read until the run that they cause has ended; its seconds."""
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
        """A component of the page says something."""
        message = json.dumps([{"event": event, "value": value}])
        state = WidgetState(id=widget.events, json_trigger_value=message)
        return await self.ask([state], widget.fragment)

    def _changed(self, widget: Widget) -> bool:
        data = widget.told
        payload = self._settings.setdefault(data["bench"], data["settings"])
        return bool(payload != data["settings"])

    def _take(self, message: ForwardMsg) -> bool:
        """Take one message in; whether it ends the run."""
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
                self.polls.clear()  # a run of the whole page begins
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
                self._changed(widget)  # the first settings are known

    def _forget(self) -> None:
        oldest = self._run - CACHED_RUNS
        self._cached = {h: entry for h, entry in self._cached.items() if entry[1] > oldest}


def _key(widget_id: str) -> str:
    """The key that the page gave a widget: ids are `$$ID-<hash>-<key>`."""
    return widget_id.split("-", 2)[-1]


def _is(widget: Widget, component: str) -> bool:
    return getattr(widget.message, "component_name", "") == component
