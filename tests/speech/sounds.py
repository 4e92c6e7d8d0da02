"""Generate sounds that a voice detector accepts as speech, and audio files with them."""

import io
import wave
from importlib import import_module
from typing import Any, Final

RATE: Final = 16000
VOWELS: Final = ((730, 1090, 2440), (270, 2290, 3010), (300, 870, 2240), (530, 1840, 2480), (570, 840, 2410))
"""The first three formants of vowels, in Hz. Source: Peterson and Barney, "A Study of the Vowels" (1952)."""


def speech(seconds: float) -> Any:
    """Return samples from -1 to 1 of a droning voice: three syllables per second, each with a different vowel."""
    numpy: Any = import_module("numpy")
    times = numpy.arange(int(seconds * RATE)) / RATE
    pitch = 120 + 15 * numpy.sin(2 * numpy.pi * 0.7 * times)
    phase = 2 * numpy.pi * numpy.cumsum(pitch) / RATE
    sound = numpy.zeros_like(times)
    syllable = (times * 3).astype(int) % len(VOWELS)
    for harmonic in range(1, 28):
        level = numpy.zeros_like(times)
        for number, formants in enumerate(VOWELS):
            heard = sum(numpy.exp(-(((harmonic * 120 - each) / 120) ** 2)) for each in formants)
            level += numpy.where(syllable == number, heard + 0.02, 0)
        sound += level * numpy.sin(harmonic * phase)
    loudness = numpy.clip(numpy.sin(numpy.pi * (times * 3 % 1)), 0, 1) ** 0.5
    sound *= loudness
    return (0.6 * sound / numpy.abs(sound).max()).astype("float32")


def wav(samples: Any) -> bytes:
    """Return samples as a WAV file with 16 bits per sample."""
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((samples * 32767).astype("<i2").tobytes())
    return written.getvalue()


def encoded(samples: Any, container: str, codec: str, rate: int = 48000) -> bytes:
    """Return samples in another file format, such as the voice messages of chat platforms."""
    av: Any = import_module("av")
    written = io.BytesIO()
    with av.open(written, mode="w", format=container) as file:
        stream = file.add_stream(codec, rate=rate, layout="mono")
        frame = av.AudioFrame.from_ndarray(samples.reshape(1, -1), format="flt", layout="mono")
        frame.sample_rate = RATE
        resampler = av.AudioResampler(
            format=stream.format, layout="mono", rate=rate, frame_size=stream.frame_size or 1024
        )
        for piece in (*resampler.resample(frame), *resampler.resample(None), None):
            file.mux(stream.encode(piece))
    return written.getvalue()
