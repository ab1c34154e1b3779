"""Every lab of the catalog runs, keeps its state in the link, and takes bad links and bad sentences calmly."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app import catalog

ROOT = Path(__file__).parents[2]
TIMEOUT = 120  # seconds: the first run imports torch
each_lab = pytest.mark.parametrize("lab", catalog.LABS, ids=lambda lab: lab.slug)


def open_lab(lab: catalog.Lab, **params: str) -> AppTest:
    """The lab's page alone, run once with a link."""
    app = AppTest.from_file(str(ROOT / "app" / lab.page), default_timeout=TIMEOUT)
    for name, raw in params.items():
        app.query_params[name] = raw
    return app.run()


def html_of(app: AppTest) -> str:
    """All HTML that the run painted."""
    return "\n".join(one.proto.body for one in app.get("html"))


def sentence_of(app: AppTest, lab: catalog.Lab) -> str:
    """What stands in the sentence box."""
    return app.text_input(key=f"{lab.slug}.sentence").value or ""


@each_lab
def test_a_lab_runs_and_paints_its_frame(lab: catalog.Lab) -> None:
    app = open_lab(lab)
    assert not app.exception
    assert not app.error
    assert not app.info
    assert lab.question in html_of(app)
    assert "What it does not." in html_of(app)


@each_lab
def test_a_link_sets_the_sentence_and_is_kept(lab: catalog.Lab) -> None:
    app = open_lab(lab, v="1", s="Thank you.")
    assert sentence_of(app, lab) == "Thank you."
    assert app.query_params["s"] == "Thank you."
    assert not app.info


@each_lab
def test_a_broken_link_opens_the_default_with_one_sentence(lab: catalog.Lab) -> None:
    app = open_lab(lab, v="1", s="x" * 400, zz="1")
    assert len(app.info) == 1
    assert (
        "sentence is longer than 200 characters; it has parts that this page does not know"
        in app.info[0].value
    )
    assert sentence_of(app, lab) == "The report was not convincing."
    assert not app.exception
    app.run()
    assert not app.info


STRANGE = ("", "   ", "x" * 10_000, "🍎", "مرحبا", "报告", "<script>alert(1)</script>", "a\x00b")


@each_lab
def test_any_sentence_is_taken_calmly(lab: catalog.Lab) -> None:
    app = open_lab(lab)
    for raw in STRANGE:
        app.text_input(key=f"{lab.slug}.sentence").set_value(raw).run()
        assert not app.exception, raw
        assert not app.error, raw
        assert "<script" not in html_of(app)
        assert sentence_of(app, lab) == raw


@each_lab
def test_presenter_mode_folds_the_controls(lab: catalog.Lab) -> None:
    app = open_lab(lab, present="1")
    assert "Controls" in [one.label for one in app.expander]
    assert app.query_params["present"] == "1"
    assert not app.exception


def test_the_app_opens_with_the_first_lab_and_says_what_the_server_is() -> None:
    app = AppTest.from_file(str(ROOT / "app/main.py"), default_timeout=TIMEOUT).run()
    assert not app.exception
    made = html_of(app)
    assert "This server" in made
    assert catalog.LABS[0].question in made


FRAME = """
import sys
from streamlit.testing.v1 import AppTest
import app.ui.page
painted = []
original = app.ui.page.Page._paint_heading
def watch(self):
    original(self)
    painted.append([name for name in ("torch", "onnxruntime", "tokenizers") if name in sys.modules])
app.ui.page.Page._paint_heading = watch
run = AppTest.from_file("app/main.py", default_timeout=120).run()
assert not run.exception
print(painted[0])
"""


def test_nothing_heavy_is_imported_before_the_first_frame_is_painted() -> None:
    run = subprocess.run([sys.executable, "-c", FRAME], cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.strip().splitlines()[-1] == "[]"
