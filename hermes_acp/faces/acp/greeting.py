"""The first answer, before there is an event loop.

Knows: how to take the first frame and answer it if it is initialize. Does not know: anything that comes after.
An editor shows the agent as ready when initialize is answered; importing the event loop and the rest of the house
takes longer than everything else until then, so it is done while the editor already has its answer.
"""

import os
from typing import Final

import msgspec

from hermes_acp.faces.acp.desk import Desk
from hermes_acp.faces.acp.v1.methods.initialize import METHOD
from hermes_protocol import salvage
from hermes_protocol.envelope import Request, classify, encode_result

MOST_BYTES: Final = 1 << 20
READ_BYTES: Final = 1 << 16


def greet(desk: Desk, in_fd: int, out_fd: int) -> bytes:
    """Answer the first frame if it is a sound initialize; give what was read and not answered, to be served next."""
    read = b""
    while b"\n" not in read and len(read) < MOST_BYTES:
        try:
            piece = os.read(in_fd, READ_BYTES)
        except OSError:
            return read
        if not piece:
            return read
        read += piece
    frame, _, rest = read.partition(b"\n")
    call = classify(frame)
    if not isinstance(call, Request) or call.method != "initialize":
        return read
    try:
        params = salvage.decode(METHOD.params, call.params)
    except msgspec.MsgspecError:
        return read
    answer = encode_result(call.id, METHOD.serve(desk, params))
    try:
        while answer:
            answer = answer[os.write(out_fd, answer) :]
    except OSError:
        return rest
    return rest
