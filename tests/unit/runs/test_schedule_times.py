"""Due times of schedules, and messages about impossible expressions."""

import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.ports.schedule_ports import Timing
from hermes_acp.runs.schedule_times import check_timing


@pytest.mark.parametrize(
    ("cron", "fault"),
    [
        ("0 0 32 * *", "'32' in '0 0 32 * *' is not a valid day of the month: use 1 to 31"),
        ("61 0 * * *", "'61' in '61 0 * * *' is not a valid minute: use 0 to 59."),
        ("0 0 * * 8", "'8' in '0 0 * * 8' is not a valid weekday"),
        ("0 0 30 2 *", "'0 0 30 2 *' would never be due: none of these months has such a day."),
        ("soon", "'soon' is not a cron expression."),
    ],
)
def test_the_invalid_field_is_named(cron: str, fault: str) -> None:
    with pytest.raises(BadRequest) as caught:
        check_timing(Timing(cron))
    assert caught.value.message.startswith(fault)


@pytest.mark.parametrize("cron", ["0 0 29 2 *", "0 0 L * *", "0 7 * jan-mar mon-fri", "*/5 * * * *"])
def test_unusual_expressions_are_valid(cron: str) -> None:
    check_timing(Timing(cron))
