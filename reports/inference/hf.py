#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times Hugging Face's implementations with random weights, as `validate model --bench --random-weights` times ours:
  hf.py OUT.jsonl CONFIG.json ... [--way eager|compile|ours|ours-compile ...] [--prompt N ...] [--batch N ...] [--outputs N]
        [--turns N] [--replace OP,...] [--budget S]
  hf.py --table FILE.jsonl ...    prints what both have written, beside each other
eager: generate() as it comes; compile: a static cache and torch.compile(mode="reduce-overhead"); ours: assay.torch.replace
before either, with its default ops or those of --replace.  Several ways take turns, each with a model of its own, and `memory`
is what all of them reserve.  A time is the least of the turns.  Each turn is a new text: what assay.torch knows of lengths that
it met is forgotten.  `logit_error` is the largest difference of a logit from the model's before, over their standard deviation.
Lines are appended to OUT.jsonl.  A way that fails gets a line with the reason.  Exit codes: 0, 2 bad usage, 77 no PyTorch,
transformers or GPU here."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from records import Parser, judged


def model_of(torch, transformers, config, device):
    with open(config) as f:
        fields = json.load(f)
    made = transformers.AutoConfig.for_model(**fields)
    transformers.MODEL_FOR_CAUSAL_LM_MAPPING[type(made)]  # imports its code, which makes tensors of its own
    torch.manual_seed(2026)
    torch.set_default_dtype(torch.bfloat16)
    with torch.device(device):
        model = transformers.AutoModelForCausalLM.from_config(made)
    return model.to(device=device, dtype=torch.bfloat16).eval()


def prepared(model, way, ops):
    """The arguments that generate() takes for this way, and what to record."""
    import torch

    said = {}
    if way.startswith("ours"):
        import assay.torch

        ids = torch.arange(1, 65, device=next(model.parameters()).device)[None]
        with torch.no_grad():
            before = model(ids).logits.float()
            said["replaced"] = assay.torch.replace(model, ops)
            said["logit_error"] = ((model(ids).logits.float() - before).abs().max() / before.std()).item()
    if not way.endswith("compile"):
        return {}, said
    if not hasattr(model, "get_compiled_call"):  # older versions of transformers do not compile by themselves
        model.forward = torch.compile(model.forward, mode="reduce-overhead", fullgraph=True)
    return {"cache_implementation": "static"}, said


def forget_calls():
    """Forgets the calls that assay.torch keeps, since the lengths of a new text are new to it."""
    if "assay.torch" in sys.modules:
        for operator in sys.modules["assay.torch"].operators.values():
            operator._calls.clear()


def seconds(torch, model, more, prompt, batch, count):
    device, vocab = next(model.parameters()).device, model.config.vocab_size
    ids = torch.randint(0, vocab, (batch, prompt), generator=torch.Generator().manual_seed(7)).to(device)
    sync = torch.cuda.synchronize if device.type == "cuda" else lambda: None
    forget_calls()
    sync()
    begin = time.perf_counter()
    made = model.generate(
        ids,
        attention_mask=torch.ones_like(ids),
        min_new_tokens=count,
        max_new_tokens=count,
        do_sample=False,
        pad_token_id=0,
        **more,
    )
    sync()
    assert made.shape == (batch, prompt + count), made.shape
    return time.perf_counter() - begin


def timed(torch, ready, prompt, batch, outputs, turns, deadline):
    """What to record of each way of `ready` (way: model, arguments of generate()), which take turns."""
    times = {way: [] for way in ready}
    rows = {}
    if torch.cuda.is_available():
        torch.cuda.reset_peak_memory_stats()
    for turn in range(-2, turns):  # the first two compile and capture
        if turn > 0 and time.monotonic() > deadline:
            break
        for way, (model, more) in ready.items():
            if way in rows:
                continue
            try:
                if turn <= 0 and time.monotonic() > deadline:
                    raise TimeoutError("the budget was spent before its first turn")
                with torch.no_grad():
                    times[way].append([seconds(torch, model, more, prompt, batch, count) for count in (outputs, 1)])
            except Exception as e:  # whatever a framework raises: the other rows go on
                rows[way] = {"why_not": reason(e)}
    peak = torch.cuda.max_memory_reserved() if torch.cuda.is_available() else 0
    for way in ready:
        if way in rows:
            continue
        whole, first = (min(column) for column in zip(*times[way][2:]))
        rows[way] = {
            "first_token_s": first,
            "token_s": (whole - first) / (outputs - 1),
            "tokens_s": batch * outputs / whole,
            "turns_s": [round(whole, 6) for whole, _ in times[way][2:]],
            "memory": peak,
        }
    return rows


