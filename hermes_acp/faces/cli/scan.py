"""hermes-acp scan: what the injection scanner says of files, for people, or of texts, for programs.

Knows: how findings are shown, and that a block is exit code 1. Does not know: the flags, how a text
is judged.
"""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.knowledge.injection import Finding, ScanReport, scan

if TYPE_CHECKING:
    from hermes_acp.config.environment import Environment

MOST_SHOWN = 100
HOW_TO_ALLOW = "To let it pass as it is: hermes-acp scan --allow"


def scan_command(arguments: Sequence[str]) -> int:
    """Do what was asked; give the exit code. A reader that left, such as `head`, ends it without a word."""
    try:
        if any(word.startswith("-") and word != "-" for word in arguments):
            return _run(arguments)
        return _show_files(arguments)
    except HermesError as error:
        _note(error.sentence())
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _run(arguments: Sequence[str]) -> int:
    """Do what flags ask for; names of files alone need no parser, and are the usual case."""
    from hermes_acp.faces.cli.scan_flags import parse_flags

    options = parse_flags(arguments)
    if options.jsonl:
        if options.files:
            raise BadRequest("--jsonl reads standard input and takes no files.")
        from hermes_acp.faces.cli.scan_lines import scan_lines

        return scan_lines()
    if options.allow or options.forbid:
        return _remember(options.files, is_allowed=options.allow)
    return _show_files(options.files)


def _show_files(files: Sequence[str]) -> int:
    from hermes_acp.knowledge.allowances import digest_of, read_allowed

    _need(files)
    allowed = read_allowed(_environment().home_path)
    is_blocked = is_unread = False
    for file in files:
        try:
            content = _read(file)
        except BadRequest as trouble:
            is_unread = True
            _note(trouble.sentence())
            continue
        report = scan(content.decode("utf-8", "replace").replace("\r\n", "\n"))
        is_allowed = bool(allowed) and digest_of(content) in allowed
        is_blocked = is_blocked or (report.verdict == "block" and not is_allowed)
        _show(file, report, is_allowed=is_allowed)
    if is_blocked:
        return 1
    return BadRequest.exit_code if is_unread else 0


def _need(files: Sequence[str]) -> None:
    if not files:
        raise BadRequest("No file was named.", hint="Try `hermes-acp scan AGENTS.md`.")


def _show(file: str, report: ScanReport, *, is_allowed: bool) -> None:
    from hermes_acp.faces.cli.lettering import bold, plain

    for finding in _worst(report.findings):
        severity = bold(finding.severity) if finding.severity == "block" else finding.severity
        print(f"{plain(file)}:{finding.line}: {severity} {finding.rule}: {plain(finding.why)}")
        print(f"    {plain(finding.excerpt)}")
    if len(report.findings) > MOST_SHOWN:
        print(f"{plain(file)}: {len(report.findings) - MOST_SHOWN:,} more findings are not shown.")
    if is_allowed:
        print(f"{plain(file)}: you allowed this text as it is.")
    elif report.verdict == "block" and file != "-":
        print(f"{plain(file)}: the blocked passages are left out. {HOW_TO_ALLOW} {plain(file)}")


def _worst(findings: Sequence[Finding]) -> list[Finding]:
    """Give as many findings as people read, in their order; what blocks is among them before what is harmless."""
    ranks = {"block": 0, "warn": 1}
    by_rank = sorted(range(len(findings)), key=lambda at: ranks.get(findings[at].severity, 2))
    return [findings[at] for at in sorted(by_rank[:MOST_SHOWN])]


def _remember(files: Sequence[str], *, is_allowed: bool) -> int:
    from pathlib import Path

    from hermes_acp.faces.cli.lettering import plain
    from hermes_acp.knowledge.allowances import allow, forbid

    _need(files)
    home = _environment().home
    for file in files:
        content = _read(file)
        if is_allowed:
            digest = allow(home, content, str(Path(file).absolute()))
            print(f"{plain(file)}: allowed as it is now (sha256 {digest[:12]}…). A change needs a new look.")
        else:
            forbid(home, content)
            print(f"{plain(file)}: judged like any other text again.")
    return 0


def _environment() -> "Environment":
    from hermes_acp.config.environment import read_environment

    return read_environment()


def _note(sentence: str) -> None:
    from hermes_acp.faces.cli.lettering import note

    note(sentence)


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except FileNotFoundError as error:
        raise BadRequest(f"There is no file {file!r}.") from error
    except OSError as error:
        raise BadRequest(f"The file {file!r} cannot be read: {error.strerror}.") from error
