# SPDX-License-Identifier: Apache-2.0
"""Which memory of the host was allocated and not written since."""

from __future__ import annotations

import weakref
from typing import Any, Protocol


class _Forgetful(Protocol):
    def forget(self, begin: int) -> None:
        """Drops what is known of a region that begins at this address."""


class Fresh:
    """Knows which memory was allocated without being written: addresses of storages, while these live."""

    def __init__(self, memory: _Forgetful) -> None:
        self._memory = memory
        self._known: dict[int, int] = {}  # address: bytes

    def add(self, storage: Any, begin: int, size: int) -> None:
        """A storage was allocated; `storage` lives as long as its memory."""
        if size:
            self._known[begin] = size
            weakref.finalize(storage, self.drop, begin).atexit = False

    def drop(self, begin: int) -> None:
        """The host may have written it, or it is gone."""
        self._known.pop(begin, None)
        self._memory.forget(begin)

    def __contains__(self, begin: int) -> bool:
        return begin in self._known
