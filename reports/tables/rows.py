# SPDX-License-Identifier: Apache-2.0
"""What the tables share: rows of records, the times, shares and ratios of a row, and Markdown."""
import glob
import os

from records import BadInput, records_of

SUITES = [f"{kind}_{name}.jsonl*" for kind in ("suite", "pytorch") for name in ("ln-residual", "llama2-7b", "fused-ops")]
SUITES.append("pytorch_compile.jsonl*")


class Records:
    """The record files of a device's folder, and the rows of the suites that several tables share."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = {}
        # Note: only these suites, since others have some of the same rows from other runs.
        for (op, dtype, shape), row in rows_in([path for suite in SUITES for path in self.paths(suite)]).items():
            self.rows.setdefault((op, dtype, axes_of(shape)), {}).update(row)

    def paths(self, pattern):
        """The files of a pattern; one at least."""
        found = sorted(glob.glob(os.path.join(self.folder, pattern)))
        if not found:
            raise BadInput(f"'{self.folder}' has no {pattern}")
        return found

    def found(self, *names):
        """The files of these names, of which any may be missing."""
        return [path for name in names for path in sorted(glob.glob(os.path.join(self.folder, name + ".jsonl*")))]

    def row(self, op, dtype, shape):
        try:
            return self.rows[op, dtype, axes_of(shape)]
        except KeyError:
            raise BadInput(f"no times of {op} {dtype} {shape}")


def axes_of(shape):
    """A shape such as "rows=1 cols=2" in whatever order of its words."""
    return tuple(sorted(shape.split()))


def rows_in(paths):
    """The rows of files in their order: {(op, dtype, shape): {kernel: record}}."""
    rows = {}
    for record in records_of(paths):
        if record["record"] in ("bench", "timing") and "time_us" in record:
            rows.setdefault((record["op"], record["dtype"], record["shape"]), {})[record["kernel"]] = record
    return rows


def hopper_rows(records, name):
    """The rows of a file of `.ci/hopper`: {(dtype, shape): {kernel: record}}."""
    return {key[1:]: row for key, row in rows_in(records.paths(f"hopper_{name}.jsonl*")).items()}


def us(record):
    """The median time of a record in microseconds."""
    return record["time_us"]["median"]


def dram(record):
    """The bytes that a kernel reads from the memory of the device and writes there, as counted."""
    return record["dram"]["read_bytes"] + record["dram"]["written_bytes"]


def is_ours(kernel):
    return not kernel.startswith(("baseline_", "pytorch_")) and kernel not in ("unfused", "naive")


def ours_of(row):
    """The record of our fastest kernel of a row."""
    return min((r for kernel, r in row.items() if is_ours(kernel)), key=us)


def fastest(row, begin):
    """The record of the fastest kernel of a row whose name begins like this; None: there is none."""
    return min((r for kernel, r in row.items() if kernel.startswith(begin)), key=us, default=None)


def ratio(row, begin):
    """The time of the fastest other kernel whose name begins like this, over that of our fastest kernel for sm_90a."""
    other = fastest(row, begin)
    return f"{us(other) / us(fastest(row, 'sm90_')):.2f}" if other else "–"


def share(row):
    """How near our fastest kernel for sm_90a comes to what limits it."""
    best = fastest(row, "sm90_")
    return f"{100 * best['share_of_limit']:.0f} % of {best['limit']}"


def copied(row):
    """The copy rate's share that our fastest kernel for sm_90a reaches."""
    return f"{100 * fastest(row, 'sm90_')['share_of_copy']:.0f} %"


def short(shape):
    """A shape in words of the page: heads and tokens once where keys and queries have the same."""
    a = dict(word.split("=") for word in shape.split())
    if "seq_q" in a and a["seq_q"] == a.get("seq_k"):
        a["tokens"] = a.pop("seq_q")
        a.pop("seq_k")
    if "heads" in a and a["heads"] == a.get("kv_heads"):
        a.pop("kv_heads")
    order = ["batch", "tokens", "seq_q", "seq_k"]
    return " ".join(f"{k}={a[k]}" for k in sorted(a, key=lambda k: order.index(k) if k in order else len(order)))


def table(columns, rows):
    """The lines of a table in Markdown; a sentence where it has no rows."""
    if not rows:
        return ["Not measured yet."]
    return ["| " + " | ".join(cells) + " |" for cells in [columns, ["---"] * len(columns)] + rows]
