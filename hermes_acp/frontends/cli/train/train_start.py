"""`hermes-acp train start`: show what would be trained, let a person confirm it, and start the process."""

import secrets
import sys
from collections.abc import Sequence
from string import ascii_lowercase
from typing import Final

from msgspec import Struct

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.cli.cli_output import escaped, note
from hermes_acp.frontends.cli.train import messages
from hermes_acp.frontends.cli.train.person_at_terminal import PersonAtTerminal, person_at_terminal
from hermes_acp.training.agents_at_work import session_at_work, session_records
from hermes_acp.training.run_folder import RunFolder
from hermes_acp.training.trainer_process import check_installed
from hermes_acp.training.trainers import open_trainer
from hermes_acp.training.training_data import TrainingData, check_data
from hermes_acp.training.training_plan import SHOWN_DIGITS, PlanFile, confirmed_digest, read_plan
from hermes_acp.training.training_start import check_resume, job_of, start_process

RANDOM_LETTERS: Final = 4
"""The number of random letters that a person must type, so that a program would have to read the terminal."""


class _Offer(Struct, frozen=True):
    """The training run that a person is asked to confirm; `step` is the checkpoint from which it resumes."""

    file: PlanFile
    data: TrainingData
    digest: str
    step: int = 0


def start_training(environment: Environment, named: str, *, is_anew: bool) -> int:
    """Start or resume a training run if the person types its digest; return the exit code, which is 1 if not.

    Raises BadRequest, Busy, ConfigError, StorageError or TrainingError.
    """
    with person_at_terminal(environment, "start") as person:
        offer = _offer(environment, named, is_anew=is_anew)
        before = session_records(environment.private_folder)
        if not _confirms(person, offer):
            note(messages.NOTHING_STARTED)
            return 1
        person.check()
        if session := session_at_work(before, session_records(environment.private_folder)):
            raise BadRequest(messages.agent_worked(session), hint=messages.AGENT_WORKED_HINT)
        if _offer(environment, named, is_anew=is_anew) != offer:
            raise BadRequest(messages.CHANGED, hint=messages.CHANGED_HINT)
    run = RunFolder(offer.file.run)
    if not offer.step:
        run.remove_all()
    trainer = open_trainer(offer.file.plan.trainer)
    job = job_of(offer.file, offer.data, offer.digest)
    print(messages.started(start_process(job, trainer, environment.variables), offer.file.name, str(run.log)))
    return 0


def _offer(environment: Environment, named: str, *, is_anew: bool) -> _Offer:
    """Check everything that can be checked before a start."""
    file = read_plan(environment.home, named)
    trainer = open_trainer(file.plan.trainer)
    if file.plan.method not in trainer.methods:
        raise BadRequest(messages.wrong_method(file.plan.trainer, file.plan.method, trainer.methods))
    check_installed(trainer)
    data = check_data(file.plan.data, file.plan.method)
    digest = confirmed_digest(file.plan, data.sha256)
    run = RunFolder(file.run)
    run.check_free()
    return _Offer(file, data, digest, 0 if is_anew else check_resume(run, run.read_state(), digest))


def _confirms(person: PersonAtTerminal, offer: _Offer) -> bool:
    facts = _facts(offer)
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        print(escaped(f"  {name:<{width}}  {value}"), file=sys.stderr)
    print(offer.data.licence, file=sys.stderr)
    code = f"{offer.digest[:SHOWN_DIGITS]}-{''.join(secrets.choice(ascii_lowercase) for _ in range(RANDOM_LETTERS))}"
    return person.ask(messages.question(code, offer.step)) == code


def _facts(offer: _Offer) -> Sequence[tuple[str, str]]:
    plan, data = offer.file.plan, offer.data
    locked = plan.locked.model_dump()
    values = (
        f"{offer.file.name}: {plan.trainer}, {plan.method}",
        messages.records(data.records, data.sessions, str(data.path)),
        ", ".join(data.models),
        messages.length(plan.epochs, plan.max_steps, plan.batch_size),
    )
    return (
        *zip(messages.LABELS, values, strict=True),
        *((name, str(value)) for name, value in locked.items() if value != ""),
        (messages.DIGEST, offer.digest),
    )
