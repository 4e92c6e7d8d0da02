"""Parse dates as people write them: "2026-03-04", "2d", "3 weeks ago", "yesterday", "last Tuesday", "last month".

A date names a span of time in the local time zone: a day from midnight to midnight, a week from Monday, a month, a
year, or a single moment if a time of day is given. Phrases are parsed by dateparser, which takes half a second to load
and is imported for the first phrase; ISO dates and counts such as "2d" do not need it.
"""

import re
import time
from datetime import date, datetime, timedelta
from importlib import import_module
from types import MappingProxyType
from typing import Any, Final

from msgspec import Struct

from hermes_acp.core.errors import BadRequest
from hermes_acp.lazy_pattern import LazyPattern

MAX_CHARACTERS: Final = 80
PART_OF_DAY: Final = timedelta(hours=6)
EXAMPLES: Final = (
    'Examples: 2026-03-04, "2026-03-04 17:30", 2d, "3 weeks ago", yesterday, "last Tuesday", "last month".'
)
_COUNT = LazyPattern(
    r"(\d{1,6})\s*(m|min|mins|minutes?|h|hours?|d|days?|w|weeks?|mo|months?|y|years?)(?:\s+ago)?",
    re.IGNORECASE,
)
_ISO_MONTH = LazyPattern(r"(\d{4})-(\d{2})")
_YEAR = LazyPattern(r"(?:19|20)\d{2}")
_LETTER = LazyPattern(r"[^\W\d_]")
_PAST = LazyPattern(r"\b(?:past|previous)\b", re.IGNORECASE)
_UNITS: Final = MappingProxyType(
    {
        "m": timedelta(minutes=1),
        "h": timedelta(hours=1),
        "d": timedelta(days=1),
        "w": timedelta(weeks=1),
        "mo": timedelta(days=30),
        "y": timedelta(days=365),
    }
)


class TimeSpan(Struct, frozen=True):
    """A span of time, in seconds since the epoch; `end` is exclusive."""

    start: float
    end: float


def read_date(text: str, now: float | None = None) -> TimeSpan:
    """Return the time span that a date names, relative to `now` (default: the current time). Raises BadRequest.

    The first phrase blocks for about half a second.
    """
    plain = " ".join(text.split())
    today = datetime.fromtimestamp(time.time() if now is None else now)
    try:
        span = _span(plain, today) if 0 < len(plain) <= MAX_CHARACTERS else None
        if span is not None:
            return TimeSpan(span[0].timestamp(), span[1].timestamp())
    except (ValueError, OverflowError, OSError):  # a date that does not exist or is out of range
        pass
    raise BadRequest(f"{plain[:MAX_CHARACTERS]!r} is not a recognised date.", hint=EXAMPLES)


def read_range(since: str, until: str, now: float | None = None) -> tuple[float | None, float | None]:
    """Return the start of `since` and the end of `until`; an empty text yields None. Raises BadRequest."""
    first = read_date(since, now).start if since.strip() else None
    last = read_date(until, now).end if until.strip() else None
    if first is not None and last is not None and last <= first:
        raise BadRequest(f"The range is empty: {until!r} is before {since!r}.", hint="Swap the two dates.")
    return first, last


def _span(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    if found := _COUNT.compiled.fullmatch(text):
        return _counted(int(found[1]), found[2].lower(), now)
    if found := _ISO_MONTH.compiled.fullmatch(text):
        return _period(datetime(int(found[1]), int(found[2]), 1), "month")
    if _YEAR.compiled.fullmatch(text):
        return _period(datetime(int(text), 1, 1), "year")
    if span := _iso(text):
        return span
    # 03/04/2026 is in March for some readers and in April for others
    return _phrase(text, now) if _LETTER.compiled.search(text) else None


def _counted(count: int, unit: str, now: datetime) -> tuple[datetime, datetime]:
    """Return the moment `count` hours or minutes ago, or the whole day `count` days ago."""
    name = "mo" if unit.startswith("mo") else unit[0]
    ago = count * _UNITS[name]
    if name in "mh":  # daylight saving time may have started or ended since then
        return _period(datetime.fromtimestamp(now.timestamp() - ago.total_seconds()), "moment")
    return _period(now - ago, "day")


def _iso(text: str) -> tuple[datetime, datetime] | None:
    try:
        return _period(datetime.combine(date.fromisoformat(text), datetime.min.time()), "day")
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return _period(moment.astimezone().replace(tzinfo=None) if moment.tzinfo else moment, "moment")


def _phrase(text: str, now: datetime) -> tuple[datetime, datetime] | None:
    reader: Any = import_module("dateparser.date").DateDataParser(
        languages=["en"],
        settings={
            "RELATIVE_BASE": now,
            "PREFER_DATES_FROM": "past",
            "RETURN_AS_TIMEZONE_AWARE": False,
            "RETURN_TIME_AS_PERIOD": True,
        },
    )
    found: Any = reader.get_date_data(_PAST.compiled.sub("last", text))
    moment: datetime | None = found.date_obj
    if moment is None:
        return None
    period: str = found.period
    if period in ("week", "month", "year") and text.lower().endswith(" ago"):
        period = "day"
    return _period(moment, period)


def _period(moment: datetime, period: str) -> tuple[datetime, datetime]:
    midnight = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case "day":
            return midnight, midnight + timedelta(days=1)
        case "week":
            monday = midnight - timedelta(days=midnight.weekday())
            return monday, monday + timedelta(weeks=1)
        case "month":
            first = midnight.replace(day=1)
            return first, (first + timedelta(days=31)).replace(day=1)
        case "year":
            first = midnight.replace(month=1, day=1)
            return first, first.replace(year=first.year + 1)
        case "part_of_day":
            return moment, moment + PART_OF_DAY
        case _:
            return moment, moment
