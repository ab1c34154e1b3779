"""Every component with data of the real shapes, outside the app's navigation: for tests and for looking."""

from __future__ import annotations

from typing import Any

import numpy as np
import streamlit as st

from app import charts
from app.components import Selection, Stage, heatmap, ribbon, step_player, token_strip
from app.components.heads import heads
from app.components.mask_grid import mask_grid

SOURCE = ["The", "report", "was", "not", "convincing", ".", "EOS"]
TARGET = ["Le", "rapport", "n'", "était", "pas", "convaincant", ".", "EOS"]
PEAKS = [0, 1, 3, 2, 3, 4, 5, 6]
ODD = [
    "<b>bold</b>",
    "<script>alert(1)</script>",
    "مرحبا",
    "שלום",
    "日本語の文章",
    "👩‍👩‍👧‍👦",
    "Donaudampfschifffahrtsgesellschaftskapitän",
    " ",
    "\x07\u202e",
    "&amp;",
]


def peaked(rng: np.random.Generator, peaks: list[int], width: int, strength: float = 6.0) -> np.ndarray:
    """Dirichlet rows (T, width), each with its mass around one column."""
    return np.stack([rng.dirichlet(0.3 + strength * (np.arange(width) == peak)) for peak in peaks])


def alignment(rng: np.random.Generator) -> None:
    weights = peaked(rng, PEAKS, len(SOURCE))
    gold = np.zeros(weights.shape, dtype=int)
    gold[np.arange(len(PEAKS)), PEAKS] = 2
    gold[2, 2] = gold[4, 2] = 1
    changed: np.ndarray = np.abs(weights - peaked(rng, PEAKS, len(SOURCE), 2)) > 0.3
    columns = st.columns(2)
    with columns[0]:
        chosen = heatmap(
            weights, TARGET, SOURCE, key="main", title="RNNsearch", group="pair", source_group="source",
            scores=np.log(weights), gold=gold, on_select=lambda s: st.session_state.update(heard=s),
        )  # fmt: skip
        st.write(f"selected: {chosen}")
    with columns[1]:
        heatmap(
            peaked(rng, PEAKS, len(SOURCE), 3), TARGET, SOURCE, key="second", title="Luong general", group="pair",
            changed=changed, changed_rows=[bool(row.any()) for row in changed], selected=Selection(4), select="row",
        )  # fmt: skip
    ribbon(
        weights,
        TARGET,
        SOURCE,
        key="ribbon",
        title="Ribbon",
        group="pair",
        changed_rows=[bool(row.any()) for row in changed],
    )
    logs = np.log(rng.beta(6, 1.5, size=10))
    pieces = ["Le", "rapport", "n'", "était", "pas", "con", "vain", "cant", ".", "EOS"]
    spans = [(t, i, i + 1) for i, t in enumerate(pieces[:5])] + [
        ("convaincant", 5, 8),
        (".", 8, 9),
        ("EOS", 9, 10),
    ]
    flags = [False, False, True, False, True, False, False, False]
    token_strip(pieces, logs, key="strip", title="Output", spans=spans, changed=flags, group="pair")


def players(rng: np.random.Generator) -> None:
    steps, width = len(TARGET), len(SOURCE)
    weights = peaked(rng, PEAKS, width)

    def vector() -> dict[str, Any]:
        return {"preview": rng.normal(size=(steps, 24)), "norm": rng.uniform(1, 9, steps), "shape": "384"}

    bahdanau = [
        Stage("before", "s_{t-1}", "state before the step", **vector()),
        Stage("scores", "e_t", "score every annotation", "source", "scores", ("before", "H"), "7",
              "e_{tj} = v^T tanh(W s_{t-1} + U h_j)"),
        Stage("weights", "α_t", "softmax", "source", "weights", ("scores",), "7", "α_t = softmax(e_t)"),
        Stage("context", "c_t", "mix the annotations", "source", inputs=("weights", "H"),
              equation="c_t = Σ_j α_{tj} h_j", **vector()),
        Stage("state", "s_t", "new state", inputs=("before", "context"), equation="s_t = GRU(s_{t-1}, y_{t-1}, c_t)",
              **vector()),
        Stage("token", "y_t", "choose a word", "decision", "token", ("state", "context"), "8000"),
    ]  # fmt: skip
    logs = np.log(rng.beta(6, 1.5, size=steps))
    step_player(
        bahdanau, TARGET, SOURCE, key="player", title="Bahdanau step", weights=weights, scores=np.log(weights) + 3,
        log_probs=logs, group="pair",
    )  # fmt: skip
    luong = [
        Stage("before", "h_{t-1}", "state before the step", **vector()),
        Stage("state", "h_t", "new state", inputs=("before",), equation="h_t = LSTM(h_{t-1}, y_{t-1})", **vector()),
        Stage("weights", "a_t", "align in the window", "source", "weights", ("state", "H"), "7"),
        Stage("context", "c_t", "mix", "source", inputs=("weights", "H"), **vector()),
        Stage("attended", "h̃_t", "attentional state", inputs=("state", "context"), **vector()),
        Stage("token", "y_t", "choose a word", "decision", "token", ("attended",), "8000"),
    ]  # fmt: skip
    centre = np.linspace(0.3, 5.6, steps)
    window = np.stack([np.maximum(0, np.rint(centre) - 1), np.minimum(6, np.rint(centre) + 1)], axis=1)
    step_player(
        luong, TARGET, SOURCE, key="luong", title="Luong local-p step", weights=weights, log_probs=logs, centre=centre,
        window=window,
    )  # fmt: skip


