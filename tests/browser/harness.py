"""Driving the real app in a real Chromium: one server, one browser, a fresh context for each visitor."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlencode

from playwright.sync_api import Browser, ConsoleMessage, Page, Playwright, expect

from app import catalog

ROOT = Path(__file__).parents[2]
SHOTS = Path(__file__).parent / "shots"
DESKTOP, PHONE = 1440, 390
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
]
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PHONE_AGENT = (
    "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Mobile Safari/537.36"
)
Theme = Literal["light", "dark"]
# Streamlit's client asks /PAGE/_stcore/... and /_stcore/... at once to find out where its server is mounted; the
# browser reports the one that is not there, on every page but the first, whatever the app does.
PROBE = re.compile(r"//[^/]+/[^/]+/_stcore/(health|host-config)$")

# Text that is cut off inside its own box, or that sticks out of the window sideways.
CLIPPED = """() => {
  const found = [], width = document.documentElement.clientWidth;
  const shown = (el) => {
    const style = getComputedStyle(el);
    return style.visibility !== 'hidden' && style.display !== 'none' && style.opacity !== '0';
  };
  const scrolls = (el) => {
    for (let p = el; p; p = p.parentElement) {
      if (['auto', 'scroll'].includes(getComputedStyle(p).overflowX) && p.scrollWidth > p.clientWidth) return true;
    }
    return false;
  };
  for (const el of document.querySelectorAll('.stMain *, [data-testid=stSidebar][data-collapsed=false] *')) {
    const own = [...el.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || !shown(el) || el.closest('svg, .se-only-read, [aria-hidden=true], code, pre')) continue;
    const box = el.getBoundingClientRect(), style = getComputedStyle(el);
    if (box.width < 2 || box.height < 2) continue;
    const clips = style.overflowX !== 'visible' && style.display !== 'inline';
    const cut = clips && el.scrollWidth > el.clientWidth + 1;
    const outside = (box.right > width + 1 || box.left < -1) && !scrolls(el.parentElement);
    if (cut || outside) found.push(el.textContent.trim().slice(0, 60));
  }
  return found;
}"""


def chromium() -> str:
    """Path of the system's Chromium. RuntimeError with what to install where there is none; never a skip."""
    for name in (os.environ.get("CHROMIUM"), *NAMES):
        if name and (path := shutil.which(name)):
            return path
    raise RuntimeError(
        "The browser tests need Chromium: run `sh tests/install_chromium.sh`, or set CHROMIUM=/path/to/it."
    )


def launch(playwright: Playwright) -> Browser:
    """The system's Chromium, headless."""
    return playwright.chromium.launch(executable_path=chromium(), args=FLAGS)


@dataclass
class Server:
    """A running app: where it answers, and its process."""

    url: str
    process: subprocess.Popen[bytes]
    log: Path


@contextmanager
def serve(
    log: Path, *, script: str = "app/main.py", environment: dict[str, str] | None = None, wait: float = 90
) -> Iterator[Server]:
    """Start the app (or another script) on a free port, as `make run` does, and stop it afterwards."""
    port = free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, "--server.port", str(port)]
    with log.open("wb") as sink:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=sink,
            stderr=sink,
            stdin=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )
    try:
        server = Server(f"http://localhost:{port}", process, log)
        _await_health(server, wait)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def free_port() -> int:
    """A TCP port that nothing listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@dataclass
class Visitor:
    """One browser page at the app, with everything its console complained about."""

    page: Page
    url: str
    errors: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("console", self._console)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.set_default_timeout(30_000)

    def goto(self, slug: str, *, settle: bool = True, **params: object) -> Page:
        """Open lab `slug` with query parameters and wait until its run has ended."""
        home = slug == catalog.LABS[0].slug
        query = urlencode({name: str(value) for name, value in params.items()}, quote_via=quote)
        self.page.goto(f"{self.url}/{'' if home else slug}{'?' if query else ''}{query}")
        self.page.wait_for_selector(".se-heading h1")
        if settle:
            self.settle()
        return self.page

    def settle(self, timeout: float = 60_000) -> None:
        """Wait until the app is idle: no run, nothing stale, no skeleton."""
        self.page.wait_for_function(
            "() => document.querySelector('[data-testid=stApp]')?.dataset.testScriptState === 'notRunning'"
            " && !document.querySelector('[data-testid=stSkeleton], .st-key-se-pending')",
            timeout=timeout,
        )
        self.page.wait_for_timeout(150)  # the last elements' transitions

    def commit(self, text: str, label: str = "Sentence") -> None:
        """Type `text` into the box and press Enter."""
        box = self.page.get_by_label(label, exact=True)
        box.fill(text)
        box.press("Enter")
        self.page.wait_for_timeout(250)
        self.settle()

    def no_console_errors(self) -> None:
        """Nothing was logged as an error, and nothing on the page is a traceback or a red box."""
        assert not self.errors, self.errors
        expect(self.page.locator("[data-testid=stException]")).to_have_count(0)
        expect(self.page.locator("text=Traceback")).to_have_count(0)

    def no_clipped_labels(self) -> None:
        """No text is cut off, and the page does not scroll sideways."""
        assert self.page.evaluate(CLIPPED) == []
        assert self.page.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
        )

    def screenshot(self, name: str, width: int | None = None, theme: Theme | None = None) -> Path:
        """Save what the whole page looks like under tests/browser/shots."""
        if width:
            self.page.set_viewport_size({"width": width, "height": _height(width)})
        if theme:
            self.page.emulate_media(color_scheme=theme)
        SHOTS.mkdir(exist_ok=True)
        path = SHOTS / f"{name}.png"
        self._stretch()
        self.page.screenshot(path=path, full_page=True)
        return path

    def _stretch(self) -> None:
        """Streamlit scrolls inside its own box, so a full page needs a window as tall as that box's content."""
        height = self.page.evaluate(
            "Math.ceil(document.querySelector('.stMain')?.scrollHeight ?? innerHeight)"
        )
        width = (self.page.viewport_size or {"width": DESKTOP})["width"]
        self.page.set_viewport_size({"width": width, "height": max(_height(width), min(height, 6000))})
        self.page.wait_for_timeout(200)

    def _console(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not PROBE.search(message.location.get("url", "")):
            self.errors.append(f"{message.text} ({message.location.get('url', '')})")


@contextmanager
def visit(browser: Browser, url: str, *, width: int = DESKTOP, theme: Theme = "light") -> Iterator[Visitor]:
    """A visitor with a browser context of their own."""
    phone = width < 700
    context = browser.new_context(
        viewport={"width": width, "height": _height(width)},
        color_scheme=theme,
        reduced_motion="reduce",
        is_mobile=phone,
        has_touch=phone,
        user_agent=PHONE_AGENT if phone else None,
    )
    try:
        yield Visitor(context.new_page(), url)
    finally:
        context.close()


def _height(width: int) -> int:
    return 844 if width < 700 else 1000


def _await_health(server: Server, wait: float) -> None:
    deadline = time.monotonic() + wait
    while time.monotonic() < deadline:
        if server.process.poll() is not None:
            raise RuntimeError(f"the app stopped at its start:\n{server.log.read_text()[-2000:]}")
        try:
            if urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2).status == 200:
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise RuntimeError(f"the app did not answer within {wait:.0f} s:\n{server.log.read_text()[-2000:]}")
