"""Changing one value of a YAML file and nothing else."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from hermes_acp.config.yaml_text import repeated_keys, with_value

WRITTEN = """\
# My settings.
provider: openai   # the one at work

mode: ask  # careful

providers:
  # at home
  ollama:
    base_url: http://localhost:11434/v1
  openai:
    headers: {X-Team: a}   # ours
# The end.
"""


def test_a_value_is_replaced_and_the_file_is_otherwise_unchanged() -> None:
    assert with_value(WRITTEN, ("provider",), "ollama") == WRITTEN.replace(
        "provider: openai ", "provider: ollama "
    )
    url = ("providers", "ollama", "base_url")
    assert with_value(WRITTEN, url, "http://x/v1") == WRITTEN.replace(
        "http://localhost:11434/v1", "http://x/v1"
    )


def test_a_value_is_added_where_it_belongs() -> None:
    assert with_value(WRITTEN, ("providers", "openai", "base_url"), "http://x/v1") == WRITTEN.replace(
        "   # ours\n", "   # ours\n    base_url: http://x/v1\n"
    )
    after = with_value(WRITTEN, ("providers", "groq", "base_url"), "http://x/v1")
    assert after == WRITTEN.replace("   # ours\n", "   # ours\n  groq:\n    base_url: http://x/v1\n")
    assert with_value(WRITTEN, ("providers", "openai", "headers", "Y"), "b") == WRITTEN.replace(
        "{X-Team: a}", "{X-Team: a, Y: b}"
    )
    assert with_value("# Nothing yet.", ("provider",), "openai") == "# Nothing yet.\nprovider: openai\n"
    assert with_value("providers:  # none yet\nmode: ask\n", ("providers", "a", "base_url"), "b") == (
        "providers:  # none yet\n  a:\n    base_url: b\nmode: ask\n"
    )
    assert with_value("providers: {}\n", ("providers", "a", "b"), "1") == "providers: {a: {b: '1'}}\n"


def test_a_value_is_removed_with_the_mapping_it_leaves_empty() -> None:
    assert with_value(WRITTEN, ("mode",), None) == WRITTEN.replace("mode: ask  # careful\n", "")
    assert with_value(WRITTEN, ("model",), None) == WRITTEN
    assert with_value(WRITTEN, ("providers", "ollama", "base_url"), None) == WRITTEN.replace(
        "  ollama:\n    base_url: http://localhost:11434/v1\n", ""
    )
    assert with_value("a:\n  b:\n    c: d\n", ("a", "b", "c"), None) == ""


def test_a_document_whose_layout_cannot_be_kept_is_rewritten_correctly() -> None:
    odd = "shared: &s {base_url: http://a/v1}\nproviders: {openai: *s}  # both\n"
    after = with_value(odd, ("providers", "openai", "base_url"), "http://b/v1")
    assert yaml.safe_load(after) == {
        "shared": {"base_url": "http://a/v1"},
        "providers": {"openai": {"base_url": "http://b/v1"}},
    }
    with pytest.raises(ValueError, match="not a mapping"):
        with_value("- a\n", ("provider",), "b")


KEYS = st.sampled_from(["provider", "providers", "model", "a", "on", "1"])
VALUES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
TREES = st.recursive(
    VALUES | st.none() | st.lists(VALUES, max_size=2),
    lambda inner: st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(
    st.dictionaries(KEYS, TREES, max_size=4), st.lists(KEYS, min_size=1, max_size=3), VALUES, st.booleans()
)
def test_the_document_contains_the_requested_value(
    document: dict[str, object], path: list[str], value: str, is_flow: bool
) -> None:
    text = yaml.safe_dump(document, sort_keys=False, allow_unicode=True, default_flow_style=is_flow or None)
    found: Any = yaml.safe_load(with_value(text, tuple(path), value))
    for key in path:
        found = found[key]
    assert found == value


def test_duplicate_keys_are_found_with_their_lines() -> None:
    text = "a: 1\nb:\n  c: 1\n  c: 2\nl:\n- {x: 1, x: 2}\na: 3\na: 4\n"
    assert sorted(repeated_keys(text)) == [("a", 1, 7), ("a", 7, 8), ("c", 3, 4), ("x", 6, 6)]
    assert [*repeated_keys("q: &q {a: 1}\nr: *q\ns: {<<: *q, a: 2}\nt: &t [*t]\n")] == []
    assert [*repeated_keys("")] == []
