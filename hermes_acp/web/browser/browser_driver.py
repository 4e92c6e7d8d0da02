"""The process that drives a browser, which reads one JSON line per action and writes one with the result.

It starts with a cleared environment and ends when its input does. When a page wants to navigate to another host, the
process asks on its output and waits for the answer on its input. All other requests go through `gateway`, which only
allows the public network; service workers and permissions are disabled, and so are unrequested downloads.
"""

import json
import os
import sys
from typing import Any, Final

import msgspec
from playwright.sync_api import (
    BrowserContext,
    Dialog,
    Error,
    Page,
    Playwright,
    Request,
    Route,
    sync_playwright,
)
from playwright.sync_api import TimeoutError as PageTimeout

from hermes_acp.core.errors import BadRequest
from hermes_acp.web.browser.browser_proxy import BrowserProxy
from hermes_acp.web.browser.browser_timeouts import BrowserTimeouts
from hermes_acp.web.browser.file_transfers import FileTransfers
from hermes_acp.web.browser.page_input import find_element, press_key, scroll, type_text, wait_for_text
from hermes_acp.web.browser.page_view import view_page
from hermes_acp.web.browser.request_hosts import host_of, hosts_above, leads_the_page
from hermes_acp.web.web_addresses import read_address

PAUSE_MS: Final = 100
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
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # only the gateway resolves host names
)


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

    def __init__(
        self,
        wire: Wire,
        playwright: Playwright,
        executable: str,
        private_hosts: list[str],
        timeouts: BrowserTimeouts,
    ) -> None:
        self._wire = wire
        self._timeouts = timeouts
        self._notes: list[str] = []
        self._hosts: set[str] = set()
        self._is_stuck = False
        self._tabs: list[Page] = []
        self._private_hosts = frozenset(private_hosts)
        self._gateway = BrowserProxy(self._private_hosts, self._note)
        self._transfers = FileTransfers(self._note, timeouts)
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
            accept_downloads=True, service_workers="block", viewport={"width": 1280, "height": 800}
        )
        context.set_default_timeout(self._timeouts.action_ms)
        context.set_default_navigation_timeout(self._timeouts.navigation_ms)
        context.route("**/*", self._judge)
        context.on("page", self._take_page)
        context.on("request", self._see_redirect)
        return context

    def _take_page(self, page: Page) -> None:
        """Switch to a page that opened in a new tab, unless there are too many."""
        tabs = self._open_tabs()
        if len(tabs) >= MAX_TABS:
            self._note(f"The page tried to open more than {MAX_TABS} tabs, which was refused.")
            page.close()
            return
        page.on("dialog", self._dismiss)
        page.on("download", self._transfers.take_offer)
        page.on("filechooser", self._transfers.refuse_chooser)
        page.on("crash", self._leave_crashed_page)
        self._page = page
        self._tabs = [*tabs, page]
        if tabs:
            self._note("A new tab opened and is shown.")

    def _leave_crashed_page(self, page: Page) -> None:
        self._note("The page crashed.")
        page.close()

    def _dismiss(self, dialog: Dialog) -> None:
        if dialog.type == "beforeunload":
            dialog.accept()  # a page must not prevent its user from leaving
            return
        self._note(f"The page showed a message ({dialog.type}), which was dismissed: {dialog.message[:300]}")
        dialog.dismiss()

    def _note(self, sentence: str) -> None:
        if sentence and sentence not in self._notes and len(self._notes) < MAX_NOTES:
            self._notes.append(sentence)

    def _judge(self, route: Route) -> None:
        """Allow a request unless it takes the page to a host that is not allowed."""
        request = route.request
        passes = self._may_go(request.url) if leads_the_page(request) else self._may_fetch(request)
        if not passes:
            route.abort("aborted")  # the current page stays
            return
        self._shut_behind(request)
        route.continue_()

    def _see_redirect(self, request: Request) -> None:
        """Record where a redirect takes a page, because it can no longer be stopped."""
        if request.redirected_from:
            self._shut_behind(request)

    def _shut_behind(self, request: Request) -> None:
        """Block access to this machine once the page has moved to another host."""
        if leads_the_page(request) and host_of(request.url) != self._gateway.opened_host:
            self._gateway.opened_host = ""

    def _may_fetch(self, request: Request) -> bool:
        """Return whether a page may fetch a resource: a local address is only available to its own pages.

        The frame may be reported incorrectly; the gateway checks what the browser itself says about a request.
        """
        host = host_of(request.url)
        return (
            host != self._gateway.opened_host or host in self._private_hosts or hosts_above(request) <= {host}
        )

    def _may_go(self, url: str) -> bool:
        """Ask whether the page may go to a URL, unless it stays on an allowed host."""
        if url == BLANK:
            return True
        try:
            address = read_address(url)
        except BadRequest as refusal:
            self._note(f"The page tried to navigate elsewhere, which was refused: {refusal}")
            return False
        if address.host in self._hosts:
            return True
        self._wire.send({"ask": [address.host, address.url]})
        if self._wire.receive():
            self._hosts.add(address.host)
            self._gateway.wanted_hosts.add(address.host)
            return True
        self._note(
            f"The page tried to navigate to {address.url[:500]}, which was refused: {address.host} is not allowed."
        )
        return False

    def act(self, act: dict[str, Any]) -> dict[str, Any]:
        """Perform an action and return the resulting view. Raises playwright's Error."""
        if self._page.is_closed():  # pages close themselves
            self._page = self._last_tab()
        self._is_stuck, was_stuck = True, self._is_stuck
        download = self._perform(act, was_stuck=was_stuck)
        self._settle()
        self._leave_refused_page()
        snapshot_ms = self._timeouts.snapshot_ms
        seen = view_page(self._page, is_picture=act["kind"] == "screenshot", timeout_ms=snapshot_ms)
        if self._leave_refused_page():
            seen = view_page(self._page, is_picture=False, timeout_ms=snapshot_ms)
        self._is_stuck = False
        return {**seen, "url": self._page.url, "download": download, "notes": self.take_notes()}

    def _perform(self, act: dict[str, Any], *, was_stuck: bool) -> dict[str, str] | None:
        """Perform an action; return the file if it is a download."""
        match act["kind"]:
            case "navigate":
                if was_stuck:
                    self._restart()
                self._navigate(act["url"], sees_private=act["sees_private"])
            case "click":
                find_element(self._page, act["ref"]).click()
            case "hover":
                find_element(self._page, act["ref"]).hover()
            case "type":
                type_text(self._page, act)
            case "press":
                press_key(self._page, act)
            case "select":
                find_element(self._page, act["ref"]).select_option([act["text"]])
            case "scroll":
                self._note(scroll(self._page, act))
            case "wait_for" | "wait_gone":
                self._wait_for(act["text"], act["seconds"], is_gone=act["kind"] == "wait_gone")
            case "tabs" | "close_tab":
                self._change_tab(act["tab"], is_closing=act["kind"] == "close_tab")
            case "upload":
                element = find_element(self._page, act["ref"])
                self._transfers.upload(self._page, element, act["host"], act["file"])
            case "download":
                return self._transfers.download(lambda: self._page, find_element(self._page, act["ref"]))
            case "back":
                self._go_back()
            case _:
                pass
        return None

    def _wait_for(self, text: str, seconds: float, *, is_gone: bool) -> None:
        if not wait_for_text(lambda: self._page, text, seconds, is_gone=is_gone):
            state = "is still" if is_gone else "is not"
            raise Error(f"After {seconds:g} s, the text {state} on the page.")

    def _change_tab(self, number: int, *, is_closing: bool) -> None:
        """Show or close a tab by its number, counted from 1, or only list the tabs with number 0."""
        tabs = self._open_tabs()
        if number > len(tabs):
            raise Error(f"There is no tab {number}; the last is {len(tabs)}.")
        if number and is_closing:
            tabs[number - 1].close()
            self._page = self._last_tab() if self._page.is_closed() else self._page
        elif number:
            self._page = tabs[number - 1]
            self._page.bring_to_front()
        for place, page in enumerate(self._open_tabs(), 1):
            shown = ", shown here" if page is self._page else ""
            self._note(f"Tab {place}{shown}: {page.url[:200]}")

    def _open_tabs(self) -> list[Page]:
        """Return the tabs that were not refused, in the order in which they opened."""
        return [page for page in self._tabs if not page.is_closed()]

    def _last_tab(self) -> Page:
        return (self._open_tabs() or [self._context.new_page()])[-1]

    def take_notes(self) -> list[str]:
        """Return notices about what happened, each only once."""
        notes, self._notes = self._notes, []
        return notes

    def _navigate(self, url: str, *, sees_private: bool) -> None:
        host = read_address(url).host
        self._hosts.add(host)
        self._gateway.wanted_hosts.add(host)
        # Pages from elsewhere, including those in other tabs, cannot reach pages that were opened on this machine.
        for page in self._context.pages:
            if page is not self._page:
                page.close()
        opened_host = host if sees_private else ""
        if opened_host != self._gateway.opened_host:
            self._page.goto(BLANK)
            self._gateway.opened_host = opened_host
        self._page.goto(url, wait_until="commit")
        try:
            self._page.wait_for_load_state("domcontentloaded", timeout=self._timeouts.load_ms)
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
            self._note("There is no previous page.")

    def _settle(self) -> None:
        """Wait briefly for pending effects, such as a tab that opens."""
        self._page.wait_for_timeout(PAUSE_MS)
        try:
            self._page.wait_for_load_state("load", timeout=self._timeouts.settle_ms)
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
    """Open the browser that the first line describes, then perform the action in each later line."""
    wishes = wire.receive()
    timeouts = msgspec.convert(wishes["timeouts"], BrowserTimeouts)
    with sync_playwright() as playwright:
        try:
            driver = Driver(wire, playwright, wishes["executable"], wishes["private_hosts"], timeouts)
        except Error as error:
            wire.send({"broken": _reason(error)})
            return
        wire.send({"ready": True})
        while act := wire.receive():
            try:
                wire.send({"view": driver.act(act)})
            except (Error, BadRequest) as error:
                wire.send({"error": _reason(error), "notes": driver.take_notes()})


def _reason(error: Exception) -> str:
    """Return the first line of an error; the following lines say what Playwright was waiting for."""
    return (str(error).splitlines() or ["no reason"])[0][:500]


if __name__ == "__main__":
    serve(Wire())
