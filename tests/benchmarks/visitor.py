"""A visitor without a browser: Streamlit's websocket protocol, with the protobuf classes of the installed package.

    async with visit(server.url, "alignment") as visitor:
        first = await visitor.run()
        second = await visitor.run({"alignment.sentence": "The report was not convincing."})
        second.seconds, second.pictures["alignment.weights"]["rows"]

It does what Streamlit's own client does between two runs: it sends every value it has set, the address as the server
last wrote it, and the hashes of the large messages it keeps.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.Element_pb2 import Element
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from app import catalog

OVERTAKEN = ForwardMsg.FINISHED_EARLY_FOR_RERUN
MOST_BYTES = 64 * 1024 * 1024


@dataclass
class Run:
    """What one run of the page sent. `seconds` from the edit to the end of the run, `picture_seconds` to the first
    component that differs from the run before (None: none did)."""

    seconds: float = 0.0
    picture_seconds: float | None = None
    bytes: int = 0
    pictures: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  # widget key to the data of the component
    html: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)


class Visitor:
    """One session. Build it with `visit`."""

    def __init__(self, socket: ClientConnection, url: str, slug: str, query: str) -> None:
        self.socket, self.slug, self.query = socket, slug, query
        self.address = f"{url}/{'' if slug == catalog.LABS[0].slug else slug}"
        self.page_hash = ""
        self.values: dict[str, str] = {}
        self.ids: dict[str, str] = {}  # widget key to the id that Streamlit gave it
        self.kept: dict[str, ForwardMsg] = {}
        self.versions: dict[str, Any] = {}

    async def run(self, values: dict[str, str] | None = None, *, since: float | None = None) -> Run:
        """Set text boxes by widget key and wait for the end of the run; `since` (monotonic) is when the edit was due.

        KeyError for a box that the page does not have.
        """
        self.values |= values or {}
        began = time.monotonic() if since is None else since
        await self.socket.send(self._rerun().SerializeToString())
        found = Run()
        while True:
            raw = await self.socket.recv()
            assert isinstance(raw, bytes)
            found.bytes += len(raw)
            message = self._resolve(ForwardMsg.FromString(raw))
            if self._take(message, found, began):
                found.seconds = time.monotonic() - began
                return found

    def _rerun(self) -> BackMsg:
        message = BackMsg()
        state = message.rerun_script
        state.query_string = self.query
        state.page_script_hash = self.page_hash
        if not self.page_hash:
            state.page_name = "" if self.slug == catalog.LABS[0].slug else self.slug
        state.cached_message_hashes.extend(self.kept)
        state.context_info.url = self.address
        state.context_info.timezone = "UTC"
        for key, value in self.values.items():
            state.widget_states.widgets.add(id=self.ids[key], string_value=value)
        return message

    def _resolve(self, message: ForwardMsg) -> ForwardMsg:
        if message.WhichOneof("type") == "ref_hash":
            whole = ForwardMsg()
            whole.CopyFrom(self.kept[message.ref_hash])
            whole.metadata.CopyFrom(message.metadata)
            return whole
        if message.metadata.cacheable:
            self.kept[message.hash] = message
        return message

    def _take(self, message: ForwardMsg, found: Run, began: float) -> bool:
        """Note what a message says; True where it ends the run."""
        kind = message.WhichOneof("type")
        if kind == "navigation":
            self.page_hash = message.navigation.page_script_hash
        elif kind == "page_info_changed":
            self.query = message.page_info_changed.query_string
        elif kind == "delta" and message.delta.WhichOneof("type") == "new_element":
            self._take_element(message.delta.new_element, found, began)
        return kind == "script_finished" and message.script_finished != OVERTAKEN

    def _take_element(self, element: Element, found: Run, began: float) -> None:
        kind = element.WhichOneof("type")
        if kind == "text_input":
            self.ids[key_of(element.text_input.id)] = element.text_input.id
        elif kind == "bidi_component":
            self._take_picture(element, found, began)
        elif kind == "html":
            found.html.append(element.html.body)
        elif kind == "exception":
            found.errors.append(element.exception.type)
        elif kind == "alert":
            found.errors.append(element.alert.body)

    def _take_picture(self, element: Element, found: Run, began: float) -> None:
        component = element.bidi_component
        key = key_of(component.id)
        data = json.loads(component.json)
        found.pictures[key] = {"component": component.component_name, **data}
        if self.versions.get(key) != data.get("version"):
            self.versions[key] = data.get("version")
            if found.picture_seconds is None:
                found.picture_seconds = time.monotonic() - began


def key_of(identity: str) -> str:
    """The key that the page gave a widget, out of Streamlit's id ("$$ID-digest-key")."""
    return identity.split("-", 2)[2]


@asynccontextmanager
async def visit(url: str, slug: str, **params: str) -> AsyncIterator[Visitor]:
    """Connect to the server at `url` as a new visitor of lab `slug`."""
    address = url.replace("http", "ws", 1) + "/_stcore/stream"
    async with connect(
        address,
        subprotocols=[Subprotocol("streamlit")],
        compression=None,
        max_size=MOST_BYTES,
        open_timeout=60,
    ) as socket:
        yield Visitor(socket, url, slug, urlencode(params))
