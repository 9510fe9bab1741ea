# SPDX-License-Identifier: Apache-2.0
"""Files of each format that docs/readers.md has: right ones, and what is wrong of them."""
import gzip
import io
import json
import os
import shutil
import struct
import warnings
import zipfile

from hostile_files_test import places, replaced, without, write

warnings.simplefilter("ignore")  # zipfile's, where a name comes twice
MOST = 16  # places of a file whose values are replaced


def prepare(checks):
    """What the commands of the page read."""
    line = "softmax f32 rows=2 cols=3"
    for end in ("npz", "safetensors"):
        checks.works(["inputs", line, "-o", f"in.{end}"])
        checks.works(["golden", line, "-o", f"out.{end}"])
    checks.works(["inputs", "rmsnorm f32 rows=2 cols=3", "-o", "whole.npz"])
    checks.works(["golden", "rmsnorm f32 rows=2 cols=3 epsilon=0.5", "-o", "norm_out.npz"])
    without_members("whole.npz", "norm.npz", ("x.npy", "gamma.npy"))
    run = ["run", "--backend", "simt", "--op", "softmax", "--kernel", "naive", "--dtype", "f32", "--suite", "sanitize", "--quiet"]
    checks.works([*run, "--json", "records.jsonl"])
    for shard in (1, 2):
        checks.works([*run, "--shard", f"{shard}/2", "--json", f"shard{shard}.jsonl"])
    checks.works(["ledger", "old.tsv.gz", "--sound", "records.jsonl"])
    shutil.copy("records.jsonl", "accepted.jsonl")
    shutil.copytree(
        os.path.join(checks.source, "datasets"), "data", ignore=shutil.ignore_patterns("ptx", "checkpoints", "captured")
    )
    shutil.copytree(os.path.join(checks.source, "datasets/checkpoints/bytes"), "checkpoint")
    shutil.copy("checkpoint/config.json", "config.json")
    shutil.copy("checkpoint/model.safetensors", "weights.safetensors")
    for name in ("softmax.ptx", "softmax.json"):
        shutil.copy(os.path.join(checks.source, "examples/ptx", name), name.replace("softmax.json", "launch.json"))
    shutil.copy(os.path.join(checks.source, "examples/own_op/geglu.json"), "own.json")
    with open("weights.safetensors", "rb") as file:
        header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    names = [name for name in header if name != "__metadata__"]
    write("model.safetensors.index.json", json.dumps({"weight_map": {name: "weights.safetensors" for name in names}}))
    os.mkdir("empty")
    os.mkfifo("pipe")
    write("empty.file", "")
    write("text.file", "a text\n")
    write("binary.file", bytes(range(256)) * 4)
    write("half.gz", gzip.compress(bytes(range(256)) * 4)[:60])


def without_members(path, to, kept):
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(to, "w") as new:
        for name in kept:
            new.writestr(name, old.read(name))


good = {}


def placed(number, right, command, content):
    """The name of the wrong file, the command that reads it, and what writes it: in the place of the right one if the command
    has no place for a name."""
    if "@" in command:
        end = right[right.index(".") :]
        name = f"wrong{number}{end}"
        return name, [name if word == "@" else word for word in command], lambda: write(name, content)
    good.setdefault(right, open(right, "rb").read())
    return right, command, lambda: write(right, content)


def restore(right):
    write(right, good[right])


