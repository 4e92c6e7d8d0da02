"""Open the session of a run, a new or a stored one, with the options from the flags."""

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from msgspec import structs

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.event_types import Options
from hermes_acp.core.events import InstructionsGiven, Noticed
from hermes_acp.core.ports.workspace_ports import Workspace
from hermes_acp.frontends.cli.messages import run_messages
from hermes_acp.frontends.cli.run.model_selection import select_model
from hermes_acp.frontends.command_line.deleted_folder import explain_deleted_folder

if TYPE_CHECKING:
    from hermes_acp.app.app import App
    from hermes_acp.sessions.session import Session


async def open_session(
    app: "App", options: argparse.Namespace, usual_model: str
) -> "tuple[Session, list[Noticed]]":
    """Open the session that the flags name, or a new one; show the user notices about its record.

    `usual_model` is the model from the environment. Raises BadRequest, SessionNotFound, Busy or StorageError.
    """
    await app.configuration.deps()
    instructions = _instructions(options)
    chosen = await select_model(app.configuration, options.model, usual_model) if options.model else None
    session, news = await _open(app, options)
    session.instruct(instructions)
    mode = options.mode or app.configuration.default_mode()
    if mode == "bypass" and not session.offers.allows_bypass:
        raise BadRequest(run_messages.BYPASS_NOT_ALLOWED, hint=run_messages.BYPASS_HINT)
    session.set_mode(mode)
    wanted = session.record.options
    if chosen:
        wanted = structs.replace(wanted, provider=chosen.provider, model=chosen.model)
    session.set_options(_with_effort(wanted, options))
    if options.trust_workspace:
        await anyio.to_thread.run_sync(app.workspace_trust.trust_for_process, session.record.cwd)
    return session, news


def folders_of(options: argparse.Namespace) -> tuple[str, ...]:
    """Return the folders of a run as absolute paths, the working directory first. Raises BadRequest."""
    with explain_deleted_folder():
        return tuple(
            dict.fromkeys(os.path.normpath(Path(each).absolute()) for each in (options.cwd, *options.add_dir))
        )


async def _open(app: "App", options: argparse.Namespace) -> "tuple[Session, list[Noticed]]":
    cwd, *more = folders_of(options)

    def open_workspace(_: str, place: str, roots: tuple[str, ...]) -> Workspace:
        return app.open_workspace(place, roots)

    named = options.resume or options.session
    if options.goes_on:
        named = await _newest_session(app, cwd)
    if named and (options.resume or options.goes_on or await app.sessions.is_stored(named)):
        session, past = await app.sessions.load(named, cwd, open_workspace)
        if added := [folder for folder in more if folder not in session.record.roots]:
            await app.sessions.load(named, cwd, open_workspace, (*session.record.roots[1:], *added))
        return session, [event for event in past.news if isinstance(event, Noticed)]
    return await app.sessions.create(cwd, more, open_workspace, named, "headless"), []


async def _newest_session(app: "App", cwd: str) -> str:
    """Return the ID of the newest session in a folder. Raises BadRequest if there is none."""
    for row in await app.sessions.page(cwd, None):
        return row.id
    raise BadRequest(run_messages.nothing_to_continue(cwd), hint=run_messages.NOTHING_TO_CONTINUE_HINT)


def _instructions(options: argparse.Namespace) -> InstructionsGiven | None:
    """Return the text to add to the system prompt."""
    text = options.append_system_prompt
    if text is None:
        return None
    if text.startswith("@"):
        from hermes_acp.frontends.cli.run.prompt_input import read_prompt_file

        text = read_prompt_file(text[1:])
    if not text.strip():
        raise BadRequest(run_messages.EMPTY_SYSTEM_PROMPT)
    return InstructionsGiven(text)


def _with_effort(options: Options, flags: argparse.Namespace) -> Options:
    if flags.effort is None:
        return options
    return structs.replace(options, effort=None if flags.effort == "default" else flags.effort)
