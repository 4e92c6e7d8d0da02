"""The plugin folder of trainers; every plugin exports `TRAINER` and is imported on first use."""

from typing import Final, cast

from hermes_acp.core.errors import ConfigError
from hermes_acp.core.plugins import PluginFolder, open_installed
from hermes_acp.training.trainer_port import Trainer

ENTRY_POINTS: Final = "hermes_acp.trainers"
TRAINERS: Final[PluginFolder[Trainer]] = PluginFolder("hermes_acp.training.trainers", "TRAINER")


def open_trainer(name: str) -> Trainer:
    """Import a trainer, either a plugin of this folder or one that an installed package adds. Raises ConfigError."""
    if name in TRAINERS:
        return TRAINERS.open(name)
    if found := open_installed(ENTRY_POINTS, name, kind="trainer", setting="trainer"):
        return cast("Trainer", found)
    raise ConfigError(
        f"There is no trainer {name!r}.",
        hint=f"Use {' or '.join(TRAINERS)}, or install the package that adds it.",
    )


def missing_modules(trainer: Trainer) -> list[str]:
    """Return which of a trainer's modules are not installed, without importing any."""
    from importlib.util import find_spec

    return [name for name in trainer.modules if find_spec(name) is None]
