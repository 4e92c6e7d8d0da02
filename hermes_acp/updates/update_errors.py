"""The errors that updates raise."""

from hermes_acp.core.errors import HermesError, UserError


class NotUpdatable(UserError):
    """The installation is updated by other means, which the hint names."""

    code = "not_updatable"


class UpdateFailed(HermesError):
    """A step of an update failed; the version in use is unchanged."""

    code = "update_failed"
