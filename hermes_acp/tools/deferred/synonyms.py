"""Words that mean much the same in the names and descriptions of tools."""

from collections.abc import Iterable
from functools import cache
from types import MappingProxyType
from typing import Final

_STOP: Final = """
a about after again all also am an and any are as at be because been before being but by can could did do does doing
for from had has have having he her here him his how i if in into is it its itself just let like may me might mine
more most much must my myself no nor not now of off on once only or our out over own please same she should so some
such tell than that the their them then there these they this those through to too under until up us use used uses
using very want wants was we were what when where which while who whom why will with would you your
able tool tools something someone thing things need needs
"""
STOP_WORDS: Final = frozenset(_STOP.split())
"""Words of a query that say nothing about a tool."""

_GROUPS: Final = (
    "add create new make open insert write append",
    "announce inform know notify tell post send message",
    "answer reply respond response comment note remark",
    "appointment calendar event meeting call invitation",
    "article page doc document wiki post",
    "ask request query",
    "attendee participant member people person user colleague",
    "basket cart checkout",
    "bill billing cost costs price spend usage",
    "big size space large storage",
    "book schedule plan",
    "bug defect error issue problem ticket",
    "card task todo ticket issue",
    "change edit modify update set rename adjust",
    "chat dm message text sms notify",
    "client customer contact buyer user",
    "close end finish complete resolve done",
    "colour color style",
    "container pod",
    "crash exception error failure failed",
    "database db sql table",
    "delete remove erase trash discard prune clear",
    "deploy release publish rollout ship",
    "dim brightness light lamp",
    "directions route navigation",
    "discount coupon promotion",
    "download export save get",
    "email mail inbox gmail",
    "emoji like reaction thumbs",
    "employee staff payroll wage salary",
    "exchange transfer move",
    "find search look locate lookup query",
    "file attachment document",
    "fork copy clone duplicate",
    "fulfill ship shipped deliver",
    "get fetch read show view retrieve",
    "graph chart panel plot dashboard",
    "holiday vacation absence",
    "image picture photo screenshot snapshot",
    "income profit revenue earnings sales",
    "instance machine server vm",
    "inventory stock",
    "invoke run trigger execute launch start",
    "list show all overview",
    "log logs output trace",
    "mute silence snooze ignore",
    "money payment pay charge balance",
    "move transition transfer status",
    "paper research publication study",
    "phone mobile number call",
    "postpone reschedule change move update",
    "pr pull",
    "refund reimburse return",
    "repo repository project",
    "restart rerun retry reboot",
    "revert undo rollback back",
    "review approve accept",
    "room thermostat temperature degrees heating",
    "row line record entry",
    "secret password credential key",
    "share permission access invite grant",
    "song track music",
    "spreadsheet sheet excel",
    "stop shutdown halt terminate cancel kill",
    "upload put send attach",
    "website site page web url",
    "weather forecast rain sunny snow",
)


@cache
def _by_word() -> MappingProxyType[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for group in _GROUPS:
        words = group.split()
        for word in words:
            found.setdefault(word, {}).update(dict.fromkeys(words))
    return MappingProxyType({word: tuple(others) for word, others in found.items()})


def synonyms_of(words: Iterable[str]) -> list[str]:
    """Return the synonyms of some words, each once."""
    table = _by_word()
    found: dict[str, None] = {}
    for word in words:
        for form in (word, word.removesuffix("s"), word.removesuffix("ed"), word.removesuffix("ing")):
            if form in table:
                found |= dict.fromkeys(table[form])
                break
    return list(found)
