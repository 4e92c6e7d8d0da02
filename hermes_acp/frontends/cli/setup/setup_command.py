"""The `hermes-acp setup` command: choose a provider, a key and a model, try them, and set up editors.

Without flags, it is a dialogue. With flags, it asks nothing, for scripts.
"""

import argparse
import re
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from msgspec import structs

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.config.home_folders import DEFAULT_PROFILE
from hermes_acp.config.provider_presets import presets
from hermes_acp.core.errors import BadRequest, ModelError, UserError
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.cli_output import note
from hermes_acp.frontends.cli.messages import editor_messages, setup_messages

if TYPE_CHECKING:
    from hermes_acp.models.model_setup.setup_answers import PresentValues, SetupAnswers

ANSWER_FLAGS: Final = ("provider", "model", "key_from_env", "base_url")
"""Flags that answer a question of the dialogue; if any is given, nothing is asked."""
VARIABLE_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def add_setup(parser: argparse.ArgumentParser) -> None:
    """Add the flags to the parser."""
    parser.epilog, parser.formatter_class = setup_messages.EPILOG, argparse.RawDescriptionHelpFormatter
    parser.add_argument("--provider", metavar="NAME", help=setup_messages.PROVIDER_HELP)
    parser.add_argument("--model", metavar="NAME", help=setup_messages.MODEL_HELP)
    parser.add_argument("--key-from-env", metavar="NAME", help=setup_messages.KEY_HELP)
    parser.add_argument("--base-url", metavar="URL", help=setup_messages.URL_HELP)
    parser.add_argument("--no-verify", action="store_true", help=setup_messages.NO_VERIFY_HELP)
    parser.add_argument("--mend", action="store_true", help=setup_messages.MEND_HELP)
    parser.add_argument(
        "--editor",
        action="append",
        default=[],
        choices=tuple(editor_messages.NEXT),
        help=editor_messages.EDITOR_HELP,
    )
    parser.add_argument("--yes", action="store_true", help=editor_messages.YES_HELP)
    parser.add_argument("--backup", action="store_true", help=editor_messages.BACKUP_HELP)


def run_setup(options: argparse.Namespace) -> int:
    """Get the answers from the user or the flags, check them and write them; return the exit code.

    Raises BadRequest if the user quits or a flag is wrong, SetupInterrupted, ConfigError, ModelError or StorageError;
    then nothing was written, except for what the error names and for a repair that was made before.
    """
    from hermes_acp.frontends.cli.setup.setup_console import is_terminal

    environment = read_environment()
    is_scripted = any(getattr(options, name) is not None for name in ANSWER_FLAGS)
    if options.editor and not is_scripted:
        with _interruptible(setup_messages.EDITORS_LEFT):
            return _set_up_editors(environment, options.editor, options)
    if options.mend and not is_scripted and not is_terminal():
        was_mended = _mend_settings(environment, may_ask=False, may_mend=True)
        note(setup_messages.ONLY_MENDED if was_mended else setup_messages.NOTHING_TO_MEND)
        return 0
    if not is_scripted and not is_terminal():
        raise BadRequest(setup_messages.NEEDS_TERMINAL, hint=setup_messages.NEEDS_TERMINAL_HINT)
    with _interruptible(setup_messages.NOTHING_CHANGED):
        was_mended = _mend_settings(environment, may_ask=not is_scripted, may_mend=options.mend)
    with _interruptible(setup_messages.ONLY_MENDED if was_mended else setup_messages.NOTHING_CHANGED):
        from hermes_acp.models.model_setup.setup_answers import present_values, write_answers

        present = present_values(environment)
        answers = _answers_of(present, options) if is_scripted else _ask(present)
    write_answers(environment, answers)
    with _interruptible(setup_messages.MODEL_SAVED, hint=setup_messages.EDITORS_HINT):
        _report_saved(environment, answers)
        code = _set_up_editors(environment, options.editor, options) if options.editor else 0
        if not is_scripted:
            _offer_editors(environment, options)
    print(setup_messages.NEXT_STEPS)
    return code


class SetupInterrupted(UserError):
    """The user pressed Ctrl+C."""

    code = "interrupted"
    exit_code = ExitCode.INTERRUPTED


@contextmanager
def _interruptible(state: str, *, hint: str = setup_messages.AGAIN_HINT) -> Generator[None]:
    """Raise SetupInterrupted on Ctrl+C, with a sentence about the changes made so far."""
    try:
        yield
    except KeyboardInterrupt:
        raise SetupInterrupted(setup_messages.interrupted(state), hint=hint) from None


def _ask(present: "PresentValues") -> "SetupAnswers":
    from hermes_acp.frontends.cli.setup.setup_console import say
    from hermes_acp.frontends.cli.setup.setup_dialogue import SetupDialogue

    say(setup_messages.GREETING)
    return SetupDialogue(present, _running_server()).hold()


