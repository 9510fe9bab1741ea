# SPDX-License-Identifier: Apache-2.0
# Judges a kernel against a function of PyTorch (docs/own-op.md): python examples/own_op/llama_norm.py
import torch
import assay


def llama_norm(x, weight):
    """RMSNorm of the Llama models."""
    dtype = x.dtype
    x = x.float()
    x = x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)
    return weight * x.to(dtype)


def kernel(x, weight):  # x [rows, cols], weight [cols]
    scale = torch.rsqrt(x.float().square().mean(1, keepdim=True) + 1e-6)
    return (x.float() * scale * weight.float()).to(x.dtype)


run = assay.validate(kernel, reference=llama_norm, inputs={"x": "rows cols"}, weights={"weight": "cols"}, device="cpu")
print(run)
