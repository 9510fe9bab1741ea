# SPDX-License-Identifier: Apache-2.0
"""A kernel that attacks its worker or the judge fails alone: other kernels of the run pass.  They run on simt, or where
--hostile-on says."""
import os
import re
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from command_line import HANGS, SOURCES, cases, of_kind, read, records, running, wait_until, write
from judged import outcome, reasons, verdicts, whole_run

OP = "layernorm_residual"
SOUND = sorted(path.stem for path in (SOURCES / "cuda" / OP).glob("*.cu") if not path.stem.startswith("baseline_"))
# Kernels that never answer.  The sound kernels of the same run answer in a fraction of a second.
HANGING = ["loops_forever", "stops_itself", "leaves_a_child", "spins", "blocks_signals", "stops_its_group"]
HANGING_ON_GPU = ["gpu_leaves_a_loop", "gpu_exits_with_a_loop"]
# Kernels that the sandbox keeps from what they try; a wrong answer tells that they could.
KEPT = ["signals_the_judge", "opens_the_record", "changes_the_judge"]
KEPT_ON_SIMT = [  # where a worker is confined as a program is not
    "opens_files_for_writing",
    "traces_the_judge",
    "asks_for_namespaces",
    "connects_to_services",
    "leaves_shared_memory",
    "controls_files_it_reads",
]


@dataclass(frozen=True)
class Place:
    """Where the kernels run, and what may be asked of them there."""

    backend: str
    sandbox: str  # of their workers, as doctor says it
    confined: bool  # whether that sandbox has all its parts

    @property
    def hang(self):
        """Seconds without an answer that are too many.  On a GPU a worker's first order waits for its CUDA context."""
        return 60 if self.backend == "cuda" else 20

    @property
    def hanging(self):
        return HANGING + (HANGING_ON_GPU if self.backend == "cuda" else [])

    @property
    def kept(self):
        if not self.confined:
            return []
        return KEPT + (KEPT_ON_SIMT if self.backend == "simt" else [])


@pytest.fixture(scope="module")
def place(pytestconfig, validate):
    backend = pytestconfig.getoption("--hostile-on")
    pattern = "^  sandbox *kernels: ([^;]*);" if backend == "simt" else "^  sandbox .*other programs: (.*)$"
    sandbox = re.search(pattern, validate("doctor", code=None).out, re.MULTILINE)[1]
    landlock = re.fullmatch("landlock ([0-9]+).*, seccomp", sandbox)
    return Place(backend, sandbox, bool(landlock) and int(landlock[1]) >= 6)


@pytest.fixture(scope="module")
def confined(place):
    """Skips a test of what the sandbox forbids, where it has not all its parts."""
    if not place.confined:
        pytest.skip(f"not tried, the sandbox is '{place.sandbox}'")


@pytest.fixture(scope="module", autouse=True)
def own_folder(folder):
    """A folder with a file, which kernels try to change."""
    path = folder / "hostile_folder"
    path.mkdir()
    write(path / "file", "kept\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_HOSTILE_FOLDER", str(path))
        yield path


@dataclass(frozen=True)
class Run:
    """A run of hostile kernels: what the command said, and its records."""

    said: object
    head: dict
    cases: list


def attacked(program, place, path, kernels, *flags):
    """Runs kernels, with the records in a file."""
    line = f"run --backend {place.backend} --op {OP} --suite sanitize --no-vendor --no-shrink --json {path}"
    said = program(line, "--kernel", ",".join(kernels), *flags, code=1)
    assert '{"record"' not in said.out  # what a kernel prints is not in the command's output
    assert "\033" not in said.all  # nor is what it throws at the terminal
    assert "\u009b" not in said.all  # which may take this for the same
    (head,) = of_kind("run", records(path))
    return Run(said, head, whole_run(path))


# --- kernels that end their worker, or answer
@pytest.fixture(scope="module")
def crashes(hostile, place):
    listed = [line.split()[1] for line in hostile(f"list kernels --op {OP}").out.splitlines()[1:]]
    not_now = {*place.hanging, *KEPT, *KEPT_ON_SIMT} - {*place.kept}
    kernels = [kernel for kernel in listed if kernel not in not_now]
    return attacked(hostile, place, "crashes.jsonl", kernels, "--shard", "1/6", "--timeout", str(HANGS))