def _running_server() -> str:
    """Return the provider name of a model server on this machine, or an empty string if none answers."""
    import anyio

    from hermes_acp.models.wire.local_detection import detect_local

    found = anyio.run(detect_local)
    names = (name for name, preset in presets().items() if found and preset.label.startswith(found.name))
    return next(names, "")


def _answers_of(present: "PresentValues", options: argparse.Namespace) -> "SetupAnswers":
    """Build the answers from the flags and the current settings. Raises BadRequest, ConfigError or ModelError."""
    import anyio

    from hermes_acp.models.model_setup.model_trial import list_models, try_model
    from hermes_acp.models.model_setup.setup_answers import (
        SetupAnswers,
        checked_url,
        usual_model,
        with_own_key,
    )

    provider = options.provider or present.provider
    if provider not in presets():
        raise BadRequest(setup_messages.unknown_provider(provider, ", ".join(presets())))
    base_url = checked_url(options.base_url) if options.base_url else _kept_url(present, provider)
    answers = SetupAnswers(provider, base_url, "", present.key_variable(provider), options.model or "")
    if options.key_from_env:
        key = present.variables.get(options.key_from_env, "").strip()
        if not key:
            if not VARIABLE_NAME.fullmatch(options.key_from_env):  # it may be the key itself
                raise BadRequest(setup_messages.NOT_A_VARIABLE)
            raise BadRequest(setup_messages.variable_not_set(options.key_from_env))
        answers = with_own_key(present, answers, key)
    if not answers.base_url and not present.base_url(provider) and not answers.preset.lender:
        raise BadRequest(setup_messages.url_missing(provider))
    if options.no_verify:
        return structs.replace(answers, model=answers.model or usual_model(present, answers, ()))
    if not answers.model:
        model = usual_model(present, answers, anyio.run(list_models, present, answers))
        if not model:
            raise BadRequest(setup_messages.MODEL_MISSING)
        answers = structs.replace(answers, model=model)
    try:
        anyio.run(try_model, present, answers)
    except ModelError as error:
        note(setup_messages.NOTHING_WRITTEN)
        raise error from None
    return answers


def _kept_url(present: "PresentValues", provider: str) -> str:
    section = present.settings.providers.get(provider)
    return (section and section.base_url) or ""


def _mend_settings(environment: Environment, *, may_ask: bool, may_mend: bool) -> bool:
    """Report invalid settings files, and repair them on request; return whether there were any.

    Raises BadRequest if they stay invalid.
    """
    from hermes_acp.frontends.cli.setup.settings_repair import find_broken, mend, set_aside
    from hermes_acp.frontends.cli.setup.setup_console import choose_letter, say

    found = find_broken(environment)
    for broken in found:
        say(setup_messages.broken_file(str(broken.path), broken.problems))
        choices = setup_messages.MENDING if broken.mended is not None else setup_messages.MENDING[1:]
        if may_mend:
            letter = choices[0][0]
        elif may_ask:
            letter = choose_letter(choices)
        else:
            raise BadRequest(setup_messages.NOTHING_CHANGED, hint=setup_messages.MEND_HINT)
        if letter == "q":
            raise BadRequest(setup_messages.NOTHING_CHANGED, hint=setup_messages.EDIT_HINT)
        copy = mend(broken) if letter == "r" else set_aside(broken)
        say(setup_messages.copy_kept(str(copy)))
    return bool(found)


def _set_up_editors(environment: Environment, editors: list[str], options: argparse.Namespace) -> int:
    from hermes_acp.frontends.cli.setup.editor_setup import set_up_editors

    code = set_up_editors(editors, environment.variables, is_agreed=options.yes, keeps_copy=options.backup)
    if environment.profile != DEFAULT_PROFILE:
        note(editor_messages.profile_hint(environment.profile))
    return code


def _offer_editors(environment: Environment, options: argparse.Namespace) -> None:
    from hermes_acp.frontends.cli.setup.setup_console import choose, say

    say(editor_messages.WHICH_EDITOR)
    names = [editor_messages.NO_EDITOR, *editor_messages.NEXT]
    number = choose(names, default=1)
    if number:
        _set_up_editors(environment, [names[number]], options)


def _report_saved(environment: Environment, answers: "SetupAnswers") -> None:
    from hermes_acp.frontends.cli.setup.setup_console import say
    from hermes_acp.models.model_setup.setup_answers import overriding_variables

    place = answers.base_url or answers.preset.label
    say(setup_messages.written(str(environment.home), place, answers.model))
    if held := overriding_variables(environment, answers):
        note(setup_messages.environment_wins(", ".join(held)))
