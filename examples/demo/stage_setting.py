"""Set up the demo: a copy of the sample project, a new home folder, and the server's environment."""

import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from msgspec import Struct

from hermes_acp.config.environment import MODEL_VARIABLES, Environment

SAMPLE: Final = Path(__file__).parents[1] / "sample_project"


class Stage(Struct, frozen=True):
    """The folders of one demo, which are deleted afterwards."""

    project: Path
    home: Path

    def variables(self, model: Mapping[str, str] | None) -> dict[str, str]:
        """Return the server's environment; `model` replaces all variables that name a model, and None keeps them."""
        found = dict(os.environ)
        if model is not None:
            for name in MODEL_VARIABLES:
                found.pop(name, None)
            found.update(model)
        found["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{found.get('PATH', os.defpath)}"
        found["HERMES_HOME"] = str(self.home)
        return found

    def take_settings(self, user: Environment) -> None:
        """Copy the user's settings and keys into the new home folder; the originals are only read."""
        for path in (user.config_file, user.secrets_file):
            if path.is_file():
                shutil.copy(path, self.home / path.name)
                (self.home / path.name).chmod(0o600)


@contextmanager
def set_stage() -> Generator[Stage]:
    """Copy the sample project into a temporary git repository, next to an empty home folder."""
    with TemporaryDirectory(prefix="hermes-demo-") as folder:
        root = Path(folder).resolve()
        project, home = root / "parcel-rates", root / "home"
        shutil.copytree(SAMPLE, project, ignore=shutil.ignore_patterns("__pycache__", ".*_cache"))
        home.mkdir(mode=0o700)
        identity = ("-c", "user.name=demo", "-c", "user.email=demo@example.invalid")
        for arguments in (("init", "-q"), ("add", "-A"), (*identity, "commit", "-q", "-m", "Parcel rates")):
            subprocess.run(["git", *arguments], cwd=project, check=True, timeout=60)
        yield Stage(project, home)


def server_command() -> list[str]:
    """Return the command of the server that is installed in this Python environment."""
    script = Path(sys.executable).with_name("hermes-acp")
    return [str(script)] if script.is_file() else [sys.executable, "-m", "hermes_acp"]


def run_tests(project: Path) -> subprocess.CompletedProcess[str]:
    """Run the sample's tests directly, without the agent."""
    command = [sys.executable, "-m", "unittest"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False, timeout=120)
