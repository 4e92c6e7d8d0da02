"""A prompt either waits and can be withdrawn, or was sent."""

import anyio
import pytest

from hermes_acp.frontends.chat.prompt_queue import PromptQueue

pytestmark = pytest.mark.anyio


async def test_the_next_prompt_is_sent_when_the_previous_one_has_ended() -> None:
    prompts, sent = PromptQueue(), list[str]()

    async def send() -> None:
        while True:
            sent.append(await prompts.take_next())

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(send)
        for prompt in ("one", "two", "three"):
            prompts.add(prompt)
        for count in (1, 2, 3):
            await anyio.wait_all_tasks_blocked()
            assert len(sent) == count
            prompts.ended()
        tasks.cancel_scope.cancel()
    assert sent == ["one", "two", "three"]
    assert not prompts.is_busy


async def test_stopping_returns_queued_prompts_and_keeps_sent_ones() -> None:
    prompts = PromptQueue()
    for prompt in ("one", "two", "three"):
        prompts.add(prompt)
    assert await prompts.take_next() == "one"
    assert prompts.stop() == ["two", "three"]
    assert prompts.waiting == ()
    assert prompts.is_stopping
    prompts.ended()
    assert not prompts.is_stopping


async def test_between_two_turns_there_is_nothing_to_stop() -> None:
    prompts = PromptQueue()
    prompts.add("one")
    assert prompts.stop() == ["one"]
    assert not prompts.is_stopping
    assert not prompts.is_busy
