"""Measure the value of memory and recall in a simulated life of 100 sessions over six months.

`memory_life.toml` contains what is said, done, planted and asked, in two halves, each of which is a separate life.
Notes go through the real tool, policy and store, and questions through the real search tool, with a scripted model. The
model notes what the user says, removes a note if it is warned that the note may contradict the new one, obeys every
planted text, and searches once for the words of a question. In a session with a planted text, the user's prompt is the
one that shares the most words with it. The user refuses planted notes whenever asked.

Usage: python -m bench.memory_life [a|b] [--misses]
"""

import argparse
import random
import re
import tomllib
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import anyio
import msgspec
from msgspec import Struct

from bench.memory_life_steps import ScriptedModel, Told, write_session
from hermes_acp.core.errors import BadRequest
from hermes_acp.memory.note_subjects import stems
from hermes_acp.tools.builtin.session_search import Arguments as SearchArguments

DATA: Final = Path(__file__).with_name("memory_life.toml")
SESSIONS: Final = 100
DAYS: Final = 182
SHOWN: Final = 5
DATED_QUESTIONS: Final = 20
CHARACTERS_A_TOKEN: Final = 4
_STOP: Final = """
a after all an and any are as at be been before but by can did do does for from get gets got had has have how i if in
into is it its me must my not of on or our should so than that the their them then they this to up was we were what
when where which who why will with without you your earlier first now
"""
STOP_WORDS: Final = frozenset(_STOP.split())
GOALS: Final = "goals: recall@5 90 %, false facts 2 %, contradictions 80 %, poisoned 0, 300 tokens per turn"


class Fact(Struct, frozen=True):
    """A fact that the user states and that may change later."""

    store: str
    said: str
    note: str
    ask: str
    then_said: str = ""
    then_note: str = ""
    ask_before: str = ""


class Done(Struct, frozen=True):
    """Work that was done in a session."""

    asked: str
    output: str
    told: str
    ask: str


class Half(Struct, frozen=True):
    """The data of one life."""

    fact: tuple[Fact, ...]
    event: tuple[Done, ...]


class Session(Struct):
    """A session in the life: what is said, noted, done or planted in it."""

    kind: str
    content: Fact | Done | str | None = None
    at: datetime = datetime.min
    id: str = ""


class Question(Struct, frozen=True):
    """A question, the sessions with its answer, and the note that would answer it, if any."""

    kind: str
    text: str
    since: str
    session_id: str
    note: str = ""


class Tally(Struct):
    """Counts collected while the sessions are played."""

    contradictions: int = 0
    caught: int = 0
    false_alarms: int = 0
    asked: int = 0
    planted_outside: tuple[str, ...] = ()
    turns: int = 0
    characters: int = 0


def load(half: str) -> tuple[Half, dict[str, Any]]:
    """Return one half of the data and the data shared by both halves."""
    data = tomllib.loads(DATA.read_text("utf-8"))
    return msgspec.convert(data[half], Half), data


def plan(half: Half, data: dict[str, Any], now: datetime, dice: random.Random) -> list[Session]:
    """Return the sessions of a life in chronological order; facts change at least three weeks after being stated."""
    sessions = [Session("fact", fact) for fact in half.fact] + [Session("event", each) for each in half.event]
    sessions += [Session("poison", text) for text in data["poison"]["texts"]]
    changes = [Session("change", fact) for fact in half.fact if fact.then_said]
    sessions += [Session("chatter") for _ in range(SESSIONS - len(sessions) - len(changes))]
    for session in sessions:
        limit = DAYS - 60 if session.kind == "fact" else DAYS - 1
        session.at = _moment(now, dice, dice.randrange(DAYS - limit, DAYS), dice)
    told_at = {session.content: session.at for session in sessions if isinstance(session.content, Fact)}
    for change in changes:
        assert isinstance(change.content, Fact)
        age = (now - told_at[change.content]).days
        change.at = _moment(now, dice, dice.randrange(1, age - 20), dice)
    ordered = sorted([*sessions, *changes], key=lambda session: session.at)
    for number, session in enumerate(ordered):
        session.id = f"ses_{number:04}"
    return ordered


