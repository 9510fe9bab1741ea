#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tests inputs, golden and judge: a kernel that reads and writes files.  $1: the binaries' folder.
source "$(dirname "$0")/../checks.sh"
line='softmax f16 rows=33 cols=65 seed=7'

# --- right outputs in both formats, and from one to the other
for end in safetensors npz; do
  works "$validate" inputs $line -o in.$end
  holds "$called" "$out" "x f16 [33, 65]"
  holds "$called" "$out" "to be computed  y f16 [33, 65]"
  works "$validate" golden "$line" -o line.$end
  works "$validate" golden --inputs in.$end -o y.$end
  same "goldens of a line and of its inputs in .$end" "$(cksum <line.$end)" "$(cksum <y.$end)"
done
for in in in.safetensors in.npz; do
  for y in y.safetensors y.npz; do
    exits 0 "$validate" judge $in $y --json records.jsonl
    holds "$called" "$out" "$line"
    holds "$called" "$out" "verdict        passed"
    holds "$called" "$out" "not checked    writes outside tensors, changed inputs, reads outside tensors, races, reads of memory that nobody wrote, traffic, a second run, relations"
    holds "$called" "$out" "held to        f32 accumulation, any order"
    holds "$called" "$out" "1 passed · 0 failed"
    whole_lines records.jsonl "$called"
    same "$called: its record" "judge $in $y" "$(field records.jsonl given)"
    same "$called: its end" 1 "$(grep -c '"record":"end"' records.jsonl)"
  done
done
exits 0 "$validate" compare records.jsonl records.jsonl
works "$validate" report records.jsonl -o report.md
works "$validate" golden $line --f64 -o y64.npz
refuses "'y64.npz': 'y' has the dtype f64, and f16 as of the inputs was expected" "$validate" judge in.npz y64.npz

# --- wrong outputs: another case's
works "$validate" golden softmax f16 rows=33 cols=65 seed=8 -o wrong.npz
exits 1 "$validate" judge in.npz wrong.npz --json wrong.jsonl
holds "$called" "$out" "verdict        failed: err/bound"
holds "$called" "$out" "worst          y[row "
holds "$called" "$out" "golden 0."
holds "$called" "$out" "pattern        "
refuses "unknown kernel 'elsewhere'" "$validate" replay --backend simt --from wrong.jsonl
exits 0 "$validate" compare wrong.jsonl records.jsonl
exits 1 "$validate" compare records.jsonl wrong.jsonl

# --- a declaration decides: sums in bf16 allow what sums in f32 do not
exits 1 "$validate" judge in.npz wrong.npz --numerics 'accumulate=f32 chain=1'
holds "$called" "$out" "held to        accumulate=f32 chain=1 (as declared)"
refuses "unknown word of numerics 'acumulate'. Did you mean 'accumulate'?" "$validate" judge none none --numerics acumulate=f16

works "$validate" inputs $line layout=padded -o padded.safetensors

# --- a suggestion, which no verdict uses
exits 0 "$validate" judge in.npz y.npz --suggest-numerics --json suggested.jsonl
holds "$called" "$out" 'suggested      `accumulate=f32 chain=1` is the tightest of'
same "the suggestion in the records" "accumulate=f32 chain=1" "$(grep '"record":"suggested"' suggested.jsonl | grep -o 'accumulate=[^"]*')"
exits 1 "$validate" judge in.npz wrong.npz --suggest-numerics
holds "$called" "$out" "suggested      none of "
exits 0 "$validate" run --backend simt --op softmax --kernel naive --suite sanitize --suggest-numerics
holds "$called" "$out" 'SUGGESTED  softmax/naive  `accumulate=f32 chain=1` is the tightest of'

# --- an op that changes a tensor: its old and its new values have one name, so one file has either
pool='kv_append f32 batch=2 seq_q=2 pages=4 page_size=2 max_pages=2 kv_heads=1 head_dim=8'
works "$validate" inputs $pool -o pool.safetensors
works "$validate" golden --inputs pool.safetensors -o new_pool.safetensors
exits 0 "$validate" judge pool.safetensors new_pool.safetensors
for same in pool.safetensors ./pool.safetensors; do
  refuses "kv_append changes 'k_pool', so its inputs and its outputs must be in two files" "$validate" judge pool.safetensors $same
done

