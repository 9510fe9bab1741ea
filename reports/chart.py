#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the README's chart from records, as an SVG: times of vendors' libraries and PyTorch over ours, by size.
  chart.py [FOLDER] [-o FILE]
Each point is the other's median time divided by that of our fastest kernel on the same shape: below 1 the other is faster.
FOLDER has suite_*.jsonl, pytorch_*.jsonl and hopper_*.jsonl, plain or as .gz.  The times of a point are of one run, except those
of PyTorch.  Exit codes: 0 written, 2 bad usage or a time that is missing."""
import glob
import math
import os
from html import escape

from records import BadInput, Parser, judged
from tables.rows import rows_in, us

HERE = os.path.dirname(os.path.abspath(__file__))
# Each panel: title, subtitle, dtype, op, shape with {} for the size, sizes, name of the size, lines as (name, kernel), and which
# records it is of.
PANELS = [
    (
        "LayerNorm + residual",
        "2,560 columns",
        "f32",
        "layernorm_residual",
        "rows={} cols=2560",
        [1, 128, 2048, 4096, 16384],
        "rows",
        [("PyTorch eager", "pytorch_eager_graph"), ("PyTorch compiled", "pytorch_compile")],
        ("suite", "pytorch"),
    ),
    (
        "Causal attention",
        "32 heads of 128",
        "f16",
        "attention_forward",
        "batch=1 seq_q={0} seq_k={0} heads=32 kv_heads=32 head_dim=128 mask=causal",
        [512, 1024, 2048, 4096],
        "tokens",
        [("one step after another", "baseline_eager"), ("cuDNN", "baseline_cudnn")],
        ("hopper",),
    ),
    (
        "Linear",
        "4,096 inputs, 12,288 outputs",
        "f16",
        "linear",
        "tokens={} hidden=4096 out=12288",
        [1, 64, 512, 2048, 8192],
        "tokens",
        [("cuBLASLt", "baseline_cublaslt")],
        ("hopper",),
    ),
]
LEAST, MOST = 0.25, 10.0  # ends of the vertical axis
WIDTH = 920
HEIGHT = 342
LEFT = 46
TOP = 78
GAP = 34
PLOT = 196
# Colours of Okabe and Ito, which colour-blind readers can tell apart, legible on white and on black.  Marks differ in shape too.
LOOK = {
    "PyTorch eager": ("#0072b2", "circle"),
    "PyTorch compiled": ("#009e73", "square"),
    "cuDNN": ("#d55e00", "diamond"),
    "cuBLASLt": ("#d55e00", "diamond"),
    "one step after another": ("#cc79a7", "circle"),
}
STYLE = """text{font:12px system-ui,sans-serif;fill:#1f2328}.title{font-weight:600;font-size:13px}
.small{font-size:11px;fill:#57606a}
.grid{stroke:#d0d7de}.even{stroke:#1f2328;stroke-width:1.5}.line{fill:none;stroke-width:2}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.small{fill:#9198a1}.grid{stroke:#3d444d}.even{stroke:#e6edf3}}"""


def rows_of(folder, stems):
    """The latest record of each kernel on each shape."""
    paths = sorted(path for stem in stems for path in glob.glob(os.path.join(folder, f"{stem}_*.jsonl*")))
    if not paths:
        raise BadInput(f"'{folder}' has no {' and no '.join(f'{stem}_*.jsonl' for stem in stems)}")
    return rows_in(paths)


def ratios(folder, panel):
    """The ratios of a panel, {line: [the other's time over ours, by size]}."""
    _, _, dtype, op, shape, sizes, _, lines, stems = panel
    rows = rows_of(folder, stems)
    drawn = {name: [] for name, _ in lines}
    for size in sizes:
        row = rows.get((op, dtype, shape.format(size)), {})
        ours = [us(record) for kernel, record in row.items() if not kernel.startswith(("baseline_", "pytorch_"))]
        for name, kernel in lines:
            if not ours or kernel not in row:
                raise BadInput(f"no time of {kernel if ours else op} on {dtype} {shape.format(size)}")
            drawn[name].append(us(row[kernel]) / min(ours))
    return drawn


def height_of(ratio):
    return TOP + PLOT * (math.log(MOST / ratio) / math.log(MOST / LEAST))


def mark(shape, x, y, hue):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{hue}"/>'
    turn = f' transform="rotate(45 {x:.1f} {y:.1f})"' if shape == "diamond" else ""
    return f'<rect x="{x - 3.5:.1f}" y="{y - 3.5:.1f}" width="7" height="7" fill="{hue}"{turn}/>'


def panel_svg(panel, drawn, left, width):
    title, below, dtype, _, _, sizes, unit, _, _ = panel
    out = [
        f'<text class="title" x="{left:.0f}" y="{TOP - 26}">{escape(title)}</text>',
        f'<text class="small" x="{left:.0f}" y="{TOP - 10}">{escape(below)}, {dtype}</text>',
    ]
    for ratio in (0.25, 0.5, 1, 2, 4, 8):
        y = height_of(ratio)
        kind = "even" if ratio == 1 else "grid"
        out.append(f'<line class="{kind}" x1="{left:.0f}" x2="{left + width:.0f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        if left == LEFT:
            out.append(f'<text class="small" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{ratio:g}×</text>')
    places = [left + width * (i + 0.5) / len(sizes) for i in range(len(sizes))]
    for x, size in zip(places, sizes):
        out.append(f'<text class="small" x="{x:.1f}" y="{TOP + PLOT + 18}" text-anchor="middle">{size:,}</text>')
    out.append(f'<text class="small" x="{left + width / 2:.1f}" y="{TOP + PLOT + 34}" text-anchor="middle">{unit}</text>')
    for name, values in drawn.items():
        hue, shape = LOOK[name]
        points = [(x, height_of(value)) for x, value in zip(places, values)]
        out.append(f'<polyline class="line" stroke="{hue}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
        for (x, y), value in zip(points, values):
            out.append(f"<g>{mark(shape, x, y, hue)}<title>{escape(name)}: {value:.2f} times our time</title></g>")
    return out


def svg(folder):
    width = (WIDTH - LEFT - GAP * (len(PANELS) - 1) - 10) / len(PANELS)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<style>{STYLE}</style>",
        "<title>Time of PyTorch, cuDNN and cuBLASLt divided by the time of our fastest kernel, by size</title>",
        f'<text class="small" x="{LEFT}" y="16">The other\'s time ÷ ours, one NVIDIA H200. '
        "Above the line at 1× our kernel is faster, below it the other is.</text>",
    ]
    for i, panel in enumerate(PANELS):
        out += panel_svg(panel, ratios(folder, panel), LEFT + i * (width + GAP), width)
    x = LEFT + 4
    for name in ("PyTorch eager", "PyTorch compiled", "one step after another", "cuDNN"):
        hue, shape = LOOK[name]
        label = "cuDNN, cuBLASLt" if name == "cuDNN" else name
        out += [mark(shape, x, HEIGHT - 12, hue), f'<text x="{x + 10}" y="{HEIGHT - 8}">{label}</text>']
        x += 40 + 7 * len(label)
    return "\n".join(out + ["</svg>"]) + "\n"


def main(arguments):
    p = Parser(__doc__)
    p.add_argument("folder", nargs="?", default=os.path.join(HERE, "baselines/nvidia-h200"), metavar="FOLDER")
    p.add_argument("-o", dest="out", default=os.path.join(HERE, "../docs/img/versus-libraries.svg"), metavar="FILE")
    flags = p.parse_args(arguments)
    text = svg(flags.folder)
    try:
        with open(flags.out, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as e:
        raise BadInput(f"cannot write '{flags.out}': {e.strerror}")
    return 0


if __name__ == "__main__":
    judged(main)
