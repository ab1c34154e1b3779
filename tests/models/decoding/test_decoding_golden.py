"""Filters, penalties and searches against transformers and OpenNMT-py (cases 13_*).

Where the cases' conventions differ from the papers or from ours:

- Logits processors (transformers): top-k keeps ties; the token that crosses top-p's mass stays; min-p and top-p come
  after the temperature; the repetition penalty acts on raw logits. Ours are the same. transformers also counts the
  prompt's tokens as seen; `Filters` is given the target's tokens alone, so here it is handed the case's own ids.
- Beam (transformers): log p is divided by length^penalty with the end counted, so a penalty above 0 favours long
  outputs; GNMT's norm ((5 + length) / 6)^alpha is another function, and both are ours ("power" and "gnmt"). At the
  maximum length whatever is unfinished competes. The end of the tables is token 0 and there is no BOS: relabelled here.
- A beam is not exhaustive: in case b its best is the third best of all, which the exact search finds first.
- Coverage (OpenNMT-py): its penalties are positive and subtracted; GNMT's cp is the negative of it, and so is ours.
- Contrastive search (transformers 4.46): candidate rows are those after the last norm, and every earlier row of the one
  stream counts. With an empty source our target rows are that stream; with a real source ours leave its rows out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from models.decoding import filters, penalties
from models.decoding.contrastive import contrastive
from models.decoding.exact import exact
from models.decoding.filters import Filters
from models.decoding.policy import Policy, decode
from models.interface import Rows, State, Stepped, System
from models.systems import gpt
from models.training.tokenizer import BOS, EOS
from tests.models.golden import case, names
from tests.models.systems.test_families_golden import gpt2_weights, loaded

PROCESSORS = "13_logits_processors"


@pytest.mark.parametrize(
    ("key", "made"),
    [
        ("temperature", lambda x, p: filters.temperature(x, p["temperature"])),
        ("top_k", lambda x, p: filters.top_k(x, p["top_k"])),
        ("top_p", lambda x, p: filters.top_p(x, p["top_p"])),
        ("top_p_keep", lambda x, p: filters.top_p(x, p["top_p"], p["keep"])),
        ("min_p", lambda x, p: filters.min_p(x, p["min_p"])),
        ("typical", lambda x, p: filters.typical(x, p["typical_p"])),
    ],
)
def test_a_filter_is_transformers(key: str, made: Any) -> None:
    found = case("13_logits_processors")
    found.check(key, made(found["logits"], found.meta["params"]))


def test_the_repetition_penalty_and_the_pipeline_are_transformers() -> None:
    found = case(PROCESSORS)
    given, said = found.meta["params"], found["input_ids"].tolist()
    found.check("repetition", filters.repetition(found["logits"], said, given["repetition_penalty"]))
    on = Filters(
        given["repetition_penalty"],
        temperature=given["temperature"],
        top_k=given["top_k"],
        top_p=given["top_p"],
    )
    piped = on.apply(found["logits"], said)
    found.check("pipeline", piped)
    found.check("pipeline_probs", piped.softmax(-1))


def float64(values: list[float]) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


@pytest.mark.parametrize("name", names("13_length_coverage_penalty_onmt"))
def test_length_norms_and_coverage_are_opennmts(name: str) -> None:
    found = case(name)
    lengths, alpha, beta = found["lengths"].tolist(), found.meta["alpha"], found.meta["beta"]
    found.check("gnmt", float64([penalties.length_norm(n, alpha, "gnmt") for n in lengths]))
    found.check("average", float64([penalties.length_norm(n, 1.0) for n in lengths]))
    read = found["coverage"].unsqueeze(-2)  # one row of weights whose sum is the coverage
    found.check("coverage_wu", -penalties.coverage(read, beta))
    found.check("coverage_summary", -penalties.summary_coverage(read, beta))


@dataclass(frozen=True)
class Last(State):
    """The last two tokens, (B,); -1 before BOS was read."""

    before: Tensor
    last: Tensor


class Table(System):
    """p(next | the last two), read from a table; the case's end, 0, and our EOS have changed names."""

    def __init__(self, table: Tensor, prompt: int) -> None:
        super().__init__()
        size = max(len(table), EOS + 1)
        self.order = torch.arange(size)
        self.order[[0, EOS]] = self.order[[EOS, 0]]
        self.table = nn.Parameter(table[self.order][:, self.order][..., self.order], requires_grad=False)
        self.prompt = int(self.order[prompt])

    def read(self, source: Rows) -> Last:
        none = torch.full((len(source.ids),), -1)
        return Last(none, none)

    def step(self, state: Last, token: Tensor, *, read: object = None) -> Stepped:
        first = state.last == -1
        token = torch.where(first, self.prompt, token)
        after = Last(torch.where(first, token, state.last), token)
        return Stepped(self.table[after.before, after.last], after, None)

    def features(self, source: Rows, target_in: Any, *, read: object = None) -> tuple[Tensor, None]:
        state, rows = self.read(source), []
        for token in target_in.unbind(1):
            stepped = self.step(state, token)
            state = stepped.state
            rows.append(stepped.logits)
        return torch.stack(rows, 1), None

    def project(self, features: Tensor) -> Tensor:
        return features

    def names(self, tokens: Any) -> list[int]:
        return self.order[torch.tensor(tokens)].tolist()


