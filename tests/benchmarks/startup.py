"""The first minute of a new server: when the page is painted, when the first picture is, and what is imported when.

    python -m tests.benchmarks startup

Three looks at it. Time: a new server and a new browser window, several times. Order: the import of torch is held, and
the page's frame must be painted all the same, with no library of torch in the server's memory. Weight: the server is
run with Python's own import profile, and its self times are added by top-level package, before and after torch begins.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from tests.benchmarks.hooked import Hooked, serve_hooked
from tests.benchmarks.measure import PAGE, Target, need_weights, percentile, save, table
from tests.benchmarks.visitor import visit as connect
from tests.browser.harness import Visitor, launch, visit

FRAME = ".se-heading h1"
PICTURE = "[data-component=heatmap][data-ready=true]"
PATIENCE = 300_000  # ms; a cold start on a loaded machine
IMPORT_LINE = re.compile(r"^import time:\s+(\d+) \|\s+\d+ \| +(\S+)$", re.MULTILINE)
NOTICEABLE = 0.02  # of a phase; packages with a smaller share are added up as "others"


def first_paint(page: Page) -> float:
    """Seconds from navigation to the browser's first contentful paint (Streamlit's own shell)."""
    return page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime") / 1e3


def open_and_time(browser: Browser, url: str, target: Target) -> dict[str, float]:
    """A new visitor: seconds from navigation to first paint, frame and picture."""
    with visit(browser, url) as visitor:
        page = visitor.page
        page.set_default_timeout(PATIENCE)
        began = time.time()
        visitor.goto(target.lab, settle=False, **target.params)
        frame = time.time()
        page.locator(PICTURE).first.wait_for()
        picture = time.time()
        return {
            "began": began,
            "paint": first_paint(page),
            "frame": frame - began,
            "picture": picture - began,
        }


def cold_and_warm(browser: Browser, target: Target) -> dict[str, float]:
    """One new server: its start, its first visitor and its second (seconds)."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.time()
        with serve_hooked(Path(folder)) as hooked:
            answers = time.time() - began
            first = open_and_time(browser, hooked.server.url, target)
            asked, imported = hooked.torch_asked(), hooked.torch_done()
            second = open_and_time(browser, hooked.server.url, target)
    assert asked is not None and imported is not None
    return {
        "server answers": answers,
        "first visitor: first paint": first["paint"],
        "first visitor: page frame": first["frame"],
        "first visitor: torch begins": asked - first["began"],
        "first visitor: torch imported": imported - first["began"],
        "first visitor: picture": first["picture"],
        "second visitor: first paint": second["paint"],
        "second visitor: page frame": second["frame"],
        "second visitor: picture": second["picture"],
    }


def painted_without_torch(visitor: Visitor, hooked: Hooked, target: Target) -> dict[str, bool]:
    """Open a page of a server that holds torch (`serve_hooked(hold=True)`); what is true while torch waits.

    RuntimeError where the page asks for no torch within a minute after its frame is painted: nothing was held then.
    """
    page = visitor.goto(target.lab, settle=False, **target.params)
    page.get_by_label("Sentence", exact=True).wait_for()
    deadline = time.monotonic() + 60
    while hooked.torch_asked() is None:
        if time.monotonic() > deadline:
            raise RuntimeError(f"{target.lab} did not import torch")
        page.wait_for_timeout(50)
    page.wait_for_timeout(500)  # a frame that hides again would be no frame
    return {
        "frame painted": page.locator(FRAME).is_visible(),
        "sentence box painted": page.get_by_label("Sentence", exact=True).is_visible(),
        "navigation painted": page.locator("[data-testid=stSidebarNav]").is_visible(),
        "torch in memory": hooked.torch_mapped(),
        "torch in sys.modules": hooked.report()["torch"],
    }


def order(browser: Browser, target: Target) -> dict[str, bool]:
    """Hold torch on a new server, see the frame, let torch go, see the picture."""
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_hooked(Path(folder), hold=True) as hooked,
        visit(browser, hooked.server.url) as visitor,
    ):
        visitor.page.set_default_timeout(PATIENCE)
        seen = painted_without_torch(visitor, hooked, target)
        hooked.release()
        visitor.page.locator(PICTURE).first.wait_for()
        return {**seen, "picture after release": True, "torch in memory at last": hooked.torch_mapped()}


def imports(target: Target) -> dict[str, dict[str, float]]:
    """Seconds of self time by top-level package: while the server starts, before torch begins, and from there on."""
    profiled = {"PYTHONPROFILEIMPORTTIME": "1"}
    with (
        tempfile.TemporaryDirectory() as folder,
        serve_hooked(Path(folder), environment=profiled) as hooked,
    ):
        started = hooked.server.log.stat().st_size
        asyncio.run(_visit_once(hooked.server.url, target))
        text = hooked.server.log.read_text()
    rest = text[started:]
    torch = next((m.start() for m in IMPORT_LINE.finditer(rest) if m[2].split(".")[0] == "torch"), len(rest))
    return {
        "server start": by_package(text[:started]),
        "frame": by_package(rest[:torch]),
        "models": by_package(rest[torch:]),
    }


async def _visit_once(url: str, target: Target) -> None:
    async with connect(url, target.lab, **target.params) as visitor:
        await visitor.run()


def by_package(profile: str) -> dict[str, float]:
    """Seconds of self time by top-level package in the text of `python -X importtime`, the largest first."""
    found: Counter[str] = Counter()
    for microseconds, module in IMPORT_LINE.findall(profile):
        found[module.split(".")[0]] += int(microseconds)
    return {name: total / 1e6 for name, total in found.most_common()}


def run(rounds: int = 3, target: Target = PAGE) -> dict[str, Any]:
    """All three looks; times are medians over `rounds` new servers."""
    need_weights(target.system)
    with sync_playwright() as playwright:
        browser = launch(playwright)
        timed = [cold_and_warm(browser, target) for _ in range(rounds)]
        seen = order(browser, target)
        browser.close()
    figures = {
        "page": target.lab,
        "system": target.system,
        "rounds": rounds,
        "times": {name: percentile([one[name] for one in timed], 50) for name in timed[0]},
        "order": seen,
        "imports": imports(target),
    }
    save("startup", figures)
    return figures


def show(figures: dict[str, Any]) -> str:
    """The three looks as tables."""
    times = [[name, f"{seconds:.2f} s"] for name, seconds in figures["times"].items()]
    seen = [[name, "yes" if value else "no"] for name, value in figures["order"].items()]
    parts = [
        table(
            f"Start of {figures['page']}, medians of {figures['rounds']} new servers", ["", "after"], times
        ),
        table("With the import of torch held back", ["", "seen"], seen),
    ]
    return "\n\n".join([*parts, _show_imports(figures["imports"])])


def _show_imports(phases: dict[str, dict[str, float]]) -> str:
    rows = []
    for phase, packages in phases.items():
        total = sum(packages.values())
        large = {name: seconds for name, seconds in packages.items() if seconds >= NOTICEABLE * total}
        others = total - sum(large.values())
        rows.append([f"{phase}: all", f"{total:.2f} s"])
        rows += [[f"  {name}", f"{seconds:.2f} s"] for name, seconds in [*large.items(), ("others", others)]]
    return table("Import time by package (self time, profiled server)", ["", "seconds"], rows)
