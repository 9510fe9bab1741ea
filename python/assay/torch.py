# SPDX-License-Identifier: Apache-2.0
"""Assay's CUDA kernels as operators of PyTorch, one for each op (docs/python.md):  assay.torch.layernorm(x, gamma, beta)

Each takes the tensors and attributes of `assay.describe(op)` by name, on a CUDA device, and returns new dense outputs.  They are
torch.library custom ops `assay::OP` with fake implementations, made when this module is imported.  `replace` puts them into a model.
"""

from __future__ import annotations

import json
from typing import Any

import torch

from . import library
from .errors import InputError
from .models import replace as replace
from .torch_direct import Direct as Direct
from .torch_operator import Operator

__all__: list[str] = []  # the names of the ops
operators: dict[str, Operator] = {}  # by the name of the op


def _add_gradients(op: Any, forward: Operator) -> None:
    """Gives attention_forward its gradients, for what attention_backward takes: a mask and a scale."""

    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[torch.Tensor, ...]) -> None:
        arguments = forward.bound(inputs, {})
        ctx.refused = [n for n in forward.names[3:] if n not in ("mask", "scale") and arguments[n] != forward.defaults[n]]
        ctx.mask = arguments["mask"]
        ctx.scale = arguments["scale"]
        o, lse = output
        ctx.mark_non_differentiable(lse)
        ctx.save_for_backward(arguments["q"], arguments["k"], arguments["v"], o, lse)

    def backward(ctx: Any, do: torch.Tensor, _: Any) -> tuple[Any, ...]:
        if ctx.refused:
            raise InputError(f"attention_backward has no '{ctx.refused[0]}', so attention_forward with it has no gradient")
        q, k, v, o, lse = ctx.saved_tensors
        gradients = torch.ops.assay.attention_backward(q, k, v, o, lse, do.contiguous(), ctx.mask, ctx.scale)
        return (*gradients, *[None] * (len(forward.names) - 3))

    op.register_autograd(backward, setup_context=setup_context)


def _register(name: str) -> Any:
    """Makes the custom op of an op."""
    operator = operators[name] = Operator(library.describe(name))
    op = torch.library.custom_op(
        f"assay::{name}", operator.run, mutates_args=operator.updated, device_types="cuda", schema=operator.schema
    )
    op.register_fake(operator.fake)
    op.register_kernel("cpu")(operator.refuse)
    if name == "attention_forward":
        _add_gradients(op, operator)
    op.__doc__ = operator.doc()
    op.__name__ = name  # type: ignore[attr-defined]
    op.__signature__ = operator.signature()  # type: ignore[attr-defined]
    return op


for _op in json.loads(library.call(["list", "ops", "--json"]).out)["ops"]:
    globals()[_op["op"]] = _register(_op["op"])
    __all__.append(_op["op"])
