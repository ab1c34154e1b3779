"""T5 against transformers', version 1.0 and 1.1, and its buckets of distances."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

from models.interface import Rows
from models.layers.positions import distance_buckets
from models.systems.t5 import T5, Config
from models.systems.transformer import Config as TransformerConfig
from models.systems.transformer import Transformer
from tests.models.golden import Case, case

CASES = ("07_t5", "07_t5_v11")
ROLES = {"q": "query", "k": "key", "v": "value", "o": "output"}


def attention(theirs: str, ours: str) -> dict[str, str]:
    return {f"{ours}.{mine}.weight": f"{theirs}.{name}.weight" for name, mine in ROLES.items()}


def layer_names(stack: str, k: int, gated: bool) -> dict[str, str]:
    theirs, ours = f"p.{stack}.block.{k}.layer.", f"{stack}.{k}."
    last = 1 if stack == "encoder" else 2
    found = attention(f"{theirs}0.SelfAttention", f"{ours}attention")
    if last == 2:
        found |= attention(f"{theirs}1.EncDecAttention", f"{ours}cross")
    found |= {f"{ours}norms.{n}.weight": f"{theirs}{n}.layer_norm.weight" for n in range(last + 1)}
    names = {"gate": "wi_0", "linear": "wi_1", "output": "wo"} if gated else {"0": "wi", "2": "wo"}
    dense = f"{theirs}{last}.DenseReluDense"
    return found | {
        f"{ours}feedforward.{mine}.weight": f"{dense}.{name}.weight" for mine, name in names.items()
    }


def weights(found: Case, config: Config) -> dict[str, Tensor]:
    """Theirs by our names. Our table holds d^-0.5 of theirs: the factor stands at the input instead."""
    pairs: dict[str, str] = {} if config.tied else {"output.table.weight": "p.lm_head.weight"}
    for stack in ("encoder", "decoder"):
        pairs[f"{stack}_norm.weight"] = f"p.{stack}.final_layer_norm.weight"
        bias = f"p.{stack}.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
        pairs[f"{stack}_bias.table.weight"] = bias
        for k in range(config.n_layers):
            pairs |= layer_names(stack, k, config.gated)
    mapped = {ours: found[theirs] for ours, theirs in pairs.items()}
    return mapped | {"embedding.weight": found["p.shared.weight"] * config.d_model**-0.5}


def built(found: Case) -> T5:
    facts, (entries, width) = found.meta["config"], found["p.shared.weight"].shape
    gated = facts["ffn"] != "relu"
    wide = found[f"p.encoder.block.0.layer.1.DenseReluDense.{'wi_0' if gated else 'wi'}.weight"].shape[0]
    sizes = (entries, width, facts["heads"], facts["d_kv"], wide, facts["layers"])
    config = Config(*sizes, facts["buckets"], facts["max_distance"], 0.0, gated, facts["tied"])
    system, mapped = T5(config).double().eval(), weights(found, config)
    known = dict(system.named_parameters())
    assert known.keys() == mapped.keys()
    with torch.no_grad():
        for name, parameter in known.items():
            assert parameter.shape == mapped[name].shape
            parameter.copy_(mapped[name])
    return system


@pytest.mark.parametrize("name", CASES)
def test_memory_reads_and_logits_equal_transformers(name: str) -> None:
    found = case(name)
    system, valid = built(found), found["attention_mask"].bool()
    scored = system.score(Rows(found["input_ids"], valid), found["decoder_input_ids"])
    found.check("memory", scored.trace.memory, valid)
    found.check("logits", scored.logits)
    for k in range(found.meta["config"]["layers"]):
        found.check(f"dec_self_attn{k}", scored.trace.target[k].weights)
        found.check(f"dec_cross_attn{k}", scored.trace.cross[k].weights)
        rows = scored.trace.encoder[k].weights.transpose(1, 2)[valid]
        found.same(rows, found[f"enc_attn{k}"].transpose(1, 2)[valid])


@pytest.mark.parametrize("name", CASES)
def test_one_row_at_a_time_from_the_cache_equals_transformers_and_ourselves(name: str) -> None:
    found = case(name)
    system, rows = built(found), Rows(found["input_ids"], found["attention_mask"].bool())
    whole, state = system.score(rows, found["decoder_input_ids"]).logits, system.read(rows)
    for t, token in enumerate(found["decoder_input_ids"].T):
        stepped = system.step(state, token)
        state = stepped.state
        found.same(stepped.logits, found["logits_stepwise"][:, t])
        torch.testing.assert_close(stepped.logits, whole[:, t], rtol=0, atol=1e-12)


def test_leaving_out_what_is_t5s_own_gives_other_numbers() -> None:
    found = case("07_t5")
    rows, target = Rows(found["input_ids"], found["attention_mask"].bool()), found["decoder_input_ids"]

    def error(system: T5) -> float:
        return float((system.score(rows, target).logits - found["logits"]).detach().abs().max())

    scaled, flat, plain = built(found), built(found), built(found)
    for module in scaled.modules():
        if hasattr(module, "scaled"):
            module.scaled = True  # type: ignore[assignment]
    for bias in (flat.encoder_bias, flat.decoder_bias):
        nn.init.zeros_(bias.table.weight)
    plain.encoder_norm = nn.LayerNorm(8).double()
    nn.init.ones_(plain.encoder_norm.weight)
    assert error(built(found)) < found.atol
    assert min(map(error, (scaled, flat, plain))) > 1e-3


def test_buckets_are_single_distances_then_widen_and_split_by_side() -> None:
    near = torch.arange(8)
    assert distance_buckets(-near, 32, 128, both_ways=True).tolist() == near.tolist()
    assert distance_buckets(near[1:], 32, 128, both_ways=True).tolist() == (near[1:] + 16).tolist()
    back = distance_buckets(-torch.arange(400), 32, 128, both_ways=False)
    assert back[:16].tolist() == list(range(16))
    assert (back.diff() >= 0).all()
    assert back[128:].eq(31).all()
    assert back.bincount(minlength=32)[16:31].diff().ge(-1).all()
    # by hand: 16 + floor(16 ln(d / 16) / ln 8) at 20, 40 and 100
    by_hand = [16 + math.floor(16 * math.log(d / 16) / math.log(8)) for d in (20, 40, 100)]
    assert back[[20, 40, 100]].tolist() == by_hand == [17, 23, 30]
    assert distance_buckets(torch.arange(1, 9), 32, 128, both_ways=False).eq(0).all()


def test_a_shifted_source_is_read_alike_where_a_transformers_is_not() -> None:
    """Only distances count: rows that may not be read, put in front, move every place and change nothing."""
    torch.manual_seed(0)
    relative = T5(Config(40, 8, 2, 4, 12, 2, dropout=0.0)).double().eval()
    absolute = Transformer(TransformerConfig(40, 8, 2, 12, 2, dropout=0.0)).double().eval()
    ids = torch.tensor([[7, 8, 9, 2]])
    shifted = Rows(torch.cat([torch.zeros(1, 3).long(), ids], 1), torch.tensor([[False] * 3 + [True] * 4]))
    given = torch.tensor([[1, 9]])
    moved = {}
    for system in (relative, absolute):
        here = system.score(Rows(ids, torch.ones_like(ids).bool()), given).logits
        there = system.score(shifted, given).logits
        moved[type(system)] = float((here - there).detach().abs().max())
    assert moved[T5] < 1e-12
    assert moved[Transformer] > 1e-3


def test_each_stack_owns_one_bias_table_and_nothing_has_a_bias_vector() -> None:
    system = T5(Config(40, 8, 2, 4, 12, 3, dropout=0.0))
    names = {name for name, _ in system.named_parameters()}
    assert not [name for name in names if name.endswith(".bias")]
    assert {name for name in names if "_bias." in name} == {
        "encoder_bias.table.weight",
        "decoder_bias.table.weight",
    }
    assert system.output.table is system.embedding
    assert system.output_table()[1].eq(0).all()
    untied = T5(Config(40, 8, 2, 4, 12, 3, dropout=0.0, gated=True, tied=False))
    assert untied.output_table()[0] is not untied.embedding.weight
