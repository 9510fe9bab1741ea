#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example of a worker, whose softmax deserves no pass in a way that the argument names (attacks_test.py)."""
import os
import socket
import sys
import time

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../../../examples/worker"))
sys.dont_write_bytecode = True
import softmax as example  # noqa: E402  # pylint: disable=wrong-import-position

HOW = sys.argv[1]
sound_softmax, sound_reply = example.softmax, example.reply


def softmax(row):
    if HOW == "ones":
        return [1.0] * len(row)
    return [1.1 * p if HOW == "lax" else p for p in sound_softmax(row)]


def reply(message, fds):
    if "ask" in message:
        answer = sound_reply(message, fds)
        numerics = "accumulate=f32 chain=1" + (" quotient_error=8000000" if HOW == "lax" else "")
        answer["kernels"][0].update(kernel=HOW, numerics=numerics)
        return answer
    cols = message["tensors"][0]["shape"][1]
    answer = {**sound_reply({**message, "protocol": 0}, fds), "message": ""}
    if HOW == "ones" and cols != 1 or HOW == "picky" and cols > 64:
        return {**answer, "status": 1, "message": "cols must be few"}
    if HOW in ("MemoryError", "machine") and cols > 64:
        return {**answer, "status": 2, "message": HOW + ": no"}
    if HOW == "slow":
        time.sleep(6)
    if HOW == "half_closed":
        socket.socket(fileno=os.dup(3)).shutdown(socket.SHUT_WR)
        time.sleep(1000)
    return sound_reply({**message, "kernel": "python"}, fds)


example.softmax, example.reply = softmax, reply
example.main()
