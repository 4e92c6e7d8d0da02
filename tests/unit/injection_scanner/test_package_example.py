"""The example in the package's docstring has the documented result."""

import doctest

import injection_scanner


def test_the_example_has_the_documented_result() -> None:
    assert doctest.testmod(injection_scanner) == (0, 2)
