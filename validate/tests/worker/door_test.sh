#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernels that are not built in are judged like ours: those of a plugin and of another program.  One that misbehaves gets its
# verdicts and no other kernel loses one; one that cannot be asked is told in a sentence.
#   door_test.sh BINARIES PLUGINS COMPILER     PLUGINS: the folder of hostile.so
source "$(dirname "$0")/../checks.sh"
plugins=$(cd "$2" && pwd -P) || exit 2
compiler=$3
hostile=$plugins/hostile.so
run=("$validate" run --suite sanitize --no-shrink)

# expect KERNEL VERDICT REASON: every case of the kernel in records.jsonl has this verdict and one reason, which contains REASON.
# Note: how much memory is free changes from case to case.
expect() {
  local seen
  seen=$(grep "\"kernel\":\"$1\"" records.jsonl | grep -o '"verdict":"[a-z]*"\(,"reason":"[^"]*"\)\?' | sed 's/ and [0-9.]* [A-Za-z]* are free/ and too little is free/' | sort -u)
  same "verdicts of $1" 1 "$(wc -l <<<"$seen")"
  holds "verdict of $1" "$seen" "\"verdict\":\"$2\""
  holds "reason of $1" "$seen" "$3"
}
whole_run() {  # the run came to its end and no record is lost
  whole_lines records.jsonl "$called"
  same "$called: an end record" 1 "$(grep -c '"record":"end".*"interrupted":false' records.jsonl)"
}

# --- every kind of misbehaviour
names=$(grep -o 'K([a-z_]*)' "$sources/validate/tests/hostile/plugin.cpp" | sed 's/K(//; s/)//; /^kernel$/d')
others=$(grep -vx hangs <<<"$names" | tr '\n' ,)uses_workspace,overruns_workspace,throws_early,takes_nothing,asks_for_all,asks_for_more
exits 1 "${run[@]}" --backend host --plugin "$hostile" --timeout $hangs --kernel "$others" --json records.jsonl
whole_run
cases=$(grep -c '"kernel":"sound"' records.jsonl)
same "cases of one kernel" 1 "$((cases > 2))"
for kernel in ${others//,/ }; do same "cases of $kernel" "$cases" "$(grep -c "\"kernel\":\"$kernel\"" records.jsonl)"; done
for kernel in sound leaks ends_its_children leaves_a_sleeper uses_workspace; do
  same "verdicts of $kernel" "passed " "$(grep "\"kernel\":\"$kernel\"" records.jsonl | grep '"dtype":"f32"' | grep -o '"verdict":"[a-z]*"' | sort -u | cut -d'"' -f4 | tr '\n' ' ')"
done
sed -i '/"dtype":"f32"/!{/"record":"case"/d}' records.jsonl  # they take f32 alone
expect segfaults crashed "signal 11"
expect exits crashed "exited with code 3"
expect throws failed 'run() threw: a \'
expect throws_an_int failed "run() threw what is no std::exception"
expect finds_no_memory skipped "machine: the worker found no memory"
expect returns_an_error failed "run() returned the error 700"
expect corrupts_heap crashed ""
expect closes_descriptors crashed "the worker's socket was closed"
expect forks failed "it left a process behind"
expect leaves_a_daemon failed "it left a process behind"
expect leaves_a_thread crashed "signal 11"
expect overruns_workspace failed "wrote outside 'workspace': 1 bytes past its end"
expect changes_its_input failed "changed its input 'x'"
expect throws_early failed "supports() threw: too early"
expect takes_nothing unsupported "takes nothing"
for kernel in asks_for_all asks_for_more; do expect $kernel skipped "of memory for its workspace and"; done
holds "reasons of writes_past_the_end" "$(grep '"kernel":"writes_past_the_end"' records.jsonl)" "wrote outside 'y': 1 bytes past its end"
exits 1 "${run[@]}" --backend host --plugin "$hostile" --timeout 2 --kernel hangs,sound --dtype f32 --json records.jsonl
whole_run
expect hangs timeout "no answer within 2 s"
expect sound passed ""
none_left() { [[ -z $(running "$validate") ]]; }
until_so none_left || fail "workers left behind" "none" "$(running "$validate")"

