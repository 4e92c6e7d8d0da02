"""Download a speech model from the Hugging Face Hub at a person's request. Blocks.

A model is either complete or absent: it is downloaded next to its destination, checked, and then moved there. An
interrupted download is resumed the next time. Source: "Hugging Face Hub: Download files".
"""

import hashlib
import shutil
from collections.abc import Sequence
from fnmatch import fnmatch
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from msgspec import Struct

from hermes_acp.config.installation import extra_hint
from hermes_acp.config.speech_models import EXTRA, PACKAGE, missing_file
from hermes_acp.core.errors import BadRequest, ConfigError, HermesError

FILES: Final = ("model.bin", "config.json", "preprocessor_config.json", "tokenizer.json", "vocabulary.*")
NOT_INSTALLED: Final = "Speech models are used by packages that are not installed."
NOT_A_MODEL: Final = "{repository} has no {missing}, so it is not a Whisper model in CTranslate2's format."
FAILED: Final = "{repository} could not be downloaded: {why}."
DAMAGED: Final = "{name} arrived damaged."
AGAIN_HINT: Final = "Run the command again; it continues where it stopped."


class DownloadError(HermesError):
    """A model could not be downloaded."""

    code = "download_failed"


class ModelFile(Struct, frozen=True):
    """A file in a repository; `sha256` is empty for small files."""

    name: str
    size: int
    sha256: str


class RemoteModel(Struct, frozen=True):
    """A model on the Hub: its repository, commit and required files."""

    repository: str
    commit: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        """The total size of the files in bytes."""
        return sum(file.size for file in self.files)


def look_up(repository: str) -> RemoteModel:
    """Return what would be downloaded. Raises ConfigError if the packages are missing, BadRequest, or DownloadError."""
    hub = _hub()
    try:
        # A token stored on this machine is not sent.
        info = hub.HfApi(token=False).model_info(repository, files_metadata=True)
    except (OSError, hub.errors.HTTPError, _network_error()) as error:
        raise _failed(repository, error) from None
    files = tuple(
        ModelFile(each.rfilename, each.size or 0, each.lfs.sha256 if each.lfs else "")
        for each in info.siblings or ()
        if any(fnmatch(each.rfilename, wanted) for wanted in FILES)
    )
    if missing := _missing([file.name for file in files]):
        raise BadRequest(NOT_A_MODEL.format(repository=repository, missing=missing))
    return RemoteModel(repository, info.sha, files)


def download(model: RemoteModel, folder: Path, *, shows_progress: bool) -> None:
    """Download a model into a folder. Raises ConfigError or DownloadError."""
    hub = _hub()
    if not shows_progress:
        hub.utils.disable_progress_bars()
    unfinished = folder.with_name(f"{folder.name}.unfinished")
    names = [file.name for file in model.files]
    try:
        hub.snapshot_download(
            model.repository, revision=model.commit, local_dir=unfinished, allow_patterns=names, token=False
        )
        _check(model, unfinished)
        shutil.rmtree(unfinished / ".cache", ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
        unfinished.rename(folder)
    except (OSError, hub.errors.HTTPError, _network_error()) as error:
        raise _failed(model.repository, error) from None
    if missing := missing_file(folder):
        raise DownloadError(NOT_A_MODEL.format(repository=model.repository, missing=missing))


def _check(model: RemoteModel, folder: Path) -> None:
    """Compare large files with their digests; a damaged file is removed, so that it is downloaded again."""
    for file in model.files:
        path = folder / file.name
        with path.open("rb") as opened:
            is_right = not file.sha256 or hashlib.file_digest(opened, "sha256").hexdigest() == file.sha256
        if not is_right or (file.size and path.stat().st_size != file.size):
            path.unlink()
            raise DownloadError(DAMAGED.format(name=file.name), hint=AGAIN_HINT)


def _missing(names: Sequence[str]) -> str:
    for wanted in FILES:
        if wanted != "preprocessor_config.json" and not any(fnmatch(name, wanted) for name in names):
            return wanted
    return ""


def _hub() -> Any:
    if find_spec(PACKAGE) is None:
        raise ConfigError(NOT_INSTALLED, hint=extra_hint(EXTRA))
    return import_module("huggingface_hub")


def _network_error() -> type[Exception]:
    return import_module("httpx2").HTTPError


def _failed(repository: str, error: Exception) -> DownloadError:
    status: Any = getattr(getattr(error, "response", None), "status_code", None)
    if status in (401, 404):
        why = "the Hugging Face Hub has no such public repository"
    else:
        why = (
            f"it answered with status {status}"
            if status
            else (str(error).strip().partition("\n")[0] or "no connection")
        )
    return DownloadError(
        FAILED.format(repository=repository, why=why.rstrip(".")), hint="" if status else AGAIN_HINT
    )
