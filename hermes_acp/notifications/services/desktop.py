"""Show desktop notifications: `notify-send` on Linux, `osascript` on macOS.

The text is passed as arguments, never as part of a script, and markup in it is escaped.
"""

import shutil
import subprocess
import sys
from html import escape
from typing import Final

from hermes_acp.core.errors import NotificationError
from hermes_acp.core.ports.notification_ports import Destination, OutgoingMessage

NO_DESKTOP: Final = "Neither `notify-send` nor `osascript` is installed."
SCRIPT: Final = "display notification (item 2 of argv) with title (item 1 of argv)"


class DesktopSender:
    """Shows messages on the desktop of this machine."""

    needs_address = False

    def fault(self, address: str) -> str:
        """Return why desktop notifications are unavailable, or an empty string."""
        return "" if _program() else NO_DESKTOP

    def send(self, destination: Destination, message: OutgoingMessage, timeout_s: float) -> None:
        """Show a message."""
        program = _program()
        if not program:
            raise NotificationError(NO_DESKTOP)
        try:
            done = subprocess.run(
                _arguments(program, message),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        except OSError as error:
            raise NotificationError(
                f"The desktop did not show the notification ({type(error).__name__}).", retryable=True
            ) from None
        if done.returncode:
            raise NotificationError(
                f"The desktop did not show the notification (exit code {done.returncode}).", retryable=True
            )


def _program() -> str:
    return shutil.which("osascript" if sys.platform == "darwin" else "notify-send") or ""


def _arguments(program: str, message: OutgoingMessage) -> list[str]:
    if program.endswith("osascript"):
        script = [line for part in ("on run argv", SCRIPT, "end run") for line in ("-e", part)]
        return [program, *script, message.title, message.body]
    body = escape(message.body, quote=False)
    return [program, "--app-name=hermes-acp", "--", message.title, body]


SERVICE = DesktopSender()
