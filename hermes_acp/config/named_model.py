"""The model named by environment variables, found without parsing or importing anything."""

from hermes_acp.config.environment import BASE_URL_VARIABLES, KEY_VARIABLES, Environment
from hermes_acp.core.available_options import AvailableModel


def named_models(environment: Environment) -> tuple[AvailableModel, ...]:
    """Return the model that HERMES_MODEL names, with its probable provider; empty if the variable is not set.

    Its reasoning levels are known once the model catalogue is loaded; until then, only the common ones are offered.
    """
    variables = environment.variables
    model = variables.get("HERMES_MODEL", "").strip()
    if not model:
        return ()
    likely = (
        ("anthropic", "openai_compatible")
        if model.startswith("claude")
        else ("openai_compatible", "anthropic")
    )
    reachable = (
        name
        for name in likely
        if variables.get(KEY_VARIABLES[name]) or variables.get(BASE_URL_VARIABLES[name])
    )
    return (AvailableModel(variables.get("HERMES_PROVIDER") or next(reachable, likely[0]), model),)
