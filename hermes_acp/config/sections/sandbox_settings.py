"""The settings for the sandbox in which commands run."""

import re
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from hermes_acp.config.settings_section import Section

_HOST: Final = re.compile(r"(\*\.)?[a-z0-9_-]+(\.[a-z0-9_-]+)*(:[0-9]{1,5})?")
_SIZE: Final = re.compile(r"([0-9]+)\s*([KMGT]?)i?B?", re.IGNORECASE)
_POWERS: Final = "KMGT"


def _host(written: str) -> str:
    host = written.strip().rstrip(".").lower()
    if not _HOST.fullmatch(host):
        raise ValueError("must be a host such as pypi.org, *.pypi.org or pypi.org:8443")
    return host


def _folder(written: str) -> str:
    if not written.startswith("/") or written.rstrip("/") == "" or "/../" in f"{written}/":
        raise ValueError("must be the absolute path of a folder other than /")
    return written.rstrip("/")


def _bytes(written: object) -> object:
    if not isinstance(written, str):
        return written
    read = _SIZE.fullmatch(written.strip())
    if not read:
        raise ValueError("must be a number of bytes such as 4G or 500M")
    return int(read[1]) * 1024 ** (1 + _POWERS.index(read[2].upper()) if read[2] else 0)


def _switch(written: object) -> object:
    return {True: "on", False: "off"}.get(written, written) if isinstance(written, bool) else written


Folder = Annotated[str, AfterValidator(_folder)]
Size = Annotated[int, BeforeValidator(_bytes), Field(ge=1 << 20)]
Hosts = tuple[Annotated[str, AfterValidator(_host)], ...]


class SandboxSettings(Section):
    """Which commands run in a sandbox, and what they can do in it."""

    mode: Annotated[Literal["auto", "on", "off"], BeforeValidator(_switch)] = "auto"
    """Which commands are sandboxed: those you did not approve (`auto`), all (`on`), none (`off`)."""
    network: Annotated[Literal["off", "on"] | Hosts, BeforeValidator(_switch)] = "off"
    """What sandboxed commands can reach: nothing (`off`), everything (`on`), or a list of hosts."""
    read_only: tuple[Folder, ...] = ()
    """Readable folders, besides the system, toolchains and the session's own folders."""
    writable: tuple[Folder, ...] = ()
    """Writable folders, besides the session's own."""
    variables: tuple[str, ...] = ()
    """Environment variables passed to commands besides the usual ones. A name can end in `*`."""
    max_processes: Annotated[int, Field(ge=16, le=100_000)] = 512
    """Maximum number of processes at once."""
    memory: Size | None = None
    """Memory per process, in bytes or as a size such as `8G`. Default: three quarters of the machine's."""
    file_size: Size | None = None
    """Maximum size of a written file, in bytes or as a size such as `1G`."""
    cpu_s: Annotated[int, Field(ge=1)] | None = None
    """CPU time per process, in seconds."""
