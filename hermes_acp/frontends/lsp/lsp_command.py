"""The command `hermes-acp lsp`.

Knows: its flags, that the wire is taken out of reach first. Does not know: the server, which is imported when the flags
are sound.
"""

import argparse
import sys
from collections.abc import Sequence

from msgspec import structs

from hermes_acp.config.environment import read_environment
from hermes_acp.core.errors import ConfigError
from hermes_protocol.descriptors import claim


def lsp_command(arguments: Sequence[str]) -> int:
    """Serve one editor over standard input and output; give the exit code."""
    options = _parser().parse_args(arguments)
    try:
        wire = claim()
    except OSError as error:
        if sys.stderr:
            told = f"Standard input or output is closed: {error.strerror}. Give it both."
            sys.stderr.write(f"hermes-acp: {told}\n")
        return 2
    try:
        environment = structs.replace(read_environment(), allows_bypass=options.allow_bypass)
        from hermes_acp.frontends.lsp.lsp_process import run

        return run(environment, wire)
    except ConfigError as error:
        sys.stderr.write(f"hermes-acp: {error.sentence()}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hermes-acp lsp",
        description="Serve an editor over the Language Server Protocol: code actions, edits that wait for approval, "
        "inline completion. It speaks on standard input and output and is started by the editor.",
    )
    parser.add_argument("--stdio", action="store_true", help="what it does anyway; some editors add it")
    parser.add_argument("--allow-bypass", action="store_true", help="let the mode `bypass` be chosen")
    return parser
