"""The library's messages to developers and to the people who operate their programs."""

from collections.abc import Iterable
from typing import Final

NO_RESULT: Final = "(no result)"
TOOL_NAME_HINT: Final = "Use letters, digits, - and _, at most 64 characters, and no digit first."
AGENT_NAME_HINT: Final = "Use letters, digits, - and _, at most 128 characters."
DESCRIPTION_HINT: Final = (
    "Pass `description`, or write a docstring: the model decides by it when to call the tool."
)
SIGNATURE_HINT: Final = (
    "A model passes arguments by name, as JSON: annotate each parameter with a type that pydantic describes."
)
RUN_FROM_TOOL_HINT: Final = "Let the tool return before you run the next prompt, or use another agent."
CLOSED_HINT: Final = "Create a new one with the same name: it continues where this one stopped."


def not_callable(value: object) -> str:
    """Return that a tool's function cannot be called."""
    return f"A tool's function is {value!r}, which cannot be called."


def bad_tool_name(name: str) -> str:
    """Return that a tool's name is not valid."""
    return f"{name!r} is not a valid tool name."


def bad_agent_name(name: str) -> str:
    """Return that an agent's name is not valid."""
    return f"{name!r} is not a valid agent name."


def taken_tool_name(name: str) -> str:
    """Return that a built-in tool already has the name."""
    return f"There is already a built-in tool {name!r}."


def registered_twice(name: str) -> str:
    """Return that two tools have the same name."""
    return f"This agent already has a tool {name!r}."


def no_description(name: str) -> str:
    """Return that a tool has no description."""
    return f"The tool {name!r} has no description."


def bad_choice(name: str, what: str, value: object) -> str:
    """Return that an attribute of a tool has an unknown value."""
    return f"The {what} of the tool {name!r} cannot be {value!r}."


def choices(known: Iterable[str]) -> str:
    """Return what can be chosen."""
    return f"Choose from: {', '.join(known)}."


def bad_timeout(name: str, value: float) -> str:
    """Return that a tool's time limit is not valid."""
    return f"The timeout_s of the tool {name!r} is {value!r}; it must be a positive number."


def no_signature(name: str, error: Exception) -> str:
    """Return that a function's parameters cannot be read."""
    return f"The parameters of the tool {name!r} cannot be read: {error}."


def not_by_name(name: str, parameter: str) -> str:
    """Return that a parameter cannot be passed by name."""
    return f"The parameter `{parameter}` of the tool {name!r} cannot be passed by name."


def no_annotation(name: str, parameter: str) -> str:
    """Return that a parameter has no type."""
    return f"The parameter `{parameter}` of the tool {name!r} has no type annotation."


def no_schema(name: str, error: Exception) -> str:
    """Return that a parameter's type cannot be described."""
    reason = str(error).partition("\n")[0].rstrip(".")
    return f"The tool {name!r} has a parameter without a JSON Schema: {reason}."


def not_a_collection(value: str) -> str:
    """Return that the tools' names were passed as one text."""
    return f"builtin_tools is the text {value!r}; it must be a collection of names, such as {[value]!r}."


def unknown_builtin_tool(name: object) -> str:
    """Return that a built-in tool does not exist."""
    return f"There is no built-in tool {name!r}."


def unknown_option(name: str, known: Iterable[str]) -> str:
    """Return that an option does not exist."""
    return f"An agent has no option {name!r}. Its options are: {', '.join(known)}."


def beyond_capabilities(tool: str, capability: str, what: str) -> str:
    """Return that a function did something that its tool has not declared."""
    return f"Refused: {tool} has not declared the capability {capability!r} ({what})."


def function_failed(kind: str, text: str) -> str:
    """Return that a function raised an exception."""
    return f"{kind}: {text}" if text.strip() else kind


def literal_prompt(prompt: str) -> str:
    """Return a prompt that begins with a slash, so that it is not taken for a command."""
    return f"The prompt begins with a slash but is not a command:\n{prompt}"


def run_from_tool(name: str, tool: str) -> str:
    """Return that a tool would wait for the agent that is waiting for the tool."""
    return f"The tool {tool!r} runs a prompt of {name!r}, the agent that is waiting for the tool."


def run_from_own_thread(name: str) -> str:
    """Return that a callback would wait for the agent that is waiting for the callback."""
    return f"A callback of {name!r} runs one of its prompts while the agent is waiting for the callback."


def closed(name: str) -> str:
    """Return that an agent was closed."""
    return f"The agent {name!r} is closed."


def empty_prompt(prompt: object) -> str:
    """Return that a prompt has no text."""
    return f"The prompt is {prompt!r}; it must be a non-empty text."
