"""Write the data sets of `hermes-acp sessions export`, after a summary in numbers and the user's confirmation.

The data set is first written to a temporary file beside its target, so the summary matches the result exactly.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from tempfile import NamedTemporaryFile

import anyio
import anyio.to_thread

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import BadRequest, StorageError
from hermes_acp.frontends.cli.cli_output import escaped, note
from hermes_acp.frontends.cli.messages import command_messages, session_messages
from hermes_acp.frontends.cli.sessions import messages as export_messages
from hermes_acp.frontends.command_line.line_input import read_line
from hermes_acp.sessions.stored_sessions import StoredSessions
from hermes_acp.storage.private_files import write_whole
from hermes_acp.storage.session_store import SessionStore
from hermes_acp.storage.tool_schema_store import ToolSchemaStore
from hermes_acp.trajectories.dataset_export import DatasetExport
from hermes_acp.trajectories.event_cleaning import SessionCleaner
from hermes_acp.trajectories.export_manifest import NOTE
from hermes_acp.trajectories.exporting_person import mask_of_environment, names_of_person


async def export_dataset(store: SessionStore, ids: Sequence[str], options: argparse.Namespace) -> int:
    """Write sessions as one data set if the user agrees; return the exit code, which is 1 if not.

    Raises BadRequest if the file exists or nobody can be asked, or StorageError.
    """
    if options.output in (None, "-"):
        raise BadRequest(export_messages.NEEDS_FILE, hint=export_messages.NEEDS_FILE_HINT)
    target = Path(options.output)
    manifest = target.with_name(f"{target.name}.manifest.json")
    _check_target(target, manifest, may_replace=options.force)
    records = [StoredSessions(store).path(each) for each in ids]
    try:
        one_more = anyio.CapacityLimiter(1)  # it waits for an answer
        return await anyio.to_thread.run_sync(_export, records, target, manifest, options, limiter=one_more)
    except OSError as error:
        reason = error.strerror or str(error)
        raise StorageError(session_messages.export_unwritable(options.output, reason)) from error


def _check_target(target: Path, manifest: Path, *, may_replace: bool) -> None:
    if target.is_dir():
        raise BadRequest(export_messages.is_a_folder(str(target)), hint=export_messages.NEEDS_FILE_HINT)
    for path in (target, manifest):
        if not may_replace and (path.exists() or path.is_symlink()):
            raise BadRequest(command_messages.file_exists(str(path)), hint=command_messages.FILE_EXISTS_HINT)


def _export(records: Sequence[Path], target: Path, manifest: Path, options: argparse.Namespace) -> int:
    environment = read_environment()
    cleaner = SessionCleaner(
        mask_of_environment(environment),
        names_of_person(environment),
        includes_untrusted=options.include_untrusted,
    )
    export = DatasetExport(
        options.format, cleaner, ToolSchemaStore(environment.home), is_single=len(records) == 1
    )
    with NamedTemporaryFile(dir=target.parent, prefix=".hermes-", delete=False) as draft:
        try:
            for record in records:
                export.add(record, draft)
            draft.flush()
            os.fsync(draft.fileno())
            _show(export, options)
            if not _agrees(options):
                os.unlink(draft.name)
                return 1
            created_at = datetime.now(UTC).isoformat(timespec="seconds")
            _put(Path(draft.name), target, may_replace=options.force)
            write_whole(manifest, export.document(target.name, created_at), mode=0o600)
        except BaseException:
            with suppress(OSError):
                os.unlink(draft.name)
            raise
    note(export_messages.written(str(target), target.stat().st_size, str(manifest)))
    return 0


def _show(export: DatasetExport, options: argparse.Namespace) -> None:
    """Show the summary of a data set on standard error."""
    built = export.manifest
    totals = built.totals
    lines = [
        export_messages.contents(
            totals.sessions, totals.children, totals.prompts, totals.answers, totals.tool_calls
        ),
        export_messages.records(options.format, totals.records, built.unpaired),
        export_messages.models(sorted({escaped(model) for model, _ in built.models})),
        export_messages.replaced(totals.secrets, totals.names, built.masks),
        export_messages.untrusted(totals.untrusted_left_out, is_included=options.include_untrusted),
        export_messages.images(totals.images) if totals.images else "",
        export_messages.damaged(totals.damaged) if totals.damaged else "",
        export_messages.running(totals.open_turns) if totals.open_turns else "",
        export_messages.PROMPT_INCLUDED,
        NOTE,
    ]
    print("\n".join(filter(None, lines)), file=sys.stderr)


def _agrees(options: argparse.Namespace) -> bool:
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise BadRequest(export_messages.NEEDS_YES, hint=export_messages.NEEDS_YES_HINT)
    with suppress(EOFError):
        if read_line(export_messages.QUESTION).lower() == export_messages.ANSWER:
            return True
    note(export_messages.NOTHING_WRITTEN)
    return False


def _put(draft: Path, target: Path, *, may_replace: bool) -> None:
    """Rename the finished file, which only its owner can read, without replacing one created in the meantime."""
    if may_replace:
        draft.replace(target)
        return
    try:
        os.link(draft, target)
    except FileExistsError as error:
        raise BadRequest(
            command_messages.file_exists(str(target)), hint=command_messages.FILE_EXISTS_HINT
        ) from error
    draft.unlink()
