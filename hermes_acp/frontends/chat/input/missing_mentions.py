"""Find mentions of files that do not exist.

`@word` can also be a decorator, a person, a package or a CSS rule. It counts as a mention of a missing file only if it
cannot be anything else, or if there is a file with a similar name.
"""

import re
from collections.abc import Iterator
from difflib import get_close_matches
from itertools import pairwise
from pathlib import Path
from typing import Final

from hermes_acp.frontends.chat.input.file_mentions import MENTION_ENDS, files_below, mentions, readings

MIN_SIMILARITY: Final = 0.8
MIN_PREFIX: Final = 4
"""The minimum length of a prefix that counts as similar to a file name."""
PATH: Final = re.compile(r"[\w.~+\-/ %#\[\]]+")
"""The characters of a path; a word with other characters, such as parentheses, is code or an address."""
SUFFIX: Final = re.compile(
    r"\.(?:astro|avif|bash|bat|bib|bmp|bz2|c|cc|cfg|cjs|conf|cpp|cs|css|csv|cxx|dart|db|diff|docx?|el|env|erl|exs?|fish"
    r"|gif|go|gradle|gz|h|hcl|hpp|hs|html?|ico|ini|ipynb|java|jpe?g|jsonc?|jsonl|js|jsx|jl|kts?|less|lock|log|lua|m?md|mdx"
    r"|mjs|mk|ml|mts|nix|org|out|parquet|patch|pdf|php|pl|png|proto|ps1|py|pyi|rb|rs|rst|sass|scala|scss|sh|sql|sqlite"
    r"|svelte|svg|swift|tar|tex|tf|tgz|toml|tsv|tsx?|txt|vim|vue|webp|xlsx?|xml|ya?ml|zig|zip|zsh)\Z",
    re.IGNORECASE,
)
FILES_WITHOUT_SUFFIX: Final = re.compile(
    r"authors|changelog|codeowners|contributing|dockerfile|gemfile|jenkinsfile|justfile|license|makefile|notice"
    r"|procfile|rakefile|readme|vagrantfile",
    re.IGNORECASE,
)
NOT_FILES: Final = re.compile(
    r"abstractmethod|after|app|author|before|cache|cached|cached_property|charset|classmethod|component"
    r"|contextmanager|controller|dataclass|deprecated|entity|example|everyone|fixture|font-face|get|here|import"
    r"|injectable|inject|input|keyframes|layer|lru_cache|media|module|mock|namespace|nullable|override|overload"
    r"|param|patch|post|private|property|public|put|repository|return|returns|route|see|service|setter|since"
    r"|staticmethod|summary|supports|tailwind|task|template|test|throws|todo|type|typedef|types|value|wraps",
    re.IGNORECASE,
)
"""Common decorators, annotations and CSS rules, in lower case."""
CODE_AFTER: Final = re.compile(
    r"\s*(?:@|def |class |async |export |function |public |private |protected |static |fun |fn |func |const |let )"
)


def missing_mention(prompt: str, cwd: str) -> str:
    """Return a mention of a file that does not exist, or an empty string."""
    decorators = set(_decorators(prompt))
    missing = [name for name in mentions(prompt) if not any(path.exists() for path in readings(name, cwd))]
    words = [word for word in (name.rstrip(MENTION_ENDS) for name in missing) if PATH.fullmatch(word)]
    if sure := next((word for word in words if _is_path(word, cwd)), ""):
        return sure
    doubtful = [
        word
        for word in words
        if not NOT_FILES.fullmatch(word) and not word.startswith("types/") and word not in decorators
    ]
    if not doubtful:
        return ""
    known = set(_names_below(cwd))
    return next((word for word in doubtful if _is_near(word.lower(), known)), "")


def _is_path(word: str, cwd: str) -> bool:
    """Return whether a word can only be a path."""
    first, slash, _ = word.partition("/")
    if word.startswith(("./", "../", "~/", ".")):
        return True
    if SUFFIX.search(word) or FILES_WITHOUT_SUFFIX.fullmatch(word):
        return True
    if not first:  # `@/components` is an alias in some projects
        return Path("/", word.split("/")[1]).is_dir()
    return bool(slash) and first != "types" and Path(cwd, first).is_dir()


def _is_near(word: str, known: set[str]) -> bool:
    begins = len(word) >= MIN_PREFIX and any(name.startswith(word) for name in known)
    return begins or bool(get_close_matches(word, known, n=1, cutoff=MIN_SIMILARITY))


def _names_below(cwd: str) -> Iterator[str]:
    """Yield the paths below a folder, their names, and their names without suffix, all in lower case."""
    for path in files_below(cwd):
        whole = path.rstrip("/").lower()
        name = whole.rpartition("/")[2]
        yield from (whole, name, name.partition(".")[0] or name)


def _decorators(prompt: str) -> Iterator[str]:
    """Yield mentions that are alone on a line above code."""
    lines = prompt.splitlines()
    for line, after in pairwise(lines):
        if line.strip().startswith("@") and " " not in line.strip() and CODE_AFTER.match(after):
            yield line.strip()[1:]
