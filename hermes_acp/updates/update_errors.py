"""Errors of updates."""

from hermes_acp.core.errors import HermesError, UserError


class NotUpdatable(UserError):
    """Something else updates the installation; the hint names it."""

    code = "not_updatable"


class UpdateFailed(HermesError):
    """A step of an update failed; the version in use is unchanged."""

    code = "update_failed"
