# SPDX-License-Identifier: Apache-2.0
"""The functions of the device that one call launches, as torch.profiler (CUPTI's activity records) has them.  What reads them needs
no PyTorch."""
import json, math, os, tempfile


def short_name(name):
    """As validate names functions: "void at::native::reduce<512, 1, (bool)0>(int)" without its result and its arguments."""
    name = name.replace("(anonymous namespace)::", "").removeprefix("void ")
    depth = 0  # of <>: a value of a template has parentheses too
    for i, letter in enumerate(name):
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "(" and depth == 0: return name[:i]
    return name


def functions_in(trace):
    """Of a trace in Chrome's form, in the order of their starts; the driver's memsets too."""
    events = sorted((e for e in trace["traceEvents"] if e.get("cat") in ("kernel", "gpu_memset")), key=lambda e: float(e["ts"]))
    return [{"function": "memset", "blocks": 0, "us": float(e["dur"])} if e["cat"] == "gpu_memset" else
            {"function": short_name(e["name"]), "blocks": math.prod(int(n) for n in e["args"]["grid"]), "us": float(e["dur"])}
            for e in events]


def functions_of(call):
    import torch
    from torch.profiler import ProfilerActivity, profile
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as watched:
        call()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        watched.export_chrome_trace(path)
        with open(path, encoding="utf-8", errors="replace") as file: return functions_in(json.load(file))
