"""How the parts of messages are put: links and files as plain text, an answer's pieces in their order.

Knows: the words put around them. Does not know: any vendor's format.
"""

from collections.abc import Iterator

from hermes_acp.core.messages import AssistantMessage, LinkPart, ResourcePart, Thought, ToolCall


def link_text(link: LinkPart) -> str:
    """Name a resource that is not included."""
    return f"[{link.name}]({link.uri})" if link.name else link.uri


def resource_text(resource: ResourcePart) -> str:
    """Include a resource whole, in a fence longer than any within it."""
    fence = "```"
    while fence in resource.text:
        fence += "`"
    end = "" if resource.text.endswith("\n") or not resource.text else "\n"
    return f"{resource.uri}\n{fence}\n{resource.text}{end}{fence}"


def said_pieces(message: AssistantMessage, vendor: str) -> Iterator[Thought | str | ToolCall]:
    """Give an answer's pieces in the order they were said: thoughts, the words, each call behind its thoughts.

    Left out are thoughts of another vendor's and words that are none. Those without a vendor are everybody's.
    """
    thoughts = [thought for thought in message.thoughts if thought.vendor in ("", vendor)]
    yield from (thought for thought in thoughts if thought.after_calls == 0)
    if message.text.strip():
        yield message.text
    for place, call in enumerate(message.tool_calls):
        if place:
            yield from (thought for thought in thoughts if thought.after_calls == place)
        yield call
