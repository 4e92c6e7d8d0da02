"""Decode server-sent events, however the network splits them.

Source: WHATWG HTML, section 9.2.6 "Interpreting an event stream".
"""

from hermes_acp.core.errors import BadReply

MAX_EVENT_SIZE_BYTES = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"

ServerSentEvent = tuple[str, bytes]


class SseDecoder:
    """Collects bytes into complete events, as pairs of name and data; one instance per stream.

    The name is empty if the stream sent none. The data are bytes, to be decoded later as a whole.
    """

    def __init__(self, max_event_size_bytes: int = MAX_EVENT_SIZE_BYTES) -> None:
        self._max_size_bytes = max_event_size_bytes
        self._open_line: list[bytes] = []
        self._open_line_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._name = ""
        self._ended_in_cr = False
        self._start: bytes | None = b""

    def feed(self, data: bytes) -> list[ServerSentEvent]:
        """Add bytes; return the events that they complete. Raises BadReply for an event that is too large."""
        if self._start is not None:
            data = self._skip_mark(data)
        if self._ended_in_cr and data:
            # The line ended at the carriage return; this line feed belongs to the same line ending.
            self._ended_in_cr = False
            data = data.removeprefix(b"\n")
        if b"\r" in data:
            self._ended_in_cr = data.endswith(b"\r")
            data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = data.split(b"\n")
        if lines and self._open_line:
            lines[0] = b"".join((*self._open_line, lines[0]))
            self._open_line, self._open_line_size = [], 0
        events = self._read_lines(lines)
        if rest:
            self._open_line.append(rest)
            self._open_line_size += len(rest)
        self._check_size()
        return events

    def _read_lines(self, lines: list[bytes]) -> list[ServerSentEvent]:
        events: list[ServerSentEvent] = []
        for line in lines:
            if line.startswith(b"data:"):
                value = line[6:] if line.startswith(b"data: ") else line[5:]
                self._data.append(value)
                self._data_size += len(value)
                self._check_size()
            elif not line:
                if self._data:
                    events.append((self._name, b"\n".join(self._data)))
                    self._data, self._data_size = [], 0
                self._name = ""
            elif line.startswith(b"event:"):
                self._name = line[6:].removeprefix(b" ").decode("utf-8", "replace")
            elif line == b"data":
                self._data.append(b"")
        return events

    def _check_size(self) -> None:
        size = self._data_size + len(self._data) + self._open_line_size
        if size > self._max_size_bytes:
            raise BadReply(
                f"The model's answer has an event larger than {self._max_size_bytes} bytes.", retryable=True
            )

    def _skip_mark(self, data: bytes) -> bytes:
        """Drop a byte-order mark at the very start, even if it arrives in parts."""
        head = (self._start or b"") + data
        if len(head) < len(_BOM) and _BOM.startswith(head):
            self._start = head
            return b""
        self._start = None
        return head.removeprefix(_BOM)
