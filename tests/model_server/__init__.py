"""A scripted model server: a real HTTP server that answers in its vendors' formats."""

from .requests import Asked, Recorded
from .script import Fault, Hold, Reply, Rule, Script, ScriptError, ToolCall, Usage, load_script
from .server import Counters, ModelServer, serve

__all__ = [
    "Asked",
    "Counters",
    "Fault",
    "Hold",
    "ModelServer",
    "Recorded",
    "Reply",
    "Rule",
    "Script",
    "ScriptError",
    "ToolCall",
    "Usage",
    "load_script",
    "serve",
]
