"""Define and read the flags for a run's task and limits."""

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.run_ports import DEFAULT_PRIORITY, RunBudget
from hermes_acp.frontends.cli.cli_output import folder_named
from hermes_acp.frontends.cli.flag_values import positive_number
from hermes_acp.frontends.cli.messages import order_messages
from hermes_acp.frontends.cli.run.run_flags import MODES

if TYPE_CHECKING:
    from hermes_acp.runs.run_service import RunRequest, RunService


def add_wishes(parser: argparse.ArgumentParser) -> None:
    """Add the flags for a run's task and limits."""
    parser.add_argument("-p", "--prompt", help=order_messages.PROMPT_HELP)
    parser.add_argument("--cwd", default=".", metavar="DIR", help=order_messages.CWD_HELP)
    parser.add_argument("--mode", choices=MODES, default="", help=order_messages.MODE_HELP)
    parser.add_argument("-m", "--model", default="", metavar="MODEL", help=order_messages.MODEL_HELP)
    parser.add_argument("--backend", default="", metavar="NAME", help=order_messages.BACKEND_HELP)
    for flag, kind, metavar, about in (
        ("--max-steps", int, "N", order_messages.MAX_STEPS_HELP),
        ("--max-tokens", int, "N", order_messages.MAX_TOKENS_HELP),
        ("--max-cost", float, "USD", order_messages.MAX_COST_HELP),
        ("--timeout", float, "S", order_messages.TIMEOUT_HELP),
    ):
        parser.add_argument(flag, type=positive_number(kind), metavar=metavar, help=about)
    parser.add_argument(
        "--deliver", action="append", default=[], metavar="TO", help=order_messages.DELIVER_HELP
    )
    parser.add_argument(
        "--priority", type=int, default=DEFAULT_PRIORITY, metavar="1-5", help=order_messages.PRIORITY_HELP
    )


def request_of(options: argparse.Namespace, prompt: str) -> "RunRequest":
    """Build the run request that the flags describe. Raises BadRequest for a folder that does not exist."""
    from hermes_acp.runs.run_service import RunRequest

    folder = folder_named(options.cwd) or "."
    if not os.path.isdir(folder):
        raise BadRequest(order_messages.not_a_folder(options.cwd), hint=order_messages.FOLDER_HINT)
    return RunRequest(
        prompt,
        folder,
        mode=options.mode,
        backend=options.backend,
        model=options.model,
        budget=RunBudget(options.max_steps, options.max_tokens, options.max_cost, options.timeout),
        priority=options.priority,
    )


async def deliver_to(
    options: argparse.Namespace, environment: Environment, runs: "RunService", source: str
) -> None:
    """Send the reports of a run or a schedule to the destinations that the flags name.

    Raises BadRequest, ConfigError or StorageError.
    """
    from hermes_acp.clock import SystemClock
    from hermes_acp.config.sections.notification_settings import GATEWAY, GATEWAY_PLACE
    from hermes_acp.config.settings import load_settings
    from hermes_acp.notifications.notification_plan import read_plan
    from hermes_acp.notifications.notification_service import NotificationService
    from hermes_acp.runs.run_notifications import RunNotifications

    known = load_settings(environment).notifications.targets
    for named in options.deliver:
        if named not in known and not re.fullmatch(GATEWAY_PLACE, named):
            raise BadRequest(order_messages.bad_destination(named), hint=order_messages.DESTINATION_HINT)
    targets = [named if named in known else f"{GATEWAY}:{named}" for named in options.deliver]
    notifications = NotificationService(environment.home, lambda: read_plan(environment), SystemClock())
    await RunNotifications(runs, notifications).choose(source, targets)


def prompt_of(options: argparse.Namespace, words: list[str]) -> str:
    """Return the prompt from the flags, the arguments or, without either, standard input. Raises BadRequest."""
    prompt = options.prompt or " ".join(words)
    if not prompt and not sys.stdin.isatty():
        prompt = sys.stdin.read()
    if not prompt.strip():
        raise BadRequest(order_messages.EMPTY_PROMPT, hint=order_messages.PROMPT_HINT)
    return prompt