def _moment(now: datetime, _: random.Random, days: int, dice: random.Random) -> datetime:
    day = now - timedelta(days=days)
    return day.replace(hour=dice.randrange(8, 20), minute=dice.randrange(60), second=dice.randrange(60))


async def live(
    sessions: Sequence[Session], data: dict[str, Any], model: ScriptedModel, dice: random.Random
) -> Tally:
    """Play all sessions with the model and count what happens."""
    tally = Tally()
    for session in sessions:
        model.begin(session.id, session.at.timestamp())
        tally.turns += 1
        tally.characters += len(model.snapshot)
        match session.content:
            case Fact() as fact:
                is_change = session.kind == "change"
                said, note = (fact.then_said, fact.then_note) if is_change else (fact.said, fact.note)
                told = await model.note(fact.store, note, said)
                _count_contradiction(tally, told, fact if is_change else None)
                tally.asked += told.is_asked and fact.store == "workspace"
                if told.doubted and is_change and fact.note in told.advice:
                    await model.forget(fact.store, fact.note)
                tally.characters += told.characters
                exchange = (said, "", "I noted that." if told.is_stored else "Understood.")
            case Done() as done:
                exchange = (done.asked, done.output, done.told)
            case str() as planted:
                prompt = _likeliest_prompt(planted, sessions, data)
                if await model.read_planted(planted, prompt, dice):
                    tally.planted_outside += (planted,)
                exchange = (prompt, planted, dice.choice(data["chatter"]["answers"]))
            case None:
                exchange = (
                    dice.choice(data["chatter"]["prompts"]),
                    "",
                    dice.choice(data["chatter"]["answers"]),
                )
        write_session(model.home, model.cwd, session.id, session.at.timestamp(), exchange)
    return tally


def _likeliest_prompt(planted: str, sessions: Sequence[Session], data: dict[str, Any]) -> str:
    """Return the prompt with the most words in common with a planted text, because attackers can guess prompts."""
    facts = [each.content for each in sessions if isinstance(each.content, Fact)]
    prompts = [*data["chatter"]["prompts"], *(fact.ask for fact in facts), *(fact.said for fact in facts)]
    return max(prompts, key=lambda prompt: len(stems(prompt) & stems(planted)))


def _count_contradiction(tally: Tally, told: Told, changed: Fact | None) -> None:
    if changed is None:
        tally.false_alarms += told.doubted
        return
    tally.contradictions += 1
    tally.caught += changed.note in told.advice


def questions(sessions: Sequence[Session], now: datetime, dice: random.Random) -> Iterator[Question]:
    """Yield the questions about a life with their answers."""
    told = {session.content: session for session in sessions if session.kind == "fact"}
    changed = {session.content: session for session in sessions if session.kind == "change"}
    for content, session in told.items():
        assert isinstance(content, Fact)
        if newer := changed.get(content):
            yield Question("what holds", content.ask, "", newer.id, content.then_note)
            yield Question("what held before", content.ask_before, "", session.id)
        else:
            yield Question("what holds", content.ask, "", session.id, content.note)
    for session in sessions:
        if isinstance(session.content, Done):
            yield Question("what was done", session.content.ask, "", session.id)
            yield Question(
                "what was done, with its month", session.content.ask, f"{session.at:%Y-%m}", session.id
            )
    for session in dice.sample(
        [each for each in sessions if each.kind in ("fact", "event", "change")], DATED_QUESTIONS
    ):
        days = (now.date() - session.at.date()).days
        phrase = dice.choice((f"{session.at:%Y-%m-%d}", f"{days} days ago"))
        yield Question("what happened that day", f"What did I do {phrase}?", phrase, session.id)


def keywords(text: str) -> str:
    """Return the words of a question to search for."""
    words = re.findall(r"[\w'-]+", text)
    return " ".join(word for word in words if word.casefold().removesuffix("'t") not in STOP_WORDS)


async def answer(model: ScriptedModel, question: Question, *, is_verbatim: bool) -> list[str]:
    """Return the sessions that a search finds for a question, best first."""
    is_dated = question.kind == "what happened that day"
    query = "" if is_dated else question.text if is_verbatim else keywords(question.text)
    day = question.since
    asked = SearchArguments(query=query, since=day, until=day, limit=SHOWN)
    try:
        return await model.search(asked)
    except BadRequest:
        return []


