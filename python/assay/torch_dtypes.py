# SPDX-License-Identifier: Apache-2.0
"""Where two formulas that were read of one reference differ, each in another dtype (torch_reference.py).

Steps are passed over, since a cast among floating-point formats leaves the answer as it is.
"""

from __future__ import annotations

from typing import Mapping, NamedTuple, Sequence

from . import formula as f


class Difference(NamedTuple):
    """The first parts that differ.

    Attributes:
        place: "FILE:LINE: " of the line that made the right one; empty: it is unknown.
        left, right: the parts in words.
    """

    place: str
    left: str
    right: str


def difference(left: Sequence[f.Symbol], right: Sequence[f.Symbol], places: Mapping[f.Symbol, str]) -> Difference | None:
    """Where the results of two formulas differ; None: nowhere.  `places`: of symbols on the right."""
    if len(left) != len(right):
        return Difference("", _counted(len(left)), _counted(len(right)))
    seen: set[tuple[int, int]] = set()
    stack = [(a, b, "", (a, b)) for a, b in reversed(list(zip(left, right)))]
    while stack:
        a, b, place, whole = stack.pop()
        a, b = _without_steps(a), _without_steps(b)
        if (id(a), id(b)) in seen:
            continue
        seen.add((id(a), id(b)))
        place = places.get(b) or place
        if isinstance(a, f.Scan) and isinstance(b, f.Scan):  # Note: their states have no text yet
            seen.update((id(x), id(y)) for x, y in zip(a.states, b.states))
        if not _is_same(a, b):
            return Difference(place, *map(_said, whole if a.is_leaf and b.is_leaf else (a, b)))
        stack.extend((x, y, place, (a, b)) for x, y in reversed(list(zip(_parts(a), _parts(b)))))
    return None


def _without_steps(symbol: f.Symbol) -> f.Symbol:
    while symbol.text.startswith("step["):
        symbol = symbol.of[0]
    return symbol


def _parts(symbol: f.Symbol) -> tuple[f.Symbol, ...]:
    return (*symbol.firsts, *symbol.after, *symbol.out) if isinstance(symbol, f.Scan) else symbol.of


def _is_same(a: f.Symbol, b: f.Symbol) -> bool:
    """Whether two symbols are the same but for their parts."""
    if isinstance(a, f.Scan) or isinstance(b, f.Scan):
        return (
            isinstance(a, f.Scan)
            and isinstance(b, f.Scan)
            and a.axis == b.axis
            and len(a.states) == len(b.states)
            and len(a.out) == len(b.out)
        )
    if len(a.of) != len(b.of) or _place_in_scan(a) != _place_in_scan(b):
        return False
    if a.is_leaf and not a.text:  # the states of a scan, of which those that belong together have been seen
        return False
    return a.text == b.text


def _place_in_scan(symbol: f.Symbol) -> int | None:
    """Which result of a scan a symbol is; None: it is none."""
    scan = symbol.of[0] if len(symbol.of) == 1 else None
    if not isinstance(scan, f.Scan):
        return None
    return next((i for i, result in enumerate(scan.results) if result is symbol), None)


def _said(symbol: f.Symbol, depth: int = 2) -> str:
    """A part in words, of which the innermost parts are left out."""
    symbol = _without_steps(symbol)
    if isinstance(symbol, f.Scan) or not symbol.text:
        return "a recurrence"
    if symbol.is_leaf or not symbol.of:
        return symbol.text
    parts = (_said(part, depth - 1) if depth else "..." for part in symbol.of)
    is_call = symbol.text[0].isalpha()
    return symbol.text.format(*(f"({part})" if " " in part and not is_call else part for part in parts))


def _counted(count: int) -> str:
    return f"{count} output{'' if count == 1 else 's'}"
