# SPDX-License-Identifier: Apache-2.0
"""Kernels that are not built in are judged like ours: those of a plugin and of another program.  One that misbehaves gets its
verdicts and no other kernel loses one; one that cannot be asked is told in a sentence."""
import os
import re
import shlex
import shutil
import sys

import pytest

from command_line import HANGS, SOURCES, cases, changed, read, run, running, values, wait_until, write
from judged import outcome, reasons, verdicts, whole_run

RUN = "run --suite sanitize --no-shrink"
PLUGIN = read(SOURCES / "validate/tests/hostile/plugin.cpp")
# Each computes softmax in f32 and then misbehaves in its own way.
HANGING = "hangs"
OTHERS = [name for name in re.findall(r"K\(([a-z_]*)\)", PLUGIN) if name not in ("kernel", HANGING)]
OTHERS += ["uses_workspace", "overruns_workspace", "throws_early", "takes_nothing", "asks_for_all", "asks_for_more"]


@pytest.fixture(scope="module")
def library(plugins):
    """The plugin whose kernels misbehave."""
    return plugins / "hostile.so"


@pytest.fixture(scope="module")
def on_host(library):
    return ["--backend", "host", "--plugin", library]


# --- every kind of misbehaviour
@pytest.fixture(scope="module")
def all_cases(validate, on_host):
    validate(f"{RUN} --timeout {HANGS} --kernel {','.join(OTHERS)} --json others.jsonl", *on_host, code=1)
    return whole_run("others.jsonl")


@pytest.fixture(scope="module")
def judged(all_cases):
    """The cases in f32, which alone the kernels take."""
    found = [case for case in all_cases if case["dtype"] == "f32"]
    for case in found:  # Note: how much memory is free changes from case to case.
        case["reason"] = re.sub(r" and [0-9.]+ [A-Za-z]+ are free", " and too little is free", case.get("reason", ""))
    return found


@pytest.mark.parametrize("kernel", OTHERS)
def test_no_kernel_loses_a_case(all_cases, kernel):
    count = values("kernel", all_cases).count("sound")
    assert count > 2
    assert values("kernel", all_cases).count(kernel) == count


@pytest.mark.parametrize("kernel", ["sound", "leaks", "ends_its_children", "leaves_a_sleeper", "uses_workspace"])
def test_harmless_kernels_pass(judged, kernel):
    assert verdicts(kernel, judged) == {"passed"}


@pytest.mark.parametrize(
    "kernel, verdict, part",
    [
        ("segfaults", "crashed", "signal 11"),
        ("exits", "crashed", "exited with code 3"),
        ("throws", "failed", 'run() threw: a "'),
        ("throws_an_int", "failed", "run() threw what is no std::exception"),
        ("finds_no_memory", "skipped", "machine: the worker found no memory"),
        ("returns_an_error", "failed", "run() returned the error 700"),
        ("corrupts_heap", "crashed", ""),
        ("closes_descriptors", "crashed", "the worker's socket was closed"),
        ("forks", "failed", "it left a process behind"),
        ("leaves_a_daemon", "failed", "it left a process behind"),
        ("leaves_a_thread", "crashed", "signal 11"),
        ("overruns_workspace", "failed", "wrote outside 'workspace': 1 bytes past its end"),
        ("changes_its_input", "failed", "changed its input 'x'"),
        ("throws_early", "failed", "supports() threw: too early"),
        ("takes_nothing", "unsupported", "takes nothing"),
        ("asks_for_all", "skipped", "of memory for its workspace and"),
        ("asks_for_more", "skipped", "of memory for its workspace and"),
    ],
)
def test_misbehaviour(judged, kernel, verdict, part):
    got, reason = outcome(kernel, judged)
    assert got == verdict
    assert part in reason


def test_a_write_past_the_end(judged):
    assert "wrote outside 'y': 1 bytes past its end" in "\n".join(reasons("writes_past_the_end", judged))


