"""Find markup that the rendered page does not show: comments, hidden styles, attributes, link titles.

Offsets refer to folded text. Source: HTML Living Standard (hidden content), CommonMark (link titles,
definitions).
"""

import re
from typing import Final

from injection_scanner.tables.lazy_patterns import compiled

MAX_CHARS = 20_000
UNCLOSED = 2000
COMMENT = re.compile(
    r"[<{%\\:\[](?:(?<=<)(?:!--|!\[cdata\[|!entity\b|\?(?!php|=)|%[#-])"
    r"|(?<=\{)(?:\{/\*|\{!|#(?!\w)|% ?comment\b)|(?m:(?<=^%)%)"
    r"|(?<=\\)(?:(?:phantom|hphantom|vphantom)\{|(?:text)?color\{(?:white|#?fff(?:fff)?)\})"
    r"|(?<=:)::+ ?\{[^}\n]{0,40}\.(?:hidden|d-none|invisible)"
    r"|(?m:(?<=^\[)[\w/ .-]{1,30}\]: ?(?:#|<>|/|about:blank) ?[(\"']))"
)
TAG = re.compile(r"<[a-z][\w:-]{0,20}\b[^<>]{0,600}>?")
HIDES = re.compile(
    r"^<font\b[^<>]{0,80}color ?= ?[\"']?(?:white|#fff)"
    r"|display ?: ?none|visibility ?: ?(?:hidden|collapse)"
    r"|opacity ?: ?0?(?:\.0\d?|(?<=0))(?![.\d])|filter ?: ?opacity\( ?0|mso-hide ?: ?all"
    r"|font-size ?[:=] ?[\"']?(?:0|1px|0?\.\d)"
    r"|(?:left|top|right|bottom|text-indent|margin-\w{3,6}) ?: ?-\d{3,}|z-index ?: ?-\d"
    r"|(?<![\w-])(?:max-)?(?:height|width) ?: ?[01](?:px|em|rem|%)?(?![.\d])"
    r"|clip(?:-path)? ?:|scale\( ?0|content-visibility ?: ?hidden"
    r"|color ?: ?(?:transparent|rgba\([^)]{0,30}, ?0?(?:\.0\d?)? ?\))"
    r"|(?<!-)color ?: ?(?P<ink>#?[\w]{3,20})\b[^<>]{0,80}background[\w-]{0,6} ?: ?(?P=ink)\b"
    r"|background[\w-]{0,6} ?: ?(?P<paper>#?[\w]{3,20})\b[^<>]{0,80}(?<!-)color ?: ?(?P=paper)\b"
    r"|(?<!-)color ?: ?(?:#fff(?:fff)?\b|white\b|#f[b-e]f[b-e]f[b-e]\b|rgba?\( ?25\d, ?25\d, ?25\d)"
    r"|\shidden\b(?! ?= ?[\"']?false)|aria-hidden ?= ?[\"']?true"
    r"|(?:width|height) ?= ?[\"']?[01][\"' ]|type ?= ?[\"']?(?:hidden|text/plain)"
    r"|class ?= ?[\"'][^\"']{0,80}(?<![\w:-])(?:sr-only|visually-hidden|screen-reader\w*|hidden|invisible|d-none|hide)"
    r"(?![\w:-])"
)
UNSEEN = re.compile(
    r"<(template|noscript|noframes|datalist|desc|metadata|comment|object|audio|video|canvas|rp|annotation"
    r"|dialog(?! open))(?=[\s>/])[^<>]{0,600}>"
)
"""Matches elements whose content is not shown; an unclosed one is just a name, such as `<object>`."""

ATTRIBUTE = re.compile(
    r"(?:alt|title|content|value|data-[\w-]{1,30}|aria-[a-z]{3,20}|placeholder|srcdoc|summary|label|longdesc|cite|id|name)"
    r" ?= ?(?:\"[^\"]{16,}|'[^']{16,})"
)
QUIET_CODE = re.compile(r"/\*(?P<note>[^*]{12,2000})\*/|content ?: ?[\"'](?P<shown>[^\"'\n]{12,600})")
SPOKEN_SCRIPT = re.compile(r"^<script\b[^<>]{0,80}type ?= ?[\"']?(?:text/plain|application/(?:ld\+)?json)")
HIDDEN_DEED: Final = (
    r"\byou (?:must|shall|will) (?:now |always |first )?(?:run|execute|send|post|install|call)\b"
    r"|\b(?:run|execute|start|install|append|collect|upload|send|read|use|post|call|dump)\b"
    r"(?![^\n]{0,60}` to (?:re-?generate|update|refresh|rebuild)\b)"
    r"[^\n]{0,80}(?:`|https?://|~/|\$\(|\bprintenv|cookies|bcc)|\bsystem prompt\b"
    r"|\b(?:if|when|since) you(?:'re| are) an? (?:ai\b|llm\b|language model|assistant|agent|bot\b)"
    r"|\btell the (?:reader|user|visitor|customer)|\bto (?:all |any )?(?:ais\b|llms\b|language models)"
)
"""Matches actions whose mention makes hidden markup suspicious."""

