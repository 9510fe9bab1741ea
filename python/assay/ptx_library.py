# SPDX-License-Identifier: Apache-2.0
"""The C interface of the simulated machine (libassay_ptx.so, include/assay_ptx.h)."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from pathlib import Path

from . import library
from .errors import LibraryError

VARIABLE = "ASSAY_PTX"  # in the environment: the shared object to use
_VERSION = 1
lock = threading.RLock()  # a process has one machine


class COptions(ctypes.Structure):
    """AssayPtxOptions: how launches run."""

    _fields_ = [
        ("order", ctypes.c_int32),
        ("watch", ctypes.c_int32),
        ("seed", ctypes.c_uint64),
        ("time_limit_s", ctypes.c_double),
        ("replicated", ctypes.c_int32),
    ]


class CLaunch(ctypes.Structure):
    """AssayPtxLaunch: one launch."""

    _fields_ = [
        ("grid", ctypes.c_uint32 * 3),
        ("block", ctypes.c_uint32 * 3),
        ("shared_bytes", ctypes.c_uint64),
        ("parameters", ctypes.c_char_p),
        ("parameter_bytes", ctypes.c_uint64),
    ]


class CFinding(ctypes.Structure):
    """AssayPtxFinding: what a kernel did that no kernel may do."""

    _fields_ = [
        ("kind", ctypes.c_char_p),
        ("message", ctypes.c_char_p),
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_int32),
        ("ptx_line", ctypes.c_int32),
    ]


@functools.lru_cache(maxsize=None)
def opened() -> ctypes.CDLL:
    """The shared object that ASSAY_PTX names, or the one beside the program `validate`.

    Raises:
        LibraryError: there is none, or it has another version than this package.
    """
    named = os.environ.get(VARIABLE)
    path = named or str(Path(library.program()).resolve().parent / "libassay_ptx.so")
    try:
        lib = ctypes.CDLL(path)
    except OSError as e:
        raise LibraryError(f"the simulated machine cannot be opened: {e}  ({VARIABLE} names another object)") from None
    pointer = ctypes.c_void_p
    size = ctypes.c_uint64
    for name, result, *arguments in (
        ("version", ctypes.c_uint32),
        ("why", ctypes.c_char_p),
        ("load", pointer, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p),
        ("entry", pointer, pointer, ctypes.c_char_p),
        ("unload", None, pointer),
        ("fidelity", ctypes.c_char_p, pointer),
        ("parameters", ctypes.c_size_t, pointer, ctypes.POINTER(size), ctypes.POINTER(size), ctypes.c_size_t),
        ("parameter_bytes", size, pointer),
        ("allocate", pointer, size, size, ctypes.c_char_p),
        ("release", None, pointer),
        ("mark_written", None, pointer, size),
        ("touched", ctypes.c_int32, pointer),
        ("written", None, pointer, size, pointer),
        ("configure", None, ctypes.POINTER(COptions)),
        ("suspected", ctypes.c_int32, ctypes.POINTER(CFinding)),
        ("launch", ctypes.c_int32, pointer, ctypes.POINTER(CLaunch), ctypes.POINTER(CFinding)),
    ):
        try:
            function = getattr(lib, f"assay_ptx_{name}")
        except AttributeError:
            raise LibraryError(f"'{path}' is no libassay_ptx.so of this version: it lacks assay_ptx_{name}") from None
        function.restype = result
        function.argtypes = arguments
    if lib.assay_ptx_version() != _VERSION:
        raise LibraryError(f"'{path}' has the interface {lib.assay_ptx_version()}, and this package needs {_VERSION}")
    return lib


def why() -> str:
    """Why the last call of the interface failed."""
    return str(opened().assay_ptx_why().decode(errors="replace"))