def test_a_kernel_that_hangs(validate, on_host):
    validate(f"{RUN} --timeout 2 --kernel {HANGING},sound --dtype f32 --json hangs.jsonl", *on_host, code=1)
    judged = whole_run("hangs.jsonl")
    verdict, reason = outcome(HANGING, judged)
    assert verdict == "timeout"
    assert "no answer within 2 s" in reason
    assert outcome("sound", judged)[0] == "passed"


def test_no_worker_is_left(validate, all_cases):
    def none_left():
        return not running(validate)

    wait_until(none_left)


# --- misbehaviour when it is opened, before the judge knows a kernel
@pytest.mark.parametrize(
    "how, part, timeout",
    [
        ("segfaults", "the worker process was killed by signal 11", HANGS),
        ("hangs", "no answer within 2 s", 2),
        ("exits", "the worker process exited with code 0", HANGS),
        ("aborts", "the worker process was killed by signal 6", HANGS),
        ("closes_descriptors", "the worker's socket was closed", HANGS),
    ],
)
def test_misbehaviour_when_it_is_opened(validate, on_host, how, part, timeout):
    validate.refuses(part, f"run --timeout {timeout}", *on_host, env={"ASSAY_HOSTILE_OPENED": how})


def test_an_exception_when_it_is_opened(validate, on_host):
    said = validate("run", *on_host, code=2, env={"ASSAY_HOSTILE_OPENED": "throws"})
    assert "the worker process was killed by signal 6" in said.err  # after what the C++ library says


@pytest.mark.parametrize(
    "how, flags, verdict, part",
    [
        ("forks", "", "failed", "it left a process behind"),
        ("segfaults_later", "--no-sandbox", "crashed", "signal 11"),
    ],
)
def test_misbehaviour_when_it_is_opened_again(validate, on_host, empty_folder, how, flags, verdict, part):
    line = f"{RUN} {flags} --kernel sound --dtype f32 --json opened.jsonl"
    validate(line, *on_host, code=1, env={"ASSAY_HOSTILE_OPENED": how})
    got, reason = outcome("sound", whole_run("opened.jsonl"))
    assert got == verdict
    assert part in reason


# --- plugins that are none, and lists that cannot be right
@pytest.mark.parametrize(
    "how, part",
    [
        ("null", "its assay_plugin(1) returns null"),
        ("finds_no_memory", "asked for its kernels, machine: the worker found no memory"),
        ("throws", "assay_plugin() threw: not today"),
        ("version", "it has version 7 of the interface, version 1 was expected"),
        ("size", "its AssayPlugin has the size 8, at least 24 was expected"),
        ("empty", "it lists no kernel"),
        ("null_kernel", "its kernel 1 is null"),
        ("kernel_size", "its kernel 1 has the size 16, at least"),
        ("no_run", "its kernel 1 has no run()"),
        ("op", "its kernel 'softmx/segfaults': unknown op 'softmx'. Did you mean 'softmax'?"),
        ("no_op", "its kernel '/segfaults': unknown op ''"),
        ("name", "'two words' is no name of a kernel; 1 to 64 letters, digits and _ were expected"),
        ("no_name", "'' is no name of a kernel"),
        ("twice", "it lists the kernel 'softmax/sound' twice"),
        ("dtype", "its kernel 'softmax/segfaults': unknown dtype 'f8'"),
        ("no_dtype", "its kernel 'softmax/segfaults': it declares no dtype"),
        ("numerics", "its kernel 'softmax/segfaults': unknown word of numerics 'chian'. Did you mean 'chain'?"),
        ("numerics_value", "its kernel 'softmax/segfaults': 'many' is no value of the word 'chain' of numerics"),
        ("tiles", "its kernel 'softmax/segfaults': 'heads=4' is no tile; an axis of the op"),
        ("tiles_value", "'rows=four' is no tile; AXIS=EXTENT or AXIS=BYTESB was expected"),
        ("tile_bytes", "its kernel 'softmax/segfaults': 'heads=64' is no tile; an axis of the op"),
    ],
)
def test_wrong_lists(validate, library, on_host, how, part):
    validate.refuses(f"--plugin {library}: {part}", "run", *on_host, env={"ASSAY_HOSTILE_LIST": how})