@pytest.mark.parametrize(
    "kernel, verdict, part",
    [
        # On the host: the worker's own process.
        ("writes_null", "crashed", "signal 11"),
        ("calls_abort", "crashed", "signal 6"),
        ("calls_exit", "crashed", "exited with code 0"),
        ("exits_in_order", "crashed", "exited with code 3"),
        ("recurses_forever", "crashed", "signal 11"),
        ("closes_socket", "crashed", "the worker's socket was closed"),
        ("answers_for_the_worker", "crashed", "something other than a reply"),
        ("forges_a_reply", "crashed", "answered another order"),
        ("throws_noise", "failed", "loud"),
        ("prints", "passed", ""),
        ("unmaps_its_inputs", "crashed", "signal 11"),
        ("closes_descriptors", "crashed", "the worker's socket was closed"),
        ("leaves_a_daemon", "failed", "it left a process behind"),
        ("leaves_many_and_dies", "crashed", "signal 6"),
        ("exits_in_a_handler", "crashed", "exited with code 7"),
        ("becomes_another_program", "crashed", "exited with code 0"),
        ("sets_an_alarm", "crashed", "signal 14"),
        ("throws_an_int", "crashed", "signal 6"),
        ("throws_through_c", "failed", "thrown through C"),
        ("lacks_a_library", "skipped", "libnowhere is missing: no such file"),
    ],
)
def test_every_case_has_its_verdict(crashes, kernel, verdict, part):
    got, reason = outcome(kernel, crashes.cases)
    assert got == verdict
    assert part in reason


@pytest.mark.parametrize(
    "backend, kernel, verdict, part",
    [
        ("simt", "pokes_null", "failed", "out_of_bounds"),
        ("simt", "asserts", "crashed", "signal 6"),
        ("simt", "launches_too_many", "failed", "bad_launch"),
        ("cuda", "pokes_null", "failed", "cudaErrorIllegalAddress"),
        ("cuda", "asserts", "failed", "cudaErrorAssert"),
        ("cuda", "launches_too_many", "failed", ""),
        ("cuda", "gpu_poisons_context", "failed", "cudaErrorIllegalAddress"),
    ],
)
def test_every_case_on_the_device_has_its_verdict(place, crashes, backend, kernel, verdict, part):
    if place.backend != backend:
        pytest.skip(f"the kernels run on {place.backend}")
    got, reason = outcome(kernel, crashes.cases)
    assert got == verdict
    assert part in reason


@pytest.mark.parametrize(
    "kernel, possible",
    [
        ("corrupts_heap", {"crashed"}),
        ("doubles_an_element", {"failed"}),
        ("throws_out_of_memory", {"skipped", "failed"}),
        # The system does what these ask for, and what follows concerns nobody else.
        ("takes_all_descriptors", {"passed", "failed", "skipped", "crashed"}),
        ("flushes_subnormals", {"passed", "failed", "skipped", "crashed"}),
        ("rounds_upwards", {"passed", "failed", "skipped", "crashed"}),
        ("lowers_its_limits", {"passed", "failed", "skipped", "crashed"}),
    ],
)
def test_every_case_has_one_of_these_verdicts(crashes, kernel, possible):
    got = verdicts(kernel, crashes.cases)
    assert got
    assert got <= possible


def test_a_kernel_that_resets_the_device(place, crashes):
    if place.backend != "cuda":
        pytest.skip(f"the kernels run on {place.backend}")
    got = verdicts("gpu_resets_device", crashes.cases)
    assert got
    assert got <= {"crashed", "failed"}


@pytest.mark.parametrize(
    "kernel",
    [
        "writes_sealed_inputs",
        "opens_the_seal",
        "floods_stderr",
        "leaves_its_parent",
        "changes_its_surroundings",
        "jumps_over_frames",
        "leaves_threads",
        "reaches_the_terminal",
    ],
)
def test_what_does_no_harm_passes(crashes, kernel):
    assert outcome(kernel, crashes.cases) == ("passed", "")


@pytest.mark.parametrize("kernel", KEPT + KEPT_ON_SIMT)
def test_what_the_sandbox_forbids(place, confined, crashes, kernel):
    if kernel not in place.kept:
        pytest.skip(f"a worker on {place.backend} may")
    assert outcome(kernel, crashes.cases) == ("passed", "")


def test_the_folder_is_as_it_was(crashes, own_folder):
    assert os.listdir(own_folder) == ["file"]
    assert read(own_folder / "file") == "kept\n"


def test_standard_error_is_bounded(crashes):
    assert "this worker prints too much" in crashes.said.err
    assert len(crashes.said.err.encode("utf-8", "surrogateescape")) < 20_000_000


def test_the_record_tells_the_sandbox(place, crashes):
    assert crashes.head["sandbox"].startswith(place.sandbox)


