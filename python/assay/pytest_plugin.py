# SPDX-License-Identifier: Apache-2.0
"""A plugin of pytest: a function with the mark is judged as a kernel.

    @pytest.mark.assay(op="softmax", suite="edges")
    def softmax(x): ...

The mark takes the arguments of `assay.validate`.  Any function of a test file may have it, whatever its name.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import re
from pathlib import Path
from typing import Any, Callable, Generator, Iterator

import pytest

from . import triton
from .errors import Error, InputError
from .running import validate


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("assay").addoption(
        "--assay-records",
        metavar="FOLDER",
        type=Path,
        help="write the record file of each function with the mark `assay` to this folder",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "assay(op, **options): judges the function as a kernel of an op, as assay.validate does")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol() -> Generator[None, Any, None]:
    """Tests of Triton's kernels run on the simulated machine where ASSAY_TRITON_SIMULATE names a GPU."""
    arch = triton.asked_for()
    with triton.simulate(arch) if arch else contextlib.nullcontext():
        yield


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makeitem(collector: pytest.Collector, name: str, obj: object) -> list[pytest.Item] | None:
    marks = [mark for mark in getattr(obj, "pytestmark", ()) if mark.name == "assay"] if inspect.isroutine(obj) else []
    if not marks:
        return None
    return [
        JudgedFunction.from_parent(
            collector, name=f"{name}[{'-'.join(_words(mark))}]" if len(marks) > 1 else name, fn=obj, mark=mark
        )
        for mark in reversed(marks)
    ]


def _words(mark: pytest.Mark) -> Iterator[str]:
    """What tells the marks of one function apart."""
    yield from map(str, mark.args)
    for value in mark.kwargs.values():
        yield "_".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


class JudgedFunction(pytest.Item):
    """A function that is judged."""

    def __init__(self, *, fn: Callable[..., Any], mark: pytest.Mark, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._fn, self._mark = fn, mark
        self.add_marker(pytest.mark.assay(*mark.args, **mark.kwargs))

    def runtest(self) -> None:
        options = dict(self._mark.kwargs)
        words = [*self._mark.args, *([options.pop("op")] if "op" in options else [])]
        if len(words) != 1:
            raise InputError("the mark assay names no op, as pytest.mark.assay(op='softmax') does")
        arch = triton.asked_for()
        if arch:
            options.setdefault("simulate", arch)
        folder = self.config.getoption("--assay-records")
        if folder:
            folder.mkdir(parents=True, exist_ok=True)
            options["records"] = folder / (re.sub(r"[^\w.-]+", "_", self.nodeid) + ".jsonl")
        self.add_report_section("call", "assay", str(validate(words[0], self._fn, **options)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, Error):
            return f"assay.{type(excinfo.value).__name__}: {excinfo.value}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, self._line(), self.name

    def _line(self) -> int | None:
        try:
            return inspect.getsourcelines(inspect.unwrap(self._fn))[1] - 1
        except (OSError, TypeError):
            return None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """On GitHub, one annotation for each function that failed, at its line."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    for report in terminalreporter.stats.get("failed", []):
        if "assay" in report.keywords:
            file, line, name = report.location  # Note: an annotation needs the path from the folder of the job on
            file = os.path.relpath(terminalreporter.config.rootpath / file)
            text = str(report.longrepr)
            for character, code in (("%", "%25"), ("\r", "%0D"), ("\n", "%0A")):
                text = text.replace(character, code)
            terminalreporter.write_line(f"::error file={file},line={(line or 0) + 1},title={name}::{text}")
