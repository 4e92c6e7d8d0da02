"""Store embeddings of texts as vectors, and find the nearest ones.

Everything here is derived from data stored elsewhere, so a damaged file, or one made with another model, is
recreated. Many builds of Python's sqlite3 cannot load extensions, hence apsw, which bundles SQLite. Source: the
documentation of sqlite-vec, "vec0 virtual tables".
"""

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar, cast

from msgspec import Struct

from hermes_acp.core.errors import ConfigError, StorageError
from hermes_acp.storage.private_files import private_folder, storage_error

if TYPE_CHECKING:
    from anyio import CapacityLimiter

T = TypeVar("T")
Kind = Literal["session", "skill", "anchor"]
FORMAT: Final = "1"
BUSY_WAIT_MS: Final = 5_000
PACKAGES: Final = ("apsw", "sqlite_vec")


class Tables(Protocol):
    """The part of a database connection used here."""

    def execute(self, statements: str, bindings: tuple[Any, ...] = ()) -> Iterable[tuple[Any, ...]]:
        """Run a statement."""
        ...

    def last_insert_rowid(self) -> int:
        """Return the key of the last added row."""
        ...

    def close(self) -> None:
        """Close the file."""
        ...


class EmbeddedText(Struct, frozen=True):
    """A text of a source: its position, its digest, and its vector."""

    position: int
    digest: str
    vector: "array[float]"


class SimilarText(Struct, frozen=True):
    """A text similar to a vector; `similarity` is the cosine of the two."""

    source: str
    position: int
    digest: str
    similarity: float


class SourceState(Struct, frozen=True):
    """The indexing progress of a source: its mark, empty until it is complete, and the digests of its texts."""

    mark: str
    digests: Mapping[int, str]


def require_vectors() -> None:
    """Raise ConfigError unless the required packages are installed."""
    lacking = [name for name in PACKAGES if find_spec(name) is None]
    if lacking:
        from hermes_acp.config.installation import extra_hint

        hint = f"{extra_hint('recall')} Or remove recall.embeddings."
        raise ConfigError(f"`recall.embeddings` needs {' and '.join(lacking)}.", hint=hint)


