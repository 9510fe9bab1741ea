# SPDX-License-Identifier: Apache-2.0
"""Tests what the command prints in colours, and on terminals of two widths."""
import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from command_line import HANGS

OP = "layernorm_residual"
SANITIZE = "run --backend simt --suite sanitize"
QUICK = f"{SANITIZE} --op {OP} --kernel naive"  # 13 cases, a fraction of a second


def wider(width, lines):
    """The lines of more characters than that."""
    return [line for line in lines if len(line) > width]


# --- colours


def test_colours(validate, hostile):
    said = hostile(f"{SANITIZE} --op {OP} --kernel calls_abort --fail-fast --no-shrink --color always", code=1)
    assert "\033[31mCRASHED\033[0m" in said.out
    assert "\033[32m" in validate.works(f"{QUICK} --color always").out
    assert "\033" not in validate.works(QUICK).out


# --- a terminal


def on_terminal(columns, *words):
    """What a command sends to a terminal of so many columns."""
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))

    def prepare():
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    process = subprocess.Popen(words, stdin=its, stdout=its, stderr=its, env={**os.environ, "TERM": "xterm"}, preexec_fn=prepare)
    os.close(its)
    sent = b""
    while True:
        try:
            part = os.read(mine, 1 << 16)
        except OSError as error:  # as Linux says that nobody has the terminal open any more
            assert error.errno == errno.EIO
            break
        if not part:
            break
        sent += part
    os.close(mine)
    assert process.wait(HANGS) == 0
    return sent.decode()


@pytest.mark.parametrize("columns", [80, 160])
def test_a_terminal(validate, columns):
    line = f"run --backend simt --suite smoke --dtype f16 --op {OP},rmsnorm --kernel naive,block_row"
    sent = on_terminal(columns, validate, *line.split())
    # The text that a terminal would show: the part of each line after its last carriage return.
    last = [part.rstrip("\r").rpartition("\r")[2] for part in sent.split("\n")]
    shown = [re.sub("\033\\[[0-9]*[Km]", "", part) for part in last]
    assert wider(columns, [part for part in shown if not part.startswith("Assay ")]) == []
    progress = [part.replace("\033[K", "") for part in re.split("[\r\n]", sent) if re.search(" of [0-9]*  ", part)]
    assert wider(columns - 1, progress) == []  # no line may wrap
    text = "\n".join(shown)
    assert "err/bound" in text
    assert "cases with more than one tile and a ragged tail (" in text
    assert "are smaller than their model's: rows to " in text
