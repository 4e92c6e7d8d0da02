"""Determine the hosts that a page's requests and frames belong to."""

from playwright.sync_api import Error, Frame, Request

from hermes_acp.core.errors import BadRequest
from hermes_acp.web.web_addresses import read_address


def leads_the_page(request: Request) -> bool:
    """Return whether a request is for the page itself rather than for a resource in it."""
    if not request.is_navigation_request():
        return False
    try:
        return request.frame.parent_frame is None
    except Error:  # raised for a tab that is still opening
        return True


def host_of(url: str) -> str:
    """Return the host of a URL, or an empty string if it has none, such as `about:blank`."""
    try:
        return read_address(url.removeprefix("blob:")).host
    except BadRequest:
        return ""


def host_of_frame(frame: Frame | None) -> str:
    """Return the host that a frame belongs to: its own or, if its URL has none, its parent frame's."""
    while frame:
        if host := host_of(frame.url):
            return host
        frame = frame.parent_frame
    return ""


def hosts_above(request: Request) -> set[str]:
    """Return the hosts of the requesting frame and its parents; pages without a host count as unknown."""
    try:
        frame = request.frame
    except Error:  # raised for a worker
        return set()
    hosts: set[str] = set()
    while frame:
        hosts.add(host_of(frame.url))
        frame = frame.parent_frame
    return hosts - {""}