NOTHING = Rows(torch.tensor([[EOS]]), torch.ones(1, 1, dtype=torch.bool))


@pytest.mark.parametrize("letter", "abcd")
def test_a_beam_is_transformers(letter: str) -> None:
    found = case("13_beam_search")
    given = found.meta["cases"][letter]
    system = Table(found[f"table_{letter}"], given["prompt"][0])
    policy = Policy(
        "beam" if given["num_beams"] > 1 else "greedy", max_length=given["max_new_tokens"], width=given["num_beams"],
        count=given["num_beams"], penalty=given["length_penalty"], early=given["early_stopping"],
    )  # fmt: skip
    ours = decode(system, NOTHING, policy).outcomes
    assert [system.names([system.prompt, *o.tokens]) for o in ours] == given["sequences"]
    if given["sequences_scores"]:
        assert [o.score for o in ours] == pytest.approx(given["sequences_scores"], abs=found.atol)


def test_the_exact_search_finds_what_the_beam_of_case_b_missed() -> None:
    found = case("13_beam_search")
    given = found.meta["cases"]["b"]
    system = Table(found["table_b"], given["prompt"][0])
    ours = exact(system, NOTHING, returned=3, max_length=given["max_new_tokens"])
    assert ours.proved
    best = [[*system.names([system.prompt, *one.tokens]), 0] for one in ours.best]
    assert best == [one["sequence"] for one in given["exhaustive_top3"]]
    values = [one["score"] for one in given["exhaustive_top3"]]
    assert [one.log_prob for one in ours.best] == pytest.approx(values, abs=1e-9)


def test_contrastive_search_is_transformers() -> None:
    found = case("13_contrastive_search")
    sizes = gpt.Config(vocab_size=17, d_model=8, n_heads=2, d_feedforward=32, n_layers=2, positions=32)
    system = gpt.GPT(sizes).double().eval()
    loaded(system, gpt2_weights(found, 2))
    for layer in system.layers:
        layer.feedforward[1] = nn.GELU("tanh")  # type: ignore[union-attr, operator]
    prompt, wanted = found["prompt"].tolist(), found["output"].tolist()
    order = relabelled(prompt[0], wanted)
    with torch.no_grad():
        system.embedding.weight.copy_(system.embedding.weight[order].clone())
    empty = Rows(torch.zeros(1, 0, dtype=torch.long), torch.zeros(1, 0, dtype=torch.bool))
    count = len(prompt) - 1 + found.meta["max_new_tokens"]
    renamed = order.argsort()[prompt[1:]].tolist()
    ours = contrastive(system, empty, found.meta["penalty_alpha"], found.meta["top_k"], count, renamed)
    assert [prompt[0], *order[ours.tokens].tolist()] == wanted
    plain = contrastive(system, empty, 0.0, found.meta["top_k"], count, renamed)
    assert [prompt[0], *order[plain.tokens].tolist()] == found["greedy_output"].tolist() != wanted


def relabelled(first: int, used: list[int]) -> Tensor:
    """Names under which the prompt's first token is our BOS, and an unused one our EOS: order[ours] = theirs."""
    spare = next(token for token in range(17) if token not in used and token not in (BOS, EOS))
    order = [token for token in range(17) if token not in (first, spare)]
    order.insert(BOS, first)
    order.insert(EOS, spare)
    return torch.tensor(order)
