"""Messages of `hermes-acp train`."""

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, Literal

RefusalKind = Literal["no_terminal", "marked", "agent", "ci", "confined", "driven"]
FILE_HELP: Final = "a training file in the folder `training` of the agent's home: its name or its path"
START_HELP: Final = "show what would be trained, and start or resume it once you have typed the digest"
STATUS_HELP: Final = "show the progress of a training run; without FILE, list all of them"
STOP_HELP: Final = "stop a training run at the next checkpoint; start it again to continue"
SERVE_HELP: Final = "serve the trained model on this machine, as an endpoint for hermes-acp"
ANEW_HELP: Final = "discard the checkpoints and the adapter of an earlier start"
PORT_HELP: Final = "the port to serve on (default: {port})"
ADD_HELP: Final = "add the endpoint to `providers:` in config.yaml"
EPILOG: Final = (
    "Only a person at a terminal can start, stop and serve a training run. "
    "Agents, tools, hooks, schedules and CI cannot."
)
LABELS: Final = ("training", "data", "answers of", "length")
DIGEST: Final = "digest"
NO_FILES: Final = "There is no training file yet. docs/training.md shows one."
NOT_STARTED: Final = "not started"
NOTHING_STARTED: Final = "Nothing was started."
REFUSALS: Final[Mapping[RefusalKind, str]] = MappingProxyType(
    {
        "no_terminal": "it has no terminal",
        "marked": "an agent's command started it",
        "agent": "an agent started it ({evidence})",
        "ci": "it runs in CI ({evidence} is set)",
        "confined": "it runs in a sandbox",
        "driven": "a program types at its terminal ({evidence})",
    }
)
REFUSED_HINT: Final = "Type the command yourself, in a terminal that no agent started."
CHANGED: Final = "The training file, its data or the model changed while you were being asked."
CHANGED_HINT: Final = "Start it again and compare what is shown."
AGENT_WORKED_HINT: Final = "Start the training again while no agent is working."
NO_PROCESS: Final = "This training run is not in progress."
STOPPING: Final = "It will save a checkpoint after this step and stop."
NO_ADAPTER: Final = "There is no trained adapter yet."
NO_ADAPTER_HINT: Final = "Start the training, and wait until its status is done."
ELSEWHERE: Final = "The service that trained it also serves it."
ELSEWHERE_HINT: Final = "Only adapters that were trained on this machine can be served here."


def refused(action: str, kind: RefusalKind, evidence: str) -> str:
    """Say that only a person may do this, and why the caller is not considered one."""
    reason = REFUSALS[kind].format(evidence=evidence)
    return f"Only a person can {action} a training run, but {reason}."


def agent_worked(session: str) -> str:
    """Say that an agent was active while the person was asked."""
    return (
        f"An agent worked in the session {session} while you were asked, so it could have typed the answer."
    )


def wrong_method(trainer: str, method: str, known: Sequence[str]) -> str:
    """Say that a trainer does not support a method."""
    return f"The trainer {trainer} does not support {method}. It supports: {', '.join(known)}."


def records(number: int, sessions: int, file: str) -> str:
    """Describe the amount of training data."""
    count = "1 record" if number == 1 else f"{number:,} records"
    return f"{count} of {sessions:,} {'session' if sessions == 1 else 'sessions'} in {file}"


def length(epochs: int, max_steps: int | None, batch_size: int) -> str:
    """Describe the length of a training run."""
    steps = f"{max_steps:,} steps" if max_steps else f"{epochs} {'epoch' if epochs == 1 else 'epochs'}"
    return f"{steps}, batches of {batch_size}"


def question(code: str, step: int) -> str:
    """Ask whether to start training; `step` is the checkpoint from which it would resume."""
    what = f"resume from step {step:,}" if step else "start"
    return f"Type {code} to {what}. It is the start of the digest above: "


def started(pid: int, name: str, log: str) -> str:
    """Say that training has started."""
    return f"Training {name} in process {pid}. Log: {log}\nShow its progress: hermes-acp train status {name}"


def progress(step: int, total: int, loss: float | None) -> str:
    """Describe the progress of a training run."""
    shown = "" if loss is None else f", loss {loss:.3f}"
    return f"step {step:,} of {total:,}{shown}"


def time_left(seconds: float) -> str:
    """Return the estimated time left."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"about {hours} h {minutes} min left"
    return f"about {minutes} min {rest} s left" if minutes else f"about {rest} s left"


def checkpoint(step: int) -> str:
    """Name the newest checkpoint."""
    return f"checkpoint at step {step:,}"


def resume_hint(name: str) -> str:
    """Say how to continue a training run."""
    return f"To continue: hermes-acp train start {name}"


def serve_hint(name: str) -> str:
    """Say how to use a trained model."""
    return f"To use it: hermes-acp train serve {name} --add-provider"


def serving(address: str, provider: str, model: str) -> str:
    """Say where a trained model is served, and how to use it."""
    return (
        f"Serving {model} at {address} until Ctrl+C. Try it: hermes-acp model try {provider}/{model}\n"
        f"Use it from now on: hermes-acp model set {provider}/{model}"
    )


def added(provider: str, file: str) -> str:
    """Say that an endpoint was added to the settings."""
    return f"Added {provider} to `providers:` in {file}."