EMPTY_SUMMARY = re.compile(r"<summary>\s*(?:[.\u00b7\u2026-]|&nbsp;)?\s*</summary>")
TITLE = re.compile(
    r"[\]\[!](?:(?<=\])\((?:<[^<>\n]{0,300}>|[^()\s]{1,400})\s[\"'(](?P<title>[^\n]{12,600}?)[\"')]\)"
    r"|(?m:(?<=^\[)[^\]\n]{1,60}\]: ?\S{1,300}\s[\"'(](?P<definition>[^\n]{12,600})[\"')])"
    r"|(?<=!)\[(?P<alt>[^\]\n]{24,600})\])"
)


def names_deed(text: str) -> bool:
    """Return whether hidden text mentions an action or the agent's configuration."""
    return compiled(HIDDEN_DEED).search(text) is not None


def find_hidden_regions(text: str) -> list[tuple[int, int]]:
    """Return the spans of folded text that a reader does not see, in order and without overlaps within a kind."""
    regions = _comments(text)
    if "<" in text:
        regions += _tags(text)
    if "](" in text or "]:" in text or "![" in text:
        for found in TITLE.finditer(text):
            regions.append(found.span(found.lastgroup or 0))
    return sorted(regions)


def _comments(text: str) -> list[tuple[int, int]]:
    closings = {
        "<!--": ("-->", "--!>"),
        "<![c": ("]]>",),
        "{{/*": ("*/}}",),
        "{{!": ("}}",),
        "{#": ("#}",),
        "%%": ("%%", "\n"),
        "<?": ("?>",),
        "<%": ("%>",),
        "<!e": (">",),
        "{% ": ("{% endcomment", "{%endcomment"),
        "{%c": ("{% endcomment", "{%endcomment"),
        "\\": ("}}", "}$", "\n"),
        ":::": (":::",),
    }
    regions: list[tuple[int, int]] = []
    last = 0
    for found in COMMENT.finditer(text):
        if found.start() < last or text[found.start() - 1 : found.start()] == "`":
            continue
        mark = next((mark for mark in closings if found.group().startswith(mark)), "")
        last = limit = found.end() + MAX_CHARS
        for close in closings.get(mark, ("\n",)):
            end = text.find(close, found.end(), last)
            last = end if end >= 0 else last
        if last == limit:
            last = min(len(text), found.end() + UNCLOSED)
        regions.append((found.end(), last))
    return regions


def _tags(text: str) -> list[tuple[int, int]]:
    regions: list[tuple[int, int]] = []
    last = 0
    for found in TAG.finditer(text):
        if found.start() < last:
            continue
        tag = found.group()
        before = text[found.start() - 1 : found.start()]
        if before.isalnum() or before == "`":
            continue
        if tag.startswith(("<script", "<style")):
            end = text.find("</", found.end(), found.end() + MAX_CHARS)
            last = end if end >= 0 else min(len(text), found.end() + UNCLOSED)
            if SPOKEN_SCRIPT.match(tag):
                regions.append((found.end(), last))
            else:
                regions.extend(
                    quiet.span(quiet.lastgroup or 0) for quiet in QUIET_CODE.finditer(text, found.end(), last)
                )
        elif HIDES.search(tag):
            end = text.find("</", found.end(), found.end() + MAX_CHARS)
            last = end if end >= 0 else min(len(text), found.end() + UNCLOSED)
            regions.append((found.start(), last))
        elif (unseen := UNSEEN.match(tag)) and (
            end := text.find(f"</{unseen[1]}", found.end(), found.end() + MAX_CHARS)
        ) >= 0:
            last = end
            regions.append((found.start(), last))
        else:
            regions.extend(
                (found.start() + value.start(), found.start() + value.end())
                for value in ATTRIBUTE.finditer(tag)
            )
    for found in EMPTY_SUMMARY.finditer(text):
        end = text.find("</details", found.end(), found.end() + MAX_CHARS)
        regions.append((found.end(), end if end >= 0 else min(len(text), found.end() + UNCLOSED)))
    return regions