def reason(e):
    return f"{type(e).__name__}: {e}".replace("\n", " ")[:300]


def table(paths):
    rows = {}
    for path in paths:
        with open(path) as f:
            for line in f:
                r = json.loads(line)
                if r.get("record") == "run":
                    continue
                key = os.path.basename(r["config"]).removesuffix(".json"), r["prompt"], r["batch"]
                rows.setdefault(key, {})[r["way"] + ("" if r.get("ops", "fused") == "fused" else "-" + r["ops"])] = r
    print(f"{'model':14} prompt batch  way          first token     per token  tokens/s  of eager   floor   memory")
    for key, ways in rows.items():
        for way, r in ways.items():
            at = f"{key[0]:14} {key[1]:6} {key[2]:5}  {way:12}"
            if "why_not" in r:
                print(f"{at}  not measured: {r['why_not'][:90]}")
                continue
            eager = ways.get("eager", {}).get("tokens_s")
            ratio = f"{r['tokens_s'] / eager:7.2f} x" if eager else " " * 9
            floor = f"{100 * r['floor_share']:5.1f} %" if "floor_share" in r else " " * 7
            print(
                f"{at}  {1e3 * r['first_token_s']:9.2f} ms  {1e3 * r['token_s']:8.3f} ms {r['tokens_s']:9.1f} {ratio} {floor} {r['memory'] / 2**30:5.1f} GiB"
            )


def main(arguments):
    p = Parser(__doc__)
    p.add_argument("out")
    p.add_argument("configs", nargs="*")
    p.add_argument("--way", action="append", choices=("eager", "compile", "ours", "ours-compile"))
    p.add_argument("--prompt", action="append", type=int)
    p.add_argument("--batch", action="append", type=int)
    p.add_argument("--outputs", type=int, default=128)
    p.add_argument("--turns", type=int, default=3)
    p.add_argument("--replace", type=lambda ops: ops.split(","), help="the ops for assay.torch.replace, with commas between")
    p.add_argument("--budget", type=float, default=1e9, help="seconds; what would begin later is left out")
    p.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: to try the script")
    p.add_argument("--table", action="store_true")
    flags = p.parse_args(arguments)
    if flags.table:
        return table([flags.out] + flags.configs)
    try:
        import torch
        import transformers
    except ImportError as e:
        print(f"hf.py: {e}", file=sys.stderr)
        return 77
    if flags.device == "cuda" and not torch.cuda.is_available():
        print("hf.py: PyTorch sees no GPU", file=sys.stderr)
        return 77
    deadline = time.monotonic() + flags.budget
    print(f"PyTorch {torch.__version__}, transformers {transformers.__version__}", flush=True)
    for config in flags.configs:
        model = None
        ready = {}
        failed = {}
        said = {}
        for way in flags.way or ["eager"]:
            try:
                if time.monotonic() > deadline:
                    raise TimeoutError("the budget was spent before")
                model = model_of(torch, transformers, config, flags.device)
                more, said[way] = prepared(model, way, flags.replace)
                ready[way] = model, more
            except Exception as e:
                failed[way] = {"why_not": reason(e)}
        for prompt in flags.prompt or [128]:
            for batch in flags.batch or [1]:
                if any(prompt + flags.outputs > model.config.max_position_embeddings for model, _ in ready.values()):
                    continue
                rows = failed | timed(torch, ready, prompt, batch, flags.outputs, flags.turns, deadline)
                for way, row in rows.items():
                    row = (
                        {
                            "way": way,
                            "config": config,
                            "dtype": "bf16",
                            "prompt": prompt,
                            "batch": batch,
                            "outputs": flags.outputs,
                            "torch": torch.__version__,
                            "transformers": transformers.__version__,
                        }
                        | said.get(way, {})
                        | row
                    )
                    print(" ", {k: v for k, v in row.items() if k not in ("torch", "transformers", "dtype")}, flush=True)
                    with open(flags.out, "a") as f:
                        f.write(json.dumps(row) + "\n")
        ready = model = None
        if any(way.endswith("compile") for way in flags.way or []):
            torch._dynamo.reset()
        if flags.device == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    judged(main)
