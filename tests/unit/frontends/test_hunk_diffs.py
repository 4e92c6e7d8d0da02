"""A diff sent as hunks is drawn like the same diff with its whole texts."""

import json
import random

from hermes_acp.core.event_types import Diff
from hermes_acp.frontends.acp.questions.large_diffs import hunks_meta, text_with_changes
from hermes_acp.frontends.chat.rendering.diff_rendering import hunks_of, render_diff, render_hunk
from hermes_protocol import v1


def _changed(draw: random.Random, lines: list[str]) -> list[str]:
    lines = list(lines)
    for _ in range(draw.randrange(1, 5)):
        at = draw.randrange(len(lines))
        lines[at : at + draw.randrange(3)] = [f"new {draw.random()}"] * draw.randrange(3)
    return lines


def test_hunks_are_drawn_like_whole_texts_and_applied_alike() -> None:
    draw = random.Random(7)
    for _ in range(200):
        lines = [draw.choice(("a line", f"line {number}")) for number in range(draw.randrange(20, 90))]
        lines += draw.choice(([], [""]))
        old, new = "\n".join(lines), "\n".join(_changed(draw, lines))
        meta = hunks_meta(Diff("/w/a", old, new))
        if meta is None:
            continue
        whole = v1.Diff(path="/w/a", old_text=old, new_text=new)
        sent = v1.Diff(path="/w/a", old_text="", new_text="", meta=json.loads(json.dumps(meta)))
        assert hunks_of(sent) == hunks_of(whole)
        assert render_diff(sent, "/w").plain == render_diff(whole, "/w").plain
        for hunk in hunks_of(whole):
            assert render_hunk(sent, hunk).plain == render_hunk(whole, hunk).plain
        changes = [(hunk.old_start + 1, len(hunk.old_lines), hunk.new_lines) for hunk in hunks_of(sent)]
        assert text_with_changes(Diff("/w/a", old, new), changes) == new


def test_a_rewritten_file_is_sent_whole() -> None:
    assert hunks_meta(Diff("/w/a", "a\n" * 50, "b\n" * 50)) is None
    assert hunks_meta(Diff("/w/a", None, "b\n" * 50)) is None
