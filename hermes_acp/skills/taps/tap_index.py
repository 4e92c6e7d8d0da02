"""The index of a tap: `index.json` in the root of its repository, which a static host can serve too."""

from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.skills.skill_document import DESCRIPTION_CHARACTERS, NAME, NAME_CHARACTERS

INDEX_FILE: Final = "index.json"
SKILLS_FOLDER: Final = "skills"
FORMAT: Final = 1
MAX_INDEX_BYTES: Final = 2 << 20
MAX_SKILLS: Final = 5_000


class PublishedSkill(Struct, frozen=True, forbid_unknown_fields=False):
    """A skill in a tap: its version, which only increases, the digest of its files, and its capabilities."""

    description: str
    version: int
    digest: str
    capabilities: tuple[str, ...] = ()


class TapIndex(Struct, frozen=True):
    """The skills of a tap by name. `serial` increases with every change, so that an old index is detected."""

    serial: int
    skills: Mapping[str, PublishedSkill] = {}
    format: int = FORMAT


def read_index(content: bytes) -> TapIndex:
    """Parse and check an index. Raises BadRequest."""
    if len(content) > MAX_INDEX_BYTES:
        raise BadRequest(f"The index has {len(content):,} bytes; at most {MAX_INDEX_BYTES:,} are allowed.")
    try:
        index = msgspec.json.decode(content, type=TapIndex)
    except msgspec.MsgspecError as error:
        raise BadRequest(f"{INDEX_FILE} cannot be read: {error}.") from error
    if index.format != FORMAT:
        raise BadRequest(
            f"{INDEX_FILE} has the format {index.format}, which is newer than this program.",
            hint="Update hermes-acp.",
        )
    if index.serial < 1 or len(index.skills) > MAX_SKILLS:
        raise BadRequest(f"{INDEX_FILE} is invalid: serial {index.serial}, {len(index.skills)} skills.")
    for name, skill in index.skills.items():
        if not NAME.fullmatch(name) or len(name) > NAME_CHARACTERS:
            raise BadRequest(f"{INDEX_FILE} names {name[:80]!r}, which is not a valid skill name.")
        if skill.version < 1 or len(skill.description) > DESCRIPTION_CHARACTERS:
            raise BadRequest(f"{INDEX_FILE} has an invalid entry for {name}.")
    return index


def index_bytes(index: TapIndex) -> bytes:
    """Serialise an index."""
    return msgspec.json.format(msgspec.json.encode(index, order="sorted"), indent=2) + b"\n"
