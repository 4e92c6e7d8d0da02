"""Convert web pages to text that a model can read.

Source: WHATWG Encoding (the meaning of labels), RFC 9110 (content types).
"""

import codecs
import re
from typing import Final

from hermes_acp.core.errors import WorkspaceError

_TEXTUAL: Final = re.compile(
    r"text/.*|.*[/+](?:json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|x-sh|sql|graphql|x-www-form-urlencoded)"
)
_HTML: Final = ("text/html", "application/xhtml+xml")
_META: Final = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?([\w:.-]{1,40})", re.IGNORECASE)
_CHARSET: Final = re.compile(r"charset\s*=\s*\"?([\w:.-]{1,40})", re.IGNORECASE)
_KNOWN: Final = re.compile(
    r"utf-(?:8|16|16-le|16-be|32|32-le|32-be)|iso8859-\d+|cp\d+|koi8-[rut]|shift_jis\w*|euc_\w+|gb\w+|big5\w*|mac-\w+"
    r"|iso2022_\w+|johab|hz|tis-620|ascii"
)
_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
PROBED_BYTES: Final = 4096
_BLANK_LINES: Final = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
_UNSEEN_ELEMENTS: Final = "script, style, template, noscript, iframe, noembed, noframes, object, [hidden]"
_UNSEEN_STYLE: Final = re.compile(r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)", re.IGNORECASE)
MAX_LINE_BREAKS: Final = 5_000
"""The number of consecutive line breaks at which Markdown conversion takes up to a second; it is quadratic."""


def kind_of(content_type: str) -> str:
    """Return the bare media type, such as `text/html`, or an empty string if none was given."""
    return content_type.partition(";")[0].strip().lower()


def require_text(kind: str) -> None:
    """Raise WorkspaceError for a media type that is not text, before the content is loaded."""
    if kind and kind != "application/octet-stream" and not _TEXTUAL.fullmatch(kind):
        raise WorkspaceError(
            f"It has the type {kind[:80]}; only text can be fetched (HTML, Markdown, JSON, XML, source).",
            hint="Fetch a page in HTML, or download it with the terminal if it is needed as a file.",
        )


def read_page(content: bytes, content_type: str, url: str = "") -> str:
    """Return a page's text: HTML as Markdown, anything else unchanged. Raises WorkspaceError if it is not text."""
    kind = kind_of(content_type)
    if b"\0" in content[:PROBED_BYTES] and not content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise WorkspaceError(f"It has {len(content):,} bytes and is not text.")
    text = (
        content.decode(encoding_of(content, content_type), "replace").replace("\r\n", "\n").replace("\0", "")
    )
    if kind in _HTML or (kind in ("", "application/octet-stream") and _looks_like_html(text)):
        return markdown_of(text, url)
    return text


def encoding_of(content: bytes, content_type: str) -> str:
    """Return a page's encoding by its byte-order mark, its header or its declaration, or else UTF-8 if valid."""
    for mark, encoding in _MARKS:
        if content.startswith(mark):
            return encoding
    told = _CHARSET.search(content_type)
    own = _META.search(content[:PROBED_BYTES])
    for label in (told[1] if told else "", own[1].decode("ascii") if own else ""):
        if known := _known(label):
            return known
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut_within_a_letter = error.start > max(PROBED_BYTES, len(content) - 4)
        return "utf-8" if is_cut_within_a_letter else "cp1252"
    return "utf-8"


def _known(label: str) -> str:
    """Return Python's name for an encoding label; on the web, Latin-1 means the Windows code page."""
    try:
        name = codecs.lookup(label).name if label else ""
    except (LookupError, ValueError):
        return ""
    if name in ("iso8859-1", "ascii"):
        return "cp1252"
    return name if _KNOWN.fullmatch(name) else ""


def _looks_like_html(text: str) -> bool:
    return text[:1000].lstrip().lower().startswith(("<!doctype html", "<html", "<head", "<body"))


def markdown_of(html: str, url: str = "") -> str:
    """Return the visible part of an HTML page as Markdown, without layout if it has thousands of line breaks.

    Links are resolved relative to `url`, the page's own address.
    """
    import turbohtml

    page = turbohtml.parse(html)
    page.remove(_UNSEEN_ELEMENTS)
    for element in page.select("[style]"):
        if _UNSEEN_STYLE.search(str(element.attrs["style"])):
            element.decompose()
    for image in page.select("img[src^='data:' i]"):
        image.replace_with(turbohtml.Text(str(image.attrs.get("alt") or "")))
    if url:
        page.resolve_links(url)
    if len(page.select("br")) > MAX_LINE_BREAKS:
        text = page.to_text()
    else:
        literal = turbohtml.Markdown.Escaping(mode="none", asterisks=False, underscores=False)
        text = page.to_markdown(turbohtml.Markdown(escaping=literal))
    return _BLANK_LINES.sub("\n\n", text).strip()
