# SPDX-License-Identifier: Apache-2.0
"""The exceptions that this package raises.  Each message is one sentence, but that of Mismatch, which shows the failures."""

from __future__ import annotations

from typing import Any


class Error(Exception):
    """The base of all exceptions of this package."""


class InputError(Error, ValueError):
    """An argument has a wrong name, dtype, shape, device or place in memory, or a callable returned the wrong thing."""


class LibraryError(Error):
    """The program `validate` is missing, has another version than this package, or does not work."""


class Incomplete(Error):
    """The evidence is incomplete: nothing was judged, memory was short, time was spent, or the machine is at fault.

    Attributes:
        result: what is known, an `assay.Result` or an `assay.Run`; None where nothing is.
    """

    def __init__(self, message: str, result: Any = None) -> None:
        super().__init__(message)
        self.result = result


class Mismatch(Error, AssertionError):
    """Something is wrong with the outputs or with the callable that made them.

    Attributes:
        result: the `assay.Result` of a check, or the `assay.Run` of a validation.
    """

    def __init__(self, message: str, result: Any) -> None:
        super().__init__(message)
        self.result = result


class Unsupported(Error):
    """A callable raises it to decline a case, which then counts as unsupported; its text is the reason."""


class Finding(Error):
    """The simulated machine stopped a kernel that did what no kernel may do, such as a race (docs/triton.md).

    Attributes:
        kernel: its name.
        kind: such as out_of_bounds, global_race, shared_race, uninitialised or misaligned.
        message: one sentence: the error, the place in memory, the block and the thread.
        file, line: of the source; empty and 0 where they are unknown.
        block, thread: their indices; None where the finding is no one's.
        ptx_line: of the kernel's PTX; 0 where it is unknown.
    """

    def __init__(
        self,
        kernel: str,
        kind: str,
        message: str,
        file: str = "",
        line: int = 0,
        block: tuple[int, ...] | None = None,
        thread: tuple[int, ...] | None = None,
        ptx_line: int = 0,
    ) -> None:
        where = f" ({file}:{line})" if file else ""
        super().__init__(f"{kind}: {message}, in {kernel}{where}")
        self.kernel = kernel
        self.kind = kind
        self.message = message
        self.file = file
        self.line = line
        self.block, self.thread, self.ptx_line = block, thread, ptx_line
