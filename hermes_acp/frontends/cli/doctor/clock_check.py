"""Compare this machine's clock with an endpoint's, which its responses contain.

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
"""Slightly less than the five minutes after which AWS refuses signatures."""


async def check_clock(base_url: str) -> list[Finding]:
    """Return a finding about the difference of the clocks; none if the endpoint cannot be reached or sends no time."""
    import httpx2

    try:
        async with httpx2.AsyncClient(timeout=TIMEOUT_S) as client:
            answer = await client.head(base_url)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError):
        return []  # another check reports unreachable endpoints
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
