"""Collect the routes that failed in a step, for the error that is raised if all of them fail."""

from copy import copy
from typing import Final

from hermes_acp.core.errors import ModelError
from hermes_acp.models.routing.fallback_plan import RouteKey

REASON_CHARACTERS: Final = 200
NONE_ANSWERED: Final = "No model answered."


class FailedAttempts:
    """The failures, in the order in which the routes were first tried."""

    def __init__(self) -> None:
        self._errors: dict[RouteKey, ModelError] = {}

    def note(self, route_key: RouteKey, trouble: ModelError) -> None:
        """Record a failure; if a route fails several times, its last failure counts."""
        self._errors[route_key] = trouble

    def combined_error(self, trouble: ModelError) -> ModelError:
        """Return the last failure, extended with the reasons of all routes and each hint once."""
        if len(self._errors) < 2:
            return trouble
        told = copy(trouble)
        told.message = f"{NONE_ANSWERED} {' '.join(self._told(route_key) for route_key in self._errors)}"
        told.hint = " ".join(dict.fromkeys(each.hint for each in self._errors.values() if each.hint))
        return told

    def _told(self, route_key: RouteKey) -> str:
        has_keys = sum(other.route == route_key.route for other in self._errors) > 1
        name = (
            f"{route_key.route} with the key in {route_key.key}"
            if has_keys and route_key.key
            else route_key.route
        )
        reason = self._errors[route_key].message.strip()
        if len(reason) > REASON_CHARACTERS:
            reason = f"{reason[:REASON_CHARACTERS].rstrip()}…"
        return f"{name}: {reason}"
