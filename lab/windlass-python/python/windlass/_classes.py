"""Classes as algorithms: their names in scenarios, and the classes of those names.

A class has the name ``MODULE:CLASS``. In a scenario it is ``python:MODULE:CLASS@VERSION``. The version is a hash of its source, so that a
folder of results distinguishes the versions of a class. Another process imports the class by its name.
"""

from __future__ import annotations

import inspect
import os
import sys
import traceback
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

from ._controllers import Controller
from ._errors import InputError

_KNOWN: dict[str, dict[str, type[Controller]]] = {}
"""The classes that this process has used, by name and version. The latest version is the last."""
_VERSIONS: dict[type, str] = {}


def named(algorithm: str | type[Controller]) -> str:
    """The text that a scenario has for an algorithm: a name of an algorithm, or a class."""
    if isinstance(algorithm, str):
        return algorithm
    name = _name(algorithm)
    known = _KNOWN.setdefault(name, {})
    version = _version(algorithm)
    known.pop(version, None)
    known[version] = algorithm
    return f"python:{name}@{version}"


def declaration(name: str, version: str | None) -> tuple[str | None, str | None, str]:
    """The services and the loss recovery that a class declares, and its version."""
    found = find(name, version)
    for what in ("like", "recovery"):
        value = getattr(found, what)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{what} must be text, not {type(value).__name__}")
    return found.like, found.recovery, _version(found)


def find(name: str, version: str | None) -> type[Controller]:
    """The class of this name, in this version if it is given."""
    known = _KNOWN.get(name, {})
    if version in known:
        return known[version]
    if version is None and known:
        return list(known.values())[-1]
    found = _imported(name)
    named(found)
    if version is not None and _version(found) != version:
        raise InputError(f"this process has another version of the class: {_version(found)}, not {version}; use the same source everywhere")
    return found


def said(e: BaseException) -> str:
    """An exception of a class in one line, with the place where it was raised."""
    frames = traceback.extract_tb(e.__traceback__)
    if isinstance(e, InputError) or not frames:
        return str(e)
    return f"{type(e).__name__}: {e} ({os.path.basename(frames[-1].filename)}:{frames[-1].lineno})"


def _name(algorithm: Any) -> str:
    _check(algorithm, repr(algorithm))
    return f"{algorithm.__module__}:{algorithm.__qualname__}"


def _check(algorithm: Any, name: str) -> None:
    if not (isinstance(algorithm, type) and issubclass(algorithm, Controller)):
        raise InputError(f"{name} is not an algorithm; expected a name, or a subclass of windlass.Controller or windlass.WindowController")


def _packed(module: str) -> list[str]:
    """The folder of a pack that has the module, for ``windlass unpack --check``."""
    if sys.argv[1:2] != ["unpack"]:
        return []
    bases = [Path(), *(Path(word) for word in sys.argv[2:] if Path(word).is_dir())]
    folders = [folder for base in bases for folder in (base / "classes", *sorted(base.glob("*/classes")))]
    return [str(folder) for folder in folders if (folder / (module.replace(".", "/") + ".py")).is_file()]


def _imported(name: str) -> type[Controller]:
    module, _, path = name.partition(":")
    if "<" in path:
        raise InputError("only its own process has a class that is defined within a function; define it at the top level of a module")
    try:
        # A program's module has another name in its child processes.
        found: Any = sys.modules.get("__mp_main__") if module == "__main__" else None
        sys.path.extend(_packed(module))
        found = found or import_module(module)
    except ImportError as e:
        raise InputError(f"module {module!r} cannot be imported: {e}; the folder of the module must be in PYTHONPATH") from e
    for part in path.split("."):
        if not hasattr(found, part):
            raise InputError(f"module {module!r} has no class {path!r}; define the class in a module that every process can import")
        found = getattr(found, part)
    _check(found, name)
    return found  # type: ignore[no-any-return]


def _version(algorithm: type[Controller]) -> str:
    """A hash that distinguishes the versions of a class: of its source and of the sources of its base classes."""
    if algorithm not in _VERSIONS:
        own = [c for c in algorithm.__mro__ if c is not object and not c.__module__.startswith("windlass.")]
        try:
            source = "".join(inspect.getsource(c) for c in own)
        except (OSError, TypeError):
            # A class typed at a prompt has no stored source, so it is new in each process.
            source = str(uuid4())
        _VERSIONS[algorithm] = sha256(source.encode()).hexdigest()[:8]
    return _VERSIONS[algorithm]
