"""Upload workspace files to a page in the browser, and download the files that it offers."""

from typing import Final

from msgspec import Struct

from hermes_acp.core.errors import WorkspaceError
from hermes_acp.core.ports.web_ports import MAX_BROWSER_FILE_BYTES, BrowserAction, BrowserFile
from hermes_acp.core.ports.workspace_ports import Files
from hermes_acp.core.proposals import Progress, Reads
from hermes_acp.telemetry.secret_files import secret_in
from hermes_acp.tools.safe_display import shown_path
from hermes_acp.tools.secret_checks import inspect_file
from hermes_acp.tools.text_files import read_content
from hermes_acp.web.web_addresses import read_address

MAX_NAME_CHARACTERS: Final = 200


class Upload(Struct, frozen=True):
    """A file to upload to the element `ref` of a page: its resolved path, and the secret in it, if any."""

    ref: str
    path: str
    secret: str
    host: str
    url: str


async def plan_upload(ref: str, named: str, url: str, workspace: Files) -> Upload:
    """Prepare an upload, reading only as much of the file as the check for secrets needs.

    Raises WorkspaceError or BadRequest.
    """
    path = workspace.locate(named)
    address = read_address(url)
    inspected = await inspect_file(workspace, path, named)
    _refuse_large(inspected.size_bytes, shown_path(path, workspace))
    return Upload(ref, path, inspected.secret, address.host, address.url)


async def upload_action(upload: Upload, workspace: Files, progress: Progress) -> BrowserAction:
    """Return the browser action for an approved upload, with the file's current content. Raises WorkspaceError."""
    shown = shown_path(upload.path, workspace)
    content = await read_content(workspace, upload.path)
    _refuse_large(len(content), shown)
    found = secret_in(content)
    if found and not upload.secret and not progress.allows(Reads(upload.path, found)):
        raise WorkspaceError(f"{shown} now holds {found}.", hint="Upload it again to ask the user.")
    file = BrowserFile(upload.path.rpartition("/")[2], content)
    return BrowserAction("upload", ref=upload.ref, host=upload.host, file=file)


async def require_new_file(path: str, workspace: Files) -> None:
    """Raise WorkspaceError if something already exists at the path, because downloads never replace files."""
    if await workspace.read_range(path, 0, 0) is not None:
        shown = shown_path(path, workspace)
        raise WorkspaceError(f"{shown} exists; nothing was downloaded.", hint="Choose another name.")


async def save_download(file: BrowserFile, path: str, workspace: Files) -> str:
    """Save a downloaded file and return a sentence that includes the page's name for it."""
    await require_new_file(path, workspace)
    await workspace.write(path, file.content)
    name = file.name[:MAX_NAME_CHARACTERS]
    shown = shown_path(path, workspace)
    return f"Saved {len(file.content):,} bytes as {shown}; the page calls the file {name}."


def _refuse_large(size_bytes: int, shown: str) -> None:
    if size_bytes > MAX_BROWSER_FILE_BYTES:
        raise WorkspaceError(
            f"{shown} has {size_bytes:,} bytes; uploads may have up to {MAX_BROWSER_FILE_BYTES:,}."
        )
