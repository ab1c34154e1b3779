"""The two commands: what they install, what they say where they cannot, and that a second start installs nothing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "tests/install_chromium.sh"


def tool(folder: Path, name: str, body: str) -> None:
    """Put an executable shell script called `name` into `folder`."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    path.chmod(0o755)


def install(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run the script where `folder` is all there is on PATH."""
    shell = shutil.which("sh") or "/bin/sh"
    return subprocess.run(
        [shell, str(SCRIPT)], env={"PATH": str(folder)}, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["chromium", "chromium-browser", "google-chrome"])
def test_a_chromium_that_is_there_is_taken(name: str, tmp_path: Path) -> None:
    tool(tmp_path, name, "exit 0")
    run = install(tmp_path)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_as_root_it_is_installed_through_apt(tmp_path: Path) -> None:
    tool(tmp_path, "id", "echo 0")
    tool(
        tmp_path,
        "apt-get",
        f'[ "$1" = update ] || {{ echo "$@"; : > {tmp_path}/chromium; /bin/chmod +x {tmp_path}/chromium; }}',
    )
    run = install(tmp_path)
    assert run.returncode == 0
    assert "install -q -y --no-install-recommends chromium" in run.stdout


def test_elsewhere_it_fails_and_says_what_to_install(tmp_path: Path) -> None:
    tool(tmp_path, "id", "echo 1000")
    run = install(tmp_path)
    assert run.returncode == 1
    assert "Install the package 'chromium'" in run.stderr


def test_an_install_that_brings_none_fails_too(tmp_path: Path) -> None:
    tool(tmp_path, "id", "echo 0")
    tool(tmp_path, "apt-get", "exit 0")
    assert install(tmp_path).returncode == 1


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The files that `make` looks at, with a python that only notes what it was asked to do."""
    for name in ("Makefile", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / ".venv/bin").mkdir(parents=True)
    for name in ("python", "pip"):
        tool(tmp_path / ".venv/bin", name, f'echo "$@" >> {tmp_path}/asked')
    return tmp_path


def make(checkout: Path, target: str) -> list[str]:
    """Run a target and return what python was asked to do by it."""
    asked = checkout / "asked"
    asked.unlink(missing_ok=True)
    clean = {"PATH": os.environ["PATH"]}  # the outer make's flags are not this one's
    subprocess.run(["make", "-s", target], cwd=checkout, env=clean, check=True, capture_output=True)
    return asked.read_text(encoding="utf-8").splitlines()


def test_a_second_run_installs_nothing_and_a_changed_pin_installs_again(checkout: Path) -> None:
    start = "-m streamlit run app/main.py --server.port 8501 --server.address localhost"
    first = make(checkout, "run")
    assert [re.sub(r"-m pip install .* -r", "pip -r", line) for line in first] == [
        "pip -r requirements.txt",
        start,
    ]
    assert make(checkout, "run") == [start]
    with (checkout / "requirements.txt").open("a", encoding="utf-8") as pins:
        pins.write("one-more==1\n")
    assert len(make(checkout, "run")) == 2
    assert make(checkout, "run") == [start]


def test_every_pin_is_exact() -> None:
    lines = [
        line
        for name in ("requirements.txt", "requirements-dev.txt")
        for line in (ROOT / name).read_text().splitlines()
    ]
    pins = [line for line in lines if line and not line.startswith(("#", "-r "))]
    assert len(pins) > 15
    assert [pin for pin in pins if not re.fullmatch(r"[a-z-]+==\d+(\.\d+)+", pin)] == []
