"""A training file: the model, the data, and the fields that only a person may change.

Training files are in the folder `training` of the agent's home, which policy denies to the agent in every mode.
"""

import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Struct
from pydantic import Field, ValidationError

from hermes_acp.config.settings import parse_settings
from hermes_acp.config.settings_errors import describe_settings_errors
from hermes_acp.config.settings_section import Section
from hermes_acp.core.errors import BadRequest, ConfigError
from hermes_acp.storage.private_files import storage_error

FOLDER: Final = "training"
RUNS: Final = "runs"
SUFFIX: Final = ".yaml"
NAME: Final = r"^[a-z0-9][a-z0-9_-]{0,31}$"
MAX_HASHED_BYTES: Final = 32 << 20
SHOWN_DIGITS: Final = 8
"""The number of characters of a digest that a person types."""
AtLeastOne = Annotated[int, Field(ge=1)]
Method = Literal["sft", "dpo"]


class LockedFields(Section):
    """The fields that determine the trained model. A person confirms these values at each start."""

    base_model: Annotated[str, Field(min_length=1)]
    """The model to train: a folder, or a name known to the trainer."""
    tokenizer: str = ""
    """The folder or name of the tokenizer. Default: that of the base model."""
    learning_rate: Annotated[float, Field(gt=0, le=1)]
    """The learning rate. It stays the same from the first to the last step."""
    lora_rank: Annotated[int, Field(ge=1, le=1024)] = 16
    """The rank of the adapter."""
    max_length: Annotated[int, Field(ge=16)] = 4096
    """The number of tokens after which a conversation is truncated."""
    rollout_address: str = ""
    """The address of the compute service, for a trainer that uses one."""


class TrainingPlan(Section):
    """All settings of a training file."""

    trainer: str
    """The trainer: `trl`, `tinker`, or one that an installed package adds."""
    method: Method = "sft"
    """`sft` learns from conversations, `dpo` from pairs of answers."""
    data: str
    """The file that `sessions export` wrote, as `messages` for `sft` and as `dpo` for `dpo`."""
    locked: LockedFields
    """The fields that determine the trained model."""
    epochs: AtLeastOne = 1
    """The number of times that each record is used."""
    max_steps: AtLeastOne | None = None
    """The number of steps, instead of `epochs`."""
    batch_size: AtLeastOne = 1
    """The number of records per step."""
    checkpoint_every: AtLeastOne = 50
    """The number of steps between two checkpoints."""
    seed: Annotated[int, Field(ge=0)] = 0
    """The seed for all random choices."""


class PlanFile(Struct, frozen=True):
    """A parsed training file: its name, its path, its run's folder and its content."""

    name: str
    path: Path
    run: Path
    plan: TrainingPlan


def training_folder(home: Path) -> Path:
    """Return the folder of training files."""
    return home / FOLDER


def read_plan(home: Path, named: str) -> PlanFile:
    """Read a training file by its name or path. Raises BadRequest for a file elsewhere, ConfigError or StorageError."""
    folder = training_folder(home)
    path = (
        Path(named).expanduser() if os.sep in named or named.endswith(SUFFIX) else folder / f"{named}{SUFFIX}"
    )
    if path.parent == Path() and not path.exists():
        path = folder / path
    place = Path(os.path.realpath(path.parent)) / path.name
    if place.parent != Path(os.path.realpath(folder)) or place.suffix != SUFFIX:
        raise BadRequest(
            f"{named} is not in {folder}.", hint="Move it there: the agent cannot write to that folder."
        )
    name = place.stem
    if not _is_name(name):
        raise BadRequest(f"{name!r} is not a name.", hint="Use up to 32 lower-case letters, digits, - and _.")
    content = _read(path)
    try:
        plan = TrainingPlan.model_validate(parse_settings(content, str(path)))
    except ValidationError as error:
        raise ConfigError(f"{path}: {describe_settings_errors(error, TrainingPlan)}") from error
    return PlanFile(name, path, folder / RUNS / name, plan)


def plan_names(home: Path) -> list[str]:
    """Return the names of all training files."""
    return sorted(path.stem for path in training_folder(home).glob(f"*{SUFFIX}") if _is_name(path.stem))


def confirmed_digest(plan: TrainingPlan, data_sha256: str) -> str:
    """Return the digest of what a person confirms: locked fields, trainer, method, data, and the models' folders."""
    content = {
        "trainer": plan.trainer,
        "method": plan.method,
        "data": data_sha256,
        "locked": plan.locked.model_dump(),
        "base_model": _folder_digest(plan.locked.base_model),
        "tokenizer": _folder_digest(plan.locked.tokenizer),
    }
    return sha256(msgspec.json.encode(content, order="deterministic")).hexdigest()


def _is_name(name: str) -> bool:
    import re

    return re.fullmatch(NAME, name) is not None


def _read(path: Path) -> str:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError as error:
        raise BadRequest(f"There is no {path}.", hint="Write it as shown in docs/training.md.") from error
    except OSError as error:
        raise storage_error("read", path, error) from error
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
            raise BadRequest(f"{path} is not a file of yours.", hint="Create the file yourself.")
        if about.st_mode & 0o022:
            raise BadRequest(
                f"Others may write to {path}.", hint=f"Remove that permission: chmod go-w {path}"
            )
        try:
            return file.read().decode()
        except UnicodeDecodeError as error:
            raise ConfigError(f"{path} is not UTF-8 text.") from error


def _folder_digest(named: str) -> str:
    """Return a digest of a model's folder, in which large files count by size; empty if it is not a folder."""
    folder = Path(named).expanduser()
    if not named or not folder.is_dir():
        return ""
    digest = sha256()
    for path in sorted(folder.iterdir()):
        if not path.is_file():
            continue
        size = path.stat().st_size
        content = sha256(path.read_bytes()).hexdigest() if size <= MAX_HASHED_BYTES else ""
        digest.update(f"{path.name}\0{size}\0{content}\n".encode())
    return digest.hexdigest()
