"""What BERT and UniLM share: rows read both ways, and hidden pieces are what is asked for."""

from __future__ import annotations

import pytest
import torch

from models.catalog import entry
from models.interface import Rows
from models.systems.unilm import MODES
from models.training.corpus import Pair, collate
from models.training.corruption import choose, mask_tokens
from models.training.objectives import OBJECTIVES
from models.training.tokenizer import MASK, N_SPECIAL
from tests.models.small import small, source, target


def test_bert_reads_both_sides_and_no_padding() -> None:
    system, rows = small(entry("bert")), source(6, 4)
    whole = system.score(rows).logits  # pyright: ignore[reportCallIssue]
    assert whole.shape[:2] == rows.ids.shape
    alone = system.score(Rows(rows.ids[1:, :4], rows.valid[1:, :4])).logits  # pyright: ignore[reportCallIssue]
    torch.testing.assert_close(whole[1:, :4], alone, rtol=0, atol=1e-10)
    changed = rows.ids.clone()
    changed[0, 5] = 9
    after = system.score(Rows(changed, rows.valid)).logits  # pyright: ignore[reportCallIssue]
    assert (after[0, 0] - whole[0, 0]).abs().max() > 1e-6
    with pytest.raises(ValueError, match="no target rows"):
        system.features(rows, target(3, 3))


def test_unilm_chooses_its_relation_when_it_runs() -> None:
    system, rows, given = small(entry("unilm")), source(4), target(3)
    relations = {mode: system.visibility(rows, given, mode)["stream"][0] for mode in MODES}  # type: ignore[operator]
    n = 7
    assert relations["bidirectional"].all()
    assert torch.equal(relations["left_to_right"], torch.ones(n, n).bool().tril())
    assert torch.equal(relations["right_to_left"], torch.ones(n, n).bool().triu())
    block = torch.ones(n, n).bool().tril()
    block[:4, :4] = True
    assert torch.equal(relations["seq2seq"], block)
    logits = {mode: system.score(rows, given, mode=mode).logits for mode in MODES}  # type: ignore[call-arg]
    assert (logits["seq2seq"] - logits["left_to_right"]).abs().max() > 1e-6


def test_a_share_of_the_permitted_places_is_chosen_and_at_least_one() -> None:
    torch.manual_seed(0)
    may = torch.ones(3, 40, dtype=torch.bool)
    may[1, 2:] = False
    may[2] = False
    chosen = choose(may)
    assert chosen.sum(1).tolist() == [6, 1, 0]
    assert not chosen[~may].any()


def test_most_chosen_pieces_are_hidden_and_the_others_stay() -> None:
    torch.manual_seed(0)
    ids, chosen = torch.full((1, 20_000), 900), torch.rand(1, 20_000) < 0.5
    hidden = mask_tokens(ids, chosen, 8192)
    assert torch.equal(hidden[~chosen], ids[~chosen])
    share = (hidden[chosen] == MASK).float().mean()
    same = (hidden[chosen] == 900).float().mean()
    assert share == pytest.approx(0.8, abs=0.02)
    assert same == pytest.approx(0.1, abs=0.02)
    assert hidden.min() == MASK
    assert hidden[(hidden != MASK) & chosen].min() >= N_SPECIAL


@pytest.mark.parametrize(("slug", "objective"), [("bert", "masked_tokens"), ("unilm", "three_masks")])
def test_an_objective_gives_a_label_a_row_from_the_real_rows(slug: str, objective: str) -> None:
    torch.manual_seed(0)
    system = small(entry(slug))
    batch = collate([Pair([40, 41, 42, 43], [44, 45]), Pair([46], [47, 33, 34])])
    for _ in range(8):
        rows, labels = OBJECTIVES[objective](system, batch)
        assert rows.shape[0] == labels.shape[0] > 0
        known = set(batch.source.ids[batch.source.valid].tolist()) | set(batch.labels[batch.known].tolist())
        assert set(labels.tolist()) <= known
