"""The `hermes-acp scan` command: scan files and print findings for people, or scan texts for programs.

The exit code is 1 if anything is blocked.
"""

import os
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.frontends.cli.messages import scan_messages
from injection_scanner.findings import Finding, ScanReport
from injection_scanner.scanner import scan

if TYPE_CHECKING:
    from hermes_acp.config.environment import Environment

MAX_SHOWN = 100


def scan_command(arguments: Sequence[str]) -> int:
    """Run the command and return the exit code. If the reader of the output leaves, such as `head`, end silently."""
    try:
        has_flags = any(word.startswith("-") and word != "-" for word in arguments)
        code = _run(arguments) if has_flags else _show_files(arguments)
        sys.stdout.flush()
        return code
    except HermesError as error:
        _note(error.sentence())
        return error.exit_code
    except BrokenPipeError:
        from hermes_acp.frontends.cli.cli_output import drop_output

        drop_output()
        return 0


def _run(arguments: Sequence[str]) -> int:
    """Parse the arguments and scan; plain file names, the usual case, need no parser."""
    from hermes_acp.frontends.cli.scan.scan_flags import parse_flags

    options = parse_flags(arguments)
    if options.jsonl:
        if options.files:
            raise BadRequest(scan_messages.JSONL_TAKES_NO_FILES)
        from hermes_acp.frontends.cli.scan.scan_lines import scan_lines

        return scan_lines()
    if options.allow or options.forbid:
        return _remember(options.files, is_allowed=options.allow)
    return _show_files(options.files, takes_all=options.all)


def _show_files(files: Sequence[str], *, takes_all: bool = False) -> int:
    _need(files)
    look = _FileScan()
    for file in files:
        if os.path.isdir(file):
            look.judge_folder(file, takes_all=takes_all)
        else:
            look.judge(file, _read)
    return look.exit_code


class _FileScan:
    """A scan of files, which prints each result as soon as it is known."""

    def __init__(self) -> None:
        from hermes_acp.storage.allowed_texts import read_allowed

        self._environment = _environment()
        self._allowed = read_allowed(self._environment.home_path)
        self._counts: Counter[str] = Counter()

    @property
    def exit_code(self) -> int:
        """The exit code, which says whether something was blocked or could not be scanned."""
        if self._counts["block"]:
            return 1
        return BadRequest.exit_code if self._counts["unread"] else 0

    def judge(self, file: str, read: Callable[[str], bytes | None], least: str = "info") -> None:
        """Scan a file and show the findings with at least the severity `least`."""
        from hermes_acp.storage.allowed_texts import digest_of

        try:
            content = read(file)
        except BadRequest as trouble:
            self._counts["unread"] += 1
            _note(trouble.sentence())
            return
        if content is None:
            return
        report = scan(content.decode("utf-8", "replace").replace("\r\n", "\n"))
        is_allowed = bool(self._allowed) and digest_of(content) in self._allowed
        self._counts["allow" if is_allowed else report.verdict] += 1
        if least == "info" or report.verdict != "allow":
            _show(os.fsencode(file).decode("utf-8", "replace"), report, least, is_allowed=is_allowed)

    def judge_folder(self, folder: str, *, takes_all: bool) -> None:
        """Scan the texts below a folder, show the suspicious ones, and print a summary."""
        from hermes_acp.frontends.cli.cli_output import escaped
        from hermes_acp.frontends.cli.scan.scan_folder import files_of, read_within

        before = self._counts.copy()
        for file in files_of(folder, self._environment.variables, takes_all=takes_all):
            self.judge(file, partial(read_within, folder), "warn")
        counts = self._counts - before
        blocked, warned = counts["block"], counts["warn"]
        checked = counts["allow"] + warned + blocked
        print(scan_messages.folder_checked(escaped(folder), checked, blocked, warned, counts["unread"]))


def _need(files: Sequence[str]) -> None:
    if not files:
        raise BadRequest(scan_messages.NO_FILE, hint=scan_messages.NO_FILE_HINT)


def _show(file: str, report: ScanReport, least: str, *, is_allowed: bool) -> None:
    from hermes_acp.frontends.cli.cli_output import bold, escaped

    findings = [each for each in report.findings if least == "info" or each.severity != "info"]
    for finding in _worst(findings):
        severity = bold(finding.severity) if finding.severity == "block" else finding.severity
        print(f"{escaped(file)}:{finding.line}: {severity} {finding.rule}: {escaped(finding.why)}")
        print(f"    {escaped(finding.excerpt)}")
    if len(findings) > MAX_SHOWN:
        print(scan_messages.more_findings(escaped(file), len(findings) - MAX_SHOWN))
    if is_allowed:
        print(scan_messages.accepted_by_you(escaped(file)))
    elif report.verdict == "block" and file != "-":
        print(scan_messages.passages_removed(escaped(file)))


def _worst(findings: Sequence[Finding]) -> list[Finding]:
    """Return a readable number of the most severe findings, in order of appearance."""
    ranks = {"block": 0, "warn": 1}
    by_rank = sorted(range(len(findings)), key=lambda at: ranks.get(findings[at].severity, 2))
    return [findings[at] for at in sorted(by_rank[:MAX_SHOWN])]


def _remember(files: Sequence[str], *, is_allowed: bool) -> int:
    from pathlib import Path

    from hermes_acp.frontends.cli.cli_output import escaped
    from hermes_acp.storage.allowed_texts import allow, forbid

    _need(files)
    home = _environment().home
    for file in files:
        content = _read(file)
        if is_allowed:
            digest = allow(home, content, str(Path(file).absolute()))
            print(scan_messages.allowed(escaped(file), digest[:12]))
        else:
            forbid(home, content)
            print(scan_messages.forbidden(escaped(file)))
    return 0


def _environment() -> "Environment":
    from hermes_acp.config.environment import read_environment

    return read_environment()


def _note(sentence: str) -> None:
    from hermes_acp.frontends.cli.cli_output import note

    note(sentence)


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        with open(file, "rb") as stream:
            return stream.read()
    except FileNotFoundError as error:
        raise BadRequest(scan_messages.no_such_file(file)) from error
    except OSError as error:
        raise BadRequest(scan_messages.file_unreadable(file, error.strerror or str(error))) from error
