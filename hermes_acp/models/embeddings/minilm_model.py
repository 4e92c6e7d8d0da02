"""Run all-MiniLM-L6-v2, a small English embedding model, with nothing but numpy.

The weights are read from an installed package, none of whose code is imported; a digest pins them. Sources: Reimers,
Gurevych: Sentence-BERT (2019); Wang et al.: MiniLM (2020); Devlin et al.: BERT (2018), for the tokenization.
"""

import hashlib
import importlib
import json
import math
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

WEIGHTS_DIGEST: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""The SHA-256 of the model's published weights."""
MAX_TOKENS: Final = 256
MAX_WORD_CHARACTERS: Final = 100
LAYERS: Final = 6
HEADS: Final = 12
EPSILON: Final = 1e-12
CONTINUES: Final = "##"
ASCII_SYMBOLS: Final = frozenset("$+<=>^`|~")
IDEOGRAPHS: Final = (
    range(0x4E00, 0xA000),
    range(0x3400, 0x4DC0),
    range(0xF900, 0xFB00),
    range(0x20000, 0x2FA20),
)


class MiniLM:
    """The model; `folder` contains its weights and its vocabulary.

    Raises OSError, or ValueError for unexpected weights.
    """

    def __init__(self, folder: Path) -> None:
        self._np: Any = importlib.import_module("numpy")
        self._weights = _read_weights(self._np, folder / "model.safetensors")
        self._vocabulary = {
            word: number for number, word in enumerate((folder / "vocab.txt").read_text("utf-8").splitlines())
        }

    def query(self, texts: Sequence[str]) -> list[Any]:
        """Return a vector for each text. Queries and passages are embedded alike."""
        return [self._embed(text) for text in texts]

    passage = query

    def token_ids(self, text: str) -> list[int]:
        """Return the IDs of a text's tokens."""
        known = self._vocabulary
        pieces = [piece for word in _words(text) for piece in self._pieces(word)]
        kept = pieces[: MAX_TOKENS - 2]
        return [known["[CLS]"], *(known[piece] for piece in kept), known["[SEP]"]]

    def _pieces(self, word: str) -> list[str]:
        """Split a word into the longest known pieces, from left to right."""
        if len(word) > MAX_WORD_CHARACTERS:
            return ["[UNK]"]
        found: list[str] = []
        start = 0
        while start < len(word):
            prefix = CONTINUES if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self._vocabulary), 0)
            if not end:
                return ["[UNK]"]
            found.append(prefix + word[start:end])
            start = end
        return found

    def _embed(self, text: str) -> Any:
        ids = self.token_ids(text)
        tables = self._weights
        states = (
            tables["embeddings.word_embeddings.weight"][ids]
            + tables["embeddings.position_embeddings.weight"][: len(ids)]
            + tables["embeddings.token_type_embeddings.weight"][0]
        )
        states = self._normalized(states, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            states = self._layer(states, f"encoder.layer.{layer}")
        return states.mean(0)

    def _layer(self, states: Any, name: str) -> Any:
        np = self._np
        count, width = states.shape
        query, key, value = (
            self._linear(states, f"{name}.attention.self.{role}").reshape(count, HEADS, -1).transpose(1, 0, 2)
            for role in ("query", "key", "value")
        )
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(width // HEADS)
        shares = np.exp(scores - scores.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        mixed = (shares @ value).transpose(1, 0, 2).reshape(count, width)
        attended = self._linear(mixed, f"{name}.attention.output.dense")
        states = self._normalized(states + attended, f"{name}.attention.output.LayerNorm")
        inner = self._linear(states, f"{name}.intermediate.dense")
        inner = 0.5 * inner * (1 + np.tanh(math.sqrt(2 / math.pi) * (inner + 0.044715 * inner**3)))
        return self._normalized(
            states + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm"
        )

    def _linear(self, states: Any, name: str) -> Any:
        return states @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]

    def _normalized(self, states: Any, name: str) -> Any:
        centred = states - states.mean(-1, keepdims=True)
        scaled = centred / self._np.sqrt((centred**2).mean(-1, keepdims=True) + EPSILON)
        return scaled * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]


def _read_weights(np: Any, file: Path) -> Mapping[str, Any]:
    """Return the tensors in a safetensors file by name. Raises OSError, or ValueError for unexpected weights."""
    content = file.read_bytes()
    if hashlib.sha256(content).hexdigest() != WEIGHTS_DIGEST:
        raise ValueError(f"{file} does not contain the published weights")
    header_end = 8 + int.from_bytes(content[:8], "little")
    header: dict[str, Any] = json.loads(content[8:header_end])
    return {
        name: np.frombuffer(content[header_end + start : header_end + end], np.float32).reshape(
            entry["shape"]
        )
        for name, entry in header.items()
        if name != "__metadata__" and entry["dtype"] == "F32"
        for start, end in [entry["data_offsets"]]
    }


def _words(text: str) -> Iterator[str]:
    """Yield the words and punctuation marks of a text, in lower case and without accents."""
    word = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        category = unicodedata.category(character)
        if category == "Mn" or (category.startswith("C") and not character.isspace()):
            continue
        stands_alone = category.startswith("P") or character in ASCII_SYMBOLS
        stands_alone = stands_alone or any(ord(character) in block for block in IDEOGRAPHS)
        if (stands_alone or character.isspace()) and word:
            yield word
            word = ""
        if stands_alone:
            yield character
        elif not character.isspace():
            word += character
    if word:
        yield word