def test_a_kernel_that_asks_for_all_memory(crashes):
    """Not every case must have this reason: where nothing catches std::bad_alloc, the worker dies."""
    assert "asked for more memory than a worker may have" in "\n".join(reasons("allocates_forever", crashes.cases))


# --- kernels that never answer, all at once
@pytest.fixture(scope="module")
def hangs(hostile, place):
    flags = ["--shard", "1/18", "--timeout", str(place.hang), "--jobs", "16"]
    return attacked(hostile, place, "hangs.jsonl", place.hanging + SOUND, *flags)


@pytest.mark.parametrize("kernel", HANGING + HANGING_ON_GPU)
def test_kernels_that_never_answer(place, hangs, kernel):
    if kernel not in place.hanging:
        pytest.skip(f"the kernels run on {place.backend}")
    # Note: once any other worker ends, the judge ends the orphans too, and with them the child that holds the socket.
    if kernel in ("gpu_exits_with_a_loop", "leaves_a_child"):
        got = verdicts(kernel, hangs.cases)
        assert got
        assert got <= {"crashed", "timeout"}
        return
    verdict, reason = outcome(kernel, hangs.cases)
    assert verdict == "timeout"
    assert f"no answer within {place.hang} s" in reason


# --- the sound kernels of the same runs pass
@pytest.mark.parametrize("attack", ["crashes", "hangs"])
@pytest.mark.parametrize("kernel", SOUND)
def test_sound_kernels_pass(request, attack, kernel):
    judged = request.getfixturevalue(attack).cases
    if kernel in ("warp_row", "one_pack"):  # take no rows above 8 KiB, and none that is not aligned
        got = verdicts(kernel, judged)
        assert "passed" in got
        assert got <= {"passed", "unsupported"}
    else:
        assert outcome(kernel, judged) == ("passed", "")


# --- without the sandbox
def test_no_sandbox(hostile, place, confined):
    flags = ["--shard", "1/18", "--timeout", str(HANGS), "--no-sandbox"]
    found = attacked(hostile, place, "unconfined.jsonl", ["opens_files_for_writing"], *flags)
    assert outcome("opens_files_for_writing", found.cases)[0] == "failed"
    assert found.head["sandbox"] == "off: --no-sandbox"


# --- a sandbox that cannot be put on, since a process has at most 16 layers of it: nothing runs without
LAYERED = """
import ctypes, os, sys
libc = ctypes.CDLL(None)
block_devices = (ctypes.c_uint64 * 1)(1 << 11)  # making these is what a layer forbids
libc.prctl(38, 1, 0, 0, 0)
for layer in range(16):
    libc.syscall(446, libc.syscall(444, block_devices, 8, 0), 0)
os.execv(sys.argv[1], sys.argv[1:])
"""


def layered(program):
    """A program in a process that has 16 layers."""
    return program.begun_by(sys.executable, "-c", LAYERED)


def test_no_kernel_runs_without_the_sandbox_that_it_should_have(validate, hostile, confined):
    line = "run --backend simt --op add --kernel naive --suite sanitize --json layered.jsonl"
    layered(validate)(line, code=3)
    judged = cases("layered.jsonl")
    assert verdicts("naive", judged) == {"skipped"}
    told = "\n".join(reasons("naive", judged))
    assert "machine: the worker found no memory, could not be confined" in told
    said = layered(hostile)("run --backend simt --kernel opens_files_for_writing --suite sanitize", code=2)
    assert "--set hostile: asked for its kernels, machine: the worker found no memory, could not be confined" in said.err


def test_no_program_runs_without_the_sandbox_that_it_should_have(validate, confined):
    said = layered(validate)("run --worker", r'printf "is %sning\n" run', code=2)
    assert "the program cannot be confined" in said.err
    assert "is running" not in said.err


def test_a_kernel_runs_without_it_if_that_is_asked(hostile, place, confined):
    flags = ["--shard", "1/18", "--timeout", str(HANGS), "--no-sandbox"]
    attacked(layered(hostile), place, "layered_off.jsonl", ["doubles_an_element"], *flags)


# --- a worker of another program: it writes in a folder of its own, which is removed, and what it starts ends with it
SECONDS = str(10**8 + os.getpid())  # for which its children sleep, and by which they are known
WRITING = rf"""echo x >others/new && printf "is %sside\n" out; echo x >$TMPDIR/new && printf "is %sside\n" in
    echo x >>others/file && printf "is %sside\n" out; kill $PPID && printf "is %sside\n" out
    sh -c "echo named >/proc/self/comm" && printf "a child is %s\n" named
    [ "$(ulimit -d)" = unlimited ] || printf "its memory is %sed\n" bound
    printf "first to be %s\n" ended by $(cat /proc/self/oom_score_adj)
    setsid sleep {SECONDS} 3>&- & setsid sleep {SECONDS} 3>&- & exit 1"""


