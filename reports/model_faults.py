#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which broken kernels are seen when they run in a model: by its perplexity, by its tokens, by the bisection of its steps.

    python3 reports/model_faults.py build/bin -o reports/model_faults.md

Each broken kernel of the model's ops takes the place of the naive one in datasets/checkpoints/bytes, in `validate model --set
trial --check` on simt.  The judge's own verdicts are those of reports/selfcheck.md.
"""
import argparse
import concurrent.futures
import json
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
CHECKPOINT = ROOT / "datasets/checkpoints/bytes"
DTYPES = ("bf16", "f32")  # the next where nothing is seen
STEPS = ("rmsnorm", "silu_mul")  # ops that only --ops steps has in a layer
FUSED = ("embedding", "rmsnorm_gemm", "rope", "kv_append", "paged_attention", "linear", "residual_rmsnorm", "gemm_swiglu", "add")
CHECK = [
    "--check",
    "--backend",
    "simt",
    "--text",
    CHECKPOINT / "heldout.txt",
    "--tokens",
    "61",
    "--decode",
    "4",
    "--batch",
    "3",
    "--page-size",
    "16",
    "--samples",
    "3",
]


def run(program, op, kernel, dtype):
    """The figures of one check, or the reason why it came to none."""
    with tempfile.TemporaryDirectory() as folder:
        figures = pathlib.Path(folder, "figures.json")
        ops = "steps" if op in STEPS else "fused"
        done = subprocess.run(
            [
                program,
                "model",
                "--set",
                "trial",
                CHECKPOINT,
                *CHECK,
                "--dtype",
                dtype,
                "--ops",
                ops,
                "--kernel",
                "naive",
                "--kernel",
                f"{op}/{kernel}",
                "--json",
                figures,
            ],
            capture_output=True,
            text=True,
            timeout=600,
        )
        if figures.exists():
            return json.loads(figures.read_text())
        said = (done.stdout + done.stderr).strip().splitlines()
        if done.returncode == 1:
            return {"crashed": said[0].strip()}
        return {"refused": said[0] if said else f"exit code {done.returncode}"}


def row(op, kernel, dtype, f):
    """The row of the table, and which of the three tests saw the fault."""
    name = f"`{op}/{kernel}` | {dtype}"
    if "crashed" in f or f["stopped"]:
        return f"| {name} | - | - | **the machine stops it** |", (False, False, True)
    for figure in ("surprise_error", "perplexity"):  # JSON has no NaN
        f[figure] = math.nan if f[figure] is None else f[figure]
    by_perplexity = not f["surprise_error"] <= f["surprise_band"]
    by_tokens = f["other_decided"] > 0
    change = 100 * (f["perplexity"] / f["golden_perplexity"] - 1)
    perplexity = (
        "NaN"
        if math.isnan(change)
        else f"{change:+.2f} %"
        if abs(change) < 1e4
        else f"× {f['perplexity'] / f['golden_perplexity']:.1g}"
    )
    w = f.get("first_wrong")
    where = "-"
    if w:
        where = f"**layer {w['layer']}, {w['tensor']}**, {w['pass']}" + (", its input" if w["side_effect"] else "")
        if w["kernel"] != f"{op}/{kernel}":
            where = f"WRONG KERNEL {w['kernel']}"
    bold = lambda text, seen: f"**{text}**" if seen else text
    tokens = bold(f"{f['other_tokens']} of {f['positions']}", by_tokens)
    return f"| {name} | {bold(perplexity, by_perplexity)} | {tokens} | {where} |", (by_perplexity, by_tokens, bool(w))


def look(program, op, kernel):
    """The first dtype's row in which a test sees the fault; "silent": no test does, "refused": it takes no step of the model."""
    came_to = "refused"
    for dtype in DTYPES:
        try:
            f = run(program, op, kernel, dtype)
        except subprocess.TimeoutExpired:
            f = {"crashed": "no end within 600 s"}
        if "refused" in f:
            continue
        text, by = row(op, kernel, dtype, f)
        if any(by):
            return text, by
        came_to = "silent"
    return came_to


def tiers():
    """The tier of the judge that fails each broken kernel first, from reports/selfcheck.md."""
    found = {}
    op = ""
    names = []
    for line in (ROOT / "reports/selfcheck.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if line.startswith("## "):
            op = line[3:]
        elif cells and cells[0] == "broken kernel":
            names = cells
        elif cells and names and "●" in cells:
            found[f"{op}/{cells[0].strip('`')}"] = names[cells.index("●")]
    return found


def page(rows, seen, others):
    judged = tiers()
    rows = [text[:-1] + f"| {judged[text.split('`')[1]]} |" for text in rows]
    count = lambda k: sum(by[k] for by in seen)
    stopped = sum("the machine stops it" in text for text in rows)
    alone = sum(not (by[0] or by[1]) for by in seen) - stopped
    lines = [
        "# Broken kernels in a model",
        "",
        "Made by `python3 reports/model_faults.py build/bin -o reports/model_faults.md`. Each broken kernel takes the place of the",
        "naive one in the checkpoint `datasets/checkpoints/bytes`, in bf16; where nothing is seen there, in f32. Three texts of 61,",
        "60 and 59 bytes are read, 4 bytes of each one by one, over pages of 16 positions. Bold: this test sees the fault. The last",
        "column is the [tier](../docs/judging.md#tiers) by which the judge fails it over the suite `edges`",
        "([the judge on trial](selfcheck.md)).",
        "",
        f"Of {len(seen) + len(others['silent'])} broken kernels, {len(others['silent'])} do nothing wrong on these shapes and values, "
        f"and the machine stops {stopped}. Of the other",
        f"{len(seen) - stopped}, perplexity sees {count(0)}, tokens {count(1)}, and the bisection {count(2) - stopped}, which names the "
        f"kernel each time; {alone} it sees alone. The judge fails all of them.",
        "",
        "| fault | dtype | perplexity against golden | likeliest tokens that differ | first wrong step | judge |",
        "|---|---|---|---|---|---|",
        *rows,
        "",
        "Nothing wrong in this model, and failed by the judge: " + ", ".join(others["silent"]) + ".",
        "",
        "They take no step of this model in these dtypes: " + (", ".join(others["refused"]) or "none") + ".",
        "",
    ]
    return "\n".join(lines)


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("programs", type=pathlib.Path, help="folder of validate")
    parse.add_argument("-o", "--output", type=pathlib.Path)
    parse.add_argument("--jobs", type=int, default=2)
    flags = parse.parse_args()
    program = flags.programs / "validate"
    listed = json.loads(
        subprocess.run([program, "list", "kernels", "--set", "trial", "--json"], capture_output=True, check=True).stdout
    )["kernels"]
    faults = [(k["op"], k["kernel"]) for op in FUSED + STEPS for k in listed if k["op"] == op and k["broken"]]
    rows = []
    seen = []
    others = {"silent": [], "refused": []}
    with concurrent.futures.ThreadPoolExecutor(flags.jobs) as pool:
        for (op, kernel), found in zip(faults, pool.map(lambda fault: look(program, *fault), faults)):
            print(f"{op}/{kernel}: {found}", file=sys.stderr, flush=True)
            if isinstance(found, str):
                others[found].append(f"`{op}/{kernel}`")
            else:
                rows.append(found[0])
                seen.append(found[1])
    text = page(rows, seen, others)
    if flags.output:
        flags.output.write_text(text)
    else:
        print(text)


if __name__ == "__main__":
    main()
