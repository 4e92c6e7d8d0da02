"""Strategies for valid histories of every form."""

from hypothesis import strategies as st

from hermes_acp.core.messages import (
    AssistantMessage,
    ImagePart,
    LinkPart,
    Message,
    Part,
    ResourcePart,
    TextPart,
    Thought,
    ToolCall,
    ToolMessage,
    UserMessage,
)

WORDS = st.sampled_from(["", "Words.", "Ünïcödé 你好", "many words " * 40, "x" * 3_000])
PARTS: st.SearchStrategy[Part] = st.one_of(
    st.builds(TextPart, WORDS),
    st.just(ImagePart("image/png", "aGk=")),
    st.just(LinkPart("file:///a", "a")),
    st.builds(ResourcePart, st.just("file:///b"), WORDS),
)
USERS = st.builds(
    UserMessage,
    st.lists(PARTS, min_size=1, max_size=2).map(tuple),
    st.sampled_from(["user", "user", "program"]),
)
THOUGHTS = st.lists(st.builds(Thought, WORDS, st.sampled_from(["", "signed"])), max_size=2).map(tuple)


@st.composite
def histories(draw: st.DrawFn) -> list[Message]:
    """Generate a valid history that ends anywhere a request may be made, or after an answer."""
    messages: list[Message] = []
    for exchange in range(draw(st.integers(1, 5))):
        messages += draw(st.lists(USERS, min_size=1, max_size=3))
        for step in range(draw(st.integers(0, 3))):
            names = [f"call_{exchange}_{step}_{number}" for number in range(draw(st.integers(1, 3)))]
            calls = tuple(ToolCall(name, "tool", draw(WORDS), "signed") for name in names)
            messages.append(AssistantMessage(draw(WORDS), draw(THOUGHTS), calls))
            messages += [ToolMessage(name, "tool", draw(WORDS), draw(st.booleans())) for name in names]
        if draw(st.booleans()):
            messages.append(AssistantMessage("An answer.", draw(THOUGHTS)))
    return messages
