"""Find, classify and remove characters that are invisible to a reader.

Line feeds are never removed, so line numbers stay the same. Source: Unicode UTS #51 (emoji), UAX #9 (bidi),
UAX #31 (joiners), ECMA-48 (control sequences), Trojan Source.
"""

import re

from msgspec import Struct

from injection_scanner.text.non_ascii import non_ascii_characters

BIDI = "\u202a-\u202e\u2066-\u2069"
CONTROLS = "\x00-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9a\x9c\x9e\x9f"
SELECTORS = "\ufe00-\ufe0f\U000e0100-\U000e01ef"
TAGS = "\U000e0000-\U000e007f"
ZERO_WIDTH = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2060-\u2065\u206a-\u206f"
    "\u3164\ufeff\uffa0\ufff9-\ufffb"
)
SUSPECT = re.compile(f"[\x1b\x9b\x9d{BIDI}{CONTROLS}{SELECTORS}{TAGS}{ZERO_WIDTH}]")
RUN = re.compile(
    r"(?P<ansi>(?:\x1b\[|\x9b)[0-?]{0,64}[ -/]{0,8}[@-~]?"
    r"|(?:\x1b[\]PX^_]|\x9d)[^\x07\x1b\x9c\n]{0,4000}(?:\x07|\x1b\\|\x9c)?|\x1b[ -~]?)"
    f"|[{BIDI}]+|[{CONTROLS}]+|[{SELECTORS}{TAGS}{ZERO_WIDTH}]+"
)
COLOUR = re.compile(r"(?:\x1b\[|\x9b)[0-9;]*m")
CONCEALED = re.compile(
    r"(?:^|;)0?(?:8|30;40|40;30|37;47|47;37|97;107|107;97|38;5;(\d{1,3});48;5;\1|48;5;(\d{1,3});38;5;\2)(?:;|$)"
)
EMOJI_JOIN = re.compile("[\ufe0e\ufe0f]?\u200d?")
FLAG = re.compile("[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,3}\U000e007f")
JOINING = re.compile(
    "[\u0590-\u08ff\u0900-\u109f\u1200-\u137f\u1780-\u18af\u1900-\u1cff\ua800-\uabff\ufb1d-\ufefc]"
)
RTL = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uac00-\ud7af\uff00-\uffef]")
IDEOGRAPH = re.compile("[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
LONG_RUN = 8
APART = 3


class HiddenCharacterFinding(Struct, frozen=True):
    """One hidden text: the rule, its line (from 1), its content, and whether to cut the line."""

    rule: str
    line: int
    excerpt: str
    cuts_line: bool = False


class RevealedText(Struct, frozen=True):
    """The visible text, and the findings about the characters removed from it."""

    text: str
    sightings: tuple[HiddenCharacterFinding, ...]


def reveal(text: str) -> RevealedText:
    """Remove hidden characters from a text and report them."""
    if SUSPECT.search(non_ascii_characters(text)) is None:
        return RevealedText(text, ())
    sightings: list[HiddenCharacterFinding] = []
    lines = [_reveal_line(line, number, sightings) for number, line in enumerate(text.split("\n"), 1)]
    return RevealedText("\n".join(lines), tuple(sightings))


def _reveal_line(line: str, number: int, sightings: list[HiddenCharacterFinding]) -> str:
    if SUSPECT.search(line) is None:
        return line
    has_rtl = RTL.search(line) is not None
    bidi = _check_bidi(line, has_rtl=has_rtl)
    if bidi:
        sightings.append(HiddenCharacterFinding(bidi, number, show(line), cuts_line=bidi != "bidi-idle"))
    kept: list[str] = []
    last = 0
    apart = 0
    for found in RUN.finditer(line):
        start, end = found.span()
        kept.append(line[last:start])
        apart += start - last == 1 and last > 0 and line[start - 1].isalnum()
        last = end
        if "\u202a" <= found.group()[0] <= "\u202e" or "\u2066" <= found.group()[0] <= "\u2069":
            kept.append("" if bidi else found.group())
            continue
        rule = _check_run(line, start, end, number=number, has_rtl=has_rtl)
        if rule is None:
            kept.append(found.group())
        elif rule and (not sightings or (sightings[-1].rule, sightings[-1].line) != (rule, number)):
            sightings.append(
                HiddenCharacterFinding(
                    rule, number, read_hidden(found.group()) or show(line[:start] + line[end:])
                )
            )
    kept.append(line[last:])
    clean = "".join(kept)
    if apart >= APART:
        sightings.append(HiddenCharacterFinding("letters-apart", number, show(clean), cuts_line=True))
    return clean


def _check_bidi(line: str, *, has_rtl: bool) -> str:
    """Describe what is wrong with a line's bidi controls, or return an empty string."""
    depth: list[str] = []
    used = False
    for mark in re.findall(f"[{BIDI}]", line):
        used = True
        if mark in "\u202d\u202e":
            return "bidi-override"
        if mark in "\u202c\u2069":
            if not depth or depth.pop() != mark:
                return "bidi-unbalanced"
        elif mark in "\u202b\u2067" and not has_rtl:
            return "bidi-unbalanced"
        else:
            depth.append("\u202c" if mark in "\u202a\u202b" else "\u2069")
    if depth:
        return "bidi-unbalanced"
    return "bidi-idle" if used and not has_rtl else ""


def _check_run(line: str, start: int, end: int, *, number: int, has_rtl: bool) -> str | None:
    """Return the rule that a run of hidden characters breaks, None to keep the run, or "" to drop it silently."""
    run = line[start:end]
    before, after = line[start - 1 : start], line[end : end + 1]
    if run[0] in "\x1b\x9b\x9d":
        return _check_ansi(run)
    if run[0] < "\xa0":
        return "overwrite" if run.count("\x08") > 1 or "\x7f" in run else "control-character"
    if _is_legitimate(run, before, after, has_rtl=has_rtl):
        return None
    if number == 1 and start == 0 and run == "\ufeff":
        return ""
    if any("\U000e0000" <= mark <= "\U000e007f" for mark in run):
        return "tag-characters"
    if len(re.findall(f"[{SELECTORS}]", run)) > 1:
        return "selector-bytes"
    if len(run) >= LONG_RUN:
        return "zero-width-run"
    inside_word = before.isalnum() and after.isalnum() and not SPACELESS.match(before)
    return "split-word" if inside_word and run.strip("\u00ad") else "stray-invisible"


def _check_ansi(run: str) -> str:
    if COLOUR.fullmatch(run) is None:
        return "terminal-control"
    return "terminal-control" if CONCEALED.search(run.lstrip("\x1b[\x9b").rstrip("m")) else "terminal-colour"


def _is_legitimate(run: str, before: str, after: str, *, has_rtl: bool) -> bool:
    if EMOJI_JOIN.fullmatch(run) and _is_pictured(before):
        return not run.endswith("\u200d") or (_is_pictured(after) and not before.isalnum())
    if len(run) == 1:
        if run in "\u200c\u200d" or "\u180b" <= run <= "\u180f":
            return bool(JOINING.match(before) or JOINING.match(after))
        if run == "\u200b":
            return bool(SPACELESS.match(before) and SPACELESS.match(after))
        if run in "\u200e\u200f\u061c":
            return has_rtl
        if run >= "\U000e0100":
            return bool(IDEOGRAPH.match(before))
        if run in "\u115f\u1160\u3164":
            return "\u1100" <= (before or " ") <= "\u11ff" or "\u1100" <= (after or " ") <= "\u11ff"
        return "\ufe00" <= run <= "\ufe0f" and before >= "\u1000"
    return before == "\U0001f3f4" and FLAG.fullmatch(run) is not None


def _is_pictured(mark: str) -> bool:
    return mark != "" and (mark >= "\u2010" or mark in "\u00a9\u00ae#*0123456789")


def read_hidden(run: str) -> str:
    """Decode text written in tag characters or variation selectors; return an empty string if there is none."""
    spelt = "".join(chr(ord(mark) - 0xE0000) for mark in run if "\U000e0020" <= mark <= "\U000e007e")
    if not spelt:
        values = [ord(mark) - 0xFE00 if mark < "\U000e0000" else ord(mark) - 0xE0100 + 16 for mark in run]
        spelt = "".join(chr(value) for value in values if 32 <= value < 127) if len(run) > 3 else ""
    return show(spelt)


def show(text: str) -> str:
    """Escape and shorten a text to one harmless line of at most 120 characters."""
    flat = " ".join(SUSPECT.sub("", text[:400]).split())
    return flat if len(flat) <= 120 else flat[:117] + "..."
