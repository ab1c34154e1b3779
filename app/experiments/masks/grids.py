"""Painted relations as short text for a link, and the presets that stand above a grid. No torch.

    stream=causal               every layer under a preset
    stream=prefix.7             a preset with its number
    stream=14x14.AbC_...,3:full every layer as painted (bits, base64url), layer 3 under a preset

A layer of 0 means all layers; its number stays out of the text. What has no entry is the model's own relation.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

MOST_SIDE = 40  # rows or columns of a grid
MOST_LAYERS = 12
ALL = 0

Painted = Mapping[int, str]  # layer -> code


@dataclass(frozen=True)
class Preset:
    """A relation by name. `number` is what its number means, None where it has none."""

    title: str
    told: str
    number: str | None = None


PRESETS = {
    "full": Preset("Full", "Every row reads every row."),
    "causal": Preset("Causal", "Row t reads rows 0 to t."),
    "prefix": Preset("Prefix", "The first P columns are open to all rows, the rest is causal.", "P"),
    "window": Preset("Window", "Row t reads rows t − r to t + r.", "r"),
    "padding": Preset(
        "Padding", "The model's own relation, the last keys hidden as padding would be.", "Padded keys"
    ),
}
_CODE = re.compile(r"(full|causal)|(prefix|window|padding)\.(\d{1,2})|(\d{1,2})x(\d{1,2})\.([A-Za-z0-9_-]+)")


def pack(mask: np.ndarray) -> str:
    """A matrix as RxC.bits. ValueError where it has more than MOST_SIDE rows or columns."""
    rows, columns = mask.shape
    if not (0 < rows <= MOST_SIDE and 0 < columns <= MOST_SIDE):
        raise ValueError(f"a relation has at most {MOST_SIDE} rows and columns")
    raw = np.packbits(np.asarray(mask, dtype=bool).ravel()).tobytes()
    return f"{rows}x{columns}.{base64.urlsafe_b64encode(raw).decode().rstrip('=')}"


def unpack(code: str) -> np.ndarray:
    """The matrix of RxC.bits. ValueError with a phrase where the text is no such matrix."""
    found = _CODE.fullmatch(code)
    if found is None or found[4] is None:
        raise ValueError("is no relation")
    rows, columns = int(found[4]), int(found[5])
    if not (0 < rows <= MOST_SIDE and 0 < columns <= MOST_SIDE):
        raise ValueError(f"has more than {MOST_SIDE} rows or columns")
    try:
        raw = base64.urlsafe_b64decode(found[6] + "=" * (-len(found[6]) % 4))
    except (binascii.Error, ValueError):
        raise ValueError("has damaged cells") from None
    if len(raw) != -(-rows * columns // 8):
        raise ValueError(f"has cells for another size than {rows} by {columns}")
    return (
        np.unpackbits(np.frombuffer(raw, dtype=np.uint8))[: rows * columns]
        .astype(bool)
        .reshape(rows, columns)
    )


def parse(text: str) -> Painted:
    """Text of a link -> codes by layer. ValueError with a phrase ("has ...") where it cannot be read."""
    found: dict[int, str] = {}
    for part in text.split(",") if text else []:
        head, mark, code = part.rpartition(":")
        if mark and not (head.isascii() and head.isdigit() and 1 <= int(head[:3]) <= MOST_LAYERS):
            raise ValueError(f"names a layer beyond {MOST_LAYERS}")
        _check(code)
        found[int(head) if mark else ALL] = code
    return found


def _check(code: str) -> None:
    found = _CODE.fullmatch(code)
    if found is None:
        raise ValueError("has a part that is no relation")
    if found[4] is not None:
        unpack(code)


def write(painted: Painted) -> str:
    """Codes by layer -> the text of a link."""
    return ",".join(code if layer == ALL else f"{layer}:{code}" for layer, code in sorted(painted.items()))


def put(painted: Painted, layer: int, code: str | None) -> Painted:
    """With `code` for one layer, or for all of them (which then have no relation of their own); None: the own one."""
    kept = {} if layer == ALL else {n: c for n, c in painted.items() if n != layer}
    return kept if code is None else {**kept, layer: code}


def at(painted: Painted, layer: int) -> str | None:
    """The code that holds in `layer`; for ALL, what is painted for all. None: the model's own relation."""
    return painted.get(layer, painted.get(ALL))


def preset_of(code: str | None) -> tuple[str, int | None]:
    """("prefix", 7), ("full", None), ("own", None) without a code, ("painted", None) for bits."""
    if code is None:
        return "own", None
    name, _, number = code.partition(".")
    if name not in PRESETS:
        return "painted", None
    return name, int(number) if number else None


def coded(name: str, number: int | None) -> str | None:
    """The code of a preset; None for the model's own relation."""
    if name == "own":
        return None
    return name if PRESETS[name].number is None else f"{name}.{number or 0}"


def limits(name: str, rows: int, columns: int) -> tuple[int, int, int]:
    """(least, most, usual) number of a preset on a grid of this size."""
    if name == "prefix":
        return 0, columns, columns // 2
    if name == "window":
        return 0, max(rows, columns) - 1, 2
    return 0, columns, min(2, columns - 1)
