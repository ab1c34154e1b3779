"""A painted cell to the redrawn weights, in real Chromium, for a 16x16 and a 32x32 grid, beside the floor.

    python -m tests.benchmarks painted

From the time stamp of the pointer's press to the frame after the one in which the picture of the heads was found
redrawn: a stroke of one cell, the rerun, the real model with that relation, and the picture. Every cell gives a
relation that the server has not seen. The floor is that of `picture`, measured in the same run, before.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

from tests.benchmarks.hooked import PATIENCE
from tests.benchmarks.measure import fresh_sentences, need_weights, save, summary, table
from tests.benchmarks.picture import FLOOR, commit
from tests.browser.harness import launch, serve, visit

SYSTEM, SENTENCE, WARM = "gpt", "The report was not convincing.", 2
SIZES = {16: 1, 32: 17}  # rows of the stream: how often the French says "très"
SEEK = """([kind]) => {
  for (const host of document.querySelectorAll('.stMain *')) {
    const found = host.shadowRoot?.querySelector(`[data-component=${kind}][data-ready=true]`);
    if (found && found.getClientRects().length) return found;
  }
  return null;
}"""
# A stroke on one cell, found by pointing; resolves when the heads are another picture.
PAINT = f"""([cell]) => new Promise((resolve, reject) => {{
  const seek = {SEEK};
  const canvas = seek(['mask_grid']).querySelector('canvas'), root = canvas.closest('.sx');
  const box = canvas.getBoundingClientRect();
  canvas.setPointerCapture = () => {{}};
  const send = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {{ clientX: x, clientY: y, button: 0 }}));
  const place = () => {{
    for (let y = box.height - 6; y > 0; y -= 4) for (let x = 30; x < box.width; x += 4) {{
      send('pointermove', box.left + x, box.top + y);
      if (root.dataset.point === cell) return [box.left + x, box.top + y];
    }}
  }};
  const at = place(), before = seek(['heads']).dataset.version, began = performance.now();
  send('pointerdown', ...at);
  send('pointerup', ...at);
  const look = () => {{
    if ((seek(['heads'])?.dataset.version ?? before) !== before)
      requestAnimationFrame(() => resolve(performance.now() - began));
    else if (performance.now() - began > 60000) reject(new Error('nothing new within a minute'));
    else requestAnimationFrame(look);
  }};
  requestAnimationFrame(look);
}})"""


def strokes(page: Page, count: int) -> list[float]:
    """Seconds of `count` strokes, each closing another cell of the first column, from the last row up."""
    rows = int(page.locator("[data-component=mask_grid] [role=grid]").get_attribute("aria-rowcount") or 0)
    cells = [f"{rows - 1 - n % (rows - 2)},{n // (rows - 2)}" for n in range(WARM + count)]
    return [painted(page, cell) for cell in cells][WARM:]


def painted(page: Page, cell: str) -> float:
    found = page.evaluate(PAINT, [cell]) / 1e3
    page.wait_for_function(
        "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
    )
    page.wait_for_timeout(100)
    return found


def run(count: int = 20) -> dict[str, Any]:
    """`count` strokes on each grid, and as many texts of the floor; figures in seconds."""
    need_weights(SYSTEM)
    figures: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder, browser = Path(name), launch(playwright)
        with (
            serve(folder / "app.log", wait=PATIENCE) as app,
            serve(folder / "floor.log", script=FLOOR, wait=PATIENCE) as floor,
            visit(browser, floor.url) as plain,
        ):
            plain.page.goto(floor.url)
            texts = [commit(plain.page, text, "text")["seconds"] for text in fresh_sentences(WARM + count)]
            figures["floor"] = summary(texts[WARM:])
            for rows, words in SIZES.items():
                french = f"Le rapport n'était pas {'très ' * words}convaincant."
                with visit(browser, app.url) as visitor:
                    visitor.goto("masks", settle=False, v="1", m=SYSTEM, s=SENTENCE, t=french)
                    visitor.page.wait_for_selector("[data-component=heads]", timeout=240_000)
                    visitor.settle(timeout=240_000)
                    figures[f"{rows}x{rows}"] = summary(strokes(visitor.page, count))
    save("painted", figures)
    return figures


def show(figures: dict[str, Any]) -> str:
    """The table of one run."""
    floor = figures["floor"]["median"]
    rows = [
        (name, f"{one['median'] * 1e3:.0f} ms", f"{one['p95'] * 1e3:.0f} ms", f"{one['median'] / floor:.2f}")
        for name, one in figures.items()
    ]
    return table("A painted cell to the redrawn weights", ["", "median", "p95", "x floor"], rows)
