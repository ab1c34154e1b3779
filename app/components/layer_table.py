"""Layer table: the layers of a schedule as rows that the hand edits, adds, removes and moves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.components import _payload
from app.components._build import register
from app.components._payload import words

_mount = register("layer_table", ("layer_table.js",), ("layer_table.css",))
LONGEST = 8  # characters of one cell that are looked at


@dataclass(frozen=True)
class LayerRow:
    """One layer as it stands in the table. Numbers are text: what a visitor typed is kept, whatever it is.

    note is shown beside the row; problem says that this row is the one a sentence speaks of.
    """

    width: str
    dilation: str
    causal: bool = True
    stride: str = "1"
    note: str = ""
    problem: bool = False


def layer_table(
    rows: Sequence[LayerRow],
    *,
    key: str,
    limits: dict[str, int],
    most: int,
    on_edit: Callable[[tuple[LayerRow, ...]], None],
    version: str | None = None,
) -> None:
    """Draw `rows`, the first layer on top. limits: the greatest width, dilation and stride, as hints to the browser.

    on_edit(rows) runs before the rerun that an edit causes, with at most `most` rows, texts as typed; what they mean
    is for the caller to check. Raises ValueError without rows.
    """
    if not rows:
        raise ValueError("a table of layers needs a layer")
    data: dict[str, Any] = {
        "rows": [_sent(row) for row in rows],
        "limits": {name: int(limits[name]) for name in ("width", "dilation", "stride")},
        "most": most,
    }
    commit = int(_payload.committed(key).get("commit", 0))
    data |= {"version": version or _payload.digest(data), "commit": commit}
    _mount(key=key, data=data, on_selection_change=lambda: _hand_over(key, most, on_edit))


def _sent(row: LayerRow) -> dict[str, Any]:
    width, dilation, stride, note = words("cells", [row.width, row.dilation, row.stride, row.note])
    return {
        "width": width, "dilation": dilation, "stride": stride, "causal": row.causal, "note": note,
        "problem": row.problem,
    }  # fmt: skip


def _hand_over(key: str, most: int, on_edit: Callable[[tuple[LayerRow, ...]], None]) -> None:
    """What the browser sent is only used where it is a list of rows with short texts."""
    sent = _payload.committed(key).get("rows")
    if isinstance(sent, list) and 0 < len(sent) <= most and all(_is_row(one) for one in sent):
        on_edit(tuple(LayerRow(r["width"], r["dilation"], r["causal"], r["stride"]) for r in sent))


def _is_row(sent: Any) -> bool:
    if not isinstance(sent, dict) or not isinstance(sent.get("causal"), bool):
        return False
    texts = [sent.get(name) for name in ("width", "dilation", "stride")]
    return all(isinstance(text, str) and len(text) <= LONGEST for text in texts)
