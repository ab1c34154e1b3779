"""Experiments of the page "Fixed context" (0x02): what crosses from encoder to decoder, and what that decides.

`pair`, `quality`, `words` and `export` need no torch; the others run the trained systems. Every result is frozen
numpy and labels.
"""

from __future__ import annotations

SYSTEMS: tuple[str, ...] = ("rnn_encoder_decoder", "lstm_seq2seq", "rnn_search", "luong", "transformer")
FIXED: tuple[str, ...] = ("rnn_encoder_decoder", "lstm_seq2seq")
WIDTHS = (96, 192, 384, 768, 1536, 3072, 6144)  # channels of c to try

# What of a fixed context can be moved from one sentence to another.
PARTS: dict[str, dict[str, str]] = {
    "rnn_encoder_decoder": {
        "both": "c and the start s_0",
        "every_step": "c at every step",
        "start": "the start s_0",
    },
    "lstm_seq2seq": {
        "both": "h and c of every layer",
        "hidden": "h of every layer",
        "cell": "c of every layer",
    },
}

# The synthetic read of 0x02E, in hundredths because links carry whole numbers: H (4, 3) and alpha (3, 4).
DEFAULT_H = (80, 10, 0, 10, 90, 10, 0, 20, 80, 40, 50, 60)
DEFAULT_ALPHA = (80, 10, 5, 5, 5, 80, 10, 5, 5, 5, 80, 10)
MOST_H = 200  # a channel lies between -2 and 2, a weight between 0 and 1
