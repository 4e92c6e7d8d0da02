"""Serve files from a local folder to the agent: `open_agent(serves=serve_files("/path/to/project"))`."""

import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread

from hermes_acp_client.answers import READ_FILE, WRITE_FILE
from hermes_protocol.errors import INVALID_PARAMS, NOT_FOUND, PeerError

Serve = Callable[[dict[str, Any]], Awaitable[dict[str, Any] | None]]
OnWrite = Callable[[str, str], Awaitable[None]]


def serve_files(root: str, *, on_write: OnWrite | None = None) -> Mapping[str, Serve]:
    """Serve the text files below an absolute folder; links that lead out of it are rejected.

    If `on_write(path, text)` is given, it is called instead of writing the file: it can show, keep or write the text.
    """
    top = Path(root).resolve()

    async def read(params: dict[str, Any]) -> dict[str, Any]:
        path = _inside(top, params["path"])
        text = await anyio.to_thread.run_sync(_read, path)
        lines = text.splitlines(keepends=True)
        first = max(0, (params.get("line") or 1) - 1)
        limit = params.get("limit")
        wanted = lines[first:] if limit is None else lines[first : first + limit]
        return {"content": "".join(wanted)}

    async def write(params: dict[str, Any]) -> None:
        path = _inside(top, params["path"])
        if on_write is not None:
            await on_write(str(path), params["content"])
        else:
            await anyio.to_thread.run_sync(_write, path, params["content"])

    return {READ_FILE: read, WRITE_FILE: write}


def _inside(top: Path, named: str) -> Path:
    path = Path(os.path.realpath(named))
    if not path.is_relative_to(top):
        raise PeerError(INVALID_PARAMS, f"{named} is outside {top}")
    return path


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise PeerError(NOT_FOUND, f"{path} does not exist") from error
    except (OSError, UnicodeDecodeError) as error:
        raise PeerError(INVALID_PARAMS, f"{path} cannot be read: {error}") from error


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise PeerError(INVALID_PARAMS, f"{path} cannot be written: {error}") from error
