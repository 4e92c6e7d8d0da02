"""Format runs: as one line, in full with their open questions, or as JSON."""

from collections.abc import Callable, Iterator
from difflib import unified_diff
from typing import TYPE_CHECKING, Any

import msgspec

from hermes_acp.core.errors import StorageError
from hermes_acp.core.events import CallProposed
from hermes_acp.core.ports.run_ports import ENDED, RunChange, RunView
from hermes_acp.core.visible_text import escape_invisible
from hermes_acp.frontends.cli.cli_output import bold, escaped, exact_time, local_time, print_json
from hermes_acp.frontends.cli.messages import order_messages

if TYPE_CHECKING:
    from hermes_acp.runs.open_questions import OpenQuestion
    from hermes_acp.runs.run_service import RunService

PROMPT_CHARACTERS = 60
HowToAnswer = Callable[[str, str], str]


async def list_line(service: "RunService", view: RunView) -> str:
    """Format a run as one line of a list."""
    prompt = " ".join((await _prompt(service, view)).split())
    short = prompt if len(prompt) <= PROMPT_CHARACTERS else f"{prompt[: PROMPT_CHARACTERS - 1]}…"
    state = order_messages.STATES[view.state]
    return escaped(f"{view.order.id:<20}  {state:<13}  {local_time(view.created_at)}  {short}")


async def show_run(service: "RunService", named: str, *, as_json: bool) -> int:
    """Print a run with the full text of its questions; return the exit code."""
    view = await service.known(named)
    if as_json:
        print_json(await full_document(service, view))
        return 0
    order, attempts = view.order, view.attempts
    print(bold(f"{order.id}  {order_messages.STATES[view.state]}") + f"  {local_time(view.updated_at)}")
    facts = order_messages.facts(
        session=order.session_id,
        cwd=order.cwd,
        mode=order.mode,
        model=order.model,
        priority=order.priority,
        origin=order.origin,
        attempts=order_messages.attempts(attempts.epoch, attempts.crashes, attempts.lapses),
    )
    for name, value in facts.items():
        print(f"{name + ':':<12} {escaped(value)}")
    if view.sentence:
        print(escaped(view.sentence))
    print(f"\n{escaped((await _prompt(service, view)).strip())}")
    for question in await service.records.questions_of(view):
        print("\n" + "\n".join(question_lines(order.id, question)))
    if answer := await service.records.answer_of(view):
        print(f"\n{bold(order_messages.ANSWER)}\n{escaped(answer.strip())}")
    return 0


def question_lines(
    asked: str, question: "OpenQuestion", how_to_answer: HowToAnswer = order_messages.how_to_answer
) -> Iterator[str]:
    """Format a question with the full text of what would happen. `asked` is the ID of the run or the card."""
    title = order_messages.question("" if question.is_for_text else escape_invisible(question.card.title))
    yield bold(escaped(title))
    yield from map(escaped, _question_text(question))
    choice = order_messages.TEXT if question.is_for_text else order_messages.ALLOW_OR_DENY
    yield escaped(how_to_answer(asked, choice))


def _question_text(question: "OpenQuestion") -> Iterator[str]:
    if question.is_for_text:
        yield question.asks.question
        yield from (f"  - {choice}" for choice in question.asks.choices or ())
        if question.asks.url:
            yield question.asks.url
        return
    if question.why:
        yield order_messages.why_asked(escape_invisible(question.why))
    yield from _content(question.card)


def _content(card: CallProposed) -> Iterator[str]:
    """Yield the changes that a call would make or, if it makes none, its arguments."""
    for diff in card.diffs:
        path = escape_invisible(diff.path)
        before, after = (diff.old_text or "").splitlines(), diff.new_text.splitlines()
        yield from unified_diff(before, after, path, path, lineterm="")
    if not card.diffs:
        given = msgspec.to_builtins(card.raw_input)
        if isinstance(given, dict):
            for name, value in msgspec.convert(given, dict[str, Any]).items():
                written = value if isinstance(value, str) else msgspec.json.encode(value).decode()
                # Lines are indented, so that none can be mistaken for another argument or for the answers.
                indented = written.replace("\n", "\n    ")
                yield f"  {escape_invisible(name)}: {indented}"
        else:
            yield f"  {given}"


async def watch_runs(service: "RunService", named: str, *, as_json: bool) -> int:
    """Print the changes of a run until it has ended, or of all runs until interrupted; return the exit code."""
    run_id = (await service.known(named)).order.id if named else ""
    async with service.engine.watch(0 if run_id else None) as changes:
        async for change in changes:
            if run_id in ("", change.run_id):
                print(_change_line(change, as_json=as_json), flush=True)
            if run_id == change.run_id and change.state in ENDED:
                break
    return 0


def _change_line(change: RunChange, *, as_json: bool) -> str:
    if as_json:
        return msgspec.json.encode(change).decode()
    state = order_messages.STATES[change.state]
    return escaped(
        f"{local_time(change.at, with_seconds=True)}  {change.run_id}  {state}  {change.sentence}".rstrip()
    )


async def as_document(service: "RunService", view: RunView) -> dict[str, Any]:
    """Convert a run with its prompt and its questions to a JSON document."""
    document = msgspec.to_builtins(view.order)
    for name in ("created_at", "updated_at", "started_at", "progress_at"):
        at: float = getattr(view, name)
        document[name] = exact_time(at) if at else None
    document |= {
        "state": view.state,
        "failure": view.failure,
        "sentence": view.sentence,
        "attempts": msgspec.to_builtins(view.attempts),
        "prompt": await _prompt(service, view),
        "questions": [msgspec.to_builtins(each) for each in await service.records.questions_of(view)],
    }
    return document


async def full_document(service: "RunService", view: RunView) -> dict[str, Any]:
    """Convert a run to a JSON document that also has the agent's last message."""
    return {**await as_document(service, view), "answer": await service.records.answer_of(view)}


async def _prompt(service: "RunService", view: RunView) -> str:
    try:
        return await service.prompt_of(view)
    except StorageError:
        return ""