# --- misbehaviour when it is opened, before the judge knows a kernel
opened() {  # opened HOW PART
  ASSAY_HOSTILE_OPENED=$1 refuses "$2" "$validate" run --backend host --plugin "$hostile" --timeout "${3:-$hangs}"
}
opened segfaults "the worker process was killed by signal 11"
opened hangs "no answer within 2 s" 2
opened exits "the worker process exited with code 0"
opened aborts "the worker process was killed by signal 6"
ASSAY_HOSTILE_OPENED=throws exits 2 "$validate" run --backend host --plugin "$hostile"
holds "$called" "$err" "the worker process was killed by signal 6"  # after what the C++ library says
opened closes_descriptors "the worker's socket was closed"
ASSAY_HOSTILE_OPENED=forks exits 1 "${run[@]}" --backend host --plugin "$hostile" --kernel sound --dtype f32 --json records.jsonl
whole_run
expect sound failed "it left a process behind"
ASSAY_HOSTILE_OPENED=segfaults_later exits 1 "${run[@]}" --no-sandbox --backend host --plugin "$hostile" --kernel sound --dtype f32 --json records.jsonl
whole_run
expect sound crashed "signal 11"

# --- plugins that are none, and lists that cannot be right
listed() {  # listed HOW PART
  ASSAY_HOSTILE_LIST=$1 refuses "--plugin $hostile: $2" "$validate" run --backend host --plugin "$hostile"
}
listed null "its assay_plugin(1) returns null"
listed finds_no_memory "asked for its kernels, machine: the worker found no memory"
listed throws "assay_plugin() threw: not today"
listed version "it has version 7 of the interface, version 1 was expected"
listed size "its AssayPlugin has the size 8, at least 24 was expected"
listed empty "it lists no kernel"
listed null_kernel "its kernel 1 is null"
listed kernel_size "its kernel 1 has the size 16, at least"
listed no_run "its kernel 1 has no run()"
listed op "its kernel 'softmx/segfaults': unknown op 'softmx'. Did you mean 'softmax'?"
listed no_op "its kernel '/segfaults': unknown op ''"
listed name "'two words' is no name of a kernel; 1 to 64 letters, digits and _ were expected"
listed no_name "'' is no name of a kernel"
listed twice "it lists the kernel 'softmax/sound' twice"
listed dtype "its kernel 'softmax/segfaults': unknown dtype 'f8'"
listed no_dtype "its kernel 'softmax/segfaults': it declares no dtype"
listed numerics "its kernel 'softmax/segfaults': unknown word of numerics 'chian'. Did you mean 'chain'?"
listed numerics_value "its kernel 'softmax/segfaults': 'many' is no value of the word 'chain' of numerics"
listed tiles "its kernel 'softmax/segfaults': 'heads=4' is no tile; an axis of the op"
listed tiles_value "'rows=four' is no tile; AXIS=EXTENT or AXIS=BYTESB was expected"
listed tile_bytes "its kernel 'softmax/segfaults': 'heads=64' is no tile; an axis of the op"
refuses "--plugin ./none.so: there is no such file" "$validate" run --plugin ./none.so
refuses "--plugin .: there is no such file" "$validate" run --plugin .
echo text >text.so
refuses "--plugin text.so: it cannot be opened as a shared object" "$validate" run --plugin text.so
sizes="46 47"  # what it maps exceeds any memory, or any address
[ "$(</proc/sys/vm/overcommit_memory)" != 1 ] || sizes=47  # where memory is never refused, an address still is
for bits in $sizes; do
  echo "char vast[1ul << $bits];" >vast.c
  call "$compiler" -shared -fPIC vast.c -o vast.so
  same "$called" "exit 0" "exit $code"
  refuses "asked for its kernels, machine: the worker found no memory" "$validate" run --backend host --plugin ./vast.so
done
refuses "it exports no function assay_plugin()" "$validate" run --plugin "$(ldd "$validate" | sed -n 's/.*libc[.][^ ]* => \([^ ]*\).*/\1/p')"
refuses "a plugin is compiled already; it runs on host or cuda" "$validate" run --plugin "$hostile" --backend simt
refuses "only the kernels of a --plugin run there" "$validate" run --backend host
refuses "only the simulated machine sees every access" "$validate" run --backend host --plugin "$hostile" --watch
refuses "unknown kernel 'naive'" "$validate" run --backend host --plugin "$hostile" --kernel naive
refuses "--plugin excludes --worker" "$validate" run --plugin "$hostile" --worker true
refuses "a --worker runs on the machine that it chooses" "$validate" run --worker true --backend simt
refuses "--worker true: asked for its kernels, the worker process exited with code 0" "$validate" run --worker true
refuses "asked for its kernels, it said something else: hello" "$validate" run --worker 'printf hello >&3'
refuses "no answer within 1 s" "$validate" run --worker 'sleep 1000' --timeout 1

