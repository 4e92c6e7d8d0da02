"""Notes about the same subject are found by their words."""

from bench.note_subjects import found, pairs
from hermes_acp.memory.note_subjects import related_notes


def test_contradictions_are_found_at_the_measured_rate() -> None:
    contradicting, compatible = pairs("contradicting"), pairs("compatible")
    assert found(contradicting) / len(contradicting) >= 0.9
    assert found(compatible) / len(compatible) <= 0.05


def test_the_most_similar_notes_come_first_and_an_identical_one_is_not_another() -> None:
    notes = [
        "Lives in Berlin.",
        "Lives in Berlin with two cats.",
        "Has cats.",
        "The cats live in Berlin too.",
    ]
    assert related_notes("Lives in Berlin.", notes) == [
        "The cats live in Berlin too.",
        "Lives in Berlin with two cats.",
    ]
    assert related_notes("It is.", ["It is not."]) == []
