"""Convert a card to a Markdown file with YAML front matter, and back, with pure functions.

People can change the front matter and the text above the first marker. Below it, the board writes the result and the
comments. A new line there that starts with `- ` becomes a comment.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, cast

from msgspec import Struct
from msgspec.structs import asdict, replace

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.boards.cards import STATES, Card, CardState, CardWork, Link, LinkKind
from hermes_acp.core.ports.run_ports import RunBudget

HEAD: Final = re.compile(r"---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
MARK: Final = re.compile(r"^<!-- (?:result|comments)\b.*?-->[ \t]*$", re.MULTILINE)
COMMENTS_MARK: Final = '<!-- comments: a new line that begins with "- " is a new comment -->'
RESULT_MARK: Final = "<!-- result -->"
COMMENT: Final = re.compile(r"^- (.+(?:\n  .*)*)", re.MULTILINE)
WRITTEN: Final = re.compile(r"\[\d{4}-\d\d-\d\d \d\d:\d\d, ")
LINKS: Final[tuple[LinkKind, ...]] = ("blocks", "parent", "found_in")
BUDGET: Final = ("max_steps", "max_tokens", "max_cost_usd", "timeout_s")
WORK: Final = ("folder", "worktree", "mode", "model", "backend", "place", "priority", "approval", "checks")
ALWAYS: Final = ("folder", "priority")
KNOWN: Final = frozenset({"id", "title", "state", "reason", *WORK, *BUDGET, *LINKS})
NO_HEAD: Final = "The file does not begin with settings between two lines of ---."
NO_TITLE: Final = "title is missing."
DEFAULTS: Final = CardWork()


class CardDocument(Struct, frozen=True):
    """The editable content of a card's file. New cards have no ID."""

    card_id: str
    title: str
    state: CardState
    text: str
    work: CardWork
    links: frozenset[Link]
    new_comments: tuple[str, ...] = ()


def render(card: Card, local_time: Callable[[float], str]) -> str:
    """Return the text of a card's file; `local_time` formats the times of comments."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    head = yaml.dump(dict(_settings(card)), Dumper=dumper, sort_keys=False, allow_unicode=True, width=100)
    text = MARK.sub(lambda found: f" {found[0]}", card.text.strip())
    parts = [f"---\n{head}---\n", f"\n{text}\n" if text else ""]
    if card.notes.result:
        parts.append(f"\n{RESULT_MARK}\n\n{card.notes.result.strip()}\n")
    parts.append(f"\n{COMMENTS_MARK}\n")
    if card.comments:
        parts.append("\n")
    for each in card.comments:
        who = each.by.name or each.by.kind
        parts.append(f"- [{local_time(each.at)}, {who}] " + each.text.replace("\n", "\n  ") + "\n")
    return "".join(parts)


def _settings(card: Card) -> Iterator[tuple[str, Any]]:
    yield "id", _number(card.id)
    yield "title", card.title
    yield "state", card.state
    if card.notes.reason:
        yield "reason", card.notes.reason
    for name in WORK:
        value = getattr(card.work, name)
        if name in ALWAYS or value != getattr(DEFAULTS, name):
            yield name, list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value
    for name, limit in asdict(card.work.budget).items():
        if limit is not None:
            yield name, limit
    for kind in LINKS:
        linked = [_number(link.card_id) for link in card.links if link.kind == kind]
        if linked:
            yield kind, linked


def _number(card_id: str) -> int | str:
    return int(card_id) if card_id.isdecimal() else card_id


def parse(content: str) -> CardDocument:
    """Parse a card's file. Raises a BadRequest that says what is wrong."""
    found = HEAD.match(content)
    if found is None:
        raise BadRequest(NO_HEAD)
    settings = _mapping_of(found[1])
    body = content[found.end() :]
    mark = MARK.search(body)
    text = body[: mark.start()] if mark else body
    title = settings.get("title")
    if not isinstance(title, str) or not title.strip():
        raise BadRequest(NO_TITLE)
    return CardDocument(
        str(settings.get("id", "")),
        title.strip(),
        _state_of(settings),
        text.strip(),
        _work_of(settings),
        frozenset(_links_of(settings)),
        tuple(_new_comments(body[mark.start() :] if mark else "")),
    )


def _mapping_of(head: str) -> Mapping[str, Any]:
    import yaml

    try:
        settings: object = yaml.safe_load(head)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise BadRequest(f"The settings are not YAML: {' '.join(str(error).split())}.") from error
    if not isinstance(settings, dict):
        raise BadRequest("The settings must be lines of `name: value`.")
    named = {str(name): value for name, value in cast("dict[object, Any]", settings).items()}
    if unknown := sorted(named.keys() - KNOWN):
        raise BadRequest(f"{unknown[0]} is not a card setting.", hint=f"Known: {', '.join(sorted(KNOWN))}.")
    return named


def _state_of(settings: Mapping[str, Any]) -> CardState:
    state = settings.get("state", "inbox")
    for known in STATES:
        if known == state:
            return known
    raise BadRequest(f"state: {state} is not a state.", hint=f"Known: {', '.join(STATES)}.")


def _work_of(settings: Mapping[str, Any]) -> CardWork:
    import msgspec

    given = {name: settings[name] for name in WORK if settings.get(name) is not None}
    budget = {name: settings[name] for name in BUDGET if settings.get(name) is not None}
    try:
        work = msgspec.convert(given, CardWork)
        return replace(work, budget=msgspec.convert(budget, RunBudget))
    except msgspec.ValidationError as error:
        raise BadRequest(f"The settings are not valid: {error}.") from error


def _links_of(settings: Mapping[str, Any]) -> Iterator[Link]:
    for kind in LINKS:
        linked = settings.get(kind)
        if linked is None:
            continue
        for each in cast("list[object]", linked) if isinstance(linked, list) else [linked]:
            yield Link(kind, str(each))


def _new_comments(written: str) -> Iterator[str]:
    _, _, comments = written.partition("<!-- comments")
    for found in COMMENT.finditer(comments):
        if not WRITTEN.match(found[1]):
            yield found[1].replace("\n  ", "\n").strip()
