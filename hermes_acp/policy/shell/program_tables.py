"""Tables of known programs, read from `commands.toml` when the first command is analysed."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Final, Literal

import msgspec
from msgspec import Struct

Takes = Literal["nothing", "text", "number", "path", "script", "maybe", "range", "pair", "setting"]
Language = Literal[
    "", "sed", "awk", "jq", "yq", "sql", "format", "bounds", "pattern", "name", "package", "duration"
]
Operands = Literal[
    "none",
    "text",
    "free",
    "paths",
    "folders",
    "script",
    "database",
    "revisions",
    "pattern and revisions",
    "plus",
    "ps",
    "words",
    "variables",
]
MARKS: Final[Mapping[str, Takes]] = MappingProxyType(
    {
        "=": "text",
        "#": "number",
        "@": "path",
        "!": "script",
        "?": "maybe",
        ":": "range",
        "&": "pair",
        "~": "setting",
    }
)


class ProgramSpec(Struct, frozen=True, forbid_unknown_fields=True):
    """The read-only usage of a program or of one of its subcommands."""

    flags: str = ""
    operands: Operands = "none"
    most: int | None = None
    least: int = 0
    counts: bool = False
    single: bool = False
    language: Language = ""
    deep: str = ""
    needs: str = ""
    needs_for_operands: bool = False
    stands_alone: str = ""
    old_style: str = ""
    flags_first: bool = False
    words: tuple[str, ...] = ()
    drops: tuple[str, ...] = ()
    lead: str = ""
    expands: str = ""
    forbidden: str = ""
    starts: str = ""
    is_fed: bool = False
    tells: str = ""
    tells_more: str = ""
    names: str = ""
    skips_hidden: bool = False
    unhides: str = ""
    shows: Literal["contents", "names", "public"] = "contents"
    may_name_file: bool = False
    refuses: str = ""
    is_interactive: bool = False
    globals: str | None = None
    version: str = ""


class WrapperTable(Struct, frozen=True, forbid_unknown_fields=True):
    """Programs that start other programs named in their arguments."""

    transparent: frozenset[str]
    direct: frozenset[str]
    words: frozenset[str]
    scripts: frozenset[str]
    shells: frozenset[str]


class ChangeTable(Struct, frozen=True, forbid_unknown_fields=True):
    """Which arguments of modifying programs are the paths that they change."""

    deletes: frozenset[str]
    all: frozenset[str]
    last: frozenset[str]
    sources: frozenset[str]
    prefixed: dict[str, str]
    flagged: dict[str, str]
    in_place: dict[str, str]


class RememberedPrefix(Struct, frozen=True, forbid_unknown_fields=True):
    """A command prefix that may be remembered together with this many more words."""

    words: int = 0


class ProgramHazard(Struct, frozen=True, forbid_unknown_fields=True):
    """The words that make a call of a program risky, so that a rule for its first words does not cover it."""

    letters: str = ""
    long: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    script: Literal["", "sed", "awk", "jq"] = ""


class VariableTable(Struct, frozen=True, forbid_unknown_fields=True):
    """The variables that a command line may set, and the values permitted for them."""

    harmless: frozenset[str]
    own: frozenset[str]
    values: dict[str, frozenset[str]]


class _Programs(Struct, frozen=True, forbid_unknown_fields=True):
    names: frozenset[str]


class ProgramTables(Struct, frozen=True, forbid_unknown_fields=True):
    """The contents of the whole file."""

    read_only: dict[str, ProgramSpec]
    aliases: dict[str, str]
    versions: dict[str, frozenset[str]]
    wrappers: WrapperTable
    changes: ChangeTable
    variables: VariableTable
    beginnings: dict[str, RememberedPrefix]
    manifests: dict[str, tuple[str, ...]]
    helps: _Programs
    interpreters: _Programs
    elevators: _Programs
    tellers: _Programs
    hazards: dict[str, ProgramHazard]
    reasons: dict[str, frozenset[str]]

    def program_spec(self, name: str) -> ProgramSpec | None:
        """Return the read-only usage of a program or subcommand, resolving aliases."""
        return self.read_only.get(self.aliases.get(name, name))

    def why_asked(self, name: str) -> str:
        """Say why a program with its first words (`name`) needs approval; return an empty string if it is unknown."""
        words = name.split()
        heads = (" ".join(words[:count]) for count in range(len(words), 0, -1))
        told = ((head, reason) for head in heads for reason, known in self.reasons.items() if head in known)
        head, reason = next(told, ("", ""))
        return f"{head.removesuffix(' alone')} {reason}".strip()


@cache
def load_tables() -> ProgramTables:
    """Read the file on first use."""
    import tomllib

    with (Path(__file__).parent / "commands.toml").open("rb") as file:
        return msgspec.convert(tomllib.load(file), ProgramTables)


@cache
def flags_of(spec: str) -> Mapping[str, Takes]:
    """Return the kind of argument that each flag in a table line takes, according to the mark at its end."""
    flags: dict[str, Takes] = {}
    for token in spec.split():
        takes = MARKS.get(token[-1]) if token[0] == "-" and len(token) > 1 else None
        flags[token[:-1] if takes else token] = takes or "nothing"
    return MappingProxyType(flags)
