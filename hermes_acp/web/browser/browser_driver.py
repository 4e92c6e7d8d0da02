"""The process that drives a browser: it reads one JSON line per action and writes one with the result.

It starts with a cleared environment and ends when its input does. When a page wants to navigate to another host, the
process asks on its output and waits for the answer on its input. All other requests go through `gateway`, which only
allows the public network; downloads, service workers and permissions are disabled.
"""

import json
import os
import sys
from base64 import b64encode
from typing import Any, Final

from playwright.sync_api import (
    BrowserContext,
    Dialog,
    Download,
    Error,
    Locator,
    Page,
    Playwright,
    Request,
    Route,
    sync_playwright,
)
from playwright.sync_api import TimeoutError as PageTimeout

from hermes_acp.core.errors import BadRequest
from hermes_acp.web.browser.browser_proxy import BrowserProxy
from hermes_acp.web.web_addresses import read_address

NAVIGATION_MS: Final = 30_000
ACTION_MS: Final = 8_000
SETTLE_MS: Final = 3_000
SNAPSHOT_MS: Final = 4_000
"""How long to wait for a frame whose page was refused; then the snapshot shows the other frames."""
PAUSE_MS: Final = 100
MAX_CHARACTERS: Final = 40_000
MAX_TITLE_CHARACTERS: Final = 1000
MAX_NOTES: Final = 20
MAX_TABS: Final = 8
BLANK: Final = "about:blank"
HARMLESS: Final = ("about:blank", "about:srcdoc", "chrome-error://")
WITHOUT: Final = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",  # the name in older versions
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--no-first-run",
    "--no-pings",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # only the gateway looks up names
)
PASSWORDS: Final = "fields => fields.map(field => field.value)"
HIDDEN: Final = "[a password, not shown]"


class Wire:
    """Our end of the two pipes; the process's other output is redirected."""

    def __init__(self) -> None:
        self._out = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)

    def send(self, message: object) -> None:
        """Send a line."""
        self._out.write(json.dumps(message) + "\n")
        self._out.flush()

    def receive(self) -> Any:
        """Wait for a line; return None at the end."""
        line = sys.stdin.readline()
        return json.loads(line) if line else None


