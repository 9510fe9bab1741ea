# SPDX-License-Identifier: Apache-2.0
"""Calls programs as tests do, and reads what they said and wrote.

    said = validate("run --backend simt --suite edges", "--json", path, code=1)
    assert "evidence incomplete" in said.out
    validate.refuses("unknown op 'sofmax'", "run --op sofmax")

The first argument is a line as one types it; each further argument is one word of the command, whatever it holds."""
import contextlib
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

SOURCES = Path(__file__).resolve().parents[2]
HANGS = 600  # seconds that only a hanging command takes, even on the slowest host: no check depends on speed
SHOWN = 2000  # characters of a text that a failure shows

calls = []  # what the current test has called; a failure shows the last of them
refusals = []  # all wrong inputs that were refused
unchecked = []  # why skip_file() was called


@dataclass(frozen=True, repr=False)
class Said:
    """What a command that has ended said: its exit code (-9 where SIGKILL ended it), its output and its errors."""

    command: tuple
    code: int
    out: str
    err: str

    @property
    def all(self):
        return self.out + self.err

    def __repr__(self):
        return f"<exit {self.code} of {shlex.join(self.command)}>"

    def __str__(self):
        parts = [f"command  {shlex.join(self.command)}", f"exit     {self.code}"]
        parts += [f"{name}\n{text[:SHOWN]}" for name, text in (("output", self.out), ("errors", self.err)) if text]
        return "\n".join(parts)


def _text(data):
    """Note: no line end is translated, and bytes that are no UTF-8 stay visible."""
    return data.decode("utf-8", "surrogateescape")


def _written(file):
    """What other processes have written to an open file."""
    file.seek(0)
    return _text(file.read())


def _preparing(limits, ignored=()):
    """What a child does before it becomes the program; nothing if there is nothing to do."""
    if not limits and not ignored:
        return None

    def prepare():
        for number in ignored:
            signal.signal(number, signal.SIG_IGN)
        for kind, value in (limits or {}).items():
            resource.setrlimit(kind, (value, value))

    return prepare


def run(*words, code=0, env=None, limits=None, given=None):
    """Runs a command to its end.  `code`: the exit code that it must have, None: any; `env`: variables besides those of the test;
    `limits`: values of resource.RLIMIT_*; `given`: bytes on its standard input, which is empty otherwise."""
    __tracebackhide__ = True
    command = tuple(os.fspath(word) for word in words)
    where = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
    hangs = False
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:  # not pipes, which a process left behind would keep open
        try:
            done = subprocess.run(
                command,
                stdout=out,
                stderr=err,
                timeout=HANGS,
                env={**os.environ, **(env or {})},
                preexec_fn=_preparing(limits),
                **where,
            )
            ended = done.returncode
        except subprocess.TimeoutExpired:
            hangs = True
            ended = -signal.SIGKILL
        said = Said(command, ended, _written(out), _written(err))
    calls.append(said)
    if hangs:
        raise AssertionError(f"{said!r} hangs: it had not ended after {HANGS} s")
    if code is not None and said.code != code:
        raise AssertionError(
            f"\n  command   {shlex.join(command)}\n  expected  exit {code}\n  got       exit {said.code}: {said.err[:600] or said.out[-600:]}"
        )
    return said


class Program:
    """A command that tests call with different arguments: words that it begins with, and what run() takes besides."""

    def __init__(self, *words, **how):
        self.words = words
        self.how = how

    def __fspath__(self):
        return os.fspath(self.words[0])

    def __repr__(self):
        return shlex.join(map(os.fspath, self.words))

    def _how(self, how):
        """What run() takes besides, with variables in addition to the program's own."""
        return {**self.how, **how, "env": {**self.how.get("env", {}), **how.get("env", {})}}

    def _command(self, line, words):
        return tuple(os.fspath(word) for word in (*self.words, *shlex.split(line), *words))

    def _begin(self, command, ignored=(), **streams):
        """The process of the command, which may still run; signals that it ignores until it has a handler of its own."""
        env = {**os.environ, **self.how.get("env", {})}
        prepare = _preparing(self.how.get("limits"), ignored)
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, env=env, preexec_fn=prepare, **streams)

    def _alike(self, words, how):
        return Program(*words, **how)

    def under(self, *words, **how):
        """The same program with more words at its end, other variables or other limits."""
        return self._alike((*self.words, *words), self._how(how))

    def begun_by(self, *words):
        """The same program, begun by another one, whose words these are."""
        return self._alike((*words, *self.words), self.how)

    def __call__(self, line="", *words, **how):
        __tracebackhide__ = True
        return run(*self._command(line, words), **self._how(how))

    def works(self, line="", *words, **how):
        """Exits with 0, and prints something."""
        __tracebackhide__ = True
        said = self(line, *words, **how)
        assert said.out, f"{said!r} printed nothing"
        return said

    def refuses(self, part, line="", *words, **how):
        """Exits with 2, prints nothing, and says one line on standard error, which holds the part."""
        __tracebackhide__ = True
        said = self(line, *words, code=2, **how)
        refusals.append(said.command)
        assert said.out == ""
        assert said.err.count("\n") == 1, "one line on standard error was expected"
        assert part in said.err
        return said

    def piped(self, line="", *words, code=0):
        """Runs the program with a reader of its output that leaves after the first line, as `head -1` does."""
        __tracebackhide__ = True
        command = self._command(line, words)
        with tempfile.TemporaryFile() as errors:
            process = self._begin(command, stdout=subprocess.PIPE, stderr=errors)
            first = process.stdout.readline()
            process.stdout.close()
            process.wait(HANGS)
            said = Said(command, process.returncode, _text(first), _written(errors))
        calls.append(said)
        assert said.code == code
        return said

    @contextlib.contextmanager
    def started(self, line="", *words, out="out", err="err"):
        """The process of the program, begun as a shell begins one in the background: its output and errors go to files, and SIGINT
        is ignored until it has a handler of its own.  What still runs at the end is killed."""
        with open(out, "wb") as output, open(err, "wb") as errors:
            process = self._begin(self._command(line, words), ignored=[signal.SIGINT], stdout=output, stderr=errors)
        try:
            yield process
        finally:
            process.kill()
            process.wait()