# --- bench: a GPU alone times, and a plugin's kernels stand beside ours
refuses "--plugin: only a GPU times kernels; it needs one, --backend cuda" "$validate" bench --plugin "$hostile" --backend host
refuses "--plugin is timed in a process of its own, so it excludes --memory, --once, --dram and --ab" \
  "$validate" bench --plugin "$hostile" --backend host --memory
refuses "--plugin is empty" "$validate" bench --plugin ""
for flag in --worker --ptx; do refuses "$flag: the worker protocol tells no time of a launch; bench times" "$validate" bench $flag true; done
exits 0 "$validate" timer host "$hostile" </dev/null
holds "$called" "$out" '{"timer":1,'
exits 1 "$validate" timer host ./none.so </dev/null
same "$called" '{"error":"there is no such file"}' "$out"

# --- the examples
flags=(-std=c11 -O2 -Wall -Wextra -Werror -shared -fPIC -I "$sources/include")
call "$compiler" "${flags[@]}" "$sources/examples/plugin/softmax.c" -o libsoftmax.so -lm
same "$called $err" "exit 0" "exit $code"
call "$compiler" "${flags[@]}" "$sources"/examples/plugin/rmsnorm_gemm{,_plugin}.c -o libfused.so -lm
same "$called $err" "exit 0" "exit $code"
same "lines around the launcher, at most 30" 1 "$(($(wc -l <"$sources/examples/plugin/rmsnorm_gemm_plugin.c") <= 30))"
nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
if [[ -x $nvcc ]]; then  # a launcher for a GPU in the place of that for the host, in the same plugin
  call "$nvcc" -O2 -arch=sm_90a -shared -Xcompiler -fPIC -I "$sources/include" "$sources/examples/plugin/rmsnorm_gemm.cu" \
    "$sources/examples/plugin/rmsnorm_gemm_plugin.c" -o libfused_cuda.so
  same "$called $err" "exit 0" "exit $code"
  exits 1 "$validate" run --backend host --plugin ./libfused_cuda.so --suite sanitize --dtype f16 --no-shrink --json records.jsonl
  whole_run
  holds "$called" "$out" "run() returned the error"
fi
exits 0 "$validate" run --backend host --plugin ./libsoftmax.so --json softmax.jsonl
holds "$called" "$out" "131 passed · 0 failed · 0 suspect"
holds "$called" "$out" "not checked: reads outside tensors, races, reads of memory that nobody wrote,"
holds "$called" "$out" "(as declared)"
exits 0 "$validate" run --backend host --plugin ./libfused.so --dtype f16 --json fused.jsonl
holds "$called" "$out" "49 passed · 0 failed · 0 suspect"
holds "$called" "$out" "held to f32 accumulation, any order"
same "held_to of every record" "$(grep -c '"record":"case"' fused.jsonl)" \
  "$(grep -c '"numerics":"accumulate=f32 chain=1","held_to":"f32 accumulation, any order' fused.jsonl)"
same "the hash of every record" 1 "$(field fused.jsonl code | sort -u | wc -l)"

# --- a wrong kernel: shrunk, and its repro line works as it is printed, also from the files
sed 's/expf(load(x, from + c \* x->strides\[1\]) - max) \/ sum/expf(load(x, from + c * x->strides[1]) - max) \/ (sum + 0.01f)/' \
  "$sources/examples/plugin/softmax.c" >wrong.c
mkdir -p "a folder"
call "$compiler" "${flags[@]}" wrong.c -o "a folder/libsoftmax.so" -lm
exits 1 "$validate" run --backend host --plugin "a folder/libsoftmax.so" --dtype f32 --suite sanitize --shrink $hangs --json wrong.jsonl --junit wrong.xml --md summary.md
again=$(sed -n "s/^  again      validate //p" <<<"$out" | head -1)
holds "$called" "$again" "replay --plugin 'a folder/libsoftmax.so' 'softmax/serial_row f32 rows=1 cols="
eval "exits 1 \"\$validate\" $again --backend host --no-shrink"
holds "$called" "$out" "verdict        failed: err/bound"
holds "$called" "$out" "not checked    reads outside tensors, races, reads of memory that nobody wrote, traffic"
exits 1 "$validate" replay --backend host --no-shrink --from wrong.jsonl --plugin "a folder/libsoftmax.so"
refuses "unknown kernel 'serial_row'" "$validate" replay --from wrong.jsonl
exits 1 "$validate" run --backend host --no-shrink --last-failed wrong.jsonl --plugin "a folder/libsoftmax.so"
works "$validate" report wrong.jsonl -o wrong.md
holds "the report" "$(<wrong.md)" "validate replay --plugin 'a folder/libsoftmax.so' 'softmax/serial_row f32"
holds "the summary" "$(<summary.md)" "Not checked with \`--plugin 'a folder/libsoftmax.so'\`: reads outside tensors, races, reads of memory that nobody wrote,"
holds "the JUnit file" "$(<wrong.xml)" "validate replay --plugin 'a folder/libsoftmax.so' 'softmax/serial_row f32"
exits 0 "$validate" run --backend host --plugin ./libsoftmax.so --dtype f32 --suite sanitize --json right.jsonl
exits 1 "$validate" compare right.jsonl wrong.jsonl
holds "$called" "$out" "passed, is failed now (binary changed)"
exits 0 "$validate" compare right.jsonl right.jsonl

