"""The scanner's precomputed tables, and that each is used only while its source is unchanged."""

from collections.abc import Callable

import pytest

from bench.ready_tables import TABLES
from injection_scanner.tables.compiled_tables import compile_table, load_table, read_data_file


@pytest.mark.parametrize(("name", "make"), TABLES)
def test_every_table_is_ready(name: str, make: Callable[[str], object]) -> None:
    assert read_data_file(f"{name}.msgpack") == compile_table(name, make), (
        "run `python -m bench.ready_tables`"
    )


@pytest.mark.parametrize(("name", "make"), TABLES)
def test_a_ready_table_is_what_its_source_says(name: str, make: Callable[[str], object]) -> None:
    made = make(read_data_file(f"{name}.toml").decode())

    def fail(source: str) -> object:
        raise AssertionError("It was made again.")

    assert load_table(name, type(made), fail) == made


def test_without_a_ready_table_of_that_shape_it_is_made_of_its_source() -> None:
    assert load_table("rules", int, len) == len(read_data_file("rules.toml").decode())
    assert load_table("no-such-table", int, len) == 0
