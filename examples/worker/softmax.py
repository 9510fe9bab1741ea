#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker in Python, by the standard library alone: softmax of each row.  docs/worker-protocol.md explains every field.

validate run --worker 'python3 examples/worker/softmax.py'
"""
import json
import math
import mmap
import socket
import struct

FORMATS = {"f16": "<e", "f32": "<f"}


def softmax(row):
    top = math.nan if any(map(math.isnan, row)) else max(row)
    powers = [math.exp(x - top) for x in row]
    total = sum(powers)
    return [p / total for p in powers]


def launch(order, run, inputs, outputs):
    x, y = order["tensors"]
    dtype, (rows, cols) = FORMATS[x["dtype"]], x["shape"]
    size = struct.calcsize(dtype)
    values = order["input_bytes"] * run["inputs"] + x["input"]
    image = bytearray([run["garbage"]]) * y["bytes"]  # the gaps between rows stay so
    for r in range(rows):
        at = [values + size * (r * x["strides"][0] + c * x["strides"][1]) for c in range(cols)]
        for c, p in enumerate(softmax([struct.unpack_from(dtype, inputs, a)[0] for a in at])):
            struct.pack_into(dtype, image, size * (r * y["strides"][0] + c * y["strides"][1]), p)
    outputs[y["output"] : y["output"] + y["bytes"]] = image


def reply(message, fds):
    answer = {"id": message["id"], "status": 3, "message": "", "tainted": False, "seconds": 0.0, "ran": 0, "traffic": {}}
    if message["protocol"] != 2:
        return {**answer, "message": f"the message has protocol {message['protocol']}, this worker speaks 2"}
    if "ask" in message:
        kernel = {"op": "softmax", "kernel": "python", "dtypes": list(FORMATS), "numerics": "accumulate=f32 chain=1"}
        return {**answer, "status": 0, "backend": "host", "checks": ["inputs"], "total": 1, "kernels": [kernel]}
    if (message["op"], message["kernel"]) != ("softmax", "python"):
        return {**answer, "message": f"unknown kernel {message['op']}/{message['kernel']}"}
    if message["dtype"] not in FORMATS:
        return {**answer, "status": 1, "message": f"declares no {message['dtype']}"}
    if message["output_bytes"] > 1 << 30:
        return {**answer, "status": 1, "message": "the tensors are too large for this worker"}
    size, runs = message["output_bytes"], message["runs"]
    inputs = mmap.mmap(fds[0], 0, prot=mmap.PROT_READ)  # nobody can write to it
    outputs = mmap.mmap(fds[1], 0)
    for number, run in enumerate(runs):
        launch(message, run, inputs, memoryview(outputs)[number * size :])
    return {**answer, "status": 0, "ran": len(runs)}


def main():
    judge = socket.socket(fileno=3)
    while True:
        text, fds, _, _ = socket.recv_fds(judge, 1 << 16, 2)
        if not text:
            return  # the judge has closed the socket
        judge.send(json.dumps(reply(json.loads(text), fds)).encode())
        for fd in fds:
            socket.close(fd)


if __name__ == "__main__":
    main()