# --- kernels of ours on the same files
exits 0 "$validate" run --backend simt --inputs in.npz --json run.jsonl
same "the kernels of the op" "$("$validate" list kernels --op softmax --json | grep -o '"kernel": *"[^"]*"' | wc -l)" "$(grep -c '"record":"case"' run.jsonl)"
holds "run.jsonl" "$(<run.jsonl)" '"given":"run --inputs in.npz --kernel softmax/naive"'
exits 0 "$validate" run --backend simt --kernel naive --inputs padded.safetensors
refuses "the file of --inputs is the case" "$validate" run --backend simt --inputs in.npz --suite smoke
refuses "the file of --inputs is the case" "$validate" run --backend simt --inputs in.npz --resume resumed.jsonl
refuses "only a file of --inputs leaves it unsaid" "$validate" run --backend simt --attribute scale=1
refuses "'y.npz': the tensor 'x'" "$validate" run --backend simt --inputs y.npz

# --- what is not there, and what cannot be
refuses "'none.npz' cannot be read as tensors: No such file or directory" "$validate" judge none.npz y.npz
refuses "'none.npz' cannot be read as tensors: No such file or directory" "$validate" judge in.npz none.npz
refuses "'y.npz': the tensor 'x' [rows, cols] of softmax is missing" "$validate" judge y.npz y.npz
refuses "'in.npz': the tensor 'y' [rows, cols] of softmax is missing" "$validate" judge in.npz in.npz
refuses "'in.npz': they are of the op 'softmax' by their metadata, and 'gelu' was asked for" "$validate" judge in.npz y.npz --op gelu
refuses "'in.npz': softmax has no attributes" "$validate" judge in.npz y.npz --attribute scale=1
refuses "'y.txt' ends in neither .safetensors nor .npz" "$validate" golden $line -o y.txt
refuses "cannot write" "$validate" inputs $line -o /no/such/folder/x.npz
cp y64.npz y
refuses "'y': 'y' has the dtype f64, and f16 as of the inputs was expected" "$validate" judge in.npz y
refuses "golden takes a repro line, or --inputs FILE" "$validate" golden -o y.npz
refuses "a repro line already says it" "$validate" golden $line --op softmax -o y.npz
refuses "axis 'cols' is missing" "$validate" inputs softmax f16 rows=3 -o x.npz
refuses "scale must be finite and not negative" "$validate" inputs attention_forward f16 batch=1 seq_q=1 seq_k=1 heads=1 kv_heads=1 head_dim=8 scale=-1 -o x.npz
refuses "scale=nan: not finite" "$validate" inputs attention_forward f16 batch=1 seq_q=1 seq_k=1 heads=1 kv_heads=1 head_dim=8 scale=nan -o x.npz
mkfifo pipe
refuses "it is a pipe, not a file" "$validate" judge pipe y.npz
ln -s /dev/null null.npz
refuses "cannot write 'null.npz': it is no file" "$validate" golden $line -o null.npz
head -c 100 in.safetensors >cut.safetensors
refuses "'cut.safetensors' cannot be read as tensors: its header has" "$validate" judge cut.safetensors y.npz
head -c 600 in.npz >cut.npz
refuses "it begins as a zip file and has no directory at its end" "$validate" judge cut.npz y.npz

# --- a layout is told, and the values are the same
holds "padded.safetensors" "$(tr -d '\0' <padded.safetensors | head -c 400)" '"x.strides":"68 1"'
exits 0 "$validate" judge padded.safetensors y.npz
holds "$called" "$out" "softmax f16 rows=33 cols=65 layout=padded seed=7"

# --- a kernel in another language, and tensors that someone captured
if command -v python3 >/dev/null; then
  works "$validate" inputs softmax f32 rows=33 cols=65 -o in.safetensors
  python3 "$sources/examples/files/softmax.py" in.safetensors out.safetensors
  exits 0 "$validate" judge in.safetensors out.safetensors
  captured() {  # captured NAME: renames the only tensor, and leaves metadata and all else out
    python3 -c '
import json, struct, sys
with open(sys.argv[1], "rb") as f:
    header = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
    elements = f.read()
header = {sys.argv[2]: header["x"], "step": {"dtype": "U8", "shape": [], "data_offsets": [len(elements), len(elements) + 1]}}
text = json.dumps({"__metadata__": {"format": "pt", "run": "7"}, **header}).encode()
sys.stdout.buffer.write(struct.pack("<Q", len(text)) + text + elements + b"e")' in.safetensors "$1" >captured.safetensors
  }
  captured x
  refuses "nothing says which op they are of; --op, or 'op' in the metadata, was expected" "$validate" judge captured.safetensors out.safetensors
  exits 0 "$validate" judge captured.safetensors out.safetensors --op softmax
  holds "$called" "$out" "softmax f32 rows=33 cols=65 fill=given seed=0"
  holds "$called" "$out" "relations, all errors together"
  holds "$called" "$out" "NOT USED       tensor 'step', metadata 'run'"
  exits 0 "$validate" run --backend simt --inputs captured.safetensors --op softmax --kernel naive
  captured y
  exits 1 "$validate" judge in.safetensors captured.safetensors
  holds "$called" "$out" "NOT USED       tensor 'step', metadata 'run'"
  captured xs
  refuses "is 'xs' meant to be it?" "$validate" judge captured.safetensors out.safetensors --op softmax
  sed 's/p \/ total for/p * 1.0001 \/ total for/' "$sources/examples/files/softmax.py" >wrong.py
  python3 wrong.py in.safetensors wrong.safetensors
  exits 1 "$validate" judge in.safetensors wrong.safetensors
fi
verdict
