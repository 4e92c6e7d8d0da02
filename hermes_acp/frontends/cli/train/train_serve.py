"""`hermes-acp train serve`: serve a trained model on this machine until it is interrupted."""

import argparse
import subprocess

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.exit_codes import ExitCode
from hermes_acp.frontends.cli.cli_output import note
from hermes_acp.frontends.cli.train import messages
from hermes_acp.frontends.cli.train.person_at_terminal import person_at_terminal
from hermes_acp.training.run_folder import RunFolder
from hermes_acp.training.served_model import ADAPTER_FILE, base_url, provider_name, server_words
from hermes_acp.training.training_plan import read_plan
from hermes_acp.training.training_start import QUIET
from hermes_acp.workspaces.command_environment import command_environment


def serve_trained(environment: Environment, options: argparse.Namespace) -> int:
    """Serve the adapter of a finished training run; return the server's exit code. Raises BadRequest, StorageError."""
    with person_at_terminal(environment, "serve"):
        file = read_plan(environment.home, options.file)
    run = RunFolder(file.run)
    state = run.read_state()
    if state is None or state.phase != "done":
        raise BadRequest(messages.NO_ADAPTER, hint=messages.NO_ADAPTER_HINT)
    if not (run.adapter / ADAPTER_FILE).is_file():
        raise BadRequest(messages.ELSEWHERE, hint=messages.ELSEWHERE_HINT)
    provider = provider_name(file.name)
    if options.add_provider:
        _add_provider(environment, provider, base_url(options.port))
    note(messages.serving(base_url(options.port), provider, file.name))
    server = subprocess.Popen(
        server_words(run.path, file.name, options.port),
        stdin=subprocess.DEVNULL,
        cwd=run.path,
        env={**command_environment(environment.variables), **QUIET},
    )
    try:
        return server.wait()
    except KeyboardInterrupt:
        server.wait()
        return ExitCode.INTERRUPTED


def _add_provider(environment: Environment, provider: str, address: str) -> None:
    """Add the endpoint to the settings, preserving everything else. Raises StorageError or ConfigError."""
    from hermes_acp.config.settings_text import read_text
    from hermes_acp.config.yaml_text import with_value
    from hermes_acp.storage.private_files import write_private_text

    text = with_value(read_text(environment.config_file), ("providers", provider, "base_url"), address)
    write_private_text(environment.config_file, text)
    note(messages.added(provider, str(environment.config_file)))
