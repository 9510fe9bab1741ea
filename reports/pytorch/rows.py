# SPDX-License-Identifier: Apache-2.0
"""Rows of datasets/bench as `validate bench` names them: the axes in the op's order, the attributes that are not at their default,
fill and layout.  Needs no PyTorch."""
import json
import os
from decimal import Decimal

from records import BadInput

DTYPES = ("f16", "bf16", "f32")

# Of each op: its axes, then its attributes with their defaults, both in the order of ops/OP.hpp.  A choice is the list of its words.
MASK = ["none", "causal", "causal_top_left"]
YES = ["no", "yes"]
FORM = ["tanh", "erf"]
HEADS = "batch seq_q seq_k heads kv_heads head_dim"
EPSILON = {"epsilon": 1e-5}
OPS = {
    "add": ("rows cols", {}),
    "attention_backward": (HEADS, {"mask": MASK, "scale": 0}),
    "attention_forward": (
        HEADS,
        {
            "mask": MASK,
            "scale": 0,
            "window": 0,
            "softcap": 0,
            "packed": YES,
            "rope": ["none", "half", "interleaved"],
            "rotary_dim": 0,
            "rope_base": 10000,
            "rope_offset": 0,
        },
    ),
    "attention_scores": (HEADS, {"mask": MASK, "scale": 0}),
    "cross_entropy": ("tokens vocab", {}),
    "embedding": ("tokens hidden vocab", {}),
    "ffn_gelu": ("tokens hidden ffn", {"bias": YES, "form": FORM}),
    "gelu": ("rows cols", {"form": FORM}),
    "gelu_linear": ("tokens hidden out", {"bias": YES, "form": FORM}),
    "gemm_swiglu": ("tokens hidden ffn", {}),
    "kv_append": ("batch seq_q pages page_size max_pages kv_heads head_dim", {}),
    "layernorm": ("rows cols", EPSILON),
    "layernorm_linear": ("tokens hidden out", {"bias": YES, **EPSILON}),
    "layernorm_residual": ("rows cols", EPSILON),
    "linear": ("tokens hidden out", {"bias": YES}),
    "paged_attention": ("batch seq_q pages page_size max_pages heads kv_heads head_dim", {"scale": 0}),
    "residual_layernorm": ("rows cols", EPSILON),
    "residual_rmsnorm": ("rows cols", EPSILON),
    "rmsnorm": ("rows cols", EPSILON),
    "rmsnorm_gemm": ("tokens hidden out", EPSILON),
    "rope": (
        "batch seq_q heads kv_heads head_dim",
        {
            "positions": ["consecutive", "explicit"],
            "layout_of_pairs": ["half", "interleaved"],
            "in_place": YES,
            "rotary_dim": 0,
            "base": 10000,
            "offset": 0,
        },
    ),
    "row_reduce": ("rows cols", {"what": ["sum", "max", "logsumexp", "sum_of_squares"]}),
    "silu_mul": ("rows cols", {}),
    "softmax": ("rows cols", {}),
    "transformer_layer": (
        "batch seq_q hidden heads kv_heads head_dim ffn",
        {"dialect": ["llama", "gpt2", "gptneox"], **EPSILON, "base": 10000, "rotary_dim": 0},
    ),
}


def shortest(value):
    """A double as std::to_chars prints it: the fewest characters that give it back, without an exponent where that is no longer."""
    sign, digits, exponent = Decimal(repr(float(value))).normalize().as_tuple()
    text = "".join(map(str, digits))
    power = exponent + len(text) - 1
    scientific = text[0] + ("." + text[1:] if len(text) > 1 else "") + f"e{power:+03d}"
    fixed = f"{Decimal((0, digits, exponent)):f}"
    return "-" * sign + (fixed if len(fixed) <= len(scientific) else scientific)