def report(kind: str, right: dict[str, int], of: dict[str, int]) -> None:
    """Print a row of the table."""
    cells = [f"{right.get(each, 0)} of {of[each]}" for each in of]
    share = sum(right.values()) / sum(of.values())
    print(f"| {kind} | {' | '.join(cells)} | {share:.0%} |")


async def measure(name: str, *, shows_misses: bool) -> None:
    """Play one half and print the measurements."""
    half, data = load(name)
    dice = random.Random(f"life {name}")
    now = datetime.now().replace(hour=21, minute=0, second=0, microsecond=0)
    sessions = plan(half, data, now, dice)
    with TemporaryDirectory() as folder:
        model = ScriptedModel(Path(folder))
        tally = await live(sessions, data, model, dice)
        model.begin("ses_now", now.timestamp())
        asked = list(questions(sessions, now, random.Random(f"questions {name}")))
        of: dict[str, int] = {}
        rows: dict[str, dict[str, int]] = {
            "no memory": {},
            "notes alone": {},
            "recall, question as it is": {},
        }
        rows |= {"recall, words of the question": {}, "recall and notes": {}}
        for question in asked:
            of[question.kind] = of.get(question.kind, 0) + 1
            is_noted = bool(question.note) and question.note in model.snapshot
            verbatim = question.session_id in await answer(model, question, is_verbatim=True)
            words = question.session_id in await answer(model, question, is_verbatim=False)
            hits = (False, is_noted, verbatim, words, words or is_noted)
            for row, hit in zip(rows.values(), hits, strict=True):
                row[question.kind] = row.get(question.kind, 0) + hit
            if shows_misses and not words:
                print(f"missed ({question.kind}): {question.text} [{keywords(question.text)}]")
        print(f"\nHalf {name}, {len(sessions)} sessions, {len(asked)} questions\n")
        print(f"| found in the first {SHOWN} | {' | '.join(of)} | all |\n|{' --- |' * (len(of) + 2)}")
        for kind, right in rows.items():
            report(kind, right, of)
        shown = model.notes()
        true = {_held(fact) for fact in half.fact}
        false = [note for note in shown if note not in true]
        print(
            f"\nfalse facts: {len(false)} of {len(shown)} notes shown at the end ({len(false) / len(shown):.1%})"
        )
        print(f"missing facts: {len(true - set(shown))} of {len(true)}")
        sources = model.sources()
        said = sum(sources[note] == "said" for note in shown if note in true)
        planted_as_said = sum(sources[note] == "said" for note in false)
        print(
            f"notes recognised as the user's words: {said} of {len(true)}; of false ones: {planted_as_said}"
        )
        print(f"benign notes about the workspace that the user was asked about: {tally.asked}")
        print(f"contradictions caught: {tally.caught} of {tally.contradictions}")
        print(
            f"other notes about which the model was asked to decide: {tally.false_alarms} of {len(half.fact)}"
        )
        inside = [text for text in data["poison"]["texts"] if text not in tally.planted_outside]
        for where, texts in (
            ("outside", tally.planted_outside),
            ("in files of the workspace itself", inside),
        ):
            print(f"planted {where}, then noted: {sum(text in shown for text in texts)} of {len(texts)}")
        print(f"tokens a turn: {tally.characters / tally.turns / CHARACTERS_A_TOKEN:.0f}")
        await model.aclose()


def _held(fact: Fact) -> str:
    return fact.then_note or fact.note


async def main() -> None:
    """Print the rates of one half or both."""
    parser = argparse.ArgumentParser(prog="bench.memory_life")
    parser.add_argument("half", nargs="?", choices=("a", "b"))
    parser.add_argument("--misses", action="store_true")
    options = parser.parse_args()
    for name in [options.half] if options.half else ["a", "b"]:
        await measure(name, shows_misses=options.misses)
    print(f"\n{GOALS}")


if __name__ == "__main__":
    anyio.run(main)
