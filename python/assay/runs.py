# SPDX-License-Identifier: Apache-2.0
"""The verdicts on a callable over a suite, and the exception in which a run ends."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Mapping, Sequence

from . import library
from .errors import Incomplete, InputError, Mismatch
from .serving import BLAME, NOT_RUN

_HEADING = re.compile(r"[A-Z]+  [^\n]*\Z")  # of a failure that is told at length: a paragraph of one line
_BAD = ("failed", "crashed", "timeout", "suspect")
_MOST_LINES_OF_WORKER = 12


@dataclass(frozen=True)
class Failure:
    """A case that failed.

    Attributes:
        record: its record; `shrunk`: that of the smaller case which fails in the same way, None where there is none.
        again: a line that repeats it, the smaller one if there is one.
    """

    record: Mapping[str, Any]
    shrunk: Mapping[str, Any] | None
    again: str

    @property
    def reason(self) -> str:
        """Why it failed, in one sentence; empty where the verdict says it all."""
        return str(self.record.get("reason", ""))

    @property
    def pattern(self) -> str:
        """The wrong elements in words."""
        return str(self.record.get("pattern", ""))

    @property
    def smallest(self) -> str:
        """The repro line of the smallest case that was found."""
        return str(self.shrunk["smallest"]["repro"] if self.shrunk else self.record["repro"])


@dataclass(frozen=True)
class Run:
    """The verdicts on a callable.

    Attributes:
        records: the lines of the record file, whose fields reports/schema.json explains.
        text: what `validate run` prints.
        command: the words after `validate` that were called.
    """

    records: Sequence[Mapping[str, Any]]
    text: str
    command: Sequence[str] = field(default=(), repr=False)

    @property
    def cases(self) -> list[Mapping[str, Any]]:
        """The record of each case."""
        return [r for r in self.records if r["record"] == "case"]

    @property
    def verdicts(self) -> Counter[str]:
        """How many cases have each verdict."""
        return Counter(c["verdict"] for c in self.cases)

    @property
    def passed(self) -> bool:
        """Whether cases passed, none failed, and the run is complete."""
        incomplete = any(r.get("incomplete") for r in self.records if r["record"] == "end")
        return self.verdicts["passed"] > 0 and not self.failures and not incomplete

    @property
    def declined(self) -> str | None:
        """How few of the cases the callable takes, and why, if it takes less than half of them."""
        reasons = Counter(str(c.get("reason", "")) for c in self.cases if c["verdict"] == "unsupported")
        taken = len(self.cases) - sum(reasons.values())
        if not self.cases or 2 * taken >= len(self.cases):
            return None
        most_common = ", ".join(f"{count} '{reason}'" for reason, count in reasons.most_common(3))
        return f"takes {taken} of {len(self.cases)} cases ({100 * taken / len(self.cases):.0f} %); not: {most_common}"

    @property
    def margin(self) -> float:
        """The largest err/bound of all cases that have one; at most 1 is right."""
        return max((float(c["margin"]) for c in self.cases if "margin" in c), default=0.0)

    @property
    def failures(self) -> list[Failure]:
        """The cases that failed, crashed, hung or are suspect, in the order of the run."""
        smaller = {r["of"]: r for r in self.records if r["record"] == "shrunk" and "smallest" in r}
        return [
            Failure(c, smaller.get(c["repro"]), self._again(c, smaller.get(c["repro"])))
            for c in self.cases
            if c["verdict"] in _BAD
        ]

    def _again(self, case: Mapping[str, Any], shrunk: Mapping[str, Any] | None) -> str:
        repro = shrunk["smallest"]["repro"] if shrunk else case["repro"]
        judge = self.records[0].get("judges", {}).get(case["op"], "")[:8]
        return f"validate replay {case['loaded']} '{repro}{' judge=' + judge if judge else ''}'"

    def __str__(self) -> str:
        return self.text


def judged(
    called: library.Called, lines: Sequence[Mapping[str, Any]], command: Sequence[str], records: str | os.PathLike[str] | None
) -> Run:
    """The run that a call of the program made.  Called by `validate` itself, so that a warning names its caller.

    Args:
        called: what the call left.
        lines: those of the record file.
        command: the words after `validate`.
        records: a path to write the lines to; None: none.

    Raises:
        KeyboardInterrupt: it was interrupted.
        InputError, Mismatch, Incomplete: as `assay.validate` says.
    """
    run = Run(lines, called.out.rstrip(), tuple(command))
    if records is not None:
        write_records(records, lines)
    if called.code == 130:
        raise KeyboardInterrupt
    if called.code == 1:
        blamed = [case["reason"] for case in run.cases if str(case.get("reason", "")).startswith(BLAME)]
        if blamed and not run.verdicts["passed"]:
            raise InputError(blamed[0].removeprefix(BLAME))
        raise Mismatch(_failures_text(run, called.err), run)
    if called.code == 3:
        declined = sorted({str(case.get("reason", "")) for case in run.cases if case["verdict"] in ("unsupported", "skipped")})
        why = "; ".join(declined[:3]) or called.out.strip().splitlines()[-1]
        raise Incomplete(f"the evidence is incomplete: {why}", run)
    not_run = [case["reason"] for case in run.cases if str(case.get("reason", "")).startswith(NOT_RUN)]
    if not_run:
        raise Incomplete(f"{len(not_run)} of {len(run.cases)} cases were left out: {not_run[0]}", run)
    if run.declined:
        warnings.warn(f"{run.cases[0]['op']}/{run.cases[0]['kernel']} {run.declined}", stacklevel=3)
    return run


def write_records(path: str | os.PathLike[str], records: Sequence[Mapping[str, Any]]) -> None:
    """Writes a record file."""
    lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in records]
    Path(path).write_text("".join(lines), encoding="utf-8")


def _failures_text(run: Run, err: str) -> str:
    """What the program prints of each kind of failure at length, its last line, and the last lines that the worker wrote."""
    paragraphs = run.text.split("\n\n")
    kept = []
    at_length = False
    for paragraph in paragraphs:
        if not paragraph.startswith("  "):
            at_length = bool(_HEADING.match(paragraph))
        elif paragraph.startswith("  op "):
            at_length = False
        if at_length:
            kept.append(paragraph)
    lines = [f"  {line}" for line in dict.fromkeys(err.splitlines()) if line.strip()][-_MOST_LINES_OF_WORKER:]
    of_worker = ["\n".join(["the worker wrote", *lines])] if lines else []
    return "\n\n".join([*(kept or paragraphs[1:-1]), paragraphs[-1], *of_worker])
