"""What is said to the server without a browser: Streamlit's messages, whole and broken.

`Visitor` says what the browser would say, with any widget state one likes. It waits for the end of
the run; the server may also close the connection, which is its right.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.WidgetStates_pb2 import WidgetState
from streamlit.runtime.state.session_state import STREAMLIT_INTERNAL_KEY_PREFIX
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol

PATIENCE = 120.0


@dataclass
class Visitor:
    """One connection; `async with Visitor(url, page) as visitor`.

    ids: the widgets' ids by their keys; fragments: those that they are in. errors: exceptions and
    error boxes that the page has shown. charts: how many figures the last run has sent. benches:
    all of the page. closed: whether the server has hung up.
    """

    url: str
    page: str = ""
    query: str = "lang=en"
    ids: dict[str, str] = field(default_factory=dict)
    errors: list[str] = field(default_factory=list)
    charts: int = 0
    closed: bool = False
    silent: bool = False
    benches: list[str] = field(default_factory=list)
    fragments: dict[str, str] = field(default_factory=dict)

    hash: str = ""  # of the page that it has seen
    patience: float = PATIENCE

    async def __aenter__(self) -> Visitor:
        self.socket: ClientConnection = await connect(
            f"ws://{urlsplit(self.url).netloc}/_stcore/stream",
            subprotocols=[Subprotocol("streamlit")],
            max_size=None,
            open_timeout=PATIENCE,
            close_timeout=2,
            ping_timeout=None,
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()

    async def send(self, content: bytes | str) -> bool:
        """Any bytes; False where the connection is gone."""
        try:
            await self.socket.send(content)
        except (ConnectionClosed, OSError):
            self.closed = True
        return not self.closed

    async def ask(self, *states: WidgetState, fragment: str = "") -> Visitor:
        """Run the page with these widget states and read until the end of the run."""
        back = BackMsg()
        back.rerun_script.page_name = self.page
        back.rerun_script.page_script_hash = self.hash
        back.rerun_script.query_string = self.query
        back.rerun_script.fragment_id = fragment
        back.rerun_script.widget_states.widgets.extend(states)
        self.errors, self.charts = [], 0
        if await self.send(back.SerializeToString()):
            await self.read()
        return self

    async def whole(self) -> Visitor:
        """Ask for the benches out of sight as well; charts: how many figures these have."""
        near = next(key for key in self.ids if key.endswith(".near"))
        said = json.dumps([{"event": "near", "value": self.benches}])
        state = WidgetState(id=events(self.ids[near]), json_trigger_value=said)
        return await self.ask(state, fragment=self.fragments[near])

    async def read(self) -> None:
        """Take what comes until a run has ended."""
        while not self.closed:
            try:
                raw = await asyncio.wait_for(self.socket.recv(), self.patience)
            except ConnectionClosed:
                self.closed = True
                return
            except TimeoutError:
                self.silent = True
                return
            message = ForwardMsg.FromString(raw)
            if message.HasField("delta"):
                self._draw(message)
            elif message.HasField("new_session"):
                self.hash = message.new_session.page_script_hash
            elif message.HasField("navigation"):
                self.hash = message.navigation.page_script_hash
            elif message.WhichOneof("type") == "script_finished" and (
                message.script_finished != ForwardMsg.FINISHED_EARLY_FOR_RERUN
            ):
                return

    def _draw(self, message: ForwardMsg) -> None:
        element = message.delta.new_element
        kind = element.WhichOneof("type")
        if kind is None:
            return
        drawn = getattr(element, kind)
        if kind == "exception" or (kind == "alert" and drawn.format == drawn.ERROR):
            self.errors.append(getattr(drawn, "body", "") or drawn.message)
        self.charts += kind == "bidi_component" and drawn.component_name == "seqviz_chart"
        name = getattr(drawn, "id", "")
        if name:
            self.ids[name.split("-", 2)[-1]] = name
            self.fragments[name.split("-", 2)[-1]] = message.delta.fragment_id
        if kind == "bidi_component" and drawn.component_name == "seqviz_near":
            self.benches = json.loads(drawn.json)["benches"]


def events(name: str) -> str:
    """The id under which a component with this id says that something has happened."""
    return f"{STREAMLIT_INTERNAL_KEY_PREFIX}_{name}__events"
