"""Check the hooks that apply in a folder, without running them."""

from hermes_acp.config.environment import Environment
from hermes_acp.frontends.cli.messages import hook_messages


def check_hooks(environment: Environment, cwd: str) -> list[str]:
    """Return findings about the user's hooks and those of a trusted project. Blocks."""
    from hermes_acp.app.service_factories import hooks_of
    from hermes_acp.core.errors import ConfigError

    try:
        _, hooks = hooks_of(environment, cwd)
    except ConfigError:
        return []  # another check reports unreadable settings
    return [
        hook_messages.broken_hook(each.hook.label, each.fault)
        for each in hooks
        if each.fault and each.is_enabled and each.is_trusted
    ]
