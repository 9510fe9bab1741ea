# SPDX-License-Identifier: Apache-2.0
"""Which function a worker process is to import, and how it does."""

from __future__ import annotations

import functools
import hashlib
import importlib
import importlib.util
import inspect
import os
import sys
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

from .errors import InputError


class Stop(BaseException):
    """Raised in a worker where a script calls this package: the script is read only as far as that."""


_reading = False  # whether this process is a worker that reads a script


def stop_reading() -> None:
    """What every function that runs a judge begins with: a worker that reads the caller's script goes no further."""
    if _reading:
        raise Stop


def load(target: str, folders: Sequence[str] = ()) -> Callable[..., Any]:
    """The function that FILE.py:FUNCTION or MODULE:FUNCTION names.

    Args:
        target: these words.
        folders: to import from first.

    Raises:
        InputError: there is no such file or function.
    """
    place, _, name = target.rpartition(":")
    if not place or not name:
        raise InputError(f"'{target}' names no function, as FILE.py:FUNCTION and MODULE:FUNCTION do")
    sys.path[:0] = folders
    found, is_whole = module_of(place)
    until = "" if is_whole else " above its first call of this package, where another process stops reading it"
    for part in name.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise InputError(f"'{place}' has no '{name}'{until}") from None
    return found


def module_of(place: str) -> tuple[Any, bool]:
    """The module that FILE.py or MODULE names, and whether it was read to its end.

    Raises:
        InputError: there is no such file.
    """
    global _reading
    _reading = True
    try:
        return (_of_file(place) if place.endswith(".py") else importlib.import_module(place)), True
    except Stop:
        return sys.modules[_module_name(place)], False
    finally:
        _reading = False


def _module_name(place: str) -> str:
    return Path(place).stem if place.endswith(".py") else place


def _of_file(path: str) -> Any:
    if not os.path.isfile(path):
        raise InputError(f"there is no file '{path}'")
    name = _module_name(path)
    sys.path.insert(0, str(Path(path).resolve().parent))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Renamed:
    """A callable that takes arguments by other names than its op's, and constants beside them.

    Attributes:
        fn: the callable.
        names: its names, by the op's.  Those that its signature lacks are left as the op has them.
        constants: what it gets too, if it names it.
    """

    def __init__(self, fn: Callable[..., Any], names: Mapping[str, str], constants: Mapping[str, Any]) -> None:
        self.fn = fn
        functools.update_wrapper(self, fn)
        signature = inspect.signature(fn)
        taken = signature.parameters
        takes_any = any(p.kind == p.VAR_KEYWORD for p in taken.values())
        self.names = {ours: theirs for ours, theirs in names.items() if takes_any or theirs in taken}
        self.constants = {name: value for name, value in constants.items() if name in taken}
        own = {theirs: ours for ours, theirs in self.names.items()}
        renamed = [p.replace(name=own.get(p.name, p.name)) for p in taken.values() if p.name not in self.constants]
        self.__signature__ = signature.replace(parameters=renamed)

    def __call__(self, **arguments: Any) -> Any:
        return self.fn(**{self.names.get(name, name): value for name, value in arguments.items()}, **self.constants)


def target_of(fn: Callable[..., Any]) -> tuple[str, list[str]]:
    """The target and the folders by which load() finds fn in another process.

    Raises:
        InputError: fn cannot be imported, as closures, lambdas, methods of objects and functions typed by hand cannot.
    """
    why = "another process cannot import it, so that isolation='none' is needed"
    name = getattr(fn, "__qualname__", None)
    module = sys.modules.get(getattr(fn, "__module__", None) or "")
    what = f"'{name}'" if name else repr(fn)
    if not name or module is None:
        raise InputError(f"{what} is no function of a module: {why}")
    found: Any = module
    for part in name.split("."):
        found = getattr(found, part, None)
    if found is not fn:
        raise InputError(f"{what} is not what '{module.__name__}' has by that name: {why}")
    file = getattr(module, "__file__", None)
    package = getattr(module, "__package__", None)
    if not file:
        if module.__name__ == "__main__":
            raise InputError(f"{what} was typed by hand: {why}")
        return f"{module.__name__}:{name}", []
    path = Path(file).resolve()
    if not package or module.__name__ == "__main__":
        return f"{_shortest(path)}:{name}", []
    up = len(module.__name__.split(".")) - (path.name != "__init__.py")
    root = path.parents[up]
    return f"{module.__name__}:{name}", [] if _is_known(root) else [_shortest(root)]


def _shortest(path: Path) -> str:
    """The path from the current folder on, if it lies below."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def _is_known(root: Path) -> bool:
    """Whether every Python of this installation imports from the folder."""
    return root == Path.cwd() or "site-packages" in root.parts or root == Path(inspect.__file__).parent


def code_hash(fn: Callable[..., Any]) -> str:
    """A hash of the file that has fn; of a function without a file, of its source or its code; else empty."""
    try:
        text = Path(inspect.getsourcefile(inspect.unwrap(fn)) or "").read_bytes()
    except (OSError, TypeError):
        code = getattr(fn, "__code__", None)
        text = code.co_code if code else b""
    return hashlib.sha256(text).hexdigest()[:16] if text else ""
