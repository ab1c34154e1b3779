"""A failing panel says one sentence, keeps the page, and logs no visitor's text."""

from __future__ import annotations

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as some
from streamlit.testing.v1 import AppTest

from app.ui.errors import escape


def known() -> None:
    import streamlit as st

    from app.ui.errors import Trouble, guarded

    with guarded("The panel"):
        raise Trouble("The checkpoint of *luong* is damaged.")
    st.write("still here")


def unknown() -> None:
    import streamlit as st

    from app.ui.errors import guarded

    with guarded("The panel"):
        raise RuntimeError("my secret sentence")
    st.write("still here")


def stops() -> None:
    import streamlit as st

    from app.ui.errors import guarded

    with guarded("The panel"):
        st.stop()
    st.write("never here")


def test_a_sentence_for_the_visitor_is_shown_as_text() -> None:
    app = AppTest.from_function(known).run()
    assert [one.value for one in app.warning] == [r"The checkpoint of \*luong\* is damaged\."]
    assert [one.value for one in app.markdown] == ["still here"]


def test_an_unknown_error_is_logged_by_type_and_place_only(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "sequence_explorer"):
        app = AppTest.from_function(unknown).run()
    assert [one.value for one in app.markdown] == ["still here"]
    assert app.error[0].value.startswith("The panel could not be computed.")
    assert not app.exception
    assert "RuntimeError" in caplog.text
    assert "secret" not in caplog.text


def test_streamlits_own_control_flow_passes() -> None:
    app = AppTest.from_function(stops).run()
    assert not app.error
    assert not app.markdown


@given(some.text(alphabet="\\`*_{}[]()#+-.!|<>$~:ab "))
def test_escaping_puts_a_backslash_before_each_sign(text: str) -> None:
    assert escape(text).replace("\\", "") == text.replace("\\", "")
    assert len(escape(text)) == len(text) + sum(c not in "ab " for c in text)
