"""Read the text of a settings file."""

import os
import stat
from pathlib import Path
from typing import Final

from hermes_acp.core.errors import ConfigError

MAX_BYTES: Final = 1 << 20


def read_text(path: Path) -> str:
    """Return a file's text, or an empty string if the file does not exist.

    Raises ConfigError for anything other than a text file of reasonable size.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (FileNotFoundError, NotADirectoryError):
        return ""
    except OSError as error:
        raise ConfigError(f"{path} cannot be read: {error.strerror or error}.") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ConfigError(f"{path} is not a file.", hint="Replace it with a text file, or remove it.")
    with open(descriptor, "rb") as file:
        content = b""
        try:
            content = file.read(MAX_BYTES + 1)
            if len(content) > MAX_BYTES:
                raise ConfigError(f"{path} has more than {MAX_BYTES:,} bytes.", hint="Shorten it.")
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            line = content.count(b"\n", 0, error.start) + 1
            raise ConfigError(f"{path} is not UTF-8: line {line}.", hint="Save it as UTF-8.") from error
        except OSError as error:
            raise ConfigError(f"{path} cannot be read: {one_line(str(error))}.") from error


def one_line(text: str) -> str:
    """Return a text without its line breaks."""
    return " ".join(text.split())
