"""Convert a server's results to text for the model."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hermes_acp.core import untrusted_text
from hermes_acp.core.proposals import Result
from hermes_acp.core.untrusted_text import plain, truncate_middle

if TYPE_CHECKING:
    from mcp.types import CallToolResult


def to_result(answer: "CallToolResult", server: str, clean: Callable[[str], str]) -> Result:
    """Format an answer: text as it is, images and audio as kind and size, structured content as JSON.

    `clean` removes attempts to instruct the model. Blocks for as long as `clean` does.
    """
    pieces = [render_content(block) for block in answer.content]
    structured = answer.structured_content
    if structured is not None and not any(_repeats(piece, structured) for piece in pieces):
        pieces.append(json.dumps(structured, ensure_ascii=False))
    text = "\n".join(pieces) or "(no content)"
    return Result(fence(text, server, clean), is_error=bool(answer.is_error))


def fence(text: str, server: str, clean: Callable[[str], str] = str) -> str:
    """Truncate and clean text, and put it between markers that name its server."""
    return untrusted_text.fence(clean(truncate_middle(text)), f"Output of the MCP server {plain(server)!r}")


def _repeats(piece: str, structured: Any) -> bool:
    try:
        return json.loads(piece) == structured or structured == {"result": piece}
    except (ValueError, RecursionError):
        return structured == {"result": piece}


def render_content(block: Any) -> str:
    """Format a content block: text as it is, anything else as kind and size."""
    match block.type:
        case "text":
            return block.text
        case "image" | "audio":
            return f"[{block.type}, {plain(block.mime_type)}, {_size_bytes(block.data):,} bytes: not shown]"
        case "resource_link":
            return f"[resource {plain(block.name)}: {plain(block.uri)}]"
        case "resource":
            return render_resource(block.resource)
        case other:
            return f"[content of the kind {plain(str(other))}: not shown]"


def render_resource(resource: Any) -> str:
    """Format a resource's content under its address: text as it is, anything else as kind and size."""
    address = f"[resource {plain(resource.uri)}"
    if hasattr(resource, "text"):
        return f"{address}]\n{resource.text}"
    size = _size_bytes(resource.blob)
    if (resource.mime_type or "").startswith("image/"):
        return f"{address}, {plain(resource.mime_type)}, {size:,} bytes: not shown]"
    return f"{address}, binary, {size:,} bytes: not shown]"


def _size_bytes(data_base64: str) -> int:
    return len(data_base64) * 3 // 4 - data_base64[-2:].count("=")