def wrong(kind, right):
    with open(right, "rb") as file:
        raw = file.read()
    yield from {
        "npz": npz,
        "npz-attributes": npz_attributes,
        "safetensors": safetensors,
        "records": records,
        "ledger": ledger,
        "ptx": ptx,
    }.get(kind.split()[0], lambda raw: of_json(raw, "closed" in kind))(raw)
    yield "empty", b""
    yield "cut off", raw[: len(raw) * 2 // 3]


# --- JSON ---------------------------------------------------------------------------------------------------------------
def others(value):
    """Values of other types."""
    if isinstance(value, dict):
        return [[], 5, "x"]
    if isinstance(value, list):
        return [{}, True]
    if isinstance(value, str):
        return [[], {}, ""]
    return [[], {}, "\u001b[2J"]


def at(value, path):
    for key in path:
        value = value[key]
    return value


def sampled(all_places):
    step = max(1, len(all_places) // MOST)
    return all_places[::step]


def of_json(raw, closed):
    value = json.loads(raw)
    text = raw.decode()
    for path in sampled(
        [p for p in places(value) if not (p[0] == "weight_map" and len(p) > 1 and p[1] != next(iter(value["weight_map"])))]
    ):
        for by in others(at(value, path)):
            yield f"{path} is {by!r}", json.dumps(replaced(value, path, by))
    if closed:
        yield "one key more", json.dumps({**value, "nothing_of_this_name": 1})
        for path in sampled([p for p in places(value) if isinstance(at(value, p), dict) and "reported" not in p])[:4]:
            yield f"one key more in {path}", json.dumps(replaced(value, path, {**at(value, path), "nothing_of_this_name": 1}))
    key = next(iter(value))
    last = text.rstrip()[:-1]
    yield f"{key} twice", last + f", {json.dumps(key)}: {json.dumps(value[key])}" + "}"
    yield "NaN", last + ', "nothing": NaN}'
    yield "a huge number", last + ', "nothing": 1e999}'
    yield "no UTF-8", last.encode() + b', "\xff\xfe": 1}'
    yield "UTF-16", text.encode("utf-16")
    yield "more behind it", text + "x"
    yield "itself twice", text + text
    yield "a list", "[" + text + "]"
    yield "a text", json.dumps(text)
    yield "too deep", "[" * 5000


def records(raw):
    lines = [json.loads(line) for line in raw.splitlines()]
    kinds = {line["record"]: number for number, line in enumerate(lines)}
    for kind, number in kinds.items():
        for path in sampled(list(places(lines[number]))):
            for by in others(at(lines[number], path))[:2]:
                changed = [*lines[:number], replaced(lines[number], path, by), *lines[number + 1 :]]
                yield f"{kind}: {path} is {by!r}", "".join(json.dumps(line) + "\n" for line in changed)
    for path in (("record",), ("schema",), ("commit",)):
        yield f"without {path}", "".join(json.dumps(line) + "\n" for line in [without(lines[0], path), *lines[1:]])
    yield "another schema", "".join(json.dumps(line) + "\n" for line in [{**lines[0], "schema": 2}, *lines[1:]])
    yield "no UTF-8", raw + b'{"record": "\xff\xfe"}\n'
    yield "more behind it", raw + b"x\n"
    yield "a list", b"[]\n" + raw
    yield "no head", raw.split(b"\n", 1)[1]
    yield "a huge number", raw + b'{"record": "end", "seconds": 1e999}\n'
    yield "NaN", raw + b'{"record": "end", "seconds": NaN}\n'


def ledger(raw):
    text = (gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw).decode()
    lines = text.split("\n")
    yield "another first line", "x\n" + "\n".join(lines[1:])
    for number, line in enumerate(lines[:-1]):
        if number:
            yield f"line {number} has a field less", "\n".join([*lines[:number], line.rsplit("\t", 1)[0], *lines[number + 1 :]])
            yield f"line {number} has a field more", "\n".join([*lines[:number], line + "\tx", *lines[number + 1 :]])
            yield f"line {number} has another word", "\n".join([*lines[:number], "x" + line, *lines[number + 1 :]])
    last = lines[-2].split("\t")
    for number, what in enumerate(("kind", "set", "verdict", "tiers", "err/bound", "case")):
        for by in [""] if what in ("set", "case") else ["", "x", "-1"]:
            yield f"{what} {by!r}", "\n".join([*lines[:-2], "\t".join([*last[:number], by, *last[number + 1 :]]), ""])
    for number in [n for n, line in enumerate(lines) if line.startswith(("judge", "kernel"))][:2]:
        yield f"line {number} twice", "\n".join([*lines[:number], lines[number], *lines[number:]])
    yield "more behind it", text + "x\n"
    yield "a damaged gzip", gzip.compress(raw)[:-6] + bytes(6)


def ptx(raw):
    text = raw.decode()
    yield "another version", text.replace(".version", ".versio", 1)
    yield "no entry of the name", text.replace(".entry softmax", ".entry sofmax").replace(".entry _Z", ".entry _Y")
    yield "an unknown instruction", text.replace("add.", "ad.", 1)
    yield "more behind it", text + "\nx"
    yield "no PTX", "a text\n"
    yield "no UTF-8", b"\xff\xfe" + raw
    yield "zeros", bytes(200)


# --- tensors ------------------------------------------------------------------------------------------------------------
def npy(descr, shape, data, columns=False, more=""):
    header = f"{{'descr': {descr!r}, 'fortran_order': {columns}, 'shape': {shape}{more}, }}"
    header = header.ljust(118) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode("latin-1") + data


def zipped(members, how=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", how) as file:
        for name, content in members:
            file.writestr(name, content)
    return buffer.getvalue()


def npz(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    data = members["x.npy"][-24:]
    rest = [(name, content) for name, content in members.items() if name != "x.npy"]

    def of(content, *more):
        return zipped([("x.npy", content), *rest, *more])

    values = struct.unpack("<6f", data)
    for code, descr in (("f", ">f4"), ("d", ">f8"), ("e", ">f2"), ("i", ">i4")):
        yield f"big-endian {descr}", of(
            npy(descr, (2, 3), struct.pack(f">6{code}", *[int(v) if code == "i" else v for v in values]))
        )
    yield "big-endian text", zipped(
        [("x.npy", npy("<f4", (2, 3), data)), ("op.npy", npy(">U7", (), "softmax".encode("utf-32-be")))]
    )
    for descr, size in (
        ("<f8", 8),
        ("<i4", 4),
        ("<i8", 8),
        ("<c8", 8),
        ("|b1", 1),
        ("|S4", 4),
        ("<U1", 4),
        ("|O", 8),
        ("<f16", 16),
        ("<q4", 4),
        ("f4", 4),
        ("", 4),
    ):
        yield f"dtype {descr}", of(npy(descr, (2, 3), bytes(6 * size)))
    for shape in (
        "(3, 2, 1)",
        "(6,)",
        "()",
        "(2, -3)",
        "(2, 3.0)",
        "(2, x)",
        "(2, 4)",
        "(9223372036854775807, 2)",
        "(2, 0)",
        "2",
        "[2, 3]",
    ):
        yield f"shape {shape}", of(npy("<f4", shape, data))
    yield "rows and columns changed", zipped([("x.npy", npy("<f4", (3, 2), data)), *rest])
    yield "no tensor", zipped(rest)
    yield "a tensor twice", zipped([("x.npy", members["x.npy"]), ("x.npy", members["x.npy"]), *rest])
    yield "a name near x", of(members["x.npy"], ("X.npy", members["x.npy"]))
    yield "too few elements", of(members["x.npy"][:-4])
    yield "too many elements", of(members["x.npy"] + bytes(4))
    yield "one key more", of(npy("<f4", (2, 3), data, more=", 'x': 1"))
    yield "no .npy", of(b"x")
    yield "version 9", of(b"\x93NUMPY\x09" + members["x.npy"][7:])
    yield "a name that is not UTF-8", zipped([*members.items()]).replace(b"x.npy", b"\xff.npy")
    yield "a name of a terminal's orders", zipped([*members.items()]).replace(b"x.npy", b"\x1b.npy")
    yield "a damaged sum", raw.replace(data, data[:-1] + b"\x55")
    yield "an unknown op", zipped([("x.npy", members["x.npy"]), ("op.npy", npy("<U4", (), "none".encode("utf-32-le")))])
    yield "no op", zipped([("x.npy", members["x.npy"])])


def npz_attributes(raw):
    """An attribute as a member, in each form in which it is wrong."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        members = [(name, file.read(name)) for name in file.namelist()] + [
            ("op.npy", npy("<U7", (), "rmsnorm".encode("utf-32-le")))
        ]
    forms = [
        (f"{descr} {value}", descr, (), struct.pack(code, value))
        for descr, code, value in (
            ("<f4", "<f", float("inf")),
            ("<f4", "<f", float("nan")),
            ("<f4", "<f", -1),
            ("<f8", "<d", 1e-300),
            ("<f8", "<d", 1e39),
            ("<f8", "<d", -1e-50),
            ("<f8", "<d", float("-inf")),
            ("<i8", "<q", -1),
            ("<u2", "<H", 1),
            ("|b1", "<B", 1),
            (">f4", ">f", 1),
            (">f8", ">d", 1),
            (">i4", ">i", 1),
            ("<i4", "<i", -(2**31)),
        )
    ]
    forms += [
        ("two of them", "<f4", (2,), bytes(8)),
        ("none of them", "<f4", (0,), b""),
        ("a complex number", "<c8", (), bytes(8)),
        ("a long double", "<f16", (), bytes(16)),
        ("an object", "|O", (), bytes(8)),
        ("an empty text", "<U1", (), bytes(4)),
        ("a text", "<U4", (), "tiny".encode("utf-32-le")),
        ("a text with more", "<U2", (), "1x".encode("utf-32-le")),
        ("nan, a text", "<U3", (), "nan".encode("utf-32-le")),
        ("bytes that are no ASCII", "|S2", (), b"\xff\xfe"),
    ]
    for what, descr, shape, data in forms:
        yield what, zipped([*members, ("epsilon.npy", npy(descr, shape, data))])
    one = npy("<f4", (), struct.pack("<f", 1))
    yield "twice", zipped([*members, ("epsilon.npy", one), ("epsilon.npy", one)])
    for name in ("epsilom", "Epsilon", "norm_eps", "eps"):
        yield f"as {name}", zipped([*members, (name + ".npy", one)])


def safetensors(raw):
    size = struct.unpack("<Q", raw[:8])[0]
    header = json.loads(raw[8 : 8 + size])
    data = raw[8 + size :]

    def of(changed, elements=data):
        text = changed if isinstance(changed, bytes) else json.dumps(changed).encode()
        return struct.pack("<Q", len(text)) + text + elements

    x = header["x"]
    for dtype in ("F64", "f32", "<f4", "I32", "F16", "BOOL", "", None, 5):
        yield f"dtype {dtype}", of({**header, "x": {**x, "dtype": dtype}})
    for shape in ([6], [3, 2, 1], [2, -3], [2, 3.0], ["2", 3], [2**62, 2], [2, 0], [], {}, None, [2, 3, 1], [3, 2]):
        yield f"shape {shape}", of({**header, "x": {**x, "shape": shape}})
    for offsets in ([0, 23], [0, 25], [24, 0], [-1, 23], [1, 25], [0], [0, 2**63], "0", None):
        yield f"offsets {offsets}", of({**header, "x": {**x, "data_offsets": offsets}})
    yield "one key more", of({**header, "x": {**x, "nothing": 1}})
    yield "one key less", of({**header, "x": {k: v for k, v in x.items() if k != "dtype"}})
    yield "no tensor", of({k: v for k, v in header.items() if k != "x"})
    yield "a tensor twice", of(json.dumps(header).encode()[:-1] + b', "x": ' + json.dumps(x).encode() + b"}")
    yield "a name near x", of({**header, "X": {**x, "data_offsets": [24, 48]}}, data + data)
    yield "metadata of numbers", of({**header, "__metadata__": {"op": 5}})
    yield "metadata that are a list", of({**header, "__metadata__": []})
    yield "an unknown op", of({**header, "__metadata__": {"op": "sofmax"}})
    yield "an empty op", of({**header, "__metadata__": {"op": ""}})
    yield "two ops", of({**header, "__metadata__": {**header["__metadata__"], "op": "rope"}})
    yield "no op", of({**header, "__metadata__": {}})
    yield "an attribute near none", of({**header, "__metadata__": {"op": "rmsnorm", "epsilom": "1"}})
    yield "no UTF-8", of(json.dumps(header).encode().replace(b'"x"', b'"\xff"'))
    yield "NaN", of(json.dumps(header).encode().replace(b"24", b"NaN", 1))
    yield "more behind it", raw + b"x"
    yield "a large header", struct.pack("<Q", 2**63) + raw[8:]
