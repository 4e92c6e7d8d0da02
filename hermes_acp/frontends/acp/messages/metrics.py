"""Descriptions of the server's metrics."""

from typing import Final

BUILD: Final = "Version of hermes-acp and of Python."
CONNECTIONS: Final = "Connected clients."
SESSIONS: Final = "Open sessions."
RUNNING: Final = "Running turns, without child agents."
QUESTIONS: Final = "Permission questions that wait for an answer."
TURNS: Final = "Turns that have ended."
TURN_S: Final = "Time from a turn's start to its end."
TOKENS: Final = "Tokens used; the input includes tokens from a provider's cache."
CACHED_TOKENS: Final = "Input tokens from a provider's cache."
REQUESTS: Final = "Model requests."
MODEL_S: Final = "Time to the end of an answer, from the turn's start or the end of the calls before it."
FIRST_S: Final = (
    "Time to the first word of an answer, from the turn's start or the end of the calls before it."
)
CALLS: Final = "Tool calls."
CALL_S: Final = "Time from a call's approval to its end."
LAG: Final = "Delay of a timer, measured once a second."
RSS: Final = "Resident memory."
CPU: Final = "Processor time, user and system."
FILES: Final = "Open file descriptors."
