# SPDX-License-Identifier: Apache-2.0
"""Trains the small checkpoint of datasets/checkpoints/bytes, a Llama-style model whose tokens are bytes.

    apt-get download jargon-text && dpkg -x jargon-text_*.deb jargon
    pip install torch numpy safetensors
    python examples/generate/train.py jargon/usr/share/doc/jargon-text/jargon.txt.gz datasets/checkpoints/bytes --minutes 20

The text is the Jargon File 4.4.7, which is in the public domain.  Its last 5 % are not trained on; the first 4096 bytes of
them become heldout.txt.  The weights are rounded to bf16 before they are written, and the loss that is printed last is that of
the rounded weights.  --minutes bounds the processor time; the result depends on it, and so on the machine.
"""
import argparse
import gzip
import json
import math
import pathlib
import re
import time

import torch
import torch.nn.functional as F
from safetensors.torch import save_file

CONTEXT, BATCH = 160, 16
CONFIG = {
    "model_type": "llama",
    "vocab_size": 256,
    "hidden_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 320,
    "max_position_embeddings": CONTEXT,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "hidden_act": "silu",
    "tie_word_embeddings": True,
    "torch_dtype": "bfloat16",
}


def text_of(path):
    """Paragraphs of the file, their lines joined."""
    raw = gzip.open(path).read().decode("latin-1")
    paragraphs = (re.sub(r"\s+", " ", p).strip() for p in re.split(r"\n\s*\n", raw))
    kept = [p for p in paragraphs if len(p) > 40]
    return "\n".join(kept).encode("ascii", "ignore")


def new_weights(c):
    hidden = c["hidden_size"]
    ffn = c["intermediate_size"]
    dim = c["hidden_size"] // c["num_attention_heads"]
    shapes = {"model.embed_tokens.weight": (c["vocab_size"], hidden), "model.norm.weight": (hidden,)}
    for i in range(c["num_hidden_layers"]):
        at = f"model.layers.{i}."
        shapes |= {
            at + "input_layernorm.weight": (hidden,),
            at + "post_attention_layernorm.weight": (hidden,),
            at + "self_attn.q_proj.weight": (hidden, hidden),
            at + "self_attn.o_proj.weight": (hidden, hidden),
            at + "self_attn.k_proj.weight": (c["num_key_value_heads"] * dim, hidden),
            at + "self_attn.v_proj.weight": (c["num_key_value_heads"] * dim, hidden),
            at + "mlp.gate_proj.weight": (ffn, hidden),
            at + "mlp.up_proj.weight": (ffn, hidden),
            at + "mlp.down_proj.weight": (hidden, ffn),
        }
    weights = {}
    for name, shape in shapes.items():
        if len(shape) == 1:
            weights[name] = torch.ones(shape)
        else:
            deep = name.endswith(("o_proj.weight", "down_proj.weight"))
            weights[name] = torch.randn(shape) * (shape[1] ** -0.5) * (0.4 if deep else 1.0 if "proj" in name else 0.5)
    return {name: w.requires_grad_() for name, w in weights.items()}


