"""Enter in the sentence box to the new alignment picture painted, in real Chromium, beside the floor.

    python -m tests.benchmarks picture

The floor is the smallest app with the same way to go: a text box and `st.write` of its text. Both are measured in
the same run, a sentence here and a sentence there, from the time stamp of the key press to the frame after the one in
which the picture (or the text) was found changed. Every sentence is new to the server, so no cache answers.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.hooked import PATIENCE
from tests.benchmarks.measure import PAGE, Target, fresh_sentences, need_weights, save, summary, table
from tests.browser.harness import launch, serve, visit

WARM = 3
FLOOR = "tests/benchmarks/floor_app.py"
Kind = Literal["picture", "text"]
LINES = {
    "new alignment picture": "picture",
    "  until its data arrived": "arrival",
    "floor": "floor",
    "  until its text arrived": "floor_arrival",
}

# Notes when messages arrive and how large they are; the largest after an edit is the one with the picture's data.
LISTEN = """
window.arrivals = [];
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener('message', ({ data }) =>
      window.arrivals.push([performance.now(), data.byteLength ?? data.size]));
  }
};
"""
# Waits for Enter, then looks once a frame; a component's picture lives in the shadow root that Streamlit gives it.
ARM = """([kind, text]) => {
  const picture = () => {
    for (const host of document.querySelectorAll('.stMain *')) {
      const found = host.shadowRoot?.querySelector('[data-component=heatmap][data-ready=true]');
      if (found && found.getClientRects().length) return found;
    }
    return null;
  };
  const version = () => picture()?.dataset.version;
  const before = version();
  const said = () => [...document.querySelectorAll('.stMain p')].some((p) => p.textContent === text);
  const done = () => kind === 'picture' ? version() && version() !== before : said();
  window.benchmark = new Promise((resolve, reject) => addEventListener('keydown', (event) => {
    const began = event.timeStamp;
    window.arrivals = [];
    const look = () => {
      if (done()) {
        const largest = window.arrivals.reduce((a, b) => (b[1] > a[1] ? b : a), [began, 0]);
        requestAnimationFrame(() => resolve({ ms: performance.now() - began, arrived: largest[0] - began }));
      } else if (performance.now() - began > 60000) reject(new Error('nothing new within a minute'));
      else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
  }, { capture: true, once: true }));
}"""


def commit(page: Page, text: str, kind: Kind) -> dict[str, float]:
    """Type `text`, press Enter; seconds until what it causes is painted, and until its data arrived."""
    box = page.get_by_label("Sentence", exact=True)
    box.fill(text)
    page.evaluate(ARM, [kind, text])
    box.press("Enter")
    found = page.evaluate("window.benchmark")
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
    )
    return {"seconds": found["ms"] / 1e3, "arrived": found["arrived"] / 1e3}


@contextmanager
def pages(folder: Path, target: Target) -> Iterator[tuple[Page, Page]]:
    """The page and the floor, each on its own server, in one Chromium."""
    with ExitStack() as stack:
        app = stack.enter_context(serve(folder / "app.log", wait=PATIENCE))
        floor = stack.enter_context(serve(folder / "floor.log", script=FLOOR, wait=PATIENCE))
        browser = launch(stack.enter_context(sync_playwright()))
        visitor = stack.enter_context(visit(browser, app.url))
        visitor.page.set_default_timeout(120_000)
        visitor.page.add_init_script(LISTEN)
        visitor.goto(target.lab, settle=False, **target.params)
        visitor.settle(timeout=240_000)
        plain = stack.enter_context(visit(browser, floor.url)).page
        plain.add_init_script(LISTEN)
        plain.goto(floor.url)
        plain.get_by_label("Sentence", exact=True).wait_for()
        yield visitor.page, plain


def run(count: int = 30, target: Target = PAGE) -> dict[str, Any]:
    """Commit `count` fresh sentences to each; figures in seconds."""
    need_weights(target.system)
    sentences = fresh_sentences(WARM + count)
    pictures, texts = [], []
    with tempfile.TemporaryDirectory() as folder, pages(Path(folder), target) as (page, floor):
        for sentence in sentences:
            pictures.append(commit(page, sentence, "picture"))
            texts.append(commit(floor, sentence, "text"))
    figures = {
        "page": target.lab,
        "system": target.system,
        "picture": summary([one["seconds"] for one in pictures[WARM:]]),
        "arrival": summary([one["arrived"] for one in pictures[WARM:]]),
        "floor": summary([one["seconds"] for one in texts[WARM:]]),
        "floor_arrival": summary([one["arrived"] for one in texts[WARM:]]),
    }
    figures["ratio"] = {name: figures["picture"][name] / figures["floor"][name] for name in ("median", "p95")}
    save("picture", figures)
    return figures


def show(figures: dict[str, Any]) -> str:
    """The figures as a table."""
    rows = [
        [label, *(f"{figures[name][column] * 1e3:,.0f} ms" for column in ("median", "p95", "least", "most"))]
        for label, name in LINES.items()
    ]
    ratio = figures["ratio"]
    rows.append(["picture / floor", f"{ratio['median']:.2f}", f"{ratio['p95']:.2f}", "", ""])
    count, place = figures["picture"]["count"], f"{figures['system']} on {figures['page']}"
    title = f"Enter to painted, {count} fresh sentences, {place} (aim: twice the floor)"
    return table(title, ["", "median", "p95", "least", "most"], rows)
