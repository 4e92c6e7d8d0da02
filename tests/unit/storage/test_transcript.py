"""The record of a session contains whole lines only, whatever was done to the file."""

import os
import time
from binascii import crc32
from pathlib import Path
from tempfile import TemporaryDirectory

import anyio
import anyio.to_thread
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.core.errors import Busy, SessionNotFound, StorageError
from hermes_acp.core.events import CallProposed, Event, SessionOpened, TextSaid, TurnStarted
from hermes_acp.storage.record_lines import MULTIPLIER, decode_lines, decode_whole
from hermes_acp.storage.transcript import Transcript

EVENTS: tuple[Event, ...] = (
    SessionOpened("ses_1", "/project", ("/project",), 1.5),
    TurnStarted("turn_1"),
    TextSaid("msg_1", "caf\u00e9 \U0001f600 \u2028 \x00 end"),
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "sessions" / "ses_1.jsonl"


def write(path: Path, *events: Event) -> bytes:
    transcript = Transcript.create(path)
    for event in events:
        transcript.append(event)
    transcript.close()
    return path.read_bytes()


def read(path: Path) -> tuple[list[Event], int]:
    transcript, events, torn_bytes = Transcript.reopen(path)
    transcript.close()
    return events, torn_bytes


def test_written_events_are_read_back(path: Path) -> None:
    content = write(path, *EVENTS)
    assert read(path) == (list(EVENTS), 0)
    assert content.count(b"\n") == len(EVENTS)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_tail_torn_anywhere_loses_only_the_torn_part(path: Path) -> None:
    """Tests every byte of the last two lines."""
    content = write(path, *EVENTS)
    ends = [end for _, end in decode_lines(content)]
    torn = path.with_suffix(".torn")
    for end in range(ends[0], len(content)):
        path.write_bytes(content[:end])
        whole = [each for each in ends if each <= end]
        assert read(path) == (list(EVENTS[: len(whole)]), end - whole[-1])
        assert path.read_bytes() == content[: whole[-1]]
        assert (torn.read_bytes() if torn.exists() else b"") == content[whole[-1] : end]
        torn.unlink(missing_ok=True)
        transcript, _, _ = Transcript.reopen(path)
        transcript.append(EVENTS[2])
        transcript.close()
        assert read(path) == ([*EVENTS[: len(whole)], EVENTS[2]], 0)


@given(st.binary(max_size=64), st.integers(min_value=0))
def test_an_invalid_tail_is_set_aside_and_never_read(noise: bytes, cut: int) -> None:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ses_1.jsonl"
        content = write(path, *EVENTS)
        ends = [end for _, end in decode_lines(content)]
        end = ends[0] + cut % (len(content) - ends[0] + 1)
        path.write_bytes(content[:end] + noise)
        events, torn_bytes = read(path)
        assert events == list(EVENTS[: len(events)])
        kept = path.with_suffix(".torn")
        assert path.read_bytes() + (kept.read_bytes() if kept.exists() else b"") == content[:end] + noise
        assert torn_bytes == len(content[:end] + noise) - path.stat().st_size


def test_a_flipped_bit_is_detected_wherever_it_is(path: Path) -> None:
    content = write(path, *EVENTS)
    start = content.index(b"\n") + 1
    for place in range(start, len(content)):
        for bit in (0x01, 0x10, 0x80):
            damaged = bytearray(content)
            damaged[place] ^= bit
            pairs = list(decode_lines(bytes(damaged)))
            events = [event for event, _ in pairs]
            sound = decode_whole(bytes(damaged))
            assert (sound.events, sound.size_bytes) == (events, pairs[-1][1])
            assert events == list(EVENTS[: len(events)])
            assert len(events) < len(EVENTS)


def test_writing_lines_at_once_equals_writing_them_one_by_one(path: Path) -> None:
    content = write(path, *EVENTS)
    for cut in range(len(content) + 1):
        pairs = list(decode_lines(content[:cut]))
        expected = ([event for event, _ in pairs], pairs[-1][1] if pairs else 0)
        sound = decode_whole(content[:cut])
        assert (sound.events, sound.size_bytes) == expected
    two_in_one = content.replace(b"}\n", b"} ", 1)
    assert decode_whole(two_in_one).events == []


def test_a_line_with_a_wrong_checksum_ends_the_record(path: Path) -> None:
    content = write(path, EVENTS[0])
    body = b'{"type":"turn_started","turn_id":"t"}'
    assert crc32(body) != 7
    path.write_bytes(content + b'{"crc":7,"event":' + body + b"}\n" + content)
    events, torn_bytes = read(path)
    assert events == [EVENTS[0]]
    assert torn_bytes == len(body) + len(b'{"crc":7,"event":}\n') + len(content)


LONG: tuple[Event, ...] = (*EVENTS, *(TextSaid("msg_1", f"{number % 2}") for number in range(6)))


def whole_lines(path: Path) -> list[bytes]:
    return write(path, *LONG).splitlines(keepends=True)


def moved(lines: list[bytes], change: str, place: int) -> list[bytes]:
    one = lines[place]
    rest = [*lines[:place], *lines[place + 1 :]]
    match change:
        case "lost":
            return rest
        case "doubled":
            return [*lines[:place], one, *lines[place:]]
        case _:
            return [*rest[: place + 1], one, *rest[place + 1 :]]


@pytest.mark.parametrize("change", ["lost", "doubled", "moved"])
def test_a_line_out_of_sequence_is_detected_kept_and_reported(path: Path, change: str) -> None:
    lines = whole_lines(path)
    for place in range(1, len(lines) - 1):
        changed = moved(lines, change, place)
        path.write_bytes(b"".join(changed))
        transcript, events, _ = Transcript.reopen(path)
        kept = place + (change == "doubled")
        assert events == list(LONG[:kept])
        behind = (
            f"missing, duplicated or reordered events after event {kept}: the {len(changed) - kept} events"
        )
        assert behind in transcript.damage
        transcript.append(EVENTS[2])
        transcript.close()
        assert path.with_suffix(".torn").read_bytes() == b"".join(changed[kept:])
        path.with_suffix(".torn").unlink()
        assert read(path) == ([*LONG[:kept], EVENTS[2]], 0)


def without_chain(line: bytes) -> bytes:
    start, end = line.index(b',"chain":'), line.index(b',"event":')
    return line[:start] + line[end:]


def test_a_record_without_chains_continues_with_them(path: Path) -> None:
    lines = [without_chain(line) for line in whole_lines(path)]
    path.write_bytes(b"".join(lines))
    assert read(path) == (list(LONG), 0)
    transcript, _, _ = Transcript.reopen(path)
    transcript.append(EVENTS[2])
    transcript.append(EVENTS[1])
    transcript.close()
    assert read(path) == ([*LONG, EVENTS[2], EVENTS[1]], 0)
    mixed = path.read_bytes().splitlines(keepends=True)
    assert [b'"chain"' in line for line in mixed] == [False] * len(LONG) + [True] * 2
    path.write_bytes(b"".join([*mixed[: len(LONG) - 1], *mixed[len(LONG) :]]))
    assert read(path)[0] == list(LONG[:-1]), "the first line with a chain includes the last one without"


def test_every_event_has_the_time_at_which_it_was_written(path: Path) -> None:
    before_s = int(time.time() * 1000) / 1000
    write(path, *EVENTS)
    timed = Transcript.read_timed(path)
    times = [at for _, at in timed if at is not None]
    assert [event for event, _ in timed] == list(EVENTS)
    assert len(times) == len(EVENTS)
    assert before_s <= times[0] <= times[1] <= times[2] <= time.time()


def test_a_record_without_times_continues_with_them(path: Path) -> None:
    chain, lines = 0, list[bytes]()
    for body in map(msgspec.json.encode, EVENTS):
        chain = chain * MULTIPLIER & 0xFFFFFFFF ^ crc32(body)
        lines.append(b'{"crc":%d,"chain":%d,"event":%b}\n' % (crc32(body), chain, body))
    path.parent.mkdir(parents=True)
    path.write_bytes(b"".join(lines))
    transcript, events, _ = Transcript.reopen(path)
    assert events == list(EVENTS)
    transcript.append(EVENTS[1])
    transcript.close()
    timed = Transcript.read_timed(path)
    assert [event for event, _ in timed] == [*EVENTS, EVENTS[1]]
    assert [at is None for _, at in timed] == [True] * len(EVENTS) + [False]


def test_lines_that_an_earlier_version_added_after_chained_ones_are_read(path: Path) -> None:
    lines = whole_lines(path)
    path.write_bytes(b"".join([*lines[:4], *map(without_chain, lines[4:])]))
    assert read(path) == (list(LONG), 0)


def test_a_part_of_a_record_is_read_from_where_it_starts(path: Path) -> None:
    lines = whole_lines(path)
    part = b"".join(lines[3:])
    assert [event for event, _ in decode_lines(part, before=None)] == list(LONG[3:])
    assert list(decode_lines(part)) == [], "it is not the beginning"
    gap = b"".join([*lines[3:5], *lines[6:]])
    assert [event for event, _ in decode_lines(gap, before=None)] == list(LONG[3:5])


def test_lone_surrogates_are_replaced_in_the_file_and_returned_as_written(path: Path) -> None:
    transcript = Transcript.create(path)
    written = transcript.append(EVENTS[0])
    assert written is EVENTS[0]
    raw: dict[str, object] = {"k\udc80": ["\ud800x", {"deep": "\udfff"}]}
    odd = CallProposed("c", "tool\ud800", "title", "other", raw_input=raw)
    recorded = transcript.append(odd)
    transcript.close()
    assert recorded == CallProposed("c", "tool?", "title", "other", raw_input={"k?": ["?x", {"deep": "?"}]})
    assert read(path) == ([EVENTS[0], recorded], 0)


def test_a_record_can_continue_after_it_was_repaired(path: Path) -> None:
    content = write(path, *EVENTS)
    path.write_bytes(content[:-5])
    transcript, _, _ = Transcript.reopen(path)
    transcript.append(EVENTS[2])
    transcript.close()
    assert read(path) == (list(EVENTS), 0)


def test_only_one_process_can_hold_a_record(path: Path) -> None:
    transcript = Transcript.create(path)
    transcript.append(EVENTS[0])
    with pytest.raises(Busy, match="another hermes-acp process"):
        Transcript.reopen(path)
    transcript.close()
    assert read(path) == ([EVENTS[0]], 0)


def test_a_missing_record_is_not_found(path: Path) -> None:
    with pytest.raises(SessionNotFound):
        Transcript.reopen(path)


@pytest.mark.parametrize("content", [b"", b"\n", b"noise\n", b'{"crc":1,"event":{}}\n'])
def test_a_record_without_a_readable_event_is_left_as_it_is(path: Path, content: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(content)
    for _ in range(2):
        with pytest.raises(StorageError, match="no readable event"):
            Transcript.reopen(path)
    assert path.read_bytes() == content
    assert not path.with_suffix(".torn").exists()


def test_a_full_disk_makes_the_record_read_only_and_says_so() -> None:
    transcript = Transcript(Path("/dev/full"), os.open("/dev/full", os.O_RDWR))
    for _ in range(2):
        with pytest.raises(StorageError) as caught:
            transcript.append(EVENTS[0])
        assert "The disk is full" in caught.value.sentence()
        assert caught.value is transcript.trouble
    transcript.close()


def test_lines_written_by_a_newer_version_are_left_in_place(path: Path) -> None:
    write(path, *EVENTS)
    body = b'{"type":"dream_dreamt","of":"sheep"}'
    foreign = b'{"crc":%d,"event":%b}\n' % (crc32(body), body)
    path.write_bytes(path.read_bytes() + foreign * 2)
    content = path.read_bytes()
    transcript, events, torn_bytes = Transcript.reopen(path)
    assert (events, torn_bytes) == (list(EVENTS), 0)
    assert transcript.trouble is not None
    assert "newer" in transcript.trouble.message
    with pytest.raises(StorageError, match="newer"):
        transcript.append(TextSaid("msg_2", "more"))
    transcript.close()
    assert path.read_bytes() == content
    assert not path.with_suffix(".torn").exists()


def test_damage_in_the_middle_is_distinguished_from_a_torn_tail(tmp_path: Path) -> None:
    path = tmp_path / "ses_a.jsonl"
    transcript = Transcript.create(path)
    for event in EVENTS:
        transcript.append(event)
    transcript.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + lines[1].replace(b'"event"', b'"evenT"') + b"".join(lines[2:]))
    transcript, events, _ = Transcript.reopen(path)
    transcript.close()
    assert events == list(EVENTS[:1])
    assert f"damaged after event 1: the {len(lines) - 2} events after that" in transcript.damage
    with path.open("ab") as stream:
        stream.write(b'{"crc":1,"ev')
    transcript, _, _ = Transcript.reopen(path)
    transcript.close()
    assert transcript.damage.startswith("The last 12 bytes of the record were torn")


@pytest.mark.parametrize("change", ["removed", "cut", "added to"])
def test_nothing_is_appended_to_a_record_that_others_changed(path: Path, change: str) -> None:
    """Later lines would be lost to whoever opens it next."""
    transcript = Transcript.create(path)
    transcript.append(EVENTS[0])
    if change == "removed":
        path.unlink()
    else:
        path.write_bytes(path.read_bytes()[:-9] if change == "cut" else path.read_bytes() + b"\n")
    for _ in range(2):
        with pytest.raises(StorageError, match="removed" if change == "removed" else "changed by another"):
            transcript.append(EVENTS[1])
    transcript.close()


@pytest.mark.anyio
async def test_a_sync_cancelled_before_it_started_is_still_pending(path: Path) -> None:
    transcript = Transcript.create(path)
    transcript.append(EVENTS[0])
    threads, crowd = anyio.to_thread.current_default_thread_limiter(), [object() for _ in range(100)]
    crowd = crowd[: int(threads.available_tokens)]
    for each in crowd:
        threads.acquire_on_behalf_of_nowait(each)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(transcript.settle)
        await anyio.wait_all_tasks_blocked()
        tasks.cancel_scope.cancel()
    for each in crowd:
        threads.release_on_behalf_of(each)
    transcript.close()
    with pytest.raises(StorageError, match="save the session record"):
        await transcript.settle()
