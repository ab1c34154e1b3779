"""The frame every lab shares, and the page's settings between widgets, session and link.

    page = open_page("alignment", Settings)
    with page.controls():
        settings = page.commit(Settings(
            sentence=sentence_box(page),
            beam=st.slider("Beam", 1, 8, key=page.key("beam")),
        ))
    ...panels...
    page.close()

`open_page` paints title, question and actions before anything heavy is imported. A widget takes its value from
`key=page.key(field)`, never from a `value=` or `default=` of its own. A field without a widget (a cell clicked in a
component) is read from `page.settings` and set by `page.put(field, value)`, in a callback or before `st.rerun()`.
"""

from __future__ import annotations

import dataclasses
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar, cast
from urllib.parse import urlencode, urlsplit, urlunsplit

import streamlit as st

from app import catalog
from app.ui import url
from app.ui.markup import CREDIT, explanation, heading

S = TypeVar("S")
LATE = 1.5  # seconds in which a link that was replaced may still come back with a commit
HERE = "page:here"  # slug of the page of the session's last run
SENTENCE = "page:sentence"  # the visitor's sentence, carried from page to page


class Page(Generic[S]):
    """One lab's frame in this run. Build it with `open_page`."""

    def __init__(self, lab: catalog.Lab, cls: type[S]) -> None:
        self.lab = lab
        self.cls = cls
        self.settings, self.problems = self._arrive()
        self.presenting = presenting()
        self._paint_heading()

    def key(self, name: str) -> str:
        """The widget key of field `name`, seeded with the field's value where the widget is new."""
        key = self._key(name)
        if key not in st.session_state:
            st.session_state[key] = _for_widget(getattr(self.settings, name))
        return key

    def put(self, name: str, value: Any) -> None:
        """Set field `name` for the next run: from a callback, or before `st.rerun()`."""
        self.settings = dataclasses.replace(cast(Any, self.settings), **{name: value})
        st.session_state[self._saved] = self.settings
        if self._key(name) in st.session_state:
            st.session_state[self._key(name)] = _for_widget(value)

    @contextmanager
    def controls(self) -> Iterator[None]:
        """Where a lab's widgets stand; folded away in presenter mode."""
        with st.expander("Controls") if self.presenting else st.container(key="se-controls"):
            yield

    def commit(self, settings: S) -> S:
        """Take the widgets' values as the page's settings: write the link, remember them, fill the share panel."""
        settings = _normalised(settings)
        st.session_state[self._saved] = self.settings = settings
        st.session_state[self._committed] = settings, self._widgets()
        if hasattr(settings, "sentence"):
            st.session_state[SENTENCE] = cast(Any, settings).sentence
        params = url.encode(settings) | ({"present": "1"} if self.presenting else {})
        if dict(st.query_params) != params:
            st.query_params.from_dict(params)
        self._remember(params)
        self._fill_share(params)
        return settings

    @contextmanager
    def pending(
        self,
        height: int,
        sentence: str = "Loading the models. The first page of a new server waits for this.",
    ) -> Iterator[None]:
        """While the block loads models for the first time, hold `height` pixels with a sentence in them."""
        place = st.empty()
        if "torch" not in sys.modules:
            with place.container(key="se-pending"):
                st.caption(sentence)
                st.skeleton(height=height)
        try:
            yield
        finally:
            place.empty()

    def close(self) -> None:
        """Paint the foot of the page: what it shows, what it does not, and the credit for the training text."""
        st.html(explanation(self.lab.shows, self.lab.shows_not) + CREDIT)

    @property
    def _saved(self) -> str:
        return f"page:{self.lab.slug}:settings"

    @property
    def _written(self) -> str:
        return f"page:{self.lab.slug}:link"

    @property
    def _committed(self) -> str:
        return f"page:{self.lab.slug}:committed"

    @property
    def _replaced(self) -> str:
        return f"page:{self.lab.slug}:replaced"

    def _key(self, name: str) -> str:
        return f"{self.lab.slug}.{name}"

    def _arrive(self) -> tuple[S, list[str]]:
        """Settings at the start of a run: the link's where it is new, otherwise the session's."""
        state, params = st.session_state, dict(st.query_params)
        moved = state.get(HERE) != self.lab.slug
        state[HERE] = self.lab.slug
        given = {name: raw for name, raw in params.items() if name != "present"}
        saved = state.get(self._saved)
        known = given == _without_present(state.get(self._written, {})) or self._late(given)
        if saved is not None and not moved and known:
            return saved, []
        if saved is not None and moved and not given:
            return self._carried(saved), []
        settings, problems = url.decode(self.cls, given)
        return self._seed(settings if "s" in given else self._carried(settings)), problems

    def _remember(self, params: dict[str, str]) -> None:
        """Note the link just written, and when it took the place of the one before."""
        state, before = st.session_state, st.session_state.get(self._written)
        if before is not None and before != params:
            replaced = state.get(self._replaced, [])
            state[self._replaced] = [*replaced, (_without_present(before), time.monotonic())][-8:]
        state[self._written] = params

    def _late(self, given: dict[str, str]) -> bool:
        """Whether `given` is a link of a moment ago: a quick hand's next commit left before the newest link arrived.

        Such a run brings an edit with it. One that brings none is the browser's Back button, and its link counts.
        """
        state, now = st.session_state, time.monotonic()
        if state.get(self._committed) == (state.get(self._saved), self._widgets()):
            return False
        return any(given == link and now - at < LATE for link, at in st.session_state.get(self._replaced, []))

    def _widgets(self) -> dict[str, Any]:
        """What the widgets of the page's fields hold, by field."""
        names = [field.name for field in dataclasses.fields(cast(Any, self.cls))]
        return {
            name: st.session_state[self._key(name)] for name in names if self._key(name) in st.session_state
        }

    def _carried(self, settings: S) -> S:
        """`settings` with the sentence the visitor last used on any page."""
        sentence = st.session_state.get(SENTENCE)
        if sentence is None or not hasattr(settings, "sentence"):
            return settings
        return dataclasses.replace(cast(Any, settings), sentence=sentence)

    def _seed(self, settings: S) -> S:
        """Give widgets that already stand on the page the values of a link that changed under them."""
        for field in dataclasses.fields(cast(Any, settings)):
            if self._key(field.name) in st.session_state:
                st.session_state[self._key(field.name)] = _for_widget(getattr(settings, field.name))
        return settings

    def _paint_heading(self) -> None:
        with st.container(key="se-head", horizontal=True, vertical_alignment="top", gap="small"):
            st.html(heading(self.lab))
            with st.container(key="se-actions", horizontal=True, width="content", gap="small"):
                self.actions = st.container(horizontal=True, width="content", gap="small")
                self.share = st.popover("Share link")
                self.export = st.popover("Export")
                label = "Leave presenting" if self.presenting else "Present"
                st.button(label, key="se-present", on_click=_toggle_presenting)
        if self.problems:
            st.info(
                f"Part of this link was ignored: {'; '.join(self.problems)}. The rest of the page is as usual."
            )

    def _fill_share(self, params: dict[str, str]) -> None:
        with self.share:
            st.caption("This link opens the page as you see it now.")
            st.code(share_link(params), language=None, wrap_lines=True)
            if not url.fits(self.settings):
                st.caption("The sentence is too long to travel in a link; it opens with the default one.")


