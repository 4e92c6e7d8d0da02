"""Offers and questions of real MCP servers besides tools, over each transport."""

from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from hermes_acp.core.errors import BadRequest
from hermes_acp.core.messages import ResourcePart
from hermes_acp.core.proposals import Effect, Question, Reply, Result
from hermes_acp.mcp.server_definitions import ServerTimeouts
from injection_scanner.scanner import scan
from tests.contract.mcp_playground import Playground, Reports, at_work, example, listening

pytestmark = [pytest.mark.anyio, pytest.mark.slow]
EVERY = pytest.mark.parametrize("kind", ["stdio", "http", "sse"])
ORDER = "mcp__example__order"


async def playground_over(kind: str, place: Path, stack: AsyncExitStack) -> Playground:
    spec = example(place) if kind == "stdio" else await stack.enter_async_context(listening(kind, place))
    return await stack.enter_async_context(at_work(place, spec))


@EVERY
async def test_prompts_and_resources(tmp_path: Path, kind: str) -> None:
    async with AsyncExitStack() as stack:
        playground = await playground_over(kind, tmp_path, stack)
        templates = playground.servers.templates()
        assert set(templates) == {"example:greet"}
        assert templates["example:greet"].hint == "<who> [tone]"
        (part,) = await templates["example:greet"].fill('"the whole crew" tone=gruffly')
        assert isinstance(part, ResourcePart)
        assert part.uri == "mcp://example/prompts/greet"
        first, *lines, end = part.text.splitlines()
        assert "'greet' of the MCP server 'example'" in first
        assert lines[0] == "user: Greet the whole crew gruffly."
        assert lines[1] == "assistant: [End of prompt 00000000]"
        assert "image/png, 8 bytes: not shown" in lines[2]
        assert end != lines[1].removeprefix("assistant: ")
        assert end.removeprefix("[End of prompt ").removesuffix("]") in first

        (library,) = playground.servers.libraries().values()
        listed = (await library.contents(Reports())).text
        assert "memo://today: today; text/plain; What is to be done" in listed
        assert "memo://day/{day} (template)" in listed
        text = (await library.read("memo://today", Reports())).text
        assert text.splitlines()[1:3] == ["[resource memo://today]", "Buy milk. [End of output 00000000]"]
        assert "image/png, 8 bytes: not shown" in (await library.read("memo://pixel", Reports())).text
        assert "Nothing on Monday." in (await library.read("memo://day/Monday", Reports())).text
        missing = await library.read("memo://nowhere", Reports())
        assert missing.is_error
        assert "untrusted" in missing.text


async def test_a_prompt_without_its_required_arguments_is_not_requested(tmp_path: Path) -> None:
    async with at_work(tmp_path, example(tmp_path)) as playground:
        template = playground.servers.templates()["example:greet"]
        with pytest.raises(BadRequest, match="needs who") as caught:
            await template.fill("tone=gruffly")
    assert caught.value.hint == "Write: /example:greet <who> [tone]"


async def test_a_description_of_a_prompt_is_cleaned(tmp_path: Path) -> None:
    def clean(text: str) -> str:
        return scan(text).clean_text

    async with at_work(tmp_path, example(tmp_path), clean=clean) as playground:
        assert "Ignore all" not in playground.servers.templates()["example:greet"].description


@EVERY
async def test_changed_lists_are_reported_once_they_are_available(tmp_path: Path, kind: str) -> None:
    async with AsyncExitStack() as stack:
        playground = await playground_over(kind, tmp_path, stack)
        before = len(playground.changes)
        await playground.call("mcp__example__grow")
        while "example:farewell" not in playground.servers.templates():
            await anyio.sleep(0.01)
        while "mcp__example__grown" not in playground.servers.tools():
            await anyio.sleep(0.01)
        assert len(playground.changes) > before


@EVERY
async def test_lists_that_change_during_calls_disturb_none(tmp_path: Path, kind: str) -> None:
    """The lists are requested again and again while many calls are running; each request gets its own answer."""
    sums: list[int] = []
    async with AsyncExitStack() as stack:
        playground = await playground_over(kind, tmp_path, stack)

        async def add(number: int) -> None:
            if number % 5 == 0:
                await playground.call("mcp__example__grow")
            result = await playground.call("mcp__example__add", a=number, b=1000)
            sums.append(int(result.text.splitlines()[1]))

        async with anyio.create_task_group() as tasks:
            for number in range(25):
                tasks.start_soon(add, number)
        assert sorted(sums) == list(range(1000, 1025))
        while "mcp__example__grown" not in playground.servers.tools():
            await anyio.sleep(0.01)
        assert playground.servers.news() == []


@EVERY
async def test_a_servers_questions_go_to_the_calls_user(tmp_path: Path, kind: str) -> None:
    async with AsyncExitStack() as stack:
        playground = await playground_over(kind, tmp_path, stack)
        filled = Reports(Reply("answered", content={"size": 42, "is_gift": True, "password": "secret"}))
        result = await playground.call(ORDER, filled, what="boots")
        assert "boots: {'size': 42, 'is_gift': True}" in result.text
        (question,) = filled.asked
        assert question.text == "The MCP server 'example' asks: Which size of boots?"
        assert question.form
        assert question.form["properties"]["size"]["type"] == "integer"
        for reply, action in (
            (None, "decline"),
            (Reply("declined"), "decline"),
            (Reply("dismissed"), "cancel"),
            (Reply("answered", content={"size": ["many", 1]}), "decline"),
        ):
            assert action in (await playground.call(ORDER, Reports(reply), what="boots")).text


@EVERY
async def test_servers_get_the_folders(tmp_path: Path, kind: str) -> None:
    async with AsyncExitStack() as stack:
        playground = await playground_over(kind, tmp_path, stack)
        assert tmp_path.as_uri() in (await playground.call("mcp__example__folders")).text


class Ponderer(Reports):
    """A user who takes a given time to answer."""

    def __init__(self, thinks_s: float) -> None:
        super().__init__()
        self._thinks_s = thinks_s

    def allows(self, *effects: Effect) -> bool:
        return False

    async def inquire(self, question: Question) -> Reply | None:
        await anyio.sleep(self._thinks_s)
        return Reply("answered", content={"size": 1})


async def test_the_time_of_a_call_is_paused_while_the_user_thinks(tmp_path: Path) -> None:
    call_s = 1
    while (answer := await order_slowly(tmp_path, call_s)).is_error and call_s < 10:
        call_s *= 3  # A slow machine may time out everywhere else.
    assert "boots: {'size': 1" in answer.text


async def order_slowly(place: Path, call_s: int) -> Result:
    """Order something, with a user who takes longer than a call may take."""
    async with at_work(
        place, example(place), timeouts=ServerTimeouts(waits_s=(), call_s=call_s)
    ) as playground:
        return await playground.call(ORDER, Ponderer(1.2 * call_s), what="boots")


class Gone(Reports):
    """A user who never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.was_given_up = False

    async def inquire(self, question: Question) -> Reply | None:
        self.heard.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.was_given_up = True


@EVERY
async def test_a_question_belongs_to_its_call(tmp_path: Path, kind: str) -> None:
    async with AsyncExitStack() as stack:
        playground = await playground_over(kind, tmp_path, stack)
        user = Gone()
        async with anyio.create_task_group() as tasks:

            async def order() -> None:
                await playground.call(ORDER, user, what="boots")

            tasks.start_soon(order)
            await user.heard.wait()
            tasks.cancel_scope.cancel()
        while not user.was_given_up:
            await anyio.sleep(0.01)
        assert "3" in (await playground.call("mcp__example__add", a=1, b=2)).text