def logits_of(w, c, ids):
    """Of every position of ids [batch, seq]."""
    heads, groups, hidden = c["num_attention_heads"], c["num_key_value_heads"], c["hidden_size"]
    dim = hidden // heads
    batch, seq = ids.shape
    angle = torch.outer(torch.arange(seq), c["rope_theta"] ** (-torch.arange(0, dim, 2) / dim))
    cos, sin = angle.cos(), angle.sin()

    def rope(t):
        a, b = t[..., : dim // 2], t[..., dim // 2 :]
        return torch.cat((a * cos - b * sin, b * cos + a * sin), -1)

    def norm(t, gamma):
        return t * torch.rsqrt(t.square().mean(-1, keepdim=True) + c["rms_norm_eps"]) * gamma

    x = w["model.embed_tokens.weight"][ids]
    for i in range(c["num_hidden_layers"]):
        part = lambda name: w[f"model.layers.{i}.{name}.weight"]
        n = norm(x, part("input_layernorm"))
        q = (n @ part("self_attn.q_proj").T).view(batch, seq, heads, dim).transpose(1, 2)
        k = (n @ part("self_attn.k_proj").T).view(batch, seq, groups, dim).transpose(1, 2)
        v = (n @ part("self_attn.v_proj").T).view(batch, seq, groups, dim).transpose(1, 2)
        k, v = (t.repeat_interleave(heads // groups, 1) for t in (rope(k), v))
        scores = rope(q) @ k.transpose(-1, -2) * dim**-0.5 + torch.full((seq, seq), -math.inf).triu(1)
        o = scores.softmax(-1) @ v
        x = x + o.transpose(1, 2).reshape(batch, seq, hidden) @ part("self_attn.o_proj").T
        n = norm(x, part("post_attention_layernorm"))
        x = x + (F.silu(n @ part("mlp.gate_proj").T) * (n @ part("mlp.up_proj").T)) @ part("mlp.down_proj").T
    return norm(x, w["model.norm.weight"]) @ w["model.embed_tokens.weight"].T


def loss_of(w, c, ids):
    return F.cross_entropy(logits_of(w, c, ids[:, :-1]).reshape(-1, c["vocab_size"]), ids[:, 1:].reshape(-1))


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("text")
    parse.add_argument("folder", type=pathlib.Path)
    parse.add_argument("--minutes", type=float, default=20, help="of processor time")
    flags = parse.parse_args()
    torch.manual_seed(2026)
    torch.set_num_threads(1)
    text = text_of(flags.text)
    cut = len(text) * 19 // 20
    train, held = (torch.frombuffer(bytearray(part), dtype=torch.uint8).long() for part in (text[:cut], text[cut:]))
    counts = torch.bincount(train, minlength=256).float()
    share = (counts / counts.sum()).clamp_min(1e-9)
    print(f"{len(text)} bytes; entropy of single bytes {-(share * share.log2()).sum():.3f} bits")

    w = new_weights(CONFIG)
    print(f"{sum(t.numel() for t in w.values())} weights")
    optimiser = torch.optim.AdamW(
        [
            {"params": [t for t in w.values() if t.dim() > 1], "weight_decay": 0.1},
            {"params": [t for t in w.values() if t.dim() == 1], "weight_decay": 0.0},
        ],
        lr=0.0,
        betas=(0.9, 0.95),
    )
    start = time.process_time()
    step = 0
    while True:
        spent = (time.process_time() - start) / (60 * flags.minutes)  # share of the time that it may take
        if spent >= 1:
            break
        rate = 4e-3 * min(1, (step + 1) / 100) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * spent)))
        for group in optimiser.param_groups:
            group["lr"] = rate
        at = torch.randint(len(train) - CONTEXT - 1, (BATCH,))
        loss = loss_of(w, CONFIG, torch.stack([train[i : i + CONTEXT + 1] for i in at]))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(w.values(), 1.0)
        optimiser.step()
        if step % 100 == 0:
            print(f"step {step}  {100 * spent:.0f} %  {loss.item() / math.log(2):.3f} bits a byte", flush=True)
        step += 1

    rounded = {name: t.detach().bfloat16() for name, t in w.items()}
    with torch.no_grad():
        back = {name: t.float() for name, t in rounded.items()}
        windows = held[: len(held) // (CONTEXT + 1) * (CONTEXT + 1)].view(-1, CONTEXT + 1)[:64]
        bits = loss_of(back, CONFIG, windows).item() / math.log(2)
    print(f"{step} steps; not trained on: {bits:.3f} bits a byte")
    flags.folder.mkdir(parents=True, exist_ok=True)
    save_file({name: t.contiguous() for name, t in rounded.items()}, str(flags.folder / "model.safetensors"))
    (flags.folder / "config.json").write_text(json.dumps(CONFIG, indent=2) + "\n")
    (flags.folder / "heldout.txt").write_bytes(text[cut : cut + 4096])


if __name__ == "__main__":
    main()
