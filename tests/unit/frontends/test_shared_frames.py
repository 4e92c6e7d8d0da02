"""One encoding of an event serves all clients that see the same content."""

from hermes_acp.core.events import TextSaid
from hermes_acp.frontends.acp.connection.shared_frames import SharedFrames


def test_clients_that_see_the_same_content_share_frames() -> None:
    frames, event = SharedFrames(), TextSaid("m1", "hello")
    assert frames.find(event, "plain") is None
    kept = frames.keep(event, "plain", [b"{}\n"])
    assert frames.find(event, "plain") is kept
    assert frames.find(event, "replay") is None
    frames.keep(event, "replay", [])
    assert frames.find(event, "plain") is kept
    assert frames.find(event, "replay") == []


def test_an_equal_event_is_another_event() -> None:
    frames = SharedFrames()
    frames.keep(TextSaid("m1", "hello"), "plain", [b"{}\n"])
    assert frames.find(TextSaid("m1", "hello"), "plain") is None
