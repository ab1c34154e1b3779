"""Numbers, tables and Python lines of a result. (Pictures are exported as SVG and PNG by the components themselves.)

with page.export:
    export_panel("alignment", tables={"weights": frame}, numbers=result_as_dict, python=lines)
table_view(frame, "Weights of this run")
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

MOST_ROWS = 400  # of a table view; the CSV always has all


def export_panel(
    name: str, *, tables: Mapping[str, pd.DataFrame], numbers: Mapping[str, Any], python: str
) -> None:
    """Fill the Export popover: a CSV for each table, one JSON with everything, and the lines that reproduce it."""
    for title, frame in tables.items():
        _download(f"{title} (CSV)", partial(to_csv, frame), f"{name}-{_file(title)}.csv", "text/csv")
    _download("All numbers (JSON)", partial(to_json, numbers), f"{name}.json", "application/json")
    st.caption("The same numbers in Python:")
    st.code(python.strip(), language="python", wrap_lines=True)


def table_view(frame: pd.DataFrame, title: str, *, digits: int = 3) -> None:
    """The picture's numbers as an ordinary HTML table: for the keyboard, screen readers, and copying."""
    with st.expander(f"Table: {title}"):
        shown = frame.head(MOST_ROWS)
        st.table(shown.map(lambda value: f"{value:.{digits}f}" if isinstance(value, float) else str(value)))
        if len(frame) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS} of {len(frame):,} rows; the CSV has all.")


def matrix(values: Any, rows: list[str], columns: list[str]) -> pd.DataFrame:
    """A (rows, columns) array with labels, made unique by their position where they repeat."""
    return pd.DataFrame(values, index=pd.Index(_unique(rows)), columns=pd.Index(_unique(columns)))


def to_csv(frame: pd.DataFrame) -> bytes:
    """UTF-8 with a byte-order mark, so that a spreadsheet shows accents; cells that start a formula are quoted."""
    safe = frame.rename(index=_plain, columns=_plain).map(_plain)
    return safe.to_csv(lineterminator="\n").encode("utf-8-sig")


def to_json(numbers: Any) -> bytes:
    """Dataclasses, arrays and tuples included."""
    return json.dumps(numbers, default=_jsonable, ensure_ascii=False, indent=2, allow_nan=False).encode()


def _download(label: str, data: Callable[[], bytes], file_name: str, mime: str) -> None:
    st.download_button(
        label, data, file_name, mime, on_click="ignore", icon=":material/download:", width="stretch"
    )


def _plain(value: Any) -> Any:
    """A visitor's token such as "=1+1" must not run as a formula in a spreadsheet."""
    return f"'{value}" if isinstance(value, str) and len(value) > 1 and value[0] in "=+-@\t\r" else value


def _unique(labels: list[str]) -> list[str]:
    return [
        f"{label} ({place})" if labels.count(label) > 1 else label for place, label in enumerate(labels, 1)
    ]


def _jsonable(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no JSON form")


def _file(title: str) -> str:
    return "-".join("".join(c if c.isalnum() else " " for c in title.lower()).split())