@pytest.mark.parametrize(
    "part, path",
    [
        ("--plugin ./none.so: there is no such file", "./none.so"),
        ("--plugin .: there is no such file", "."),
        ("--plugin text.so: it cannot be opened as a shared object", "text.so"),
    ],
)
def test_what_is_no_plugin(validate, part, path):
    write("text.so", "text\n")
    validate.refuses(part, "run --plugin", path)


def test_a_library_without_kernels(validate):
    libc = re.search(r"libc\.\S* => (\S+)", run("ldd", validate).out)[1]
    validate.refuses("it exports no function assay_plugin()", "run --plugin", libc)


@pytest.mark.parametrize("bits", [46, 47])
def test_a_library_without_room(validate, compiler, bits):
    """What it maps exceeds any memory, or any address."""
    if bits == 46 and read("/proc/sys/vm/overcommit_memory").strip() == "1":
        pytest.skip("memory is never refused here")
    write("vast.c", f"char vast[1ul << {bits}];\n")
    run(compiler, "-shared", "-fPIC", "vast.c", "-o", "vast.so")
    said = "asked for its kernels, machine: the worker found no memory"
    validate.refuses(said, "run --backend host --plugin ./vast.so")


@pytest.mark.parametrize(
    "part, line",
    [
        ("a plugin is compiled already; it runs on host or cuda", "run --plugin HOSTILE --backend simt"),
        ("only the kernels of a --plugin run there", "run --backend host"),
        ("only the simulated machine sees every access", "run --backend host --plugin HOSTILE --watch"),
        ("unknown kernel 'naive'", "run --backend host --plugin HOSTILE --kernel naive"),
        ("--plugin excludes --worker", "run --plugin HOSTILE --worker true"),
        ("a --worker runs on the machine that it chooses", "run --worker true --backend simt"),
        ("--worker true: asked for its kernels, the worker process exited with code 0", "run --worker true"),
        ("asked for its kernels, it said something else: hello", "run --worker 'printf hello >&3'"),
        ("no answer within 1 s", "run --worker 'sleep 1000' --timeout 1"),
        # A GPU alone times, and a plugin's kernels stand beside ours.
        (
            "--plugin: only a GPU times kernels; it needs one, --backend cuda",
            "bench --plugin HOSTILE --backend host",
        ),
        (
            "--plugin is timed in a process of its own, so it excludes --memory, --once, --dram and --ab",
            "bench --plugin HOSTILE --backend host --memory",
        ),
        ("--plugin is empty", "bench --plugin ''"),
        ("--worker: the worker protocol tells no time of a launch; bench times", "bench --worker true"),
        ("--ptx: the worker protocol tells no time of a launch; bench times", "bench --ptx true"),
    ],
)
def test_wrong_words(validate, library, part, line):
    validate.refuses(part, line.replace("HOSTILE", shlex.quote(str(library))))


def test_the_timer(validate, library):
    assert '{"timer":1,' in validate("timer host", library).out
    assert validate("timer host ./none.so", code=1).out.rstrip("\n") == '{"error":"there is no such file"}'


# --- the examples
C_FLAGS = ["-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-I", SOURCES / "include"]
EXAMPLES = SOURCES / "examples/plugin"
LAUNCHER = EXAMPLES / "rmsnorm_gemm_plugin.c"
NOT_CHECKED = "reads outside tensors, races, reads of memory that nobody wrote,"


@pytest.fixture(scope="module")
def softmax(compiler, folder):
    run(compiler, *C_FLAGS, EXAMPLES / "softmax.c", "-o", "libsoftmax.so", "-lm")
    return "./libsoftmax.so"


def test_the_example_of_a_plugin(validate, softmax):
    said = validate("run --backend host --json softmax.jsonl --plugin", softmax)
    assert "133 passed · 0 failed · 0 suspect" in said.out
    assert f"not checked: {NOT_CHECKED}" in said.out
    assert "(as declared)" in said.out
    assert "checks, 0 failed" in validate("doctor --backend host --plugin", softmax).out


