"""Find the files that determine what a command does: those it names, and those that these import, include or name.

Files named only at run time, such as computed imports, are not found; nor are files outside the workspace, unless the
command line names them. Source: MCPoison (CVE-2025-54136), "approve once".
"""

import glob
import hashlib
import json
import os
import re
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from itertools import islice, product
from typing import Final

MAX_BYTES: Final = 4 << 20
MAX_FILES: Final = 400
MANIFESTS: Final = (
    "package.json",
    "pyproject.toml",
    "uv.toml",
    "deno.json",
    "deno.jsonc",
    "bunfig.toml",
    ".npmrc",
    ".yarnrc.yml",
    "Makefile",
    "makefile",
    "GNUmakefile",
    "justfile",
    "Justfile",
    "Taskfile.yml",
    "Cargo.toml",
    "go.mod",
    "compose.yaml",
    "docker-compose.yml",
    "Dockerfile",
)
RUNNERS: Final = re.compile(
    r"np[mx]|pnp[mx]|yarn(pkg)?|bunx?|deno|uvx?|pipx|poetry|pdm|hatch|rye|g?make|just|task|cargo|go"
    r"|docker(-compose)?|podman|tsx|ts-node|nodemon"
)
STARTING_FILES: Final = (
    "__main__.py",
    "__init__.py",
    "package.json",
    "index.js",
    "index.mjs",
    "index.cjs",
    "index.ts",
    "main.go",
)
PYTHON: Final = (".py", ".pyw")
SHELL: Final = (".sh", ".bash", ".zsh")
SCRIPT: Final = (".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx")
WORDS: Final = re.compile(r"[^\s'\"`;|&<>(){}=:,$]+")
SPECIFIERS: Final = re.compile(
    r"""(?:\bfrom|\bimport|\brequire|\bimport_module)\s*\(?\s*['"]([^'"\n]{1,300})['"]"""
)


INCLUDES: Final = re.compile(r"^[ \t]*(?:[-s]?include|import|source|\.)[ \t]+(.+)", re.MULTILINE)
MAX_MATCHES: Final = 100


def digest_dependencies(cwd: str, words: Iterable[str]) -> bytes:
    """Return a digest of all files that a command line and its variables depend on; blocks on disk access.

    `words` are the program, its arguments and the values of its variables. The digest changes when a file goes missing,
    and when one appears where a word or an import would find it.
    """
    walk = _Walk(os.path.realpath(cwd))
    for word in words:
        walk.take_words(word)
    return walk.digest()


def digest_files(cwd: str, top: str, paths: Iterable[str]) -> bytes:
    """Return a digest of files, and of whatever affects them in the folder `top`; blocks on disk access.

    A script covers everything that it imports. A makefile or similar file covers the files it includes and the scripts
    it names; a `package.json` covers the files that its scripts name. The imports of these are not followed, so that a
    project may change what it builds and tests while its commands stay allowed.
    """
    walk = _Walk(os.path.realpath(cwd), top, is_narrow=True)
    for path in paths:
        walk.take_file(path)
    return walk.digest()


