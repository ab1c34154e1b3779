"""The step in the order in which it executes: Bahdanau s(t-1) -> c -> s(t), Luong h(t) -> c -> h~(t) (0x04E, 0x04F)."""

from __future__ import annotations

import numpy as np
import streamlit as st

from app.components import Stage, step_player
from app.experiments.alignment.reading import Reading
from app.ui import decision

PREVIEW = 28  # components of a vector drawn as bars
SCORES = {
    "dot": "e_{tj} = h_t · h̄_j",
    "general": "e_{tj} = h_t^T W_a h̄_j",
    "concat": "e_{tj} = W_a [h_t ; h̄_j], no tanh",
    "location": "e_t = W_a h_t, no source content",
}
SAYS = {
    "additive": "The context exists before the new state: s(t−1) asks, and what was read helps to make s(t).",
    "heads": "Every layer reads the source through every head; this is the read of the chosen layer and head. The "
    "query is made from the target rows so far, after they have read each other.",
}
LUONG_SAYS = (
    "The new state h(t) exists first and asks; the context then makes h̃(t), from which the word is decided. "
    "This is another graph than Bahdanau's, not another score."
)


def panel(reading: Reading) -> None:
    score = reading.ask.choice.combination.score
    st.html(decision.note(SAYS.get(score, LUONG_SAYS)))
    step_player(
        stages(reading),
        list(reading.target.pieces),
        list(reading.source.pieces),
        key="alignment.player",
        weights=reading.weights,
        scores=reading.scores,
        log_probs=reading.log_probs,
        centre=reading.centre,
        window=reading.window,
        title=f"One decision of {reading.ask.choice.title}, value by value",
    )


def stages(reading: Reading) -> list[Stage]:
    """The values of a step in their order; each has this run's numbers."""
    score = reading.ask.choice.combination.score
    if score == "additive":
        return _bahdanau(reading)
    return _heads(reading) if score == "heads" else _luong(reading)


def _bahdanau(reading: Reading) -> list[Stage]:
    count = str(reading.weights.shape[1])
    return [
        Stage("before", "s_{t-1}", "state before the step", **_vector(reading.vectors["previous"])),
        Stage("scores", "e_t", "score every annotation", "source", "scores", ("before", "H"), count,
              "e_{tj} = v_a^T tanh(W_a s_{t-1} + U_a h_j)"),
        Stage("weights", "α_t", "softmax over source", "source", "weights", ("scores",), count,
              "α_t = softmax(e_t)"),
        Stage("context", "c_t", "mix the annotations", "source", inputs=("weights", "H"),
              equation="c_t = Σ_j α_{tj} h_j", **_vector(reading.context)),
        Stage("state", "s_t", "new state", inputs=("before", "context"), equation="s_t = f(s_{t-1}, y_{t-1}, c_t)",
              **_vector(reading.vectors["hidden"])),
        Stage("token", "y_t", "decide", "decision", "token", ("state", "context"),
              equation="p(y_t) = g(y_{t-1}, s_t, c_t)"),
    ]  # fmt: skip


def _luong(reading: Reading) -> list[Stage]:
    combination, count = reading.ask.choice.combination, str(reading.weights.shape[1])
    reads = ("state",) if combination.score == "location" else ("state", "H")
    weights = "a_t = softmax(e_t)"
    if combination.local:
        weights += " in the window" + (
            " × Gaussian around p_t" if combination.window == "local_p" else " around p_t = t"
        )
    fed = (
        "h_t = LSTM(h_{t-1}, [y_{t-1} ; h̃_{t-1}])" if combination.feeding else "h_t = LSTM(h_{t-1}, y_{t-1})"
    )
    return [
        Stage("fed", "y_{t-1}" + (", h̃_{t-1}" if combination.feeding else ""), "what the step is given",
              **_vector(np.vstack([np.zeros_like(reading.vectors["attentional"][:1]),
                                   reading.vectors["attentional"][:-1]]) if combination.feeding else None)),
        Stage("state", "h_t", "new state first", inputs=("fed",), equation=fed, **_vector(reading.vectors["hidden"])),
        Stage("scores", "e_t", "score the source rows", "source", "scores", reads, count, SCORES[combination.score]),
        Stage("weights", "a_t", "align", "source", "weights", ("scores",), count, weights),
        Stage("context", "c_t", "mix the source states", "source", inputs=("weights", "H"),
              equation="c_t = Σ_j a_{tj} h̄_j", **_vector(reading.context)),
        Stage("attended", "h̃_t", "attentional state", inputs=("state", "context"),
              equation="h̃_t = tanh(W_c [c_t ; h_t])", **_vector(reading.vectors["attentional"])),
        Stage("token", "y_t", "decide", "decision", "token", ("attended",), equation="p(y_t) = softmax(W_s h̃_t)"),
    ]  # fmt: skip


def _heads(reading: Reading) -> list[Stage]:
    count = str(reading.weights.shape[1])
    scored = reading.scores is not None
    middle = [Stage("scores", "e_t", "score the memory", "source", "scores", ("own", "H"), count,
                    "e_{tj} = q_t · k_j / √d_k")] if scored else []  # fmt: skip
    return [
        Stage("own", "r_t", "target rows read each other", equation="r_t = self-read of rows 1 to t",
              **_vector(reading.vectors["selfread"])),
        *middle,
        Stage("weights", "a_t", "softmax" if scored else "mean of the heads", "source", "weights",
              ("scores",) if scored else ("own", "H"), count, "a_t = softmax(e_t)"),
        Stage("context", "c_t", "mix the values, all heads", "source", inputs=("weights", "H"),
              equation="c_t = [Σ_j a_{tj} v_j] for each head", **_vector(reading.context)),
        Stage("token", "y_t", "feed-forward, later layers, decide", "decision", "token", ("own", "context")),
    ]  # fmt: skip


def _vector(values: np.ndarray | None) -> dict:
    """A vector stage's numbers: a few components, the whole length, the shape."""
    if values is None:
        return {}
    norm = np.linalg.norm(values, axis=1)
    return {"preview": values[:, :PREVIEW], "norm": norm, "shape": str(values.shape[1])}