def test_the_example_of_a_launcher(validate, compiler):
    assert read(LAUNCHER).count("\n") <= 30  # lines around the launcher
    run(compiler, *C_FLAGS, EXAMPLES / "rmsnorm_gemm.c", LAUNCHER, "-o", "libfused.so", "-lm")
    said = validate("run --backend host --plugin ./libfused.so --dtype f16 --json fused.jsonl")
    assert "49 passed · 0 failed · 0 suspect" in said.out
    assert "held to f32 accumulation, any order" in said.out
    judged = cases("fused.jsonl")
    assert judged
    assert {case["numerics"] for case in judged} == {"accumulate=f32 chain=1"}
    assert all(case["held_to"].startswith("f32 accumulation, any order") for case in judged)
    assert len({case["code"] for case in judged}) == 1


def nvcc_here():
    """The compiler of CUDA; None if there is none."""
    return shutil.which(os.environ.get("CUDACXX") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")


def test_the_example_of_a_launcher_for_a_gpu(validate):
    """A launcher for a GPU in the place of that for the host, in the same plugin."""
    nvcc = nvcc_here()
    if not nvcc:
        pytest.skip("no nvcc is here")
    flags = ["-O2", "-arch=sm_90a", "-shared", "-Xcompiler", "-fPIC", "-I", SOURCES / "include"]
    run(nvcc, *flags, EXAMPLES / "rmsnorm_gemm.cu", LAUNCHER, "-o", "libfused_cuda.so")
    said = validate(f"{RUN} --backend host --plugin ./libfused_cuda.so --dtype f16 --json fused_cuda.jsonl", code=1)
    whole_run("fused_cuda.jsonl")
    assert "run() returned the error" in said.out


# --- a wrong kernel: shrunk, and its repro line works as it is printed, also from the files
WRONG = "a folder/libsoftmax.so"
REPRO = f"validate replay --plugin '{WRONG}' 'softmax/serial_row f32"


@pytest.fixture(scope="module")
def wrong(validate, compiler):
    """A run of a wrong kernel, with files of each kind."""
    changed(EXAMPLES / "softmax.c", "wrong.c", r"- max\) / sum\)", "- max) / (sum + 0.01f))")
    os.mkdir("a folder")
    run(compiler, *C_FLAGS, "wrong.c", "-o", WRONG, "-lm")
    line = (
        f"run --backend host --dtype f32 --suite sanitize --shrink {HANGS} --json wrong.jsonl --junit wrong.xml --md summary.md"
    )
    return validate(line, "--plugin", WRONG, code=1)


def test_its_repro_line_works_as_it_is_printed(validate, wrong):
    again = re.search("^  again      validate (.*)$", wrong.out, re.MULTILINE)[1]
    assert f"replay --plugin '{WRONG}' 'softmax/serial_row f32 rows=1 cols=" in again
    said = validate(f"{again} --backend host --no-shrink", code=1)
    assert "verdict        failed: err/bound" in said.out
    assert f"not checked    {NOT_CHECKED} traffic" in said.out


@pytest.mark.parametrize("line", ["replay --from", "run --last-failed"])
def test_its_failures_run_again_from_the_file(validate, wrong, line):
    validate(f"{line} wrong.jsonl --backend host --no-shrink --plugin", WRONG, code=1)


def test_its_file_without_the_plugin(validate, wrong):
    validate.refuses("unknown kernel 'serial_row'", "replay --from wrong.jsonl")


def test_its_files_have_the_repro_line(validate, wrong):
    validate.works("report wrong.jsonl -o wrong.md")
    assert REPRO in read("wrong.md")
    assert REPRO in read("wrong.xml")
    assert f"Not checked with `--plugin '{WRONG}'`: {NOT_CHECKED}" in read("summary.md")


def test_compare(validate, wrong, softmax):
    validate("run --backend host --dtype f32 --suite sanitize --json right.jsonl --plugin", softmax)
    said = validate("compare right.jsonl wrong.jsonl", code=1)
    assert "passed, is failed now (binary changed)" in said.out
    validate("compare right.jsonl right.jsonl")


# --- another program: our own worker gives what the built-in kernels give; a worker in Python is judged
def test_our_own_worker_gives_the_same(validate):
    def results(path):
        return [tuple(case.get(key) for key in ("kernel", "verdict", "margin", "digest")) for case in cases(path)]

    ours = f"{shlex.quote(os.fspath(validate))} worker simt"
    validate(f"{RUN} --op softmax --json theirs.jsonl --worker", ours)
    # Note: a vendor's library runs on no simulated machine.
    validate(f"{RUN} --op softmax --no-vendor --json ours.jsonl --backend simt")
    assert results("theirs.jsonl") == results("ours.jsonl")
    validate("doctor --worker", ours)


IN_PYTHON = SOURCES / "examples/worker/softmax.py"


def worker(path):
    """The command line of a worker in Python."""
    return f"{shlex.quote(sys.executable)} {shlex.quote(os.fspath(path))}"


def test_a_worker_in_python(validate):
    said = validate(f"{RUN} --dtype f32 --json python.jsonl --worker", worker(IN_PYTHON))
    assert verdicts("python", whole_run("python.jsonl")) == {"passed"}
    assert "not checked: writes outside tensors, reads outside tensors, races," in said.out
    assert "7 checks, 0 failed" in validate("doctor --worker", worker(IN_PYTHON)).out


@pytest.mark.parametrize(
    "pattern, by, part",
    [
        (r'\["protocol"\] != 2', '["protocol"] < 1', "it refuses a question of another version: it answered"),
        (r'if \(message\["op"\], .*', "if False:", "it refuses an order for a kernel that it lacks"),
        (r'"id": message\["id"\]', '"id": message["id"] if "ask" in message else 5', "it carries out softmax/python"),
        (r'bytearray\(\[run\["garbage"\]\]\)', "bytearray([0])", "it carries out softmax/python"),
        (r'"ran": len\(runs\)', '"ran": 1', "it carries out softmax/python"),
        (
            "return  # the judge.*",
            "raise SystemExit(1)",
            "it ends with code 0 when the socket is closed: the worker process exited with code 1",
        ),
    ],
)
def test_doctor_finds_a_worker_out(validate, pattern, by, part):
    path = changed(IN_PYTHON, "nonconforming.py", pattern, by, count=0)
    assert f"FAILED  {part}" in validate("doctor --worker", worker(path), code=1).out


@pytest.mark.parametrize(
    "pattern, by, verdict, part",
    [
        ("outputs = mmap.*", "raise SystemExit(5)", "crashed", "the worker process exited with code 5"),
        (
            "outputs = mmap.*",
            'return {**answer, "id": 1 << 40, "status": 0}',
            "crashed",
            "answered another order than its last",
        ),
        ("outputs = mmap.*", 'return "done"', "crashed", "something other than a reply was written to the worker"),
        (
            "outputs = mmap.*",
            'return {**answer, "message": "x" * 70000}',
            "crashed",
            "something other than a reply was written to the worker",
        ),
        ("outputs = mmap.*", 'return {**answer, "message": "a reason"}', "failed", "a reason"),
        (r'"ran": len\(runs\)', '"ran": 5', "crashed", "the worker says that it made 5 of "),
        (r'"ran": len\(runs\)', '"ran": 0', "crashed", "the worker says that it made 0 of "),
        # Inputs cannot be mapped as writable.
        (", prot=mmap.PROT_READ", "", "crashed", "the worker process exited with code 1"),
    ],
)
def test_a_worker_that_misbehaves(validate, pattern, by, verdict, part):
    path = changed(IN_PYTHON, "misbehaving.py", pattern, by, count=0)
    line = f"{RUN} --no-sandbox --dtype f32 --json misbehaving.jsonl --worker"
    validate(line, f"{worker(path)} 2>python.log", code=1)
    got, reason = outcome("python", whole_run("misbehaving.jsonl"))
    assert got == verdict
    assert part in reason


def test_a_worker_that_overflows(validate):
    path = changed(IN_PYTHON, "overflows.py", "  top = .*", "  top = 0", count=0)
    line = "run --no-shrink --op softmax --dtype f32 --suite smoke --json overflows.jsonl --worker"
    validate(line, worker(path), code=1)
    whole_run("overflows.jsonl")
