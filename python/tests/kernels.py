# SPDX-License-Identifier: Apache-2.0
"""Callables to judge, right and wrong."""

import ctypes

import numpy as np

import assay


def softmax(x):
    """One row after the other, in f32."""
    p = np.exp(x.astype(np.float32) - x.max(axis=1, keepdims=True))
    return (p / p.sum(axis=1, keepdims=True)).astype(x.dtype)


def needs_finite(x):
    assert np.isfinite(x).all()
    return softmax(x)


def skips_rows(x):
    p = softmax(x)
    p[128:] = 0
    return p


def no_maximum(x):
    p = np.exp(x)
    return p / p.sum(axis=1, keepdims=True)


def leaves_ends(x):
    y = np.empty_like(x)
    y[:, 1:] = softmax(x)[:, 1:]
    return y


_kept = {}


def keeps_answers(x):
    """Trusts that the inputs of a shape do not change."""
    if x.shape not in _kept:
        _kept[x.shape] = softmax(x)
    return _kept[x.shape]


def writes_input(x):
    x.setflags(write=True)
    x[...] = 0
    return x


def raises(x):
    return softmax(x) / 0 if x.shape[1] < 0 else {}["key"]


def crashes(x):
    ctypes.string_at(0)


def declines_wide(x):
    if x.shape[1] > 100:
        raise assay.Unsupported("takes at most 100 columns")
    return softmax(x)


def takes_few_columns(x):
    if x.shape[1] > 64:
        raise assay.Unsupported("a few columns")
    return softmax(x)


def forgets(x):
    if x.shape[1] > 64:
        raise MemoryError("no")
    return softmax(x)


def declines(x):
    raise assay.Unsupported("takes nothing")


def returns_nothing(x):
    softmax(x)


def returns_f64(x):
    return softmax(x).astype(np.float64)


def returns_two(x):
    return softmax(x), softmax(x)


def returns_a_list(x):
    return softmax(x).tolist()


def needs_more(x, temperature):
    return softmax(x / temperature)


def by_position(x, /):
    return softmax(x)


def gelu(x):
    """Form tanh alone, the default."""
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        return (wide / (1 + np.exp(-2 * np.sqrt(2 / np.pi) * (wide + 0.044715 * wide**3)))).astype(x.dtype)


def cross_entropy(x, target):
    wide = x.astype(np.float64)
    top = wide.max(axis=1, initial=-np.inf, keepdims=True)
    with np.errstate(all="ignore"):
        loss = np.log(np.exp(wide - top).sum(axis=1)) - (wide[np.arange(len(x)), target] - top[:, 0])
        return loss.astype(np.float32), loss.mean(keepdims=True).astype(np.float32)


def kv_append(k, v, page_table, lengths, k_pool, v_pool):
    """Changes both pools and returns nothing."""
    page_size = k_pool.shape[1]
    for b, length in enumerate(lengths):
        for i in range(k.shape[1]):
            p = int(length) - k.shape[1] + i
            if p >= 0:
                place = page_table[b, p // page_size], p % page_size
                k_pool[place], v_pool[place] = k[b, i], v[b, i]


def rope(q, k, positions, frequencies, layout_of_pairs, in_place, rotary_dim, base, offset):
    """Changes q and k in place, or returns two outputs."""
    channels = rotary_dim or q.shape[-1] // 2 * 2
    pairs = channels // 2
    if positions is None:
        positions = np.broadcast_to(np.arange(q.shape[1]), q.shape[:2])
    if frequencies is None:
        frequencies = float(base or 10000) ** (-2.0 * np.arange(pairs) / channels)
    angle = (positions.astype(np.int64) + offset)[..., None] * frequencies[:pairs].astype(np.float64)
    cos, sin = np.cos(angle)[:, :, None, :], np.sin(angle)[:, :, None, :]
    first, second = (
        (slice(0, pairs), slice(pairs, channels)) if layout_of_pairs == "half" else (slice(0, channels, 2), slice(1, channels, 2))
    )
    out = []
    for t in (q, k):
        o = t if in_place else t.copy()
        a, b = t[..., first].astype(np.float64), t[..., second].astype(np.float64)
        with np.errstate(invalid="ignore"):
            o[..., first], o[..., second] = a * cos - b * sin, a * sin + b * cos
        out.append(o)
    return None if in_place else tuple(out)
