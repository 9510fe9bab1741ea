#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests reports/pytorch_rows.py: its rows have the names that bench records give them, and bad usage is refused.  If python3 (or
# $ASSAY_PYTHON) has PyTorch: its expressions match their formulas and its records the schema.  $1: the binaries' folder.
source "$(dirname "$0")/../checks.sh"
python=${ASSAY_PYTHON:-python3}
command -v "$python" >/dev/null || exit 77
export PYTHONDONTWRITEBYTECODE=1
rows=("$python" "$sources/reports/pytorch_rows.py")

# --- the rows
"${rows[@]}" --list >listed || fail "pytorch_rows.py --list" "exit 0" "exit $?"
for suite in "$sources"/datasets/bench/suites/*.json; do
  [[ -e $suite ]] || continue
  "${rows[@]}" --list --suite "$(basename "$suite" .json)" >>listed || fail "--suite $(basename "$suite" .json)" "exit 0" "exit $?"
done
works env ASSAY_PYTORCH_ROWS="$tmp/listed" "$bin/assay_tests" "[pytorch_rows]"
holds "$called" "$out" "All tests passed"
same "rows of one op and dtype" "softmax f16 rows=16384 cols=4096" "$("${rows[@]}" --list --op softmax --dtype f16 | head -1)"
same "the text of a row" "rope f32 batch=1 seq_q=2 heads=4 kv_heads=2 head_dim=8 rotary_dim=6 base=5e+05 offset=0.5 fill=ones" \
  "$("${rows[@]}" --list --op rope --dtype f32 --shape "fill=ones offset=.5 base=500000 rotary_dim=6.0 head_dim=8 kv_heads=2 heads=4 seq_q=2 batch=1")"
same "one row once" 1 "$("${rows[@]}" --list --op add --dtype f16 --shape "rows=1 cols=2" --shape "cols=2 rows=1" | wc -l | tr -d ' ')"

# --- bad input
refuses "name a file" "${rows[@]}"
refuses "--suite nonesuch" "${rows[@]}" --list --suite nonesuch
refuses "--op nonesuch" "${rows[@]}" --list --op nonesuch
refuses "unknown dtype 'f8'" "${rows[@]}" --list --dtype f8
refuses "axis 'cols' is missing" "${rows[@]}" --list --op add --shape "rows=2"
refuses "unknown key 'depth'" "${rows[@]}" --list --op add --shape "rows=2 cols=2 depth=1"
refuses "form=cosh" "${rows[@]}" --list --op gelu --shape "rows=2 cols=2 form=cosh"
refuses "--shape needs exactly one --op" "${rows[@]}" --list --shape "rows=2 cols=2"
refuses "cannot write" "${rows[@]}" /nonexistent/out.jsonl
refuses "above 0" "${rows[@]}" out.jsonl --seconds 0
refuses "above 0" "${rows[@]}" out.jsonl --budget 0
refuses "above 0" "${rows[@]}" out.jsonl --compile-seconds nan
refuses "nonexistent" "${rows[@]}" --list --datasets nonexistent

# --- the clock: with hide_host a slow host adds no time, and a host that is too slow to hide does not loop forever
works env PYTHONPATH="$sources/reports" "$python" "$sources/validate/tests/pretended_torch.py"
holds "a launch that needs no hiding" "$out" "quick: 30 times, 100 to 100 us, behind 1, 730 in all"
holds "the host's time, where nobody hides it" "$out" "slow, as it is: 30 times, 656 to 739 us, behind 1, 171 in all"
holds "hidden" "$out" "slow, hidden: 30 times, 100 to 100 us, behind 16, 2168 in all"
holds "an end" "$out" "beyond hiding: 30 times, 5294 to 5774 us, behind 64, 2488 in all"

# --- without PyTorch the script says so; with it, values and records are checked
if "$python" -c "import torch" 2>/dev/null; then
  exits 0 "${rows[@]}" --self-test
  holds "$called" "$out" " 0 faults"
  mkdir records
  exits 0 "${rows[@]}" records/pytorch.jsonl --device cpu --seconds 0.001 --op layernorm_residual --shape "rows=3 cols=8"
  exits 0 "${rows[@]}" attention.jsonl --device cpu --seconds 0.001 --op attention_forward --dtype f32 \
    --shape "batch=1 seq_q=4 seq_k=4 heads=2 kv_heads=1 head_dim=8 mask=causal" \
    --shape "batch=1 seq_q=4 seq_k=4 heads=2 kv_heads=1 head_dim=8 mask=causal window=2"
  tail -n +2 attention.jsonl >>records/pytorch.jsonl
  exits 0 "${rows[@]}" some.jsonl --device cpu --seconds 0.001 --op rmsnorm --dtype f32 --shape "rows=3 cols=8" --kernel pytorch_eager_llama
  same "one variant alone" '"pytorch_eager_llama"' "$(grep -o '"pytorch_[a-z_]*"' some.jsonl)"
  # Only torch.compile: the budget is used up, the compiler takes too long, the compiler is missing.
  compiled=("${rows[@]}" compiled.jsonl --device cpu --seconds 0.001 --only-compile --op gelu --shape "rows=3 cols=8")
  exits 0 "${compiled[@]}" --dtype f32 --budget 0.01
  same "left out" '"pytorch_compile"' "$(grep '"left_out": "the time given was used up"' compiled.jsonl | grep -o '"pytorch_[a-z]*"')"
  tail -n +2 compiled.jsonl >>records/pytorch.jsonl
  exits 0 "${compiled[@]}" --dtype f32 --compile-seconds 0.001
  same "records" '"pytorch_compile"' "$(grep '"left_out": "not compiled within 0.001 s"' compiled.jsonl | grep -o '"pytorch_[a-z]*"')"
  exits 0 env TORCHINDUCTOR_FORCE_DISABLE_CACHES=1 CXX=/nonexistent "${compiled[@]}" --dtype f32
  same "records" 2 "$(wc -l <compiled.jsonl | tr -d ' ')"
  holds "without a compiler" "$(tail -1 compiled.jsonl)" '"left_out": "'
  # On a GPU what was compiled is also timed as a graph, compiled once; what does not compile is not tried again.
  cat >graphs.py <<'EOF'
from types import SimpleNamespace as Row
from pytorch import timing
timing.Maker = lambda *_: None
timing.BUILDERS["gelu"] = lambda *_: [timing.Variant("eager", "f", lambda: "plain", compiled=True)]
for fails, kernels in ((False, ()), (True, ()), (False, ("pytorch_compile_graph",))):
    timer, compiled = timing.RowTimer("cpu", 1, 1, kernels), []
    timer.device, timer.clock = "cuda", Row(captured=lambda call: lambda: "a graph of " + call())

    def made(_):
        compiled.append(1)
        if fails: raise RuntimeError
        return lambda: "compiled"
    timer._compiled = made
    for v, prepare in timer._variants(Row(op="gelu", dtype="f16")):
        if kernels and v.kernel not in kernels: continue
        try: print(f"{v.kernel}: {prepare()()}, compiled {len(compiled)} times")
        except RuntimeError: print(f"{v.kernel}: fails")
EOF
  works env PYTHONPATH="$sources/reports" "$python" graphs.py
  same "what was compiled, as a graph" "pytorch_eager: plain, compiled 0 times
pytorch_compile: compiled, compiled 1 times
pytorch_compile_graph: a graph of compiled, compiled 1 times
pytorch_eager: plain, compiled 0 times
pytorch_compile: fails
pytorch_compile_graph: a graph of compiled, compiled 1 times" "$out"
  whole_lines records/pytorch.jsonl "the records"
  same "rows that are left out, with a reason" 9 "$(grep -c '"left_out"' records/pytorch.jsonl)"
  same "rows timed" 7 "$(grep -c '"median"' records/pytorch.jsonl)"
  works env ASSAY_RECORDS="$tmp/records" "$bin/assay_tests" "[recorded]"
  refuses "no row and no case in common" "$validate" compare records/pytorch.jsonl records/pytorch.jsonl
else
  exits 77 "${rows[@]}" out.jsonl
  holds "$called" "$err" "PyTorch cannot be imported"
fi
verdict
