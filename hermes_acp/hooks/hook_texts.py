"""Prepare the output of hooks for a model: bounded, fenced, and without secrets or injected instructions.

Hooks quote what others wrote, such as files, issues and pages, so their output is only information to the model, even
though the user configured the hook.
"""

from collections.abc import Callable
from typing import Final

import anyio
from anyio.to_thread import run_sync
from msgspec import Struct

from hermes_acp.core.ports.web_ports import Scanner
from hermes_acp.core.untrusted_text import fence, neutralize_markup, truncate_middle
from hermes_acp.hooks.hook_definitions import Hook

MAX_CONTEXT_BYTES: Final = 16 * 1024
MAX_REASON_BYTES: Final = 4 * 1024
MAX_SCAN_S: Final = 10.0
NOT_SCANNED: Final = "[The output could not be scanned in time and was left out.]"
SOURCE: Final = "Output of the {label}"
CUT: Final = (
    "Part of the output of the {label} was removed, because it reads like an instruction to the agent."
)


class HookText(Struct, frozen=True):
    """A prepared text; `was_cut` means that the scanner removed a passage."""

    text: str
    was_cut: bool = False


class HookTexts:
    """Prepares texts from hooks; the scanner is loaded for the first one."""

    def __init__(self, scanner: Callable[[], Scanner], max_s: float = MAX_SCAN_S) -> None:
        self._scanner = scanner
        self._max_s = max_s

    async def context(self, hook: Hook, text: str, clean: Callable[[str], str]) -> HookText:
        """Return text for the model; `clean` masks secrets."""
        read = await self._read(truncate_middle(text, MAX_CONTEXT_BYTES), clean)
        return HookText(fence(read.text, SOURCE.format(label=hook.label), MAX_CONTEXT_BYTES), read.was_cut)

    async def reason(self, text: str, clean: Callable[[str], str]) -> HookText:
        """Return the reason for a refusal, which both the user and the model read."""
        read = await self._read(truncate_middle(text, MAX_REASON_BYTES), clean)
        return HookText(neutralize_markup(read.text), read.was_cut)

    async def _read(self, text: str, clean: Callable[[str], str]) -> HookText:
        masked = await run_sync(clean, text)
        with anyio.move_on_after(self._max_s):
            scanned = await run_sync(lambda: self._scanner().clean(masked), abandon_on_cancel=True)
            return HookText(scanned, was_cut=scanned != masked)
        return HookText(NOT_SCANNED, was_cut=True)
