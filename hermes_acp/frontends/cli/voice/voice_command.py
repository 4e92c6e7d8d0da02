"""The `hermes-acp voice` command: show how speech is transcribed, download a model, transcribe a recording."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment, read_environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.voice import messages

if TYPE_CHECKING:
    from hermes_acp.config.sections.voice_settings import VoiceSettings
    from hermes_acp.models.transcription.voice_service import VoiceService


def add_voice(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands and their flags to the parser."""
    parser.set_defaults(action="status")
    actions = parser.add_subparsers(dest="action", metavar="COMMAND", parser_class=type(parser))
    actions.add_parser("status", help=messages.STATUS_HELP)
    download = actions.add_parser("download", help=messages.DOWNLOAD_HELP)
    download.add_argument("name", nargs="?", default="", metavar="NAME", help=messages.NAME_HELP)
    transcribe = actions.add_parser("transcribe", help=messages.TRANSCRIBE_HELP)
    transcribe.add_argument("file", metavar="FILE", help=messages.FILE_HELP)


def run_voice(options: argparse.Namespace) -> int:
    """Run the subcommand and return the exit code. Raises HermesError."""
    import anyio

    environment = read_environment()
    if options.action == "download":
        return _download(environment, options.name)
    if options.action == "transcribe":
        return anyio.run(_transcribe, environment, options.file)
    return anyio.run(_status, environment)


def _download(environment: Environment, name: str) -> int:
    """Download a model; running this command counts as the person's consent."""
    from hermes_acp.config.speech_models import is_folder, missing_file, repository_of, speech_model_folder
    from hermes_acp.models.transcription.speech_download import download, look_up

    voice = _settings(environment)
    model = name or (voice.chosen_model if voice.transcription == "faster_whisper" else "small")
    if is_folder(model):
        raise BadRequest(messages.NOT_A_NAME, hint=messages.NAME_HINT)
    folder = speech_model_folder(environment.home, model)
    if folder.is_dir() and not missing_file(folder):
        print(messages.already_there(str(folder)))
    else:
        remote = look_up(repository_of(model))
        print(messages.download_begins(remote.repository, remote.size / 1e6, str(folder)), flush=True)
        download(remote, folder, shows_progress=sys.stderr.isatty())
        print(messages.downloaded(str(folder)))
    if voice.transcription != "faster_whisper" or voice.chosen_model != model:
        print(messages.set_it(model))
    return 0


async def _status(environment: Environment) -> int:
    """Try the configured transcription with a silent recording. Raises ConfigError, AuthRequired or ModelError."""
    service = _service(environment)
    try:
        name = await service.try_out()
    finally:
        await service.aclose()
    print(messages.in_use(name) if name else messages.OFF)
    return 0


async def _transcribe(environment: Environment, file: str) -> int:
    """Print the transcription of an audio file. Raises BadRequest, ConfigError, AuthRequired or ModelError."""
    from mimetypes import guess_type

    from hermes_acp.core.ports.model_ports import Recording

    try:
        content = Path(file).read_bytes()
    except OSError as error:
        raise BadRequest(messages.unreadable_file(file, error.strerror or str(error))) from None
    service = _service(environment)
    try:
        print(await service.transcribe(Recording(content, guess_type(file)[0] or "audio/ogg")))
    finally:
        await service.aclose()
    return 0


def _service(environment: Environment) -> "VoiceService":
    from hermes_acp.config.provider_access import ProviderAccess
    from hermes_acp.models.transcription.voice_service import VoiceService

    return VoiceService(environment, ProviderAccess(environment, {}).read)


def _settings(environment: Environment) -> "VoiceSettings":
    from hermes_acp.config.settings import load_settings

    return load_settings(environment).voice