class OverSet(Program):
    """A program whose kernels are those of a set: each subcommand gets --set NAME."""

    def __init__(self, name, *words, **how):
        super().__init__(*words, **how)
        self.set = name

    def _alike(self, words, how):
        return OverSet(self.set, *words, **how)

    def _command(self, line, words):
        command = super()._command(line, words)
        after = len(self.words) + 1  # the subcommand
        return (*command[:after], "--set", self.set, *command[after:])


def skip_file(why):
    """Skips a test without which its file has not checked what it is for: ctest calls the file skipped, if no other test fails."""
    __tracebackhide__ = True
    unchecked.append(why)
    pytest.skip(why)


def read(path):
    return _text(Path(path).read_bytes())


def write(path, text):
    """Writes a text, or bytes; returns the path."""
    Path(path).write_bytes(text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape"))
    return path


def changed(source, target, pattern, by, line=None, count=1):
    """Writes a copy of a file in which `by` takes the place of a pattern: so often (0: wherever it is), or in one line, counted from
    1.  Returns the path."""
    parts = [read(source)] if line is None else lines(source)
    at = 0 if line is None else line - 1
    parts[at], times = re.subn(pattern, by, parts[at], count)
    assert times, f"{source} has no {pattern!r}"
    return write(target, "".join(parts))


def lines(path):
    """The lines of a file, each with its end."""
    return re.findall("[^\n]*\n|[^\n]+", read(path))


def _no_number(text):
    raise ValueError(f"{text} is not JSON")


def records_in(text, what="the text"):
    """The records of a text, which must be whole lines of one JSON object each."""
    assert text.endswith("\n"), f"{what}: whole lines were expected, and the last one is cut short: {text[-300:]!r}"
    found = [json.loads(line, parse_constant=_no_number) for line in text[:-1].split("\n")]
    assert all(isinstance(record, dict) for record in found), f"{what}: one JSON object a line was expected"
    return found


def write_records(path, *these):
    """Writes a file of records, as text without spaces, like ours; returns the path."""
    return write(path, "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in these))


def records(path):
    """The records of a file."""
    return records_in(read(path), path)


def of_kind(kind, these):
    """The records of one kind, such as "case"."""
    return [record for record in these if record["record"] == kind]


def cases(path):
    return of_kind("case", records(path))


def values(key, these):
    """The values of a field, of the records that have it."""
    return [record[key] for record in these if key in record]


def untimed(path):
    """The lines of a run's file without times, sorted: equal for equal runs."""
    text = re.sub(r'"(seconds|date)":[^,}\n]*', "", read(path))
    return sorted(re.sub(r'"work_seconds":\{[^}\n]*\}', "", text).split("\n"))


def wait_until(condition, *arguments):
    """Waits until the condition holds."""
    __tracebackhide__ = True
    begin = time.monotonic()
    while not condition(*arguments):
        assert time.monotonic() - begin < HANGS, f"{condition.__name__}{arguments} does not hold after {HANGS} s"
        time.sleep(0.1)


def has_cases(path, count=1):
    """Whether a file that is being written has so many cases."""
    return os.path.exists(path) and read(path).count('"record":"case"') >= count


def was_interrupted(path):
    """Whether the last record of a file is the end of a run that was interrupted."""
    last = records(path)[-1]
    return last["record"] == "end" and last["interrupted"]


def state(pid):
    """The state of a process as /proc has it, such as "R" or "Z"; an empty text if there is none."""
    try:
        return read(f"/proc/{pid}/stat").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def children(pid):
    """The ids of a process's children."""
    return [int(child) for child in read(f"/proc/{pid}/task/{pid}/children").split()]


def program_of(pid):
    """The file that a process runs; None if it has ended, even if nobody has asked for its exit code."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def running(program):
    """The ids of the processes that run a program."""
    path = os.path.realpath(program)
    return [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and program_of(pid) == path]
