"""hermes-acp scan: what the injection scanner says of files, for people, or of texts, for programs.

Knows: the flags, how findings are shown, and that a block is exit code 1. Does not know: how a text is judged.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from hermes_acp.core.errors import BadRequest, HermesError
from hermes_acp.knowledge.injection import ScanReport, scan

EXIT_CODES = "exit codes: 0 nothing to block, 1 something is blocked, 2 usage, or a file that cannot be read, 4 storage"
HOW_TO_ALLOW = "To let it pass as it is: hermes-acp scan --allow"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        _note(f"{message}. Try `{self.prog} --help`.")
        sys.exit(2)


def add_scan(parser: argparse.ArgumentParser) -> None:
    """Describe the flags."""
    parser.add_argument("files", nargs="*", metavar="FILE", help="files to judge; - reads standard input")
    ways = parser.add_mutually_exclusive_group()
    ways.add_argument(
        "--jsonl",
        action="store_true",
        help="read lines {id, text} from standard input and answer each with {id, verdict, categories, findings}",
    )
    ways.add_argument(
        "--allow", action="store_true", help="let these files pass as they are, until they change"
    )
    ways.add_argument("--forbid", action="store_true", help="take that back")


def scan_command(arguments: Sequence[str]) -> int:
    """Do what was asked; give the exit code. A reader that left, such as `head`, ends it without a word."""
    parser = _Parser(prog="hermes-acp scan", epilog=EXIT_CODES)
    add_scan(parser)
    options = parser.parse_args(arguments)
    try:
        return _run(options)
    except HermesError as error:
        _note(error.sentence())
        return error.exit_code
    except BrokenPipeError:
        sys.stderr.close()
        return 0


def _run(options: argparse.Namespace) -> int:
    if options.jsonl:
        if options.files:
            raise BadRequest("--jsonl reads standard input and takes no files.")
        from hermes_acp.faces.cli.scan_lines import scan_lines

        return scan_lines()
    if not options.files:
        raise BadRequest("No file was named.", hint="Try `hermes-acp scan AGENTS.md`.")
    if options.allow or options.forbid:
        return _remember(options.files, is_allowed=options.allow)
    return _show_files(options.files)


def _show_files(files: Sequence[str]) -> int:
    from hermes_acp.knowledge.allowances import digest_of, read_allowed

    allowed = read_allowed(_home())
    is_blocked = False
    for file in files:
        content = _read(file)
        report = scan(content.decode("utf-8", "replace").replace("\r\n", "\n"))
        is_allowed = digest_of(content) in allowed
        is_blocked = is_blocked or (report.verdict == "block" and not is_allowed)
        _show(file, report, is_allowed=is_allowed)
    return 1 if is_blocked else 0


def _show(file: str, report: ScanReport, *, is_allowed: bool) -> None:
    from hermes_acp.faces.cli.lettering import bold, plain

    for finding in report.findings:
        severity = bold(finding.severity) if finding.severity == "block" else finding.severity
        print(f"{plain(file)}:{finding.line}: {severity} {finding.rule}: {plain(finding.why)}")
        print(f"    {plain(finding.excerpt)}")
    if is_allowed:
        print(f"{plain(file)}: you allowed this text as it is.")
    elif report.verdict == "block" and file != "-":
        print(f"{plain(file)}: the blocked passages are left out. {HOW_TO_ALLOW} {plain(file)}")


def _remember(files: Sequence[str], *, is_allowed: bool) -> int:
    from hermes_acp.faces.cli.lettering import plain
    from hermes_acp.knowledge.allowances import allow, forbid

    home = _home()
    for file in files:
        content = _read(file)
        if is_allowed:
            digest = allow(home, content, str(Path(file).absolute()))
            print(f"{plain(file)}: allowed as it is now (sha256 {digest[:12]}…). A change needs a new look.")
        else:
            forbid(home, content)
            print(f"{plain(file)}: judged like any other text again.")
    return 0


def _home() -> Path:
    from hermes_acp.config.environment import read_environment

    return read_environment().home


def _note(sentence: str) -> None:
    from hermes_acp.faces.cli.lettering import note

    note(sentence)


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    try:
        return Path(file).read_bytes()
    except FileNotFoundError as error:
        raise BadRequest(f"There is no file {file!r}.") from error
    except OSError as error:
        raise BadRequest(f"The file {file!r} cannot be read: {error.strerror}.") from error