class _Walk:
    """Follows references between files, visiting each file once, in an order that depends only on their content."""

    def __init__(self, cwd: str, top: str = "", *, is_narrow: bool = False) -> None:
        self._cwd = cwd
        self._top = top or cwd
        self._is_narrow = is_narrow
        self._leaves: set[str] = set()
        self._seen: set[str] = set()
        self._waiting: deque[str] = deque()
        self._hash = hashlib.sha256()

    def take_words(self, text: str) -> None:
        """Add the files named in a text: the whole text as a single path, and each word in it."""
        for word in dict.fromkeys((text, *WORDS.findall(text))):
            self._take_word(word)

    def take_file(self, path: str) -> None:
        """Add one file, whether or not it exists."""
        self._queue(path)

    def _take_word(self, word: str) -> None:
        self._take(os.path.join(self._cwd, word))
        self._take(os.path.join(self._cwd, "node_modules/.bin", word))
        if RUNNERS.fullmatch(os.path.basename(word)):
            for name in MANIFESTS:
                self._take(os.path.join(self._cwd, name))
        if word.replace(".", "").replace("_", "").isalnum():
            self._take_module(word, (self._cwd,))

    def _take(self, path: str) -> bool:
        """Add a file or the files that are run to start a folder; return whether there are any."""
        try:
            about = os.stat(path)
        except (OSError, ValueError):
            return False
        if stat.S_ISDIR(about.st_mode):
            if os.path.realpath(path).startswith(self._cwd):
                for name in STARTING_FILES:
                    self._queue(os.path.join(path, name))
            return True
        return self._queue(path)

    def _queue(self, path: str) -> bool:
        path = os.path.normpath(path)
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):
                return False
        except (OSError, ValueError):
            return False
        if path not in self._seen and len(self._seen) < MAX_FILES:
            self._seen.add(path)
            self._waiting.append(path)
        return True

    def digest(self) -> bytes:
        """Read the pending files and everything that they reference, and return the digest."""
        while self._waiting:
            path = self._waiting.popleft()
            content = _content_of(path)
            self._hash.update(
                path.encode("utf-8", "surrogateescape") + b"\0" + hashlib.sha256(content).digest()
            )
            if path.startswith(self._top.rstrip(os.sep) + os.sep) and path not in self._leaves:
                self._follow(path, content.decode("utf-8", "replace"))
        return self._hash.digest() if self._seen else b""

    def _follow(self, path: str, text: str) -> None:
        folder = os.path.dirname(path)
        if path.endswith(PYTHON):
            for name, depth in _python_imports(text):
                above = os.path.normpath(os.path.join(folder, *[".."] * (depth - 1))) if depth else ""
                self._take_module(
                    name, (above,) if depth else (folder, self._cwd, os.path.join(self._cwd, "src"))
                )
            self._take_neighbours(folder)
        elif path.endswith(SCRIPT):
            for specifier in SPECIFIERS.findall(text):
                self._take_specifier(specifier, folder)
        elif self._is_narrow:
            self._follow_narrowly(path, text)
        elif path.endswith("package.json"):
            for word in WORDS.findall(text):
                if "/" in word or word.endswith((*SCRIPT, *PYTHON, ".sh")):
                    self._take(os.path.join(folder, word))
        elif "\0" not in text:
            for word in dict.fromkeys(WORDS.findall(text)):
                for place in (folder, self._cwd):
                    self._queue(os.path.join(place, word))

    def _follow_narrowly(self, path: str, text: str) -> None:
        """Add only the files that a file includes and the scripts that it names."""
        folder = os.path.dirname(path)
        if path.endswith("package.json"):
            text = "\n".join(_scripts_in(text))
        places = dict.fromkeys((folder, self._cwd))
        for line in INCLUDES.findall(text):
            for word, place in product(WORDS.findall(line), places):
                for name in _filled_in(word, place):
                    self._queue(os.path.join(place, name))
        for word, place in product(dict.fromkeys(WORDS.findall(text)), places):
            named = os.path.normpath(os.path.join(place, word))
            if word.endswith((*SCRIPT, *PYTHON, *SHELL)) and named not in self._seen and self._queue(named):
                self._leaves.add(named)

    def _take_module(self, name: str, folders: Iterable[str]) -> None:
        parts = [part for part in name.split(".") if part]
        for folder in folders:
            base = folder
            for part in parts:
                base = os.path.join(base, part)
                self._queue(base + ".py")
                self._queue(os.path.join(base, "__init__.py"))
            self._queue(os.path.join(base, "__main__.py"))

    def _take_neighbours(self, folder: str) -> None:
        """Add the files next to a Python program, because they take precedence over libraries of the same name."""
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            return
        for name in names:
            self._queue(os.path.join(folder, name if name.endswith(PYTHON) else f"{name}/__init__.py"))

    def _take_specifier(self, specifier: str, folder: str) -> None:
        if not specifier.startswith((".", "/")):
            self._take(os.path.join(self._cwd, "node_modules", specifier))
            return
        base = os.path.join(folder, specifier)
        stem, suffix = os.path.splitext(base)
        for path in (
            base,
            *(base + each for each in SCRIPT),
            *(stem + each for each in SCRIPT if suffix in SCRIPT),
        ):
            self._take(path)


def _scripts_in(manifest: str) -> Iterator[str]:
    """Yield the commands of a `package.json`, or its whole text if it cannot be parsed."""
    try:
        named = json.loads(manifest).get("scripts", {})
        yield from (str(line) for line in named.values())
    except (ValueError, AttributeError, RecursionError):
        yield manifest


def _filled_in(word: str, folder: str) -> Iterator[str]:
    """Yield the files that match a word, which may be a glob pattern."""
    if "*" in word or "?" in word:
        yield from sorted(islice(glob.iglob(word, root_dir=folder), MAX_MATCHES))
    else:
        yield word


def _content_of(path: str) -> bytes:
    """Return a file's content or, if it is huge or unreadable, a value that changes whenever the file does."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b"unreadable"
    with open(descriptor, "rb") as file:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode) or about.st_size > MAX_BYTES:
            return f"\0{about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}".encode()
        try:
            return file.read(MAX_BYTES)
        except OSError:
            return b"unreadable"


def _python_imports(text: str) -> Iterator[tuple[str, int]]:
    """Yield the modules that a source text imports: each name, with the number of leading dots."""
    import ast

    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield from ((name, 0) for name in re.findall(r"^\s*(?:import|from)\s+([\w.]+)", text, re.MULTILINE))
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, 0) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            stem = f"{node.module}." if node.module else ""
            yield from ((stem + alias.name, node.level) for alias in node.names)
