"""Tools are asked for their description once, however many toolboxes they are in."""

from hermes_acp.core.messages import ToolSchema
from hermes_acp.tools.toolbox import Toolbox
from tests.unit.agent.fake_tools import FakeTool, succeed


class Described(FakeTool):
    """A fake tool that counts how often its description was requested."""

    def __init__(self, name: str, about: str = "A toy.") -> None:
        super().__init__(name, succeed)
        self.asked = 0
        self._about = about

    def schema(self) -> ToolSchema:
        self.asked += 1
        return ToolSchema(self.name, self._about, self.arguments)


def test_a_described_tool_is_not_asked_again() -> None:
    own, further = Described("a"), Described("b")
    box = Toolbox({"a": own})
    boxes = [box.extended({}), box.extended({"b": further}).only(["b", "a"]), box.only(["a"])]
    assert [tuple(schema.name for schema in each.schemas) for each in boxes] == [("a",), ("a", "b"), ("a",)]
    assert (own.asked, further.asked) == (1, 1)


def test_another_tool_of_the_same_name_is_described_again() -> None:
    box = Toolbox({"a": Described("a")})
    for about in ("First.", "Second."):
        (_, schema) = box.extended({"b": Described("b", about)}).schemas
        assert schema.description == about


def test_the_first_tool_keeps_its_name_and_description() -> None:
    late = Described("a", "An impostor.")
    (schema,) = Toolbox({"a": Described("a", "The own one.")}).extended({"a": late}).schemas
    assert (schema.description, late.asked) == ("The own one.", 0)
