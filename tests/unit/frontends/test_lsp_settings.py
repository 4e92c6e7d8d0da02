"""Settings that an editor can send, and how mistakes in them are reported."""

from __future__ import annotations

from typing import Any

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.frontends.lsp.documents.code_targets import read_target
from hermes_acp.frontends.lsp.lsp_settings import LspSettings, concerns_us, read_settings


def test_no_settings_leave_everything_at_the_apps_values() -> None:
    assert read_settings(None) == read_settings({}) == read_settings({"hermes": None}) == LspSettings()
    assert not LspSettings().inline_completion.enabled


def test_settings_are_at_the_top_level_or_in_their_own_section() -> None:
    given = {"model": "small", "inlineCompletion": {"enabled": True}}
    assert read_settings(given) == read_settings({"hermes": given, "python": {}})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"modle": "x"}, "modle"),
        ({"mode": "yolo"}, "mode"),
        ({"inlineCompletion": {"debounceMs": -1}}, "debounceMs"),
        ([], "array"),
    ],
)
def test_mistakes_are_named(given: object, said: str) -> None:
    with pytest.raises(BadRequest, match=said):
        read_settings(given)


@pytest.mark.parametrize(
    ("given", "is_ours"),
    [
        ({}, False),
        (None, False),
        ({"python": {"x": 1}}, False),
        ({"hermes": {}}, True),
        ({"model": "x"}, True),
    ],
)
def test_other_servers_settings_are_ignored(given: object, is_ours: bool) -> None:
    assert concerns_us(given) is is_ours


@pytest.mark.parametrize("arguments", [None, [], [1], [{"uri": "file:///a"}], [{}, {}]])
def test_a_command_without_its_argument_is_rejected(arguments: list[Any] | None) -> None:
    with pytest.raises(BadRequest):
        read_target(arguments)
