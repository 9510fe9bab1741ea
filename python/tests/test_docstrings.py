# SPDX-License-Identifier: Apache-2.0
"""What help() shows: each public class, function, method and property says what it is, and functions explain each argument."""

import importlib
import importlib.util
import inspect
import re

import pytest

import assay
import assay.triton


def public():
    """(name, object) of all that users import."""
    for module in (assay, assay.formula, assay.triton):
        for name in module.__all__:
            if not name.startswith("_"):
                yield f"{module.__name__}.{name}", getattr(module, name)
    if importlib.util.find_spec("torch"):
        ops = importlib.import_module("assay.torch")
        for name in ("replace", "Direct", *ops.__all__):
            yield f"assay.torch.{name}", getattr(ops, name)


def members(owner):
    """The methods and properties that a class of this package defines, but for those of Python."""
    for name, member in vars(owner).items():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, (property, staticmethod))):
            yield f"{owner.__name__}.{name}", member


def wordless(name, thing):
    """What its docstring lacks."""
    text = inspect.getdoc(thing) or ""
    if not text:
        return [f"{name} has no docstring"]
    if inspect.isclass(thing):
        return [lack for member in members(thing) for lack in wordless(*member)]
    if isinstance(thing, (property, staticmethod)):
        return []
    parameters = [p.name for p in inspect.signature(thing).parameters.values() if p.name != "self"]
    return [f"{name} does not explain '{p}'" for p in parameters if not re.search(rf"\b{p}\b", text)]


def test_all_is_explained():
    lacks = [lack for name, thing in public() for lack in wordless(name, thing)]
    assert not lacks, "\n".join(lacks)


def test_what_is_not_explained_is_found():
    class Dumb:
        """A class."""

        def method(self):
            pass

        def takes(self, rows, cols):
            """Takes rows."""

    assert wordless("Dumb", Dumb) == ["Dumb.method has no docstring", "Dumb.takes does not explain 'cols'"]


@pytest.mark.parametrize("function", [assay.validate, assay.check, assay.golden, assay.bench, assay.describe])
def test_functions_say_what_they_return_and_raise(function):
    assert {"Args:", "Returns:", "Raises:"} <= set(inspect.getdoc(function).splitlines())
