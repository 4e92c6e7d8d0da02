"""The library's messages to developers and to the people who operate their programs."""

from collections.abc import Iterable
from typing import Final

NO_RESULT: Final = "(no result)"
DESCRIPTION_HINT: Final = (
    "Pass `description`, or write a docstring: the model uses it to decide when to call the tool."
)
SIGNATURE_HINT: Final = (
    "A model passes arguments by name, as JSON: annotate each parameter with a type that pydantic supports."
)
RUN_FROM_TOOL_HINT: Final = "Let the tool return before you run the next prompt, or use another agent."
CLOSED_HINT: Final = "Create a new one with the same name: it continues where this one stopped."


def not_callable(value: object) -> str:
    """Say that a tool's function cannot be called."""
    return f"A tool's function is {value!r}, which is not callable."


def bad_tool_name(name: str) -> str:
    """Say that a tool's name is not valid."""
    return f"{name!r} is not a valid tool name: use letters, digits, - and _, at most 64, and a letter or _ first."


def bad_agent_name(name: str) -> str:
    """Say that an agent's name is not valid."""
    return f"{name!r} is not a valid agent name: use letters, digits, - and _, at most 128 characters."


def taken_tool_name(name: str) -> str:
    """Say that a built-in tool already has the name."""
    return f"There is already a built-in tool {name!r}."


def registered_twice(name: str) -> str:
    """Say that the agent already has a tool with this name."""
    return f"This agent already has a tool {name!r}."


def no_description(name: str) -> str:
    """Say that a tool has no description."""
    return f"The tool {name!r} has no description."


def bad_choice(name: str, what: str, value: object, known: Iterable[str]) -> str:
    """Say that an attribute of a tool has an unknown value."""
    return f"The {what} of the tool {name!r} cannot be {value!r}. {choices(known)}"


def not_a_list(name: str, what: str, value: str, known: Iterable[str]) -> str:
    """Say that an attribute of a tool is a string instead of a list."""
    return f"The {what} of the tool {name!r} are the string {value!r}, but must be a list of: {', '.join(known)}."


def choices(known: Iterable[str]) -> str:
    """Return the list of possible choices."""
    return f"Choose from: {', '.join(known)}."


def bad_timeout(name: str, value: float) -> str:
    """Say that a tool's time limit is not valid."""
    return f"The timeout_s of the tool {name!r} is {value!r}; it must be a positive number."


def no_signature(name: str, error: Exception) -> str:
    """Say that a function's parameters cannot be read."""
    return f"The parameters of the tool {name!r} cannot be read: {error}."


def not_by_name(name: str, parameter: str) -> str:
    """Say that a parameter cannot be passed by name."""
    return f"The parameter `{parameter}` of the tool {name!r} cannot be passed by name."


def no_annotation(name: str, parameter: str) -> str:
    """Say that a parameter has no type."""
    return f"The parameter `{parameter}` of the tool {name!r} has no type annotation."


def no_schema(name: str, error: Exception) -> str:
    """Say that a parameter's type cannot be described."""
    reason = str(error).partition("\n")[0].rstrip(".")
    return f"The tool {name!r} has a parameter without a JSON Schema: {reason}."


def not_a_collection(value: str) -> str:
    """Say that the names of the tools were passed as a single string."""
    return f"builtin_tools is the string {value!r}; it must be a collection of names, such as {[value]!r}."


def unknown_builtin_tool(name: object) -> str:
    """Say that a built-in tool does not exist."""
    return f"There is no built-in tool {name!r}."


def unknown_option(name: str, known: Iterable[str]) -> str:
    """Say that an option does not exist."""
    return f"An agent has no option {name!r}. Its options are: {', '.join(known)}."


def beyond_capabilities(tool: str, capability: str, what: str) -> str:
    """Say that a function tried to do something that its tool has not declared."""
    return f"Refused: {tool} has not declared the capability {capability!r} ({what})."


def function_failed(kind: str, text: str) -> str:
    """Say that a function raised an exception."""
    return f"{kind}: {text}" if text.strip() else kind


def literal_prompt(prompt: str) -> str:
    """Wrap a prompt that starts with a slash, so that it is not read as a command."""
    return f"The prompt begins with a slash but is not a command:\n{prompt}"


def run_from_tool(name: str, tool: str) -> str:
    """Say that a tool tried to run a prompt of the agent that is waiting for that tool."""
    return f"The tool {tool!r} sends a prompt to {name!r}, the agent that is waiting for this tool."


def run_from_own_thread(name: str) -> str:
    """Say that a callback tried to run a prompt of the agent that is waiting for that callback."""
    return f"A callback of {name!r} runs one of its prompts while the agent is waiting for the callback."


def closed(name: str) -> str:
    """Say that an agent was closed."""
    return f"The agent {name!r} is closed."


def open_in_other_agent(name: str) -> str:
    """Say that another `Agent` in this program has the session open."""
    return f"The agent {name!r} is open in another Agent of this program. Call its close()."


def empty_prompt(prompt: object) -> str:
    """Say that a prompt has no text."""
    return f"The prompt is {prompt!r}; it must be a non-empty string."
