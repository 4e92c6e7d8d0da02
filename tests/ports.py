"""Ports for programs that cannot report which one they chose, or when they listen."""

import random
import socket
import threading
import time
from typing import Final

NEVER_GIVEN: Final = range(20_000, 30_000)
"""Below the range from which Linux, macOS and Windows assign ports, so no other test's connection takes one in
between.
"""


def quiet_port() -> int:
    """Return a port at 127.0.0.1 that nobody listens on and that the system does not assign by itself."""
    for port in random.sample(NEVER_GIVEN, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"not one of 100 ports from {NEVER_GIVEN} is free")


def wait_for_listener(port: int, within_s: float = 60.0) -> None:
    """Return once somebody listens on a port of 127.0.0.1."""
    pause, end = threading.Event(), time.monotonic() + within_s
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
        except OSError:
            assert time.monotonic() < end, f"nobody listens on port {port}"
            pause.wait(0.02)
        else:
            return
