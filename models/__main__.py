"""Command line: python -m models list | translate | score | continue | fill | train | evaluate | tokenizer."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from pathlib import Path
from typing import Any

from models import CheckpointError, catalog


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m models", description="Trained sequence models, from the shell."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    _add(commands, "list", "every system with its facts", slug=False)
    translate = _add(commands, "translate", "translate one English sentence")
    translate.add_argument("text")
    translate.add_argument("--beam", type=int, default=1)
    translate.add_argument("--max-length", type=int, default=64)
    score = _add(commands, "score", "log-probability of a translation, token by token")
    score.add_argument("source")
    score.add_argument("target")
    go_on = _add(
        commands, "continue", "go on from the beginning of an English sentence (gpt, s4, mamba, wavenet)"
    )
    go_on.add_argument("text")
    go_on.add_argument("--max-length", type=int, default=32)
    _add(commands, "fill", "fill each [MASK] of an English sentence (bert, unilm)").add_argument("text")
    _add_train(_add(commands, "train", "train one system"))
    evaluate = _add(commands, "evaluate", "test figures into the manifest")
    evaluate.add_argument("--corpus", type=Path, required=True)
    evaluate.add_argument("--threads", type=int, default=1)
    export = _add(commands, "export", "write ONNX graphs: encoder or prefill, and step")
    export.add_argument("--to", type=Path, help="folder; default: runs/onnx/SLUG-HASH, where the app looks")
    tokenizer = _add(commands, "tokenizer", "train the joint vocabulary", slug=False)
    tokenizer.add_argument("--corpus", type=Path, required=True)
    return parser


def _add(commands: Any, name: str, text: str, slug: bool = True) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=text, description=text)
    parser.add_argument("--json", action="store_true", help="print JSON")
    if slug:
        parser.add_argument("slug", choices=[e.slug for e in catalog.SYSTEMS], metavar="SLUG")
    return parser


def _add_train(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--corpus", type=Path, required=True, help="folder with train.tsv.gz, valid.tsv.gz, test.tsv.gz"
    )
    parser.add_argument("--resume", action="store_true", help="continue the run in runs/SLUG")
    parser.add_argument(
        "--onward", action="store_true", help="a new schedule from the shipped weights of the same system"
    )
    parser.add_argument("--spans-only", action="store_true", help="hidden spans alone, before --onward (t5)")
    parser.add_argument("--minutes", type=float, default=1e9, help="stop this session after so long")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--dropout", type=float, default=0.1)
    for name, kind in [
        ("steps", int),
        ("tokens", int),
        ("rate", float),
        ("smoothing", float),
        ("warmup", int),
        ("seed", int),
    ]:
        parser.add_argument(f"--{name}", type=kind)
    parser.add_argument("--validate-every", type=int)
    parser.add_argument("--precision", choices=["bf16", "fp32"])


def _train(args: argparse.Namespace) -> None:
    import torch

    from models.training import commands

    torch.set_num_threads(args.threads)
    names = ("steps", "tokens", "rate", "smoothing", "warmup", "seed", "validate_every", "precision")
    recipe = commands.recipe_from(**{n: getattr(args, n) for n in names})
    commands.train(
        catalog.entry(args.slug),
        args.corpus,
        recipe,
        dropout=args.dropout,
        resume=args.resume,
        onward=args.onward,
        spans_only=args.spans_only,
        minutes=args.minutes,
    )


def _evaluate(args: argparse.Namespace) -> None:
    import torch

    from models.training.evaluate import evaluate

    torch.set_num_threads(args.threads)
    _show(evaluate(catalog.entry(args.slug), args.corpus), args.json)


def _export(args: argparse.Namespace) -> None:
    import models
    from models.execution import export, onnx_runtime

    translator, folder = models.load(args.slug), args.to or onnx_runtime.folder_of(args.slug)
    legend = export.write(translator.system, args.slug, translator.provenance["weights_sha256"], folder)
    told = {
        "folder": str(folder),
        "graphs": [f"{legend.first}.onnx", "step.onnx"],
        "difference": legend.difference,
    }
    _show(told, args.json)


def _tokenizer(args: argparse.Namespace) -> None:
    from models.training.commands import make_tokenizer

    make_tokenizer(args.corpus)


def _list(args: argparse.Namespace) -> None:
    from models.interactive import describe

    rows = [describe(e) for e in catalog.SYSTEMS]
    if args.json:
        _show(rows, True)
        return
    for row in rows:
        bleu = (row["metrics"] or {}).get("bleu_greedy", "-")
        print(
            f"{row['slug']:20} {row['year']}  {row['parameters'] or 0:>9,}  BLEU {bleu!s:5}  {row['title']}"
        )


def _translate(args: argparse.Namespace) -> None:
    import models

    found = models.load(args.slug).translate(args.text, beam=args.beam, max_length=args.max_length)
    _show(found.as_dict(), True) if args.json else print(found.text)


def _continue(args: argparse.Namespace) -> None:
    import models

    found = models.load(args.slug).continue_text(args.text, max_length=args.max_length)
    _show(found.as_dict(), True) if args.json else print(found.text)


def _fill(args: argparse.Namespace) -> None:
    from dataclasses import asdict

    import models

    found = models.load(args.slug).fill(args.text)
    if args.json:
        _show([asdict(place) for place in found], True)
        return
    for place in found:
        best = (f"{piece} {math.exp(p):.3f}" for piece, p in zip(place.pieces, place.log_probs, strict=True))
        print(f"{place.position:3}  {'   '.join(best)}")


def _score(args: argparse.Namespace) -> None:
    import models

    found = models.load(args.slug).score(args.source, args.target)
    if args.json:
        _show(found.as_dict(), True)
        return
    for token, value in zip(found.target_tokens, found.log_probs, strict=True):
        print(f"{value:9.4f}  {token}")
    print(f"{found.total:9.4f}  sum")


def _show(value: Any, as_json: bool) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=None if as_json else 1))


def main() -> int:
    args = _parser().parse_args()
    # glibc hands large blocks back at every free; keeping them saves 5-8% of a training step.
    if args.command == "train" and "MALLOC_TOP_PAD_" not in os.environ:
        keep = {"MALLOC_MMAP_THRESHOLD_": "17179869184", "MALLOC_TRIM_THRESHOLD_": "17179869184"}
        os.environ.update(keep, MALLOC_TOP_PAD_="268435456")
        os.execv(sys.executable, [sys.executable, "-m", "models", *sys.argv[1:]])
    try:
        globals()[f"_{args.command}"](args)
    except (ValueError, FileNotFoundError, KeyError, RuntimeError, CheckpointError) as error:
        print(error.args[0] if error.args else error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
