"""The scanner's precomputed tables: each is used only while its source is unchanged."""

from collections.abc import Callable

import pytest

from bench.ready_tables import TABLES
from injection_scanner.tables.compiled_tables import compile_table, load_table, read_data_file


@pytest.mark.parametrize(("name", "make"), TABLES)
def test_every_table_is_precomputed(name: str, make: Callable[[str], object]) -> None:
    assert read_data_file(f"{name}.msgpack") == compile_table(name, make), (
        "run `python -m bench.ready_tables`"
    )


@pytest.mark.parametrize(("name", "make"), TABLES)
def test_a_precomputed_table_matches_its_source(name: str, make: Callable[[str], object]) -> None:
    made = make(read_data_file(f"{name}.toml").decode())

    def fail(source: str) -> object:
        raise AssertionError("It was made again.")

    assert load_table(name, type(made), fail) == made


def test_a_table_without_a_matching_precomputed_file_is_built_from_its_source() -> None:
    assert load_table("rules", int, len) == len(read_data_file("rules.toml").decode())
    assert load_table("no-such-table", int, len) == 0
