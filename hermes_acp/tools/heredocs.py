"""Join a command and its standard input into one command line."""


def with_heredoc(line: str, text: str) -> str:
    """Return a command line that feeds `text` to the standard input of `line`.

    If `line` has several commands, any of them may read the text.
    """
    mark = "INPUT"
    line = f"{{ {line}\n}}" if any(sign in line for sign in ";&|\n") else line
    while mark in text:
        mark += "_"
    return f"{line} <<'{mark}'\n{text.removesuffix(chr(10))}\n{mark}"
