"""Serve a trained model as an endpoint, with the adapter merged into its base model and the Transformers server.

`python -m hermes_acp.training.served_model RUN NAME PORT` merges the adapter and becomes the server, which offers
OpenAI's chat completions on this machine only. Sources: the documentation of PEFT ("Model merging") and `transformers
serve`.
"""

import os
import shutil
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, Final

ADAPTER_FILE: Final = "adapter_config.json"
SERVED: Final = "served"
HOST: Final = "127.0.0.1"


def provider_name(name: str) -> str:
    """Return the name of a trained model's entry in `providers:`."""
    return f"trained-{name.replace('_', '-')}"


def base_url(port: int) -> str:
    """Return the address of the server."""
    return f"http://{HOST}:{port}/v1"


def server_words(run: Path, name: str, port: int) -> list[str]:
    """Return the command line that starts the server."""
    return [sys.executable, "-P", "-m", "hermes_acp.training.served_model", str(run), name, str(port)]


def main() -> int:
    """Merge the adapter unless that was already done, then become the server."""
    run, name, port = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    folder = run / SERVED / name
    if not _is_current(run / "adapter", folder):
        _merge(run / "adapter", folder)
    os.chdir(folder.parent)
    program = Path(sys.executable).with_name("transformers")
    os.execv(program, [str(program), "serve", name, "--host", HOST, "--port", port])


def _is_current(adapter: Path, merged: Path) -> bool:
    made, source = merged / "config.json", adapter / ADAPTER_FILE
    return made.is_file() and made.stat().st_mtime >= source.stat().st_mtime


def _merge(adapter: Path, target: Path) -> None:
    peft: Any = import_module("peft")
    transformers: Any = import_module("transformers")
    draft = target.with_name(f".{target.name}")
    shutil.rmtree(draft, ignore_errors=True)
    model = peft.AutoPeftModelForCausalLM.from_pretrained(str(adapter)).merge_and_unload()
    model.save_pretrained(str(draft))
    transformers.AutoTokenizer.from_pretrained(str(adapter)).save_pretrained(str(draft))
    shutil.rmtree(target, ignore_errors=True)
    draft.rename(target)


if __name__ == "__main__":
    sys.exit(main())
