#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker whose softmax deserves no pass, in a way that its argument names (attacks_test.py)."""
import json
import math
import mmap
import socket
import struct
import sys
import time

HOW = sys.argv[1]
NUMERICS = {"lax": "accumulate=f32 chain=1 quotient_error=8000000"}.get(HOW, "accumulate=f32 chain=1")


def softmax(row):
    if HOW == "ones":
        return [1.0] * len(row)
    top = math.nan if any(map(math.isnan, row)) else max(row)
    powers = [math.exp(x - top) for x in row]
    return [p / sum(powers) * (1.1 if HOW == "lax" else 1) for p in powers]


def launch(order, run, inputs, outputs):
    x, y = order["tensors"]
    rows, cols = x["shape"]
    at = order["input_bytes"] * run["inputs"] + x["input"]
    image = bytearray([run["garbage"]]) * y["bytes"]
    for r in range(rows):
        row = [struct.unpack_from("<f", inputs, at + 4 * (r * x["strides"][0] + c * x["strides"][1]))[0] for c in range(cols)]
        for c, p in enumerate(softmax(row)):
            struct.pack_into("<f", image, 4 * (r * y["strides"][0] + c * y["strides"][1]), p)
    outputs[y["output"]:y["output"] + y["bytes"]] = image


def reply(message, fds, judge):
    answer = {"id": message["id"], "status": 3, "message": "", "tainted": False, "seconds": 0.0, "ran": 0, "traffic": {}}
    if "ask" in message:
        kernel = {"op": "softmax", "kernel": HOW, "dtypes": ["f32"], "numerics": NUMERICS}
        return {**answer, "status": 0, "backend": "host", "checks": ["inputs"], "total": 1, "kernels": [kernel]}
    cols = message["tensors"][0]["shape"][1]
    if message["output_bytes"] > 1 << 22:
        return {**answer, "status": 1, "message": "too large"}
    if HOW == "ones" and cols != 1 or HOW == "picky" and cols > 64:
        return {**answer, "status": 1, "message": "cols must be few"}
    if HOW in ("MemoryError", "machine") and cols > 64:
        return {**answer, "status": 2, "message": HOW + ": no"}
    if HOW == "slow":
        time.sleep(6)
    if HOW == "half_closed":
        judge.shutdown(socket.SHUT_WR)
        time.sleep(1000)
    size, runs = message["output_bytes"], message["runs"]
    inputs, outputs = mmap.mmap(fds[0], 0, prot=mmap.PROT_READ), mmap.mmap(fds[1], 0)
    for number, run in enumerate(runs):
        launch(message, run, inputs, memoryview(outputs)[number * size:])
    return {**answer, "status": 0, "ran": len(runs)}


def main():
    judge = socket.socket(fileno=3)
    while True:
        text, fds, _, _ = socket.recv_fds(judge, 1 << 16, 2)
        if not text:
            return
        judge.send(json.dumps(reply(json.loads(text), fds, judge)).encode())
        for fd in fds:
            socket.close(fd)


main()
