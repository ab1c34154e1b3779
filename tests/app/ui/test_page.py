"""Which of two states a page takes when a link and an edit meet: a hand's next edit, or the browser's Back button."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

WAIT = 20


def _page() -> None:
    from dataclasses import dataclass

    import streamlit as st

    from app.ui.page import open_page
    from app.ui.url import text

    @dataclass(frozen=True)
    class Settings:
        sentence: str = text("s", default="One.")
        other: str = text("o", default="a")

    page = open_page("alignment", Settings)
    with page.controls():
        chosen = Settings(
            st.text_input("Sentence", key=page.key("sentence")), st.text_input("Other", key=page.key("other"))
        )
        page.commit(chosen)
    st.text(f"{page.settings.sentence} {page.settings.other}")


def _after_two_edits() -> AppTest:
    app = AppTest.from_function(_page, default_timeout=WAIT).run()
    app.text_input[0].set_value("Two.").run()
    app.text_input[0].set_value("Three.").run()
    assert app.text[0].value == "Three. a"
    return app


def test_back_soon_after_an_edit_restores_the_state_before() -> None:
    app = _after_two_edits()
    app.query_params["s"] = "Two."
    app.run()
    assert app.text[0].value == "Two. a"


def test_an_edit_that_left_before_the_newest_link_arrived_undoes_nothing() -> None:
    app = _after_two_edits()
    app.query_params["s"] = "Two."
    app.text_input[1].set_value("b").run()
    assert app.text[0].value == "Three. b"
