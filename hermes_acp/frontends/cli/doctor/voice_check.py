"""Check speech transcription; a local model is loaded, but no other machine is contacted."""

from hermes_acp.config.environment import Environment
from hermes_acp.core.errors import HermesError
from hermes_acp.frontends.cli.doctor.doctor_findings import Finding
from hermes_acp.frontends.cli.messages import doctor_messages


async def check_voice(environment: Environment) -> list[Finding]:
    """Return a finding about spoken prompts; none if they are off or the settings cannot be read."""
    from anyio import to_thread

    from hermes_acp.config.provider_access import ProviderAccess
    from hermes_acp.config.settings import load_settings
    from hermes_acp.core.errors import ConfigError
    from hermes_acp.models.transcription.voice_service import VoiceService

    try:
        settings = await to_thread.run_sync(load_settings, environment)
    except ConfigError:
        return []  # another check reports unreadable settings
    if settings.voice.transcription == "off":
        return []
    service = VoiceService(environment, ProviderAccess(environment, {}).read)
    try:
        return [Finding("voice", "fine", doctor_messages.transcribed_by(await service.check()))]
    except HermesError as error:
        return [Finding("voice", "problem", error.message, error.hint)]
    finally:
        await service.aclose()