def open_page(slug: str, cls: type[S]) -> Page[S]:
    """Paint the frame of lab `slug` and find its settings (`cls` is the lab's frozen Settings)."""
    return Page(catalog.lab(slug), cls)


def presenting() -> bool:
    """Whether the link asks for presenter mode (`?present=1`)."""
    return st.query_params.get("present") == "1"


def share_link(params: dict[str, str]) -> str:
    """The address of this page with `params`, as the visitor's browser sees it."""
    address = urlsplit(st.context.url or "")
    return urlunsplit(
        address._replace(path=address.path or "/", query=urlencode(params, safe=","), fragment="")
    )


def _toggle_presenting() -> None:
    if presenting():
        del st.query_params["present"]
    else:
        st.query_params["present"] = "1"


def _without_present(params: dict[str, str]) -> dict[str, str]:
    return {name: raw for name, raw in params.items() if name != "present"}


def _for_widget(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _normalised(settings: S) -> S:
    """Lists from widgets become tuples; a choice that was deselected goes back to its default."""
    values = {}
    for field in dataclasses.fields(cast(Any, settings)):
        value = getattr(settings, field.name)
        value = field.default if value is None else value
        values[field.name] = tuple(value) if isinstance(value, list) else value
    return dataclasses.replace(cast(Any, settings), **values)
