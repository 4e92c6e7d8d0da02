"""Render a frontend's messages as one text for reviewers: every constant, and every function with placeholders.

`python -m tests.golden.message_catalogue PACKAGE FILE` writes it.
"""

import importlib
import inspect
import itertools
import pkgutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, NoneType, UnionType
from typing import Any, Literal, Union, cast, get_args, get_origin, get_type_hints

FOLDER = Path(__file__).parent / "messages"


class Number(int):
    """A number that is written as its name."""

    name: str

    def __new__(cls, name: str, value: int) -> "Number":
        number = super().__new__(cls, value)
        number.name = name
        return number

    def __format__(self, format_spec: str) -> str:
        return f"{{{self.name}}}"

    def __str__(self) -> str:
        return f"{{{self.name}}}"

    __repr__ = __str__


def catalogue(package: str) -> str:
    """Return every message in a module or a package of modules, by module and name."""
    return (
        "\n\n".join("\n".join(lines) for module in modules(package) if len(lines := [*section(module)]) > 1)
        + "\n"
    )


def modules(package: str) -> Iterator[ModuleType]:
    found = importlib.import_module(package)
    yield found
    for each in pkgutil.iter_modules(getattr(found, "__path__", ()), f"{package}."):
        yield from modules(each.name)


def section(module: ModuleType) -> Iterator[str]:
    yield f"# {module.__name__.rpartition('.')[2]}"
    contents: dict[str, Any] = vars(module)
    for name, value in contents.items():
        if inspect.isfunction(value) and value.__module__ == module.__name__ and not name.startswith("_"):
            names = ", ".join(inspect.signature(value).parameters)
            yield from entry(f"{name}({names})", sentences(value))
        elif name.isupper():
            yield from constant(name, value)


def constant(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from entry(name, [value])
    elif isinstance(value, tuple):
        yield from entry(name, [str(each) for each in cast("tuple[object, ...]", value)])
    elif isinstance(value, Mapping):
        for key, each in cast("Mapping[object, object]", value).items():
            yield from constant(f"{name}[{key}]", each)


def entry(name: str, texts: list[str]) -> Iterator[str]:
    yield f"\n{name}"
    for text in texts:
        yield from (f"    {line}" for line in text.split("\n"))


def sentences(function: Callable[..., object]) -> list[str]:
    """Return a function's messages for every kind of argument, each once."""
    hints = get_type_hints(function)
    parameters = inspect.signature(function).parameters
    samples = [
        samples_of(name, hints[name], has_default=parameter.default is not parameter.empty)
        for name, parameter in parameters.items()
    ]
    said = [
        str(function(**dict(zip(parameters, values, strict=True)))) for values in itertools.product(*samples)
    ]
    return list(dict.fromkeys(said))


def samples_of(name: str, hint: Any, *, has_default: bool = False) -> list[Any]:
    placeholder = f"{{{name}}}"
    if get_origin(hint) in (Union, UnionType):
        return [sample for each in get_args(hint) for sample in samples_of(name, each)]
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    if hint is NoneType:
        return [None]
    if hint is bool:
        return [True, False]
    if hint in (int, float):
        return [Number(name, value) for value in (2, 1, 0)]
    if hint is str:
        return [placeholder, ""] if has_default else [placeholder]
    return [(placeholder, placeholder)]


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(catalogue(sys.argv[1]), encoding="utf-8")
