"""Create a small Whisper model that always transcribes one text, in the format and with the parts of a real one.

The encoder has random weights. The decoder is a chain: its layers add nothing, so that each token alone decides the
next one. A window of 30 s is therefore transcribed as the text that the chain spells, whatever it contains. With so
few tokens, CTranslate2 takes the model to be English-only.

Source: CTranslate2's specification of Whisper; Radford et al., "Robust Speech Recognition via Large-Scale Weak
Supervision" (2022), for the tokens.
"""

import json
from collections.abc import Sequence
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

WIDTH: Final = 64
HEADS: Final = 2
LAYERS: Final = 2
MELS: Final = 80
POSITIONS: Final = 1500
SAID: Final = "Fix the broken tests, please."
MAX_TOKENS: Final = 448
LANGUAGES: Final = ("en", "de")
CERTAINTY: Final = 4.0
"""How far the logit of the right token is above all others."""


def make_whisper(folder: Path, text: str) -> Path:
    """Write a model that transcribes every window with speech as `text`, words separated by single spaces."""
    numpy: Any = import_module("numpy")
    words = [f"{'' if number == 0 else ' '}{word}" for number, word in enumerate(text.split(" "))]
    tokens = _vocabulary(words)
    folder.mkdir(parents=True, exist_ok=True)
    spec: Any = import_module("ctranslate2.specs.whisper_spec").WhisperSpec(LAYERS, HEADS, LAYERS, HEADS)
    fill = _Fill(numpy.random.default_rng(7))
    _fill_encoder(spec.encoder, fill)
    _fill_decoder(spec.decoder, fill, len(tokens), _chain(tokens, words))
    spec.register_vocabulary(tokens)
    spec.config.suppress_ids = []
    spec.config.suppress_ids_begin = [tokens.index("<|endoftext|>")]
    spec.config.lang_ids = [tokens.index(f"<|{each}|>") for each in LANGUAGES]
    spec.config.alignment_heads = [(LAYERS - 1, 0)]
    spec.validate()
    spec.save(str(folder))
    _tokenizer(tokens).save(str(folder / "tokenizer.json"))
    kept = {"feature_size": MELS, "sampling_rate": 16000, "hop_length": 160, "chunk_length": 30, "n_fft": 400}
    (folder / "preprocessor_config.json").write_text(json.dumps(kept), encoding="utf-8")
    return folder


def _vocabulary(words: Sequence[str]) -> list[str]:
    times = [f"<|{number * 0.02:.2f}|>" for number in range(POSITIONS + 1)]
    tasks = ["translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"]
    marks = ["endoftext", "startoftranscript", *LANGUAGES, *tasks]
    return ["unknown", *words, *(f"<|{mark}|>" for mark in marks), *times]


def _chain(tokens: list[str], words: Sequence[str]) -> dict[int, int]:
    """Return each token's successor; a text must not repeat a word."""
    assert len(set(words)) == len(words), "each token has one successor"
    line = ["<|startoftranscript|>", "<|0.00|>", *words, "<|30.00|>", "<|endoftext|>"]
    links = [tokens.index(each) for each in line]
    return dict(pairwise(links))


def _tokenizer(tokens: list[str]) -> Any:
    made: Any = import_module("tokenizers")
    model = made.models.WordLevel({token: number for number, token in enumerate(tokens)}, unk_token=tokens[0])
    tokenizer = made.Tokenizer(model)
    tokenizer.decoder = made.decoders.Fuse()
    tokenizer.add_special_tokens(tokens[tokens.index("<|endoftext|>") :])
    return tokenizer


class _Fill:
    """Sets the weights of one layer's parts."""

    def __init__(self, random: Any) -> None:
        self._random = random

    def weights(self, *shape: int, scale: float = 0.05) -> Any:
        return (self._random.standard_normal(shape) * scale).astype("float32")

    def norm(self, spec: Any) -> None:
        spec.gamma = self.weights(WIDTH, scale=0.0) + 1
        spec.beta = self.weights(WIDTH, scale=0.0)

    def linear(self, spec: Any, outputs: int, inputs: int, scale: float) -> None:
        spec.weight = self.weights(outputs, inputs, scale=scale)
        spec.bias = self.weights(outputs, scale=0.0)

    def attention(self, spec: Any, shares: Sequence[int], scale: float) -> None:
        """Fill an attention layer whose linear layers have these multiples of the width as outputs."""
        self.norm(spec.layer_norm)
        for linear, share in zip(spec.linear, shares, strict=True):
            self.linear(linear, share * WIDTH, WIDTH, scale)

    def feed_forward(self, spec: Any, scale: float) -> None:
        self.norm(spec.layer_norm)
        self.linear(spec.linear_0, 4 * WIDTH, WIDTH, scale)
        self.linear(spec.linear_1, WIDTH, 4 * WIDTH, scale)


def _fill_encoder(spec: Any, fill: _Fill) -> None:
    for convolution, inputs in ((spec.conv1, MELS), (spec.conv2, WIDTH)):
        convolution.weight = fill.weights(WIDTH, inputs, 3)
        convolution.bias = fill.weights(WIDTH)
    spec.position_encodings.encodings = fill.weights(POSITIONS, WIDTH)
    fill.norm(spec.layer_norm)
    for layer in spec.layer:
        fill.attention(layer.self_attention, (3, 1), 0.05)
        fill.feed_forward(layer.ffn, 0.05)


def _fill_decoder(spec: Any, fill: _Fill, tokens: int, chain: dict[int, int]) -> None:
    embeddings = fill.weights(tokens, WIDTH, scale=1.0)
    spec.embeddings.weight = embeddings
    spec.position_encodings.encodings = fill.weights(MAX_TOKENS, WIDTH, scale=0.0)
    fill.norm(spec.layer_norm)
    projection = fill.weights(tokens, WIDTH, scale=0.0)
    for before, after in chain.items():
        row = embeddings[before]
        projection[after] += CERTAINTY * row / float((row @ row) ** 0.5)
    spec.projection.weight = projection
    spec.projection.bias = fill.weights(tokens, scale=0.0)
    for layer in spec.layer:
        fill.attention(layer.self_attention, (3, 1), 0.0)
        fill.attention(layer.attention, (1, 2, 1), 0.0)
        fill.feed_forward(layer.ffn, 0.0)