class Row:
    """One case that is timed: op, dtype, shape (its text in records) and, as attributes, its axes, attributes and fill."""

    def __init__(self, op, dtype, text):
        if dtype not in DTYPES:
            raise BadInput(f"unknown dtype '{dtype}'; one of {', '.join(DTYPES)}")
        self.op = op
        self.dtype = dtype
        self.fill = "normal"
        self.layout = "contiguous"
        given = {}
        for pair in text.split():
            key, equals, value = pair.partition("=")
            if not equals:
                raise BadInput(f"{op}: '{pair}': expected key=value")
            if key in given:
                raise BadInput(f"{op}: key '{key}' is given twice")
            given[key] = value
        self.known = op in OPS
        if self.known:
            self.shape = self._read(given)
        else:
            self.shape = " ".join(text.split())

    def _read(self, given):
        axes, attributes = OPS[self.op]
        parts = []
        try:
            for axis in axes.split():
                if axis not in given:
                    raise BadInput(f"{self.op}: axis '{axis}' is missing")
                setattr(self, axis, int(given[axis]))
                parts.append(f"{axis}={int(given[axis])}")
            for name, standard in attributes.items():
                words = standard if isinstance(standard, list) else None
                value = given.get(name, words[0] if words else standard)
                if words and value not in words:
                    raise BadInput(f"{self.op}: {name}={value}: one of {', '.join(words)}")
                setattr(self, name, value if words else float(value))
                if words and value != words[0]:
                    parts.append(f"{name}={value}")
                if not words and float(value) != standard:
                    parts.append(f"{name}={shortest(value)}")
        except ValueError as e:
            raise BadInput(f"{self.op}: {e}")
        for name, usual in (("fill", "normal"), ("layout", "contiguous")):
            setattr(self, name, given.get(name, usual))
            if given.get(name, usual) != usual:
                parts.append(f"{name}={given[name]}")
        unknown = set(given) - set(axes.split()) - set(attributes) - {"fill", "layout"}
        if unknown:
            raise BadInput(f"{self.op}: unknown key '{sorted(unknown)[0]}'")
        return " ".join(parts)

    def key(self):
        return f"{self.op} {self.dtype} {self.shape}"


def _load(path, flag):
    try:
        with open(path) as file:
            return json.load(file)
    except FileNotFoundError:
        raise BadInput(f"{flag}: no file '{path}'")
    except ValueError as e:
        raise BadInput(f"{path}: {e}")


def _entries(datasets, ops, suites):
    """(op, entry, file) of the suites named, else of every op's own file."""
    folder = os.path.join(datasets, "bench")
    for suite in suites:
        path = os.path.join(folder, "suites", suite + ".json")
        for table in _load(path, f"--suite {suite}")["tables"]:
            for entry in table["rows"]:
                yield entry["op"], entry, path
    if suites:
        return
    if not os.path.isdir(folder):
        raise BadInput(f"--datasets: no folder '{folder}'")
    for op in ops or sorted(f[:-5] for f in os.listdir(folder) if f.endswith(".json")):
        path = os.path.join(folder, op + ".json")
        for entry in _load(path, f"--op {op}")["shapes"]:
            yield op, {"shape": entry} if isinstance(entry, str) else entry, path


def rows_of(datasets, ops=(), suites=(), dtypes=(), shapes=()):
    """Every row that is asked for, once, in the files' order."""
    for dtype in dtypes:
        if dtype not in DTYPES:
            raise BadInput(f"--dtype: unknown dtype '{dtype}'; one of {', '.join(DTYPES)}")
    if shapes and len(ops) != 1:
        raise BadInput("--shape needs exactly one --op")
    entries = [(ops[0], {"shape": s}, "--shape") for s in shapes] or _entries(datasets, ops, suites)
    rows = {}
    for op, entry, path in entries:
        if ops and op not in ops:
            continue
        for dtype in entry.get("dtypes") or DTYPES:
            if dtypes and dtype not in dtypes:
                continue
            try:
                row = Row(op, dtype, entry["shape"])
            except (BadInput, KeyError) as e:
                raise BadInput(f"{path}: {e}")
            rows.setdefault(row.key(), row)
    return list(rows.values())
