"""GPT, the prefix model and BERT against transformers', and the relations against T5X's and UniLM's."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from models.interface import Rows
from models.layers.visibility import causal, compose, packed, prefix
from models.systems import bert, gpt, prefix_lm
from models.systems.unilm import MODES, relation_of
from tests.models.golden import Case, case, names

Weights = dict[str, Tensor]
NORMS = {"ln_1": "norms.0", "ln_2": "norms.1"}


def gpt2_weights(found: Case, layers: int) -> Weights:
    """GPT-2's as ours: its Conv1D weights are (in, out), its c_attn columns are q, k and v."""
    ours: Weights = {
        "embedding.weight": found["p.transformer.wte.weight"],
        "positions.weight": found["p.transformer.wpe.weight"],
        "norm.weight": found["p.transformer.ln_f.weight"],
        "norm.bias": found["p.transformer.ln_f.bias"],
    }
    for k in range(layers):
        theirs, mine = f"p.transformer.h.{k}.", f"layers.{k}."
        for name, own in NORMS.items():
            ours |= {f"{mine}{own}.{part}": found[f"{theirs}{name}.{part}"] for part in ("weight", "bias")}
        for part in ("weight", "bias"):
            thirds = found[f"{theirs}attn.c_attn.{part}"].chunk(3, dim=-1)
            for role, third in zip(("query", "key", "value"), thirds, strict=True):
                ours[f"{mine}attention.{role}.{part}"] = third.T if part == "weight" else third
            pairs = {
                "attn.c_proj": "attention.output",
                "mlp.c_fc": "feedforward.0",
                "mlp.c_proj": "feedforward.2",
            }
            for name, own in pairs.items():
                value = found[f"{theirs}{name}.{part}"]
                ours[f"{mine}{own}.{part}"] = value.T if part == "weight" else value
    return ours


def loaded(system: nn.Module, weights: Weights) -> None:
    """Every parameter gets a value: no output bias in theirs is a bias of zero."""
    known = dict(system.named_parameters())
    assert known.keys() - weights.keys() <= {"output.bias"}
    with torch.no_grad():
        for name, parameter in known.items():
            parameter.copy_(weights.get(name, torch.zeros_like(parameter)))


def gpt2(found: Case, kind: type[gpt.GPT] = gpt.GPT) -> gpt.GPT:
    sizes = gpt.Config(vocab_size=11, d_model=8, n_heads=2, d_feedforward=32, n_layers=2, positions=16)
    system = kind(sizes).double().eval()
    loaded(system, gpt2_weights(found, 2))
    for layer in system.layers:
        layer.feedforward[1] = nn.GELU("tanh")  # type: ignore[union-attr, operator]
    return system


def alone(ids: Tensor) -> Rows:
    return Rows(ids.unsqueeze(0), torch.ones_like(ids, dtype=torch.bool).unsqueeze(0))


def test_gpt2_all_rows_at_once_and_one_by_one_from_its_cache() -> None:
    found = case("07_gpt2_kv_cache")
    system = gpt2(found)
    for b, valid in enumerate(
        found["attention_mask"].bool()
    ):  # theirs pads on the left: our rows are the real ones
        ids = found["input_ids"][b][valid].long()
        first = int(valid[: found.meta["prefill_len"]].sum())
        scored = system.score(alone(ids[:first]), ids[first:].unsqueeze(0))
        found.same(scored.logits[0], found["logits"][b][valid][first:])
        for k, read in enumerate(system.reads(scored.trace)["stream"]):
            found.same(read.weights[0], found[f"attn{k}"][b][:, valid][:, :, valid])
        state = system.read(alone(ids[:first]))
        for n, token in enumerate(ids[first:]):
            stepped = system.step(state, token.unsqueeze(0))
            state = stepped.state
            found.same(stepped.logits[0], found["logits_prefill_then_step"][b][valid][first + n])
        for k in range(2):
            found.same(state.keys[k][0], found[f"cache_k{k}"][b][:, valid])
            found.same(state.values[k][0], found[f"cache_v{k}"][b][:, valid])


def test_a_prefix_reads_itself_both_ways_and_must_be_read_at_once() -> None:
    found = case("07_prefix_lm_gpt2")
    system = gpt2(found, prefix_lm.PrefixLM)
    for b, count in enumerate(found["prefix_len"].long().tolist()):
        valid = found["valid"][b].bool()
        ids = found["input_ids"][b].long()[valid]
        scored = system.score(alone(ids[:count]), ids[count:].unsqueeze(0))
        found.same(scored.logits[0], found["logits"][b][valid][count:])
        for k, read in enumerate(system.reads(scored.trace)["stream"]):
            found.same(read.weights[0], found[f"attn{k}"][b][:, valid][:, :, valid])
        relation = compose(prefix(len(valid), count), valid.unsqueeze(0))[0]
        assert torch.equal(relation[valid], found["mask"][b].bool()[valid])
    ids, count = found["input_ids"][0].long(), int(found["prefix_len"][0])
    state = system.read(alone(ids[:count]))
    for n, token in enumerate(ids[count:]):
        stepped = system.step(state, token.unsqueeze(0))
        state = stepped.state
        found.same(stepped.logits[0], found["logits_prefill_then_step"][0, count + n])


