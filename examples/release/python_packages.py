"""Build the wheel and the source distribution, and test the wheel with each Python on this machine."""

import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from building import Build, ReleaseError, digest

PYTHONS: Final = ("3.11", "3.12", "3.13", "3.14")
ANSWER_S: Final = 60.0
PAGE: Final = "hermes_acp/frontends/web/static/index.html"
INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": 1, "clientCapabilities": {"auth": {"terminal": True}}},
}


def build_web_page(build: Build) -> None:
    """Build the page that `serve` delivers into the export, so that the packages contain it."""
    extension = build.source / "vscode-extension"
    build.run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", cwd=extension)
    build.run("npm", "run", "--silent", "build:web", cwd=extension)


def build_packages(build: Build) -> tuple[Path, Path]:
    """Build and check both packages; return the wheel and the source distribution."""
    constraints = str(build.source / "vscode-extension" / "wheel-constraints.txt")
    pinned = {"PIP_BUILD_CONSTRAINT": constraints, "PIP_CONSTRAINT": constraints}
    build.run(sys.executable, "-m", "build", "--outdir", build.out, ".", more=pinned)
    (wheel,), (sdist,) = build.out.glob("*.whl"), build.out.glob("*.tar.gz")
    build.run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    with zipfile.ZipFile(wheel) as packed:
        if PAGE not in packed.namelist():
            raise ReleaseError("The wheel does not contain the web page.")
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as packed:
            packed.extractall(folder, filter="data")
        (unpacked,) = Path(folder).iterdir()
        again = Path(folder, "again")
        build.run(sys.executable, "-m", "build", "--wheel", "--outdir", again, ".", cwd=unpacked, more=pinned)
        if digest(next(again.iterdir())) != digest(wheel):
            raise ReleaseError("The source distribution builds a different wheel than the commit.")
    return wheel, sdist


def try_wheel(build: Build, wheel: Path) -> Iterator[str]:
    """Install the wheel in each Python and talk to the agent; yield what was tested and which Pythons are missing."""
    for version in PYTHONS:
        python = find_python(version, build)
        if python is None:
            yield f"Python {version}: not on this machine, so not tested"
            continue
        with tempfile.TemporaryDirectory() as folder:
            build.run(sys.executable, "-m", "uv", "venv", "--quiet", "--python", python, folder)
            own = Path(folder, "bin", "python")
            build.run(
                sys.executable, "-m", "uv", "pip", "install", "--quiet", "--python", own, f"{wheel}[serve]"
            )
            build.run(sys.executable, "-m", "uv", "pip", "check", "--quiet", "--python", own)
            yield f"Python {version}: {greet([str(Path(folder, 'bin', 'hermes-acp'))], Path(folder))}"
    with tempfile.TemporaryDirectory() as folder:
        words = [
            sys.executable,
            "-m",
            "uv",
            "tool",
            "run",
            "--quiet",
            "--from",
            str(wheel),
            "hermes-acp-server",
        ]
        yield f"uvx --from WHEEL hermes-acp-server: {greet(words, Path(folder), build.variables)}"


def find_python(version: str, build: Build) -> str | None:
    """Return an interpreter of a version, from the search path or from pyenv, or None."""
    root = Path(build.variables.get("PYENV_ROOT") or Path.home() / ".pyenv")
    kept = sorted(map(str, root.glob(f"versions/{version}.*/bin/python{version}")))
    for python in filter(None, (shutil.which(f"python{version}"), *reversed(kept))):
        with suppress(ReleaseError):
            build.run(python, "-c", "import sys")
            return python
    return None


def greet(words: list[str], home: Path, variables: Mapping[str, str] | None = None) -> str:
    """Start the agent as an editor does; return its name and version. Raises ReleaseError."""
    environment = {**(variables or {"PATH": "/usr/bin:/bin"}), "HOME": str(home)}
    with tempfile.TemporaryFile() as errors:
        answer = _first_answer(words, home, environment, errors)
        errors.seek(0)
        said = errors.read().decode(errors="replace").strip()
    try:
        result = json.loads(answer)["result"]
    except (ValueError, KeyError) as error:
        raise ReleaseError(
            f"{words[0]} does not answer `initialize`: {said or type(error).__name__}."
        ) from error
    kinds = sorted({method.get("type", "agent") for method in result["authMethods"]})
    if not {"agent", "terminal"} & {*kinds}:
        raise ReleaseError(f"The ACP registry requires agent or terminal authentication, not {kinds}.")
    return (
        f"answers `initialize` as {result['agentInfo']['version']}, with {' and '.join(kinds)} authentication"
    )


def _first_answer(words: list[str], home: Path, environment: Mapping[str, str], errors: IO[bytes]) -> str:
    """Return the first line that the agent writes. Its input stays open until then, as an editor's does."""
    with subprocess.Popen(
        words,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        env=environment,
        cwd=home,
        text=True,
    ) as process:
        assert process.stdin
        assert process.stdout
        limit = threading.Timer(ANSWER_S, process.kill)
        limit.start()
        try:
            with suppress(BrokenPipeError):
                process.stdin.write(json.dumps(INITIALIZE) + "\n")
                process.stdin.flush()
            return process.stdout.readline()
        finally:
            limit.cancel()
            with suppress(BrokenPipeError):
                process.stdin.close()


def version_of(pyproject: Path) -> str:
    """Return the version in pyproject.toml."""
    found = re.search(r'^version = "([^"]+)"', pyproject.read_text("utf-8"), re.MULTILINE)
    assert found, "pyproject.toml has a version"
    return found[1]