class VectorStore:
    """The vectors of a home folder, used by one worker thread at a time."""

    def __init__(self, path: Path, model: str | None) -> None:
        """Initialise without opening the file. Opening it drops vectors of other models, unless `model` is None."""
        self.path = path
        self._model = model
        self._connection: Tables | None = None
        self._limiter: CapacityLimiter | None = None

    async def marks(self, kind: Kind) -> dict[str, str]:
        """Return the sources with their marks. Raises StorageError."""
        return await self._run(
            lambda db: dict(_rows(db, "SELECT source, mark FROM sources WHERE kind = ?", (kind,)))
        )

    async def source_state(self, source: str) -> SourceState:
        """Return how far a source is indexed. Raises StorageError."""
        return await self._run(lambda db: _source_state(db, source))

    async def put(self, kind: Kind, source: str, place: str, texts: Sequence[EmbeddedText]) -> None:
        """Add texts of a source, replacing those at the same positions. Raises StorageError."""
        await self._run(lambda db: _put(db, kind, source, place, texts))

    async def settle(self, source: str, mark: str, positions: Iterable[int]) -> None:
        """Delete all positions of a source except the given ones, and mark it complete. Raises StorageError."""
        kept = frozenset(positions)
        await self._run(lambda db: _settle(db, source, mark, kept))

    async def drop(self, sources: Iterable[str]) -> None:
        """Drop sources. Raises StorageError."""
        named = tuple(sources)
        await self._run(lambda db: [_settle(db, source, "", frozenset()) for source in named])

    async def nearest(
        self, kind: Kind, vector: "array[float]", most: int, place: str | None = None
    ) -> list[SimilarText]:
        """Return the texts nearest to a vector, nearest first. Raises StorageError."""
        return await self._run(lambda db: _nearest(db, kind, vector, most, place))

    async def vectors(self, kind: Kind, sources: Iterable[str] = ()) -> "dict[str, list[array[float]]]":
        """Return the vectors of a kind by source, limited to the named sources if given. Raises StorageError."""
        named = frozenset(sources)
        found = await self._run(lambda db: _vectors(db, kind))
        return {source: each for source, each in found.items() if not named or source in named}

    async def clear(self) -> None:
        """Drop everything. Raises StorageError."""
        await self._run(_clear)

    async def _run(self, work: Callable[[Tables], T]) -> T:
        from anyio import CapacityLimiter, to_thread

        if self._limiter is None:
            self._limiter = CapacityLimiter(1)
        return await to_thread.run_sync(self._transact, work, limiter=self._limiter)

    def _transact(self, work: Callable[[Tables], T]) -> T:
        import apsw

        try:
            connection = self._connection = self._connection or self._open()
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
            except BaseException:
                with suppress(apsw.Error):
                    connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return result
        except (apsw.CorruptError, apsw.NotADBError) as error:
            self._remove()
            raise self._storage_error(error, "It is rebuilt at its next use.") from error
        except apsw.Error as error:
            raise self._storage_error(
                error, "Check that its folder is writable and the disk is not full."
            ) from error

    def _storage_error(self, error: Exception, hint: str) -> StorageError:
        return StorageError(f"The vector index {self.path} cannot be used: {error}.", hint=hint)

    def _open(self) -> Tables:
        import apsw

        private_folder(self.path.parent)
        loadable: str = import_module("sqlite_vec").loadable_path()
        try:
            self.path.touch(mode=0o600)
        except OSError as error:
            raise storage_error("open the vector index", self.path, error) from error
        connection: Any = cast("Any", apsw).Connection(str(self.path))
        try:
            connection.set_busy_timeout(BUSY_WAIT_MS)
            connection.enable_load_extension(True)
            connection.load_extension(loadable)
            connection.enable_load_extension(False)
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=NORMAL")
            _prepare(connection, self._model)
        except BaseException:
            connection.close()
            raise
        return connection

    def _remove(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            with suppress(OSError):
                self.path.with_name(self.path.name + suffix).unlink()

    async def aclose(self) -> None:
        """Close the file, after pending work."""
        from anyio import to_thread

        if self._connection:
            await to_thread.run_sync(self.close, limiter=self._limiter)

    def close(self) -> None:
        """Close the file; the next use reopens it."""
        if self._connection:
            self._connection.close()
            self._connection = None


def _rows(db: Tables, statement: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in db.execute(statement, values)]


def _prepare(db: Tables, model: str | None) -> None:
    """Create the tables; tables of another model or format are dropped."""
    db.execute("BEGIN IMMEDIATE")
    db.execute("CREATE TABLE IF NOT EXISTS facts (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT")
    known = dict(_rows(db, "SELECT name, value FROM facts"))
    model = known.get("model", "") if model is None else model
    if (known.get("format"), known.get("model")) != (FORMAT, model):
        for table in ("vectors", "texts", "sources"):
            db.execute(f"DROP TABLE IF EXISTS {table}")
        db.execute("DELETE FROM facts")
        db.execute("INSERT INTO facts VALUES ('format', ?), ('model', ?)", (FORMAT, model))
        db.execute(
            "CREATE TABLE sources (source TEXT PRIMARY KEY, kind TEXT NOT NULL, mark TEXT NOT NULL) STRICT"
        )
        db.execute(
            """CREATE TABLE texts (
                key INTEGER PRIMARY KEY, source TEXT NOT NULL, position INTEGER NOT NULL, digest TEXT NOT NULL,
                UNIQUE (source, position)
            ) STRICT"""
        )
    db.execute("COMMIT")


def _clear(db: Tables) -> None:
    db.execute("DROP TABLE IF EXISTS vectors")
    db.execute("DELETE FROM texts")
    db.execute("DELETE FROM sources")


def _has_vectors(db: Tables) -> bool:
    return bool(_rows(db, "SELECT 1 FROM sqlite_schema WHERE name = 'vectors'"))


def _make_room(db: Tables, dimensions: int) -> None:
    """Create the table for vectors of this length, or recreate it if the endpoint now returns another length."""
    known = _rows(db, "SELECT value FROM facts WHERE name = 'dimensions'")
    if known != [(str(dimensions),)] or not _has_vectors(db):
        _clear(db)
        db.execute("INSERT OR REPLACE INTO facts VALUES ('dimensions', ?)", (str(dimensions),))
        db.execute(
            f"""CREATE VIRTUAL TABLE vectors USING vec0(
                key INTEGER PRIMARY KEY, kind TEXT PARTITION KEY, place TEXT,
                vector FLOAT[{dimensions}] DISTANCE_METRIC=cosine
            )"""
        )


def _source_state(db: Tables, source: str) -> SourceState:
    mark = _rows(db, "SELECT mark FROM sources WHERE source = ?", (source,))
    digests = _rows(db, "SELECT position, digest FROM texts WHERE source = ?", (source,))
    return SourceState(mark[0][0] if mark else "", dict(digests))


def _put(db: Tables, kind: Kind, source: str, place: str, texts: Sequence[EmbeddedText]) -> None:
    if not texts:
        return
    _make_room(db, len(texts[0].vector))
    db.execute("INSERT OR IGNORE INTO sources VALUES (?, ?, '')", (source, kind))
    for text in texts:
        _remove(db, source, (text.position,))
        db.execute(
            "INSERT INTO texts (source, position, digest) VALUES (?, ?, ?)",
            (source, text.position, text.digest),
        )
        db.execute(
            "INSERT INTO vectors (key, kind, place, vector) VALUES (?, ?, ?, ?)",
            (db.last_insert_rowid(), kind, place, text.vector.tobytes()),
        )


def _remove(db: Tables, source: str, positions: Iterable[int]) -> None:
    for position in positions:
        for (key,) in _rows(
            db, "SELECT key FROM texts WHERE source = ? AND position = ?", (source, position)
        ):
            db.execute("DELETE FROM vectors WHERE key = ?", (key,))
            db.execute("DELETE FROM texts WHERE key = ?", (key,))


def _settle(db: Tables, source: str, mark: str, kept: frozenset[int]) -> None:
    _remove(db, source, _source_state(db, source).digests.keys() - kept)
    if mark:
        db.execute("UPDATE sources SET mark = ? WHERE source = ?", (mark, source))
    else:
        db.execute("DELETE FROM sources WHERE source = ?", (source,))


def _nearest(
    db: Tables, kind: Kind, vector: "array[float]", most: int, place: str | None
) -> list[SimilarText]:
    if not _has_vectors(db) or _rows(db, "SELECT value FROM facts WHERE name = 'dimensions'") != [
        (str(len(vector)),)
    ]:
        return []
    where = "" if place is None else " AND place = ?"
    values = (vector.tobytes(), most, kind, *(() if place is None else (place,)))
    rows = _rows(
        db,
        f"SELECT key, distance FROM vectors WHERE vector MATCH ? AND k = ? AND kind = ?{where} ORDER BY distance",
        values,
    )
    found: list[SimilarText] = []
    for key, distance in rows:
        ((source, position, digest),) = _rows(
            db, "SELECT source, position, digest FROM texts WHERE key = ?", (key,)
        )
        found.append(SimilarText(source, position, digest, 1.0 - distance))
    return found


def _vectors(db: Tables, kind: Kind) -> "dict[str, list[array[float]]]":
    found: dict[str, list[array[float]]] = {}
    if _has_vectors(db):
        rows = _rows(
            db,
            """SELECT source, vector FROM vectors JOIN texts USING (key) WHERE kind = ?
               ORDER BY source, position""",
            (kind,),
        )
        for source, content in rows:
            found.setdefault(source, []).append(array("f", content))
    return found
