"""Create a new environment and install a wheel into it, with the installer that created the first environment."""

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, cast

from hermes_acp.updates.configured_index import read_receipt_options
from hermes_acp.updates.update_errors import UpdateFailed
from hermes_acp.updates.update_programs import Progress, run_installer

UV_HOMES: Final = (".local/bin", ".cargo/bin")
PIP_FLAGS: Final = ("--quiet", "--disable-pip-version-check", "--no-input")
TOOLS: Final = "tools"


class EnvironmentBuilder:
    """Creates environments for one installation, with uv if uv created it, else with venv and pip."""

    def __init__(self, root: Path, installer: str, variables: Mapping[str, str], progress: Progress) -> None:
        self._root = root
        self._variables = variables
        self._progress = progress
        self._uv = self._find_uv() if installer == "uv" else None

    def _find_uv(self) -> str | None:
        home = self._variables.get("HOME", "/")
        folders = [
            self._variables.get("PATH", os.defpath),
            *(os.path.join(home, folder) for folder in UV_HOMES),
        ]
        return shutil.which("uv", path=os.pathsep.join(folders))

    def base_python(self) -> Path:
        """Return the interpreter that created the first environment. Raises UpdateFailed."""
        versions = sorted(path.parent.name for path in self._root.glob("lib/python3*/site-packages"))
        for line in (self._root / "pyvenv.cfg").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition("=")
            if name.strip() == "home":
                for program in (*versions, "python3"):
                    if (found := Path(value.strip(), program)).is_file():
                        return found
        raise UpdateFailed(
            f"The Python that {self._root} was created with no longer exists.",
            hint="Install hermes-acp again.",
        )

    async def create(self, environment: Path) -> None:
        """Create an empty environment. Raises UpdateFailed."""
        base = str(self.base_python())
        if self._uv:
            await self._run([self._uv, "venv", "--quiet", "--no-project", "--python", base, str(environment)])
        else:
            await self._run([base, "-I", "-m", "venv", str(environment)])

    async def install(self, environment: Path, requirements: Sequence[str]) -> None:
        """Install requirements and their dependencies. Raises UpdateFailed."""
        python = str(environment / "bin" / "python")
        if self._uv:
            words = [self._uv, "pip", "install", "--quiet", "--python", python]
            words += _index_flags(self._root)
        else:
            words = [python, "-I", "-m", "pip", "install", *PIP_FLAGS]
        await self._run([*words, *requirements])

    async def build(self, folder: Path, into: Path) -> Path:
        """Build a wheel from a clone and return its path. Raises UpdateFailed."""
        if self._uv:
            words = [
                self._uv,
                "build",
                "--quiet",
                "--wheel",
                "--no-create-gitignore",
                *_index_flags(self._root),
            ]
            await self._run([*words, "--out-dir", str(into), str(folder)])
        else:
            pip = await self._pip(into.parent)
            await self._run([*pip, "wheel", *PIP_FLAGS, "--no-deps", "--wheel-dir", str(into), str(folder)])
        wheels = sorted(into.glob("*.whl"))
        if len(wheels) != 1:
            raise UpdateFailed(f"{folder} was built into {len(wheels)} wheels instead of one.")
        return wheels[0]

    async def _pip(self, staging: Path) -> list[str]:
        """Return the pip command of the first environment, or of one created for this purpose."""
        own = self._root / "bin" / "python"
        if any(self._root.glob("lib/python3*/site-packages/pip/__main__.py")):
            return [str(own), "-I", "-m", "pip"]
        tools = staging / TOOLS
        await self._run([str(self.base_python()), "-I", "-m", "venv", str(tools)])
        return [str(tools / "bin" / "python"), "-I", "-m", "pip"]

    async def _run(self, words: Sequence[str]) -> None:
        await run_installer(words, self._progress, variables=self._variables, cwd=self._root)


def _index_flags(root: Path) -> list[str]:
    """Return the index flags that the receipt of `uv tool install` recorded."""
    return list(_flags_of(read_receipt_options(root)))


def _flags_of(options: Mapping[str, Any]) -> Iterator[str]:
    for index in cast("list[dict[str, Any]]", options.get("index") or []):
        yield from ("--default-index" if index.get("default") else "--index", str(index.get("url", "")))
    if isinstance(url := options.get("index-url"), str):
        yield from ("--default-index", url)
    for link in cast("list[str | dict[str, Any]]", options.get("find-links") or []):
        yield from ("--find-links", link if isinstance(link, str) else str(link.get("url", "")))
    if options.get("no-index"):
        yield "--no-index"