def shapes(rng: np.random.Generator) -> None:
    heatmap(np.ones((1, 1)), ["oui"], ["yes"], key="one", title="One by one")
    n = len(ODD)
    heatmap(peaked(rng, list(range(n)), n), ODD, ODD, key="odd", title="Odd words")
    ribbon(peaked(rng, list(range(n)), n), ODD, ODD, key="odd_ribbon", title="Odd ribbon")
    token_strip(ODD, np.log(rng.uniform(0.2, 1, n)), key="odd_strip", title="Odd strip")
    words = [f"w{i}" for i in range(20)]
    mask = np.triu(np.ones((20, 20), dtype=bool), 1)
    causal = np.where(mask, 0, 1 / np.arange(1, 21)[:, None])
    heatmap(
        causal,
        words,
        words,
        key="causal",
        title="Causal self-attention",
        mask=mask,
        row_role="source",
        select="none",
    )
    scores = rng.normal(size=(8, 7))
    heatmap(
        scores, TARGET, SOURCE, key="scores", title="Scores", scale="diverging", limits=(-3, 3), value="score",
        print_from=0,
    )  # fmt: skip
    big = [f"{w}{i}" for i, w in enumerate((SOURCE * 10)[:64])]
    heatmap(peaked(rng, list(range(64)), 64), big, big, key="big", title="64 by 64", exact=False)
    ribbon(peaked(rng, list(range(40)), 40), big[:40], big[:40], key="big_ribbon", title="Long ribbon")


def masks(rng: np.random.Generator) -> None:
    own = np.tri(len(SOURCE), dtype=bool)
    state = st.session_state
    state.setdefault("painted", own)
    state.setdefault("strokes", 0)

    def paint(mask: np.ndarray) -> None:
        state.painted, state.strokes = mask, state.strokes + 1

    if st.button("Full preset"):
        state.painted = np.ones_like(own)
    mask_grid(
        state.painted, SOURCE, SOURCE, key="grid", title="Painted", own=own, group="masks", row_role="source",
        on_paint=paint,
    )  # fmt: skip
    st.write(f"strokes: {state.strokes}, open: {int(state.painted.sum())}")
    mask_grid(
        rng.random((10, 10)) > 0.5,
        ODD,
        ODD,
        key="odd_grid",
        title="Odd grid",
        source_rows=4,
        source_columns=4,
    )
    weights = np.stack([peaked(rng, list(range(7)), 7) for _ in range(6)])
    heads(weights, SOURCE, SOURCE, key="heads", title="Six heads", mask=~own, group="masks", chosen=2)


def figures(rng: np.random.Generator) -> None:
    buckets = ["1-10", "11-20", "21-30", "31-40", "41+"]
    fall = np.array([38, 36, 33, 30, 27.0])
    lines = [
        charts.Line("rnn_search", fall + 4, [1, 1, 2, 3, 4]),
        charts.Line("lstm_seq2seq", fall * [0.9, 0.7, 0.5, 0.4, 0.3]),
        charts.Line("transformer", fall + 9),
    ]
    drawn = {
        "Quality": charts.quality_by_length(buckets, [410, 1203, 800, 233, 41], lines),
        "Travel": charts.state_travel(
            SOURCE, {"forward": [0, 0, 0, 5, 3, 2, 1.5], "backward": [0.5, 1, 2, 6, 0, 0, 0]}, edited=[3]
        ),
        "Channels": charts.channel_difference(rng.normal(size=(7, 64)), SOURCE),
        "Bytes": charts.state_bytes(
            [8, 16, 32, 64], {"fixed": [1536] * 4, "attention": [12288 * k for k in (1, 2, 4, 8)]}
        ),
        "Importance": charts.importance_scatter(
            SOURCE, rng.dirichlet(np.ones(7)), {"gradient": rng.uniform(0, 2, 7), "leave one out": rng.normal(size=7)},
            correlations={"gradient": 0.61, "leave one out": -0.1},
        ),
        "Ranks": charts.rank_comparison(SOURCE, {n: rng.normal(size=7) for n in ("weight", "gradient", "omission")}),
        "Training": charts.training_curve(
            [charts.Curve("training loss", np.arange(100), 6 * np.exp(-np.arange(100) / 30) + 2),
             charts.Curve("validation loss", [25, 50, 75, 99], [5, 3.6, 3, 2.7], True)]
        ),
    }  # fmt: skip
    for place, (name, chart) in zip(
        [*st.columns(2), *st.columns(2), *st.columns(2), st], drawn.items(), strict=True
    ):
        place.subheader(name)
        place.plotly_chart(chart, config=charts.CONFIG, key=name)


st.set_page_config(page_title="Component gallery", layout="wide")
st.session_state.runs = st.session_state.get("runs", 0) + 1
st.write(f"runs: {st.session_state.runs}")
seed = st.number_input("Seed", value=1, step=1)
rng = np.random.default_rng(int(seed))
if st.query_params.get("show") == "charts":  # apart, since loading Plotly would slow every other test down
    figures(rng)
else:
    st.header("Alignment")
    alignment(rng)
    st.header("Players")
    players(rng)
    st.header("Shapes")
    shapes(rng)
    st.header("Masks")
    masks(rng)
