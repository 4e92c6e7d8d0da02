"""Everyday prompts to a coding agent that need no skill.

A skill's distance to these prompts calibrates its distance to other prompts, because some models put all texts close
together.
"""

from typing import Final

GENERIC_PROMPTS: Final = (
    "Fix the bug in this function.",
    "Add a new option to the command line.",
    "Explain what this file does.",
    "Write a test for this module.",
    "Rename this variable everywhere.",
    "Why do I get this error message?",
    "Refactor this class into smaller parts.",
    "Update the dependencies.",
    "Add logging to the server.",
    "Remove the dead code.",
    "Implement a function that sorts a list.",
    "What changed in the last commit?",
    "Improve the documentation of this package.",
    "Create a new page with a form.",
    "Make the button bigger.",
    "Thank you, go on.",
    "Read the configuration from a file.",
    "How does authentication work here?",
    "Add an endpoint that returns all users.",
    "Handle the case where the input is empty.",
    "Show me where this is used.",
    "Convert this script to TypeScript.",
    "Set up a project with a build.",
    "Is there a better way to do this?",
    "Warum schlägt dieser Test fehl?",
    "Corrige el error y ejecuta las pruebas.",
    "Why does this test fail?",
    "What does this class do?",
)