def bert_weights(found: Case) -> Weights:
    """The segment vector of type 0, which every row of these sentences has, goes into the positions."""
    embeddings, head = "p.bert.embeddings.", "p.cls.predictions."
    types = found[f"{embeddings}token_type_embeddings.weight"]
    ours: Weights = {
        "embedding.weight": found[f"{embeddings}word_embeddings.weight"],
        "positions.weight": found[f"{embeddings}position_embeddings.weight"] + types[0],
        "output.bias": found[f"{head}bias"],
    }
    names_of = {f"{embeddings}LayerNorm": "first_norm", f"{head}transform.dense": "head",
                f"{head}transform.LayerNorm": "head_norm"}  # fmt: skip
    for k in range(2):
        layer = f"p.bert.encoder.layer.{k}."
        names_of |= {
            f"{layer}attention.self.{role}": f"encoder.{k}.attention.{role}"
            for role in ("query", "key", "value")
        }
        names_of |= {
            f"{layer}attention.output.dense": f"encoder.{k}.attention.output",
            f"{layer}attention.output.LayerNorm": f"encoder.{k}.norms.0",
            f"{layer}intermediate.dense": f"encoder.{k}.feedforward.0",
            f"{layer}output.dense": f"encoder.{k}.feedforward.2",
            f"{layer}output.LayerNorm": f"encoder.{k}.norms.1",
        }
    for theirs, mine in names_of.items():
        ours |= {f"{mine}.{part}": found[f"{theirs}.{part}"] for part in ("weight", "bias")}
    return ours


def test_bert_and_its_masked_token_head() -> None:
    found = case("07_bert")
    sizes = bert.Config(vocab_size=13, d_model=8, n_heads=2, d_feedforward=16, n_layers=2, positions=10)
    system = bert.BERT(sizes).double().eval()
    loaded(system, bert_weights(found))
    ids, valid, types = (
        found["input_ids"].long(),
        found["attention_mask"].bool(),
        found["token_type_ids"].long(),
    )
    table = found["p.bert.embeddings.token_type_embeddings.weight"]
    vectors = system.embedding(ids) + (table[types] - table[0])
    scored = system.score(Rows(ids, valid, vectors))
    found.check("mlm_logits", scored.logits, valid)
    for k, read in enumerate(scored.trace.encoder):
        for b in range(len(ids)):
            found.same(read.weights[b][:, valid[b]], found[f"attn{k}"][b][:, valid[b]])
    found.check("hidden2", scored.trace.states, valid)
    labels = found["labels"].long()
    loss = nn.functional.cross_entropy(scored.logits[labels >= 0], labels[labels >= 0])
    found.same(loss.unsqueeze(0), found["loss"])


@pytest.mark.parametrize("name", names("07_unilm_masks"))
def test_the_four_relations_of_unilm(name: str) -> None:
    found = case(name)
    for b, mask in enumerate(found["mask"].bool()):
        count = int(found["num_tokens_a"][b] + found["num_tokens_b"][b])
        mode = MODES[int(found["task_idx"][b])]
        ours = relation_of(mode, count, found["num_tokens_a"][b : b + 1].long())
        assert torch.equal(ours.reshape(count, count), mask[:count, :count])
        assert not mask[:, count:].any()


def test_the_relations_of_t5x() -> None:
    found = case("07_prefix_lm_mask_t5x")
    assert torch.equal(causal(5), found["causal5.mask"][0].bool())
    real = found["causal_padded.tokens"] > 0
    for valid, mask in zip(real, found["causal_padded.mask"].bool(), strict=True):
        assert torch.equal(compose(causal(5), valid.unsqueeze(0))[0][valid], mask[valid])
    for name in ("seed_prefix3_target2", "prefix_all"):
        flags = found[f"{name}.prefix"][0].bool()
        assert torch.equal(prefix(len(flags), int(flags.sum())), found[f"{name}.mask"][0].bool())
    segments, mask = found["packed_doc_example.segments"][0], found["packed_doc_example.mask"][0].bool()
    flags, valid = found["packed_doc_example.prefix"][0].bool(), found["packed_doc_example.tokens"][0] > 0
    both = flags.unsqueeze(1) & flags
    ours = (causal(len(segments)) | both) & packed(segments)
    assert torch.equal(compose(ours, valid.unsqueeze(0))[0][valid], mask[valid])