class Driver:
    """A browser and its current page."""

    def __init__(self, wire: Wire, playwright: Playwright, executable: str, private_hosts: list[str]) -> None:
        self._wire = wire
        self._notes: list[str] = []
        self._hosts: set[str] = set()
        self._is_stuck = False
        self._private_hosts = frozenset(private_hosts)
        self._gateway = BrowserProxy(self._private_hosts, self._note)
        self._browser = playwright.chromium.launch(
            executable_path=executable,
            headless=True,
            args=list(WITHOUT),
            chromium_sandbox=os.geteuid() != 0,
            proxy={"server": self._gateway.url, "bypass": "<-loopback>"},
        )
        self._context = self._open_context()
        self._page = self._context.new_page()

    def _open_context(self) -> BrowserContext:
        context = self._browser.new_context(
            accept_downloads=False, service_workers="block", viewport={"width": 1280, "height": 800}
        )
        context.set_default_timeout(ACTION_MS)
        context.set_default_navigation_timeout(NAVIGATION_MS)
        context.route("**/*", self._judge)
        context.on("page", self._take_page)
        context.on("request", self._see_redirect)
        return context

    def _take_page(self, page: Page) -> None:
        """Switch to a page that opened in a new tab, unless there are too many."""
        if len(self._context.pages) > MAX_TABS:
            self._note(f"The page wanted more than {MAX_TABS} tabs, which was refused.")
            page.close()
            return
        page.on("dialog", self._dismiss)
        page.on("download", self._refuse)
        page.on("crash", self._leave_crashed_page)
        self._page = page

    def _leave_crashed_page(self, page: Page) -> None:
        self._note("The page crashed.")
        page.close()

    def _dismiss(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            dialog.accept()  # a page may not prevent its user from leaving
            return
        self._note(f"The page showed a message ({dialog.type}), which was dismissed: {dialog.message[:300]}")
        dialog.dismiss()

    def _refuse(self, download: Download) -> None:
        self._note(f"The page offered a download of {download.suggested_filename[:200]}, which was refused.")
        download.cancel()

    def _note(self, sentence: str) -> None:
        if sentence not in self._notes and len(self._notes) < MAX_NOTES:
            self._notes.append(sentence)

    def _judge(self, route: Route) -> None:
        """Allow a request unless it takes the page to a host that is not allowed."""
        request = route.request
        passes = self._may_go(request.url) if _leads_the_page(request) else self._may_fetch(request)
        if not passes:
            route.abort("aborted")  # the current page stays
            return
        self._shut_behind(request)
        route.continue_()

    def _see_redirect(self, request: Request) -> None:
        """Record where a redirect takes a page, since it can no longer be stopped."""
        if request.redirected_from:
            self._shut_behind(request)

    def _shut_behind(self, request: Request) -> None:
        """Block access to this machine once the page moves on to another host."""
        if _leads_the_page(request) and _host_of(request.url) != self._gateway.opened_host:
            self._gateway.opened_host = ""

    def _may_fetch(self, request: Request) -> bool:
        """Return whether a page may fetch a resource: a local address is only available to its own pages.

        The frame may be reported incorrectly; the gateway checks what the browser itself says about a request.
        """
        host = _host_of(request.url)
        return (
            host != self._gateway.opened_host
            or host in self._private_hosts
            or _hosts_above(request) <= {host}
        )

    def _may_go(self, url: str) -> bool:
        """Ask whether the page may go to a URL, unless it stays on an allowed host."""
        if url == BLANK:
            return True
        try:
            address = read_address(url)
        except BadRequest as refusal:
            self._note(f"The page wanted to go elsewhere, which was refused: {refusal}")
            return False
        if address.host in self._hosts:
            return True
        self._wire.send({"ask": [address.host, address.url]})
        if self._wire.receive():
            self._hosts.add(address.host)
            self._gateway.wanted_hosts.add(address.host)
            return True
        self._note(
            f"The page wanted to go to {address.url[:500]}, which was not done: {address.host} is not allowed."
        )
        return False

    def act(self, act: dict[str, Any]) -> dict[str, Any]:
        """Perform an action and return the resulting view. Raises playwright's Error."""
        if self._page.is_closed():  # pages close themselves
            self._page = (self._context.pages or [self._context.new_page()])[-1]
        self._is_stuck, was_stuck = True, self._is_stuck
        match act["kind"]:
            case "navigate":
                if was_stuck:
                    self._restart()
                self._navigate(act["url"], sees_private=act["sees_private"])
            case "click":
                self._element(act["ref"]).click()
            case "type":
                self._type(act["ref"], act["text"], act["key"])
            case "back":
                self._go_back()
            case _:
                pass
        self._settle()
        self._leave_refused_page()
        seen = self._see(is_picture=act["kind"] == "screenshot")
        if self._leave_refused_page():
            seen = self._see(is_picture=False)
        self._is_stuck = False
        return {**seen, "url": self._page.url, "notes": self.take_notes()}

    def _see(self, *, is_picture: bool) -> dict[str, str]:
        """Return the page, as a picture or a tree, and its title."""
        image = self._page.screenshot(type="png") if is_picture else b""
        tree = "" if image else self._page.aria_snapshot(mode="ai", timeout=SNAPSHOT_MS)
        tree = self._without_passwords(tree)
        cut = f"\n[… {len(tree) - MAX_CHARACTERS:,} more characters]" if len(tree) > MAX_CHARACTERS else ""
        return {
            "title": self._page.title()[:MAX_TITLE_CHARACTERS],
            "text": tree[:MAX_CHARACTERS] + cut,
            "image": b64encode(image).decode(),
        }

    def _without_passwords(self, tree: str) -> str:
        """Hide the content of password fields."""
        if "textbox" not in tree:
            return tree
        values = [
            value
            for frame in self._page.frames
            for value in frame.locator("input[type=password]").evaluate_all(PASSWORDS)
            if value
        ]
        shown = tuple(f": {written}" for value in values for written in (value, json.dumps(value)))
        lines = tree.split("\n") if shown else []
        hidden = [f"{line.partition(': ')[0]}: {HIDDEN}" if line.endswith(shown) else line for line in lines]
        return "\n".join(hidden) if shown else tree

    def take_notes(self) -> list[str]:
        """Return notices about what happened, each only once."""
        notes, self._notes = self._notes, []
        return notes

    def _navigate(self, url: str, *, sees_private: bool) -> None:
        host = read_address(url).host
        self._hosts.add(host)
        self._gateway.wanted_hosts.add(host)
        # Pages from elsewhere, including those in other tabs, cannot reach what was opened on this machine.
        for page in self._context.pages:
            if page is not self._page:
                page.close()
        opened_host = host if sees_private else ""
        if opened_host != self._gateway.opened_host:
            self._page.goto(BLANK)
            self._gateway.opened_host = opened_host
        self._page.goto(url, wait_until="commit")
        try:
            self._page.wait_for_load_state("domcontentloaded", timeout=ACTION_MS)
        except PageTimeout:
            self._note("The page is still loading.")

    def _restart(self) -> None:
        """Replace an unresponsive page with a new tab in a new process."""
        for page in self._context.pages:
            page.close()
        self._page = self._context.new_page()

    def _go_back(self) -> None:
        try:
            self._page.go_back()
        except Error:
            self._note("There is nothing to go back to.")

    def _element(self, ref: str) -> Locator:
        """Return an element of the last snapshot. Raises Error if it no longer exists."""
        found = self._page.locator(f"aria-ref={ref}")
        if not found.count():
            raise Error(f"There is no element {ref} on the page.")
        return found

    def _type(self, ref: str, text: str, key: str) -> None:
        element = self._element(ref)
        element.fill(text)
        if key:
            element.press(key)

    def _settle(self) -> None:
        """Wait briefly for pending effects, such as a tab that opens."""
        self._page.wait_for_timeout(PAUSE_MS)
        try:
            self._page.wait_for_load_state("load", timeout=SETTLE_MS)
        except PageTimeout:
            self._note("The page is still loading.")

    def _leave_refused_page(self) -> bool:
        """Leave a page on a disallowed host that a redirect led to, or one that is not a web page."""
        url = self._page.url.removeprefix("blob:")
        if url.startswith(HARMLESS) or self._may_go(url):
            return False
        self._page.goto(BLANK)
        return True


def serve(wire: Wire) -> None:
    """Open the browser that the first line describes, then perform the action in each further line."""
    wishes = wire.receive()
    with sync_playwright() as playwright:
        try:
            driver = Driver(wire, playwright, wishes["executable"], wishes["private_hosts"])
        except Error as error:
            wire.send({"broken": _reason(error)})
            return
        wire.send({"ready": True})
        while act := wire.receive():
            try:
                wire.send({"view": driver.act(act)})
            except (Error, BadRequest) as error:
                wire.send({"error": _reason(error), "notes": driver.take_notes()})


def _leads_the_page(request: Request) -> bool:
    """Return whether a request is for the page itself rather than something in it."""
    if not request.is_navigation_request():
        return False
    try:
        return request.frame.parent_frame is None
    except Error:  # raised for a tab that is just opening
        return True


def _host_of(url: str) -> str:
    """Return the host of a URL, or an empty string if it has none, as `about:blank`."""
    try:
        return read_address(url.removeprefix("blob:")).host
    except BadRequest:
        return ""


def _hosts_above(request: Request) -> set[str]:
    """Return the hosts of the requesting frame and its parents; pages without a host count as unknown."""
    try:
        frame = request.frame
    except Error:  # raised for a worker
        return set()
    hosts: set[str] = set()
    while frame:
        hosts.add(_host_of(frame.url))
        frame = frame.parent_frame
    return hosts - {""}


def _reason(error: Exception) -> str:
    """Return the first line of an error; the following lines are what Playwright waited for."""
    return (str(error).splitlines() or ["no reason"])[0][:500]


if __name__ == "__main__":
    serve(Wire())
