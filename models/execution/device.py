"""Where models run, chosen once: CUDA where there is one, else CPU; SEQUENCE_EXPLORER_DEVICE overrides."""

from __future__ import annotations

import functools
import os
import platform

import torch

VARIABLE = "SEQUENCE_EXPLORER_DEVICE"


@functools.cache
def device() -> torch.device:
    """The device of this process. Raises RuntimeError with a sentence when the override cannot be had."""
    wanted = os.environ.get(VARIABLE, "").strip() or ("cuda" if torch.cuda.is_available() else "cpu")
    if wanted.startswith("cuda") and not torch.cuda.is_available():
        raise RuntimeError(
            f"{VARIABLE} asks for {wanted}, but torch finds no CUDA device. Unset it or use cpu."
        )
    return torch.device(wanted)


def fast_bf16() -> bool:
    """Matrix products in bfloat16 are faster here than in float32. Without such instructions they are 15 to 100
    times slower."""
    if device().type == "cuda":
        return True
    able = torch.cpu.get_capabilities()
    return bool(able.get("avx512_bf16") or able.get("amx_bf16"))


def device_name() -> str:
    """The device as a person would name it."""
    if device().type == "cuda":
        return torch.cuda.get_device_name(device())
    return f"CPU ({platform.machine()}, {torch.get_num_threads()} threads)"
