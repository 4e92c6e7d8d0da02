"""Convert the modes of a session to the wire types of version 1."""

from hermes_acp.core.record.session_record import Record
from hermes_acp.frontends.acp.session_setup.session_options import modes_offered
from hermes_protocol import v1


def mode_state(record: Record, *, allows_bypass: bool) -> v1.SessionModeState:
    """Return the available modes and the current one."""
    modes = [
        v1.SessionMode(id=mode.value, name=mode.name, description=mode.description)
        for mode in modes_offered(allows_bypass=allows_bypass)
    ]
    return v1.SessionModeState(current_mode_id=record.mode, available_modes=modes)
