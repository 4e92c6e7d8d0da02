"""The base class of all settings sections, and how to get the descriptions of their fields."""

from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from hermes_acp.config.provider_presets import check_name, check_wire

Positive = Annotated[float, Field(gt=0)]


class Section(BaseModel):
    """A section of the settings, with its values and their validation.

    The validator is built on first use, because most processes have nothing to validate when they start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    @classmethod
    def defaults(cls) -> Self:
        """Return the section with its default values, which are valid by declaration."""
        return cls.model_construct()


def field_meanings(cls: type) -> dict[str, str]:
    """Return the string below each field of a class, by field name.

    Raises OSError if the source code is unavailable.
    """
    import ast
    import inspect
    from textwrap import dedent

    (tree,) = ast.parse(dedent(inspect.getsource(cls))).body
    assert isinstance(tree, ast.ClassDef), "the source of a class must be a class definition"
    found: dict[str, str] = {}
    for field, text in zip(tree.body, tree.body[1:], strict=False):
        match field, text:
            case (
                ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(words))),
            ):
                found[name] = " ".join(words.split())
            case _:
                pass
    return found


ProviderName = Annotated[str, AfterValidator(check_name)]
WireName = Annotated[str, AfterValidator(check_wire)]
