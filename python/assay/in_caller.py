# SPDX-License-Identifier: Apache-2.0
"""A worker in the caller's process: judges reach it through a process that hands its socket over (assay.worker --in-caller)."""

from __future__ import annotations

import shlex
import socket
import sys
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import Iterator

from .serving import Worker


@contextmanager
def served_here(worker: Worker) -> Iterator[str]:
    """Serves judges in a thread.  Yields the command of the process that hands over its socket."""
    alone = threading.Lock()  # a worker that was given up, as after a timeout, may still be in the callable

    def serve(judge: socket.socket, connection: socket.socket) -> None:
        with connection, judge, alone:
            try:
                worker.serve(judge)
            except OSError:
                pass  # the judge has gone

    def listen() -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return  # the run is over
            _, fds, _, _ = socket.recv_fds(connection, 1, 1)
            judge = socket.socket(fileno=fds[0])
            threading.Thread(target=serve, args=(judge, connection), daemon=True).start()

    with tempfile.TemporaryDirectory(prefix="assay-") as folder, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        path = str(Path(folder) / "caller")
        listener.bind(path)
        listener.listen()
        threading.Thread(target=listen, daemon=True).start()
        try:
            yield shlex.join([sys.executable, "-m", "assay.worker", "--in-caller", path])
        finally:
            listener.shutdown(socket.SHUT_RDWR)
