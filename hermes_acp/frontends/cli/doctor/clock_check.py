"""Compare this machine's clock with that of an endpoint, which states the time in its answers.

Source: RFC 9110, section 6.6.1, "Date".
"""

import time
from email.utils import parsedate_to_datetime
from typing import Final

from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages

CHECK: Final = "clock"
TIMEOUT_S: Final = 10.0
NOTED_S: Final = 60.0
MAX_DIFFERENCE_S: Final = 240.0
"""AWS refuses signatures that are five minutes old."""


async def check_clock(base_url: str) -> list[Finding]:
    """Return how far apart the clocks are; nothing if the endpoint sends no time or cannot be reached."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=TIMEOUT_S) as client:
            answer = await client.head(base_url)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
        return []  # another check reports the endpoint
    try:
        theirs = parsedate_to_datetime(answer.headers["date"]).timestamp()
    except (KeyError, ValueError, OverflowError):
        return []
    difference = time.time() - theirs
    host = answer.url.host
    if abs(difference) < NOTED_S:
        return [Finding(CHECK, "fine", doctor_messages.clock_agrees(host))]
    level = "problem" if abs(difference) > MAX_DIFFERENCE_S else "note"
    return [Finding(CHECK, level, doctor_messages.clock_differs(host, difference), doctor_messages.SET_CLOCK)]
