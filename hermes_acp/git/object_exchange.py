"""Exchange a repository's commits with other machines through a git server or a shared folder.

The commands run in an empty repository that borrows the objects. So no setting of the repository itself, which an agent
may have changed, can start a program or redirect to another address. Sources: gitrepository-layout(5), git(1).
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from hermes_acp.core.errors import ConfigError
from hermes_acp.git.program_settings import INERT_SETTINGS
from hermes_acp.git.repository_git import RepositoryGit
from hermes_acp.git.safe_git import GitProgram

WAYS: Final = "https:ssh:file"
ADDRESS: Final = re.compile(r"(https|ssh|file)://.+|/.+|[\w.-]+(@[\w.-]+)?:(?![/:]{2}|:).+")
SETTINGS: Final = (
    *INERT_SETTINGS,
    ("core.askPass", ""),
    ("core.gitProxy", ""),
    ("core.sshCommand", "ssh -o BatchMode=yes -o ConnectTimeout=10"),
    ("fetch.fsckObjects", "true"),
    ("http.followRedirects", "initial"),
)


class ObjectExchange:
    """Sends and fetches commits through one address. Everything except the constructor blocks."""

    def __init__(self, program: GitProgram, folder: Path, address: str) -> None:
        """Store the arguments; nothing is created yet. `folder` will contain the empty repository.

        Raises ConfigError for an invalid address.
        """
        if not ADDRESS.fullmatch(address):
            raise ConfigError(
                f"{address!r} is not the address of a git repository.",
                hint="Use a folder that all machines share, ssh://HOST/PATH, HOST:PATH or https://HOST/PATH.",
            )
        self.address = address
        self._program = program
        self._folder = folder

    def send(self, common_dir: str, commit: str, name: str) -> None:
        """Store a commit and its history under a reference name. Raises GitFailed."""
        objects = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.path.join(common_dir, "objects")}
        self._run(objects, "push", "--quiet", "--force", "--no-verify", self.address, f"{commit}:{name}")

    def fetch(self, common_dir: str, name: str) -> None:
        """Fetch the objects of a reference into a repository. Raises GitFailed."""
        objects = {"GIT_OBJECT_DIRECTORY": os.path.join(common_dir, "objects")}
        self._run(objects, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", self.address, name)

    def _run(self, variables: Mapping[str, str], *arguments: str) -> None:
        place = str(self._folder)
        os.makedirs(place, mode=0o700, exist_ok=True)
        git = RepositoryGit(self._program, place)
        if not os.path.exists(os.path.join(place, "HEAD")):
            git.run("init", "--quiet", "--bare", "--template=", ".")
        reach = {"GIT_ALLOW_PROTOCOL": WAYS, "GIT_DIR": place, **variables}
        git.run_with(SETTINGS, *arguments, variables=reach)
