# SPDX-License-Identifier: Apache-2.0
# A kernel that only reads and writes files (docs/door.md): softmax over the last axis, in f32.
#   python3 softmax.py INPUTS OUTPUTS       both .safetensors
import json
import math
import struct
import sys

with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    elements = file.read()
begin, end = header["x"]["data_offsets"]
rows, cols = header["x"]["shape"]
x = struct.unpack(f"<{rows * cols}f", elements[begin:end])

y = []
for row in range(rows):
    values = x[row * cols : (row + 1) * cols]
    top = max(values)
    powers = [math.exp(v - top) for v in values]
    total = sum(powers)
    y += [p / total for p in powers]

data = struct.pack(f"<{len(y)}f", *y)
header = json.dumps({"y": {"dtype": "F32", "shape": [rows, cols], "data_offsets": [0, len(data)]}}).encode()
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + data)