def command_lines():
    """Those of all processes, without their own spaces."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            yield path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            pass


@pytest.fixture(scope="module")
def writing(validate, confined, folder):
    """What a worker said that writes wherever it may."""
    os.mkdir("folders")
    os.mkdir("others")
    write("others/file", "kept\n")
    return validate("run --worker", WRITING, code=2, env={"TMPDIR": str(folder / "folders")})


@pytest.mark.parametrize("what", ["is inside", "a child is named", "its memory is bounded", "first to be 1000"])
def test_what_a_worker_may(writing, what):
    assert what in writing.err


def test_what_a_worker_may_not(writing):
    assert "is outside" not in writing.err
    assert os.listdir("others") == ["file"]
    assert read("others/file") == "kept\n"


def test_what_a_worker_leaves(writing):
    assert not os.listdir("folders")
    assert not [line for line in command_lines() if SECONDS.encode() in line]


# --- the same of a program that changes the judge, the machine and files that it may only read, and looks for what is secret
SECRETS = ("GITHUB_TOKEN", "CI_JOB_TOKEN", "AWS_SECRET_ACCESS_KEY", "NVIDIA_API_KEY", "UNHEARD_OF", "CI_FLAG")
PROGRAM = SOURCES / "validate/tests/hostile/program.py"


def attempts(validate, *flags):
    """What the program tried, two lists of lines: what it should do, and what it should not."""
    command = f"cd / && {shlex.quote(sys.executable)} {shlex.quote(str(PROGRAM))}"
    said = validate("run --worker", command, *flags, code=2, env={name: "x" for name in SECRETS})
    may, _, others = said.err.partition("--- the others\n")
    return may.splitlines(), [line for line in others.splitlines() if not line.startswith("validate: ")]


def test_a_program_that_attacks(validate, confined):
    may, others = attempts(validate)
    assert [line for line in others if " refused" not in line] == []
    assert [line for line in may if " done" not in line] == []
    assert len([line for line in may + others if " refused" in line or " done" in line]) == 47


def test_a_program_with_the_network_and_two_variables(validate, confined):
    _, others = attempts(validate, "--network", "--pass-env", "UNHEARD_OF", "--pass-env", "CI_FLAG")
    done = [line.split(" done")[0] for line in others if " refused" not in line]
    assert done == ["AF_INET", "AF_INET6", "AF_VSOCK", "AF_ALG", "UNHEARD_OF", "CI_FLAG"]


@pytest.mark.parametrize(
    "part, name",
    [
        ("--pass-env: the environment has no 'NOWHERE_AT_ALL'", "NOWHERE_AT_ALL"),
        ("--pass-env: 'A=B' is no name of a variable", "A=B"),
        ("--pass-env: '' is no name of a variable", ""),
    ],
)
def test_variables_that_cannot_be_passed(validate, part, name):
    validate.refuses(part, "run --worker true --pass-env", name)


# --- single cases
@pytest.fixture
def replay(hostile, place):
    """Judges one case of a kernel."""

    def call(case, *flags, code):
        return hostile(f"replay --backend {place.backend}", *flags, f"{OP}/{case}", code=code)

    return call


def test_a_case_that_a_kernel_declines(replay):
    said = replay("takes_finite f16 rows=9 cols=33 fill=nan_in_row", code=None)
    assert "unsupported: declares finite inputs" in said.out


def test_a_case_that_it_takes(replay):
    assert replay("takes_finite f16 rows=9 cols=33 layout=padded", code=0).out


def test_a_crash_is_shrunk(replay):
    flags = ["--timeout", str(HANGS), "--shrink", str(HANGS)]
    said = replay("writes_null f16 rows=9 cols=33 fill=ramp", *flags, code=1)
    assert f"{OP}/writes_null f16 rows=1 cols=1 seed=0" in said.out
    assert "label          deterministic" in said.out


def test_a_hang_is_shrunk(replay):
    said = replay("loops_forever f16 rows=9 cols=33", "--timeout", "2", "--shrink", str(HANGS), code=None)
    assert f"{OP}/loops_forever f16 rows=1 cols=1 seed=0" in said.out


def test_no_worker_is_left(hostile):
    def none_left():
        return not running(hostile)

    wait_until(none_left)
