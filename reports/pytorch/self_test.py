# SPDX-License-Identifier: Apache-2.0
"""Each expression on tiny cases in f64, against its formula; and each formula with one element moved, which must be rejected."""
import torch

from .expressions import Maker
from .formulas import FORMULAS
from .rows import OPS, Row
from .timing import BUILDERS, tensors_of

HEADS = "batch=2 seq_q=4 seq_k=4 heads=4 kv_heads=2 head_dim=8"
UNEVEN = "batch=1 seq_q=3 seq_k=5 heads=2 kv_heads=2 head_dim=4"
PAGES = "batch=2 seq_q=%d pages=6 page_size=4 max_pages=2 "
NORM, WIDE = "rows=3 cols=7 epsilon=0.5", "tokens=3 hidden=5 out=4"
LAYER = "batch=2 seq_q=3 hidden=8 heads=4 kv_heads=2 head_dim=8 ffn=6 epsilon=0.5 base=100"
CASES = {
    "add": ["rows=2 cols=3"],
    "attention_backward": [HEADS, HEADS + " mask=causal", UNEVEN + " mask=causal_top_left scale=0.7"],
    "attention_forward": [
        HEADS,
        HEADS + " mask=causal",
        UNEVEN + " mask=causal",
        UNEVEN + " mask=causal_top_left scale=0.7",
        HEADS + " mask=causal window=2",
        HEADS + " window=2",
        HEADS + " softcap=0.5",
    ],
    "attention_scores": [HEADS, UNEVEN + " mask=causal", UNEVEN + " mask=causal_top_left"],
    "cross_entropy": ["tokens=3 vocab=7"],
    "embedding": ["tokens=4 hidden=3 vocab=9", "tokens=4 hidden=3 vocab=5 fill=ids_backwards"],
    "ffn_gelu": ["tokens=3 hidden=5 ffn=4", "tokens=3 hidden=5 ffn=4 bias=yes form=erf"],
    "gelu": ["rows=3 cols=5", "rows=3 cols=5 form=erf"],
    "gelu_linear": [WIDE, WIDE + " bias=yes form=erf"],
    "gemm_swiglu": ["tokens=3 hidden=5 ffn=4"],
    "kv_append": [PAGES % 1 + "kv_heads=2 head_dim=4", PAGES % 3 + "kv_heads=2 head_dim=4 fill=lengths_full"],
    "layernorm": [NORM],
    "layernorm_residual": [NORM],
    "residual_layernorm": [NORM],
    "residual_rmsnorm": [NORM],
    "rmsnorm": [NORM],
    "layernorm_linear": [WIDE + " epsilon=0.5", WIDE + " bias=yes"],
    "linear": [WIDE, WIDE + " bias=yes"],
    "paged_attention": [PAGES % n + "heads=4 kv_heads=2 head_dim=8 fill=lengths_full" for n in (1, 3)],
    "rmsnorm_gemm": [WIDE + " epsilon=0.5"],
    "rope": [
        "batch=2 seq_q=3 heads=4 kv_heads=2 head_dim=8 base=100 offset=5",
        "batch=2 seq_q=3 heads=2 kv_heads=2 head_dim=8 rotary_dim=4",
        "batch=2 seq_q=3 heads=2 kv_heads=1 head_dim=8 positions=explicit layout_of_pairs=interleaved rotary_dim=6",
    ],
    "row_reduce": ["rows=3 cols=7 what=" + what for what in ("sum", "max", "logsumexp", "sum_of_squares")],
    "silu_mul": ["rows=2 cols=5"],
    "softmax": ["rows=3 cols=7"],
    "transformer_layer": [LAYER + dialect for dialect in ("", " dialect=gpt2", " dialect=gptneox")],
}


def close(got, want):
    return got.shape == want.shape and bool(((got - want).abs() <= 2e-5 * (1 + want.abs())).all())


def outputs_of(variant):
    return [x.double().flatten() for x in tensors_of((variant.prepare() if variant.prepare else variant.call)())]


def check(op, shape, left_out):
    """(how many variants agree, what is wrong)."""
    row = Row(op, "f32", shape)
    maker = Maker("cpu", torch.float64, keep=True)
    agree = 0
    wrong = []
    want = None
    for variant in BUILDERS[op](maker, row):
        if want is None and not variant.left_out:
            want = [
                torch.tensor(x, dtype=torch.float64).flatten()
                for x in FORMULAS[op]({name: x.tolist() for name, x in maker.kept.items()}, row)
            ]
        if variant.left_out:
            continue
        try:
            if variant.prepare:
                variant.call = variant.prepare()
                variant.prepare = None
            got = outputs_of(variant)
        except RuntimeError as e:
            if "sdpa" not in variant.kernel:
                raise
            left_out.add(f"{variant.kernel}: {str(e).splitlines()[0]}")
            continue
        if len(got) == len(want) and all(map(close, got, want)):
            agree += 1
        else:
            wrong.append(f"{op} {shape}: {variant.kernel} ({variant.what}) is not the formula")
        for i, x in enumerate(want):
            moved = x.clone()
            moved[len(x) // 2] += 1e-3 * (1 + abs(float(x[len(x) // 2])))
            if close(got[i], moved):
                wrong.append(f"{op} {shape}: {variant.kernel}: a moved element of output {i} goes unseen")
    if not agree:
        wrong.append(f"{op} {shape}: nothing was held against the formula")
    return agree, wrong


def self_test():
    wrong = []
    agree = 0
    left_out = set()
    for name, has in (("rows.py", OPS), ("formulas.py", FORMULAS), ("self_test.py", CASES)):
        if set(has) != set(BUILDERS):
            wrong.append(f"{name} does not have the ops {sorted(set(has) ^ set(BUILDERS))}")
    for op, shapes in CASES.items():
        for shape in shapes:
            n, told = check(op, shape, left_out)
            agree += n
            wrong += told
    for line in sorted(left_out):
        print("not tried here:", line)
    for line in wrong:
        print("WRONG:", line)
    print(f"{agree} of the expressions agree with their formulas, {len(wrong)} faults")
    return 1 if wrong else 0