# --- another program: our own worker gives what the built-in kernels give; a worker in Python is judged
exits 0 "${run[@]}" --worker "'$validate' worker simt" --op softmax --json theirs.jsonl
exits 0 "${run[@]}" --backend simt --op softmax --json ours.jsonl
exits 0 "$validate" doctor --worker "'$validate' worker simt"
exits 0 "$validate" doctor --backend host --plugin ./libsoftmax.so
holds "$called" "$out" "checks, 0 failed"
outcomes() { grep '"record":"case"' "$1" | grep -o '"kernel":"[^"]*"\|"verdict":"[^"]*"\|"margin":[^,]*\|"digest":"[^"]*"'; }
same "verdicts, margins and bits through --worker" "$(outcomes ours.jsonl)" "$(outcomes theirs.jsonl)"
if command -v python3 >/dev/null; then
  exits 0 "${run[@]}" --worker "python3 '$sources/examples/worker/softmax.py'" --dtype f32 --json records.jsonl
  whole_run
  expect python passed ""
  holds "$called" "$out" "not checked: writes outside tensors, reads outside tensors, races,"
  exits 0 "$validate" doctor --worker "python3 '$sources/examples/worker/softmax.py'"
  holds "$called" "$out" "7 checks, 0 failed"
  nonconforming() {  # nonconforming CHANGE WHAT: a worker in Python with this fault is found out
    sed "$1" "$sources/examples/worker/softmax.py" >nonconforming.py
    exits 1 "$validate" doctor --worker "python3 nonconforming.py"
    holds "doctor with $1" "$out" "FAILED  $2"
  }
  nonconforming 's/\["protocol"\] != 2/["protocol"] < 1/' "it refuses a question of another version: it answered"
  nonconforming 's/if (message\["op"\], .*/if False:/' "it refuses an order for a kernel that it lacks"
  nonconforming 's/"id": message\["id"\]/"id": message["id"] if "ask" in message else 5/' "it carries out softmax/python"
  nonconforming 's/bytearray(\[run\["garbage"\]\])/bytearray([0])/' "it carries out softmax/python"
  nonconforming 's/"ran": len(runs)/"ran": 1/' "it carries out softmax/python"
  nonconforming 's/return  # the judge.*/raise SystemExit(1)/' "it ends with code 0 when the socket is closed: the worker process exited with code 1"
  misbehaves() {  # misbehaves CHANGE VERDICT REASON: every case of a worker in Python with this fault has this verdict
    sed "$1" "$sources/examples/worker/softmax.py" >misbehaving.py
    exits 1 "${run[@]}" --no-sandbox --worker "python3 misbehaving.py 2>python.log" --dtype f32 --json records.jsonl
    whole_run
    expect python "$2" "$3"
  }
  misbehaves 's/outputs = mmap.*/raise SystemExit(5)/' crashed "the worker process exited with code 5"
  misbehaves 's/outputs = mmap.*/return {**answer, "id": 1 << 40, "status": 0}/' crashed "answered another order than its last"
  misbehaves 's/outputs = mmap.*/return "done"/' crashed "something other than a reply was written to the worker"
  misbehaves 's/outputs = mmap.*/return {**answer, "message": "x" * 70000}/' crashed "something other than a reply was written to the worker"
  misbehaves 's/outputs = mmap.*/return {**answer, "message": "a reason"}/' failed "a reason"
  misbehaves 's/"ran": len(runs)/"ran": 5/' crashed "the worker says that it made 5 of "
  misbehaves 's/"ran": len(runs)/"ran": 0/' crashed "the worker says that it made 0 of "
  misbehaves 's/, prot=mmap.PROT_READ//' crashed "the worker process exited with code 1"  # inputs cannot be mapped as writable
  sed 's/  top = .*/  top = 0/' "$sources/examples/worker/softmax.py" >overflows.py
  exits 1 "$validate" run --no-shrink --worker "python3 overflows.py" --op softmax --dtype f32 --suite smoke --json records.jsonl
  whole_run
fi
verdict
