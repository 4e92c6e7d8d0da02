"""The colours of the input line."""

from typing import Any

from prompt_toolkit.output import ColorDepth
from prompt_toolkit.styles import Style

from hermes_acp.frontends.chat.rendering.text_rendering import ColourDepth


def colour_depth(colours: ColourDepth) -> ColorDepth:
    """Return prompt_toolkit's constant for a number of colours."""
    match colours:
        case "none" | "attributes":
            return ColorDepth.DEPTH_1_BIT
        case "standard":
            return ColorDepth.DEPTH_4_BIT
        case "256":
            return ColorDepth.DEPTH_8_BIT
        case "truecolor":
            return ColorDepth.DEPTH_24_BIT


def input_style() -> Style:
    """Return the style of the input line, its menu and the status line."""
    rules: Any = {
        "prompt": "bold ansicyan",
        "question": "bold",
        "waiting": "ansiyellow",
        "hint": "ansibrightblack",
        "bottom-toolbar": "noreverse ansibrightblack",
        "status": "noreverse ansibrightblack",
        "completion-menu": "bg:default default",
        "completion-menu.completion": "bg:default default",
        "completion-menu.completion.current": "reverse",
        "completion-menu.meta.completion": "bg:default ansibrightblack",
        "completion-menu.meta.completion.current": "bg:default ansibrightblack",
        "scrollbar.background": "bg:default",
        "scrollbar.button": "bg:ansibrightblack",
    }
    return Style.from_dict(rules)
