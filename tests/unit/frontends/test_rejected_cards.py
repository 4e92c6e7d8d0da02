"""Cards of the chat: a rejected call did not fail, and the user's thinking time does not count for the call."""

from hermes_acp.frontends.chat.rendering.tool_call_cards import ToolCallCard
from hermes_protocol import v1


def update(
    status: v1.ToolCallStatus, text: str = "", meta: dict[str, object] | None = None
) -> v1.ToolCallUpdate:
    content: list[v1.ToolCallContent] = [v1.Content(content=v1.TextContent(text=text))] if text else []
    return v1.ToolCallUpdate(
        tool_call_id="c", title="Run make", kind="execute", status=status, content=content, meta=meta
    )


def test_a_rejected_call_is_not_shown_as_failed() -> None:
    card = ToolCallCard("c", 0.0)
    card.take(update("pending"), 0.0)
    card.take(update("failed", "The user refused this.", {"hermes": {"rejected": {"comment": ""}}}), 18.1)
    shown = card.over("/p")
    assert shown.plain == "⊘ Run make  execute"
    assert "red" not in {str(span.style) for span in shown.spans}


def test_a_call_that_failed_is_shown_as_failed() -> None:
    card = ToolCallCard("c", 0.0)
    card.take(update("in_progress"), 0.0)
    card.take(update("failed", "no rule to make target"), 0.4)
    assert card.over("/p").plain == "✗ Run make  execute\n  │ no rule to make target"


def test_the_time_of_a_call_counts_from_its_start() -> None:
    card = ToolCallCard("c", 0.0)
    card.take(update("pending"), 0.0)
    assert " s" not in card.live(18.0, 80).plain
    card.take(update("in_progress"), 18.0)
    card.take(update("in_progress", "half"), 19.0)
    card.take(update("completed", "done"), 20.5)
    assert "· 2.5 s" in card.over("/p").plain
