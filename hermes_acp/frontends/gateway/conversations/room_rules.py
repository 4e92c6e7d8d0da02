"""Determine the conversation for a place: its profile, its folder, and whether the agent answers there at all."""

from collections.abc import Callable, Sequence

import msgspec
from anyio import to_thread

from hermes_acp.config.environment import Environment, environment_of
from hermes_acp.config.home_folders import PROFILE_VARIABLE
from hermes_acp.config.sections.gateway_settings import GatewaySettings
from hermes_acp.config.settings import load_settings
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.gateway.conversations.gateway_parts import ConversationPlace, GatewayStores
from hermes_acp.frontends.gateway.port.platform_port import Limits, Place
from hermes_acp.storage.gateway.people import Person


class RoomRules:
    """The operator's rules: each person's profile, and the configured rooms."""

    def __init__(
        self,
        environment: Environment,
        settings: GatewaySettings,
        stores: GatewayStores,
        limits: Callable[[str], Limits],
    ) -> None:
        self._environment = environment
        self._settings = settings
        self._stores = stores
        self._limits = limits
        self._reachable: dict[str, tuple[str, Place]] = {}

    def key_of(self, platform: str, place: Place) -> str:
        """Return the key of the conversation in a place, which contains no personal IDs."""
        if self._limits(platform).ids_are_personal:
            return f"{platform}:{self._stores.database.hash(platform, place.room, place.thread)}"
        return f"{platform}:{place.room}:{place.thread}"

    async def place_of(self, platform: str, place: Place, person: Person) -> ConversationPlace | None:
        """Return the conversation in a place, or None for a room that is not configured. Raises StorageError."""
        key = self.key_of(platform, place)
        if place.is_direct:
            await self._remember(platform, place, person)
            folder = self._settings.workspace or ""
            return ConversationPlace(key, platform, place, person.profile, folder)
        rooms = self._settings.rooms
        room = next((each for each in rooms if each.platform == platform and each.id == place.room), None)
        if room is None:
            return None
        folder = room.workspace or self._settings.workspace or ""
        profile = room.profile or self._environment.profile
        return ConversationPlace(key, platform, place, profile, folder, room)

    async def direct_places(self, person: Person) -> Sequence[tuple[str, Place]]:
        """Return the direct conversations in which a person can be asked. Raises StorageError."""
        known = dict(await to_thread.run_sync(self._stores.people.places, person.name))
        found = {platform: msgspec.json.decode(raw, type=Place) for platform, raw in known.items()}
        if person.name in self._reachable:
            platform, place = self._reachable[person.name]
            found[platform] = place
        return list(found.items())

    async def has_sandbox_off(self, profile: str) -> bool:
        """Return whether a profile's sandbox is switched off, or its settings cannot be read."""
        variables = {**self._environment.variables, PROFILE_VARIABLE: profile}
        try:
            settings = await to_thread.run_sync(load_settings, environment_of(variables))
        except HermesError:
            return True
        return settings.sandbox.mode == "off"

    async def _remember(self, platform: str, place: Place, person: Person) -> None:
        """Remember where a person can be reached; a place that is a personal address is not stored on disk."""
        self._reachable[person.name] = (platform, place)
        if not self._limits(platform).ids_are_personal:
            raw = msgspec.json.encode(place).decode()
            await to_thread.run_sync(self._stores.people.set_place, platform, person.name, raw)
