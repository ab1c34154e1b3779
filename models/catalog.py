"""Every system once. Importing this module imports no torch: the app paints its frame from it."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any

TATOEBA = "English to French"
FILL = "Filling hidden English words"
LANGUAGE = "Continuing English, character by character"


@dataclass(frozen=True)
class Entry:
    """One trained system. `builder` is "module:Class"; `config` are the choices that differ from its defaults;
    `starts_from` names the system whose trained parameters its training began with. `objective` names the loss
    (models/training/objectives.py); `continues` says that plain English, after an empty source, is trained too;
    `prompt` are the words that stand before every sentence to translate; `alphabet` is what its tokens are: subword
    pieces, or bytes."""

    slug: str
    title: str
    family: str
    paper: str
    year: int
    builder: str
    summary: str
    section: str
    config: dict[str, Any] = field(default_factory=dict)
    starts_from: str | None = None
    task: str = TATOEBA
    objective: str = "target_rows"
    continues: bool = False
    prompt: str = ""
    alphabet: str = "pieces"

    def system_class(self) -> Any:
        module, name = self.builder.split(":")
        return getattr(importlib.import_module(module), name)

    def config_class(self) -> Any:
        return importlib.import_module(self.builder.split(":")[0]).Config


def _luong(slug: str, title: str, summary: str, **config: Any) -> Entry:
    return Entry(
        slug, title, "Attention", "Luong, Pham and Manning, EMNLP 2015", 2015,
        "models.systems.luong:Luong", summary, "0x04F", config, None if slug == "luong" else "luong",
    )  # fmt: skip


_NO_FEEDING = "General score; the next step does not see what was read."
_CONCAT = "Eq. 8 as printed: linear, so the weights cannot depend on the decoder state."
_LOCAL_P = "Predicts where to look, reads within D of it, and fades with a Gaussian."

# fmt: off
SYSTEMS: tuple[Entry, ...] = (
    Entry(
        "rnn_encoder_decoder", "RNN encoder-decoder", "Fixed context", "Cho et al., EMNLP 2014", 2014,
        "models.systems.rnn_encoder_decoder:RNNEncoderDecoder",
        "A GRU reads the source into one summary c; every decoder step receives c and nothing else of the source.",
        "0x01D",
    ),
    Entry(
        "lstm_seq2seq", "LSTM seq2seq", "Fixed context", "Sutskever, Vinyals and Le, NIPS 2014", 2014,
        "models.systems.lstm_seq2seq:LSTMSeq2Seq",
        "A deep LSTM reads the source reversed; its last hidden and cell states start the decoder.",
        "0x01E",
    ),
    Entry(
        "rnn_search", "RNNsearch", "Attention", "Bahdanau, Cho and Bengio, ICLR 2015", 2015,
        "models.systems.rnn_search:RNNSearch",
        "One annotation a source row; each step reads them with the previous state before its new state exists.",
        "0x04E",
    ),
    _luong("luong", "Luong general", "The new state scores every source row bilinearly; what was read is fed back."),
    _luong("luong_dot", "Luong dot", "Plain dot products: both states must share one space.", score="dot"),
    _luong("luong_no_feeding", "Luong without feeding", _NO_FEEDING, input_feeding=False),
    _luong("luong_concat", "Luong concat", _CONCAT, score="concat"),
    _luong("luong_location", "Luong location", "Scores by position, from the decoder state alone.", score="location"),
    _luong("luong_local_m", "Luong local-m", "Reads only rows within D of the current step.", window="local_m"),
    _luong("luong_local_p", "Luong local-p", _LOCAL_P, window="local_p"),
    Entry(
        "transformer", "Transformer", "Transformer", "Vaswani et al., NIPS 2017", 2017,
        "models.systems.transformer:Transformer",
        "No recurrence: rows read each other under three visibility relations, several heads at once.",
        "0x07",
    ),
    Entry(
        "gpt", "GPT", "Transformer", "Radford et al., OpenAI 2018", 2018,
        "models.systems.gpt:GPT",
        "One causal stream: the source, then the target, under one relation. It also continues plain English.",
        "0x09D", continues=True,
    ),
    Entry(
        "prefix_lm", "Prefix LM", "Transformer", "Raffel et al., JMLR 2020", 2020,
        "models.systems.prefix_lm:PrefixLM",
        "GPT's stack under a block relation: source rows read each other both ways, target rows read the past.",
        "0x09D", starts_from="gpt",
    ),
    Entry(
        "unilm", "UniLM", "Transformer", "Dong et al., NeurIPS 2019", 2019,
        "models.systems.unilm:UniLM",
        "One set of weights, trained under three visibility relations; which one holds is chosen when it runs.",
        "0x09D", objective="three_masks", starts_from="prefix_lm",
    ),
    Entry(
        "bert", "BERT", "Transformer", "Devlin et al., NAACL 2019", 2019,
        "models.systems.bert:BERT",
        "An encoder alone: every row reads both sides, and hidden words are filled in.",
        "0x09E", starts_from="transformer", task=FILL, objective="masked_tokens",
    ),
    Entry(
        "convs2s", "ConvS2S", "Convolution", "Gehring et al., ICML 2017", 2017,
        "models.systems.convs2s:ConvS2S",
        "Stacked gated convolutions with learned positions, and one read of the source in every decoder layer.",
        "0x05D",
    ),
    Entry(
        "wavenet", "WaveNet", "Convolution", "van den Oord et al., 2016", 2016,
        "models.systems.wavenet:WaveNet",
        "Causal convolutions with dilations 1, 2, 4, .. 32 twice over, gated; English alone, byte after byte.",
        "0x05B", task=LANGUAGE, continues=True, alphabet="bytes",
    ),
    Entry(
        "s4", "S4", "State space", "Gu, Goel and Ré, ICLR 2022", 2022,
        "models.systems.s4:S4",
        "One linear state system a channel, run as a convolution over known rows and as a recurrence for a new one.",
        "0x0C.3", continues=True,
    ),
    Entry(
        "mamba", "Mamba", "State space", "Gu and Dao, 2023", 2023,
        "models.systems.mamba:Mamba",
        "One stream through states of fixed size; every row decides what it writes, reads and forgets.",
        "0x0C.4", continues=True,
    ),
)
# fmt: on

TRANSLATORS: tuple[Entry, ...] = tuple(item for item in SYSTEMS if item.task == TATOEBA)


def entry(slug: str) -> Entry:
    """The entry called slug. Raises KeyError with a sentence that lists the known ones."""
    for item in SYSTEMS:
        if item.slug == slug:
            return item
    raise KeyError(f"No system is called {slug!r}. Known: {', '.join(e.slug for e in SYSTEMS)}.")
