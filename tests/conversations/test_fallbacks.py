"""Several models and keys: which one answers, what the user sees of it, and what they can choose."""

import json

import pytest

from hermes_acp.core.errors import (
    ContextWindowExceeded,
    ModelAuthFailed,
    ModelRefused,
    ModelUnavailable,
    RateLimited,
)
from hermes_acp.frontends.acp.messages.conversation import ANSWER_RESTARTED
from hermes_protocol.errors import AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS
from tests.conversations.app_scene import Scene, plain_history
from tests.conversations.fake_editor import FakeEditor, ShownSession
from tests.conversations.scripted_provider import ScriptedProvider, ScriptedThought, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio
GONE = ModelUnavailable("No such host.")
DOWN = ModelUnavailable("Answered 500.", retryable=True)
BAD_KEY = ModelAuthFailed("The key was refused.", hint="Set OPENAI_API_KEY.")
NOTICES: Json = {"notices": {}}


@pytest.fixture
def pair(scene: Scene) -> tuple[Scene, ScriptedProvider]:
    """Return a scene with Anthropic as the provider in use."""
    scene.configure("fallbacks: [anthropic/claude-haiku-4-5]\n")
    scene.variables["ANTHROPIC_API_KEY"] = "sk-hunter2"
    behind = scene.others["anthropic"] = ScriptedProvider()
    return scene, behind


def recorded(scene: Scene, session: str, kind: str) -> list[Json]:
    lines = scene.record_of(session).read_bytes().splitlines()
    events = [json.loads(line[line.index(b"{") :]) for line in lines]
    return [event for event in (each.get("event", each) for each in events) if event.get("type") == kind]


def decisions(scene: Scene) -> list[Json]:
    log = scene.home / "logs" / "decisions.jsonl"
    return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


async def choose(editor: FakeEditor, session: str, name: str, value: str) -> dict[str, Json]:
    params: Json = {"sessionId": session, "configId": name, "value": value}
    answer = await editor.call("session/set_config_option", params)
    return {option["id"]: option for option in answer["configOptions"]}


async def test_a_turn_continues_with_the_next_model_and_the_next_turn_starts_there(
    pair: tuple[Scene, ScriptedProvider],
) -> None:
    scene, behind = pair
    scene.write("a", "alpha\n")
    scene.provider.plays(
        step(ScriptedThought("Hm."), call("read_file", "c1", path="a")), step("Half a w", GONE)
    )
    behind.plays(step("A whole word."), step("Still here."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Read") == "end_turn"
        assert "Continuing with claude-haiku-4-5 (anthropic)" in ShownSession(editor, session).thoughts
        assert await editor.prompt(session, "And now?") == "end_turn"
        assert "is paused; continuing with claude-haiku-4-5" in ShownSession(editor, session).thoughts
        usage = ShownSession(editor, session).of("usage_update")
        assert [update["size"] for update in usage] == [128_000, 200_000, 200_000]
        assert usage[-1]["cost"]["amount"] > usage[-2]["cost"]["amount"] > 0
        await editor.prompt(session, "/status")
        assert "Cache at anthropic" in ShownSession(editor, session).text
    assert plain_history(behind.requests[0])[:2] == ["user: Read", "assistant: <read_file>"]
    assert "Half" not in str(behind.requests[0])
    assert [request.model for request in behind.requests] == ["claude-haiku-4-5"] * 2
    assert len(scene.provider.requests) == 2
    answered = [(event["provider"], event["model"]) for event in recorded(scene, session, "step_ended")]
    assert answered == [("openai_compatible", "scripted-1"), *[("anthropic", "claude-haiku-4-5")] * 2]
    line, next_turn = decisions(scene)
    assert (next_turn["what"], next_turn["to_route"]) == ("model_passed_over", "anthropic/claude-haiku-4-5")
    assert line["decision"] == "fall_back"
    assert line["to_route"] == "anthropic/claude-haiku-4-5"
    assert line["session"] == session
    assert line["trouble"] == "model_down"


async def test_a_notice_is_a_separate_update_for_clients_that_support_it(
    pair: tuple[Scene, ScriptedProvider],
) -> None:
    scene, behind = pair
    scene.provider.plays(step(DOWN), step(DOWN))
    behind.plays(step("Here."))
    scene.offer_unstable()
    async with scene.editor(session=NOTICES) as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = ShownSession(editor, session)
    assert [notice["title"].split(". ")[1][:12] for notice in reported.of("notice")] == [
        "Trying again",
        "Continuing w",
    ]
    assert reported.thoughts == ""


async def test_a_rejected_key_is_replaced_by_the_next_and_none_is_shown(scene: Scene) -> None:
    scene.configure("providers: {openai_compatible: {api_key_variables: [FIRST_KEY, SECOND_KEY]}}\n")
    scene.variables |= {"FIRST_KEY": "sk-hunter1", "SECOND_KEY": "sk-hunter2"}
    scene.provider.plays(step(BAD_KEY), step(RateLimited("Slower.", retry_after_s=0.001)), step("Yes."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        assert "Continuing with the key in SECOND_KEY." in ShownSession(editor, session).thoughts
        assert "hunter" not in str(editor.laws.frames)
    assert [choice.api_key for _, choice in scene.connected] == ["sk-hunter1", "sk-hunter2"]
    assert [line["decision"] for line in decisions(scene)] == ["next_key", "retry"]
    assert "hunter" not in (scene.home / "logs" / "decisions.jsonl").read_text(encoding="utf-8")


@pytest.mark.parametrize("has_none", [True, False])
async def test_reasoning_can_be_turned_off_if_the_model_allows_that(scene: Scene, has_none: bool) -> None:
    levels = "none, low, high" if has_none else "low, high"
    scene.configure(f"models: {{scripted-1: {{efforts: [{levels}]}}}}\n")
    scene.provider.answer = lambda request: step("Yes.")
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        before = await choose(editor, session, "effort", "high")
        assert ("none" in [value["value"] for value in before["effort"]["options"]]) is has_none
        chosen = await choose(editor, session, "effort", "none")
        assert chosen["effort"]["currentValue"] == "none"
        await editor.prompt(session)
        reported = ShownSession(editor, session).thoughts
    assert scene.provider.requests[-1].effort == ("none" if has_none else "low")
    assert ("has no reasoning effort none; low is used" in reported) is not has_none


@pytest.mark.parametrize("method", ["session/load", "session/resume"])
async def test_the_available_options_are_sent_when_a_stored_session_is_opened(
    scene: Scene, method: str
) -> None:
    scene.provider.answer = lambda request: step("Yes.")
    params: Json = {"cwd": str(scene.project), "mcpServers": []}
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        await choose(editor, session, "effort", "high")
    async with scene.editor() as editor:
        answer = await editor.call(method, {"sessionId": session, **params})

        def offered() -> dict[str, str]:
            shown = [answer, *ShownSession(editor, session).of("config_option_update")][-1]["configOptions"]
            return {option["id"]: option["currentValue"] for option in shown}

        await editor.until(lambda: "model" in offered())
        assert (offered()["model"], offered()["effort"]) == ("scripted-1", "high")


@pytest.mark.parametrize("takes", [{}, NOTICES])
async def test_text_of_a_retried_attempt_ends_where_it_broke_off(scene: Scene, takes: Json) -> None:
    scene.provider.plays(
        step("Half a w", DOWN), step(ScriptedThought("Hm."), DOWN), step("A whole word."), step("And then?")
    )
    scene.offer_unstable()
    async with scene.editor(session=takes) as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        lived = chunks(editor, session)
    assert lived == ["Half a w" + ("" if takes else ANSWER_RESTARTED), "A whole word."]
    async with scene.editor(session=takes) as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        assert chunks(editor, session) == lived
        await editor.prompt(session, "And then?")
    history = plain_history(scene.provider.requests[-1])
    assert [line for line in history if line.startswith("assistant")] == ["assistant: A whole word."]


def chunks(editor: FakeEditor, session: str) -> list[str]:
    """Return what the agent said, message by message."""
    said: dict[str, str] = {}
    for update in ShownSession(editor, session).of("agent_message_chunk"):
        said[update["messageId"]] = said.get(update["messageId"], "") + update["content"]["text"]
    return list(said.values())


@pytest.mark.parametrize(
    ("last", "code"),
    [(BAD_KEY, AUTH_REQUIRED), (DOWN, INTERNAL_ERROR), (ModelRefused("No."), INTERNAL_ERROR)],
)
async def test_a_turn_that_no_model_answers_is_an_error(
    pair: tuple[Scene, ScriptedProvider], last: ModelUnavailable, code: int
) -> None:
    scene, behind = pair
    scene.provider.answer = lambda request: step(BAD_KEY)
    behind.answer = lambda request: step(last)
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        error = await editor.prompt_refusal(session)
        assert (error.code, error.data) == (code, {"code": last.code})
        assert error.message.startswith(
            "No model answered. openai_compatible/scripted-1: The key was refused. "
            f"anthropic/claude-haiku-4-5: {last.message}"
        )
        assert "hunter" not in error.message
        assert len(scene.provider.requests) == 1


async def test_a_history_that_cannot_be_shortened_goes_to_a_fallback_with_a_larger_window(
    pair: tuple[Scene, ScriptedProvider],
) -> None:
    scene, behind = pair
    scene.configure(
        "fallbacks: [anthropic/claude-haiku-4-5]\n"
        "models: {scripted-1: {window_tokens: 8000}, claude-haiku-4-5: {window_tokens: 200000}}\n"
    )
    scene.provider.answer = lambda request: step(ContextWindowExceeded("The window is full."))
    behind.plays(step("It fits."))
    async with scene.editor(session=NOTICES) as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session) == "end_turn"
        reported = ShownSession(editor, session)
        assert reported.text == "It fits."
        assert "Continuing with claude-haiku-4-5" in str(reported.of("notice"))
    assert len(scene.provider.requests) == 1
    assert [each["decision"] for each in decisions(scene)] == ["shorten", "fall_back"]


async def test_every_failed_key_is_named_by_its_variable(scene: Scene) -> None:
    scene.configure("providers: {openai_compatible: {api_key_variables: [FIRST_KEY, SECOND_KEY]}}\n")
    scene.variables |= {"FIRST_KEY": "sk-hunter1", "SECOND_KEY": "sk-hunter2"}
    long = ModelAuthFailed("Refused. " * 100, hint="Set SECOND_KEY.")
    scene.provider.plays(step(ModelAuthFailed("The key was refused.", hint="Set FIRST_KEY.")), step(long))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        error = await editor.prompt_refusal(session)
        route = "openai_compatible/scripted-1 with the key in"
        assert f"{route} FIRST_KEY: The key was refused. {route} SECOND_KEY: Refused. " in error.message
        assert error.message.endswith("Set FIRST_KEY. Set SECOND_KEY.")
        assert len(error.message) < 500
        assert long.message == "Refused. " * 100
        assert "hunter" not in str(editor.laws.frames)


async def test_model_provider_and_effort_can_be_changed_during_a_session(
    pair: tuple[Scene, ScriptedProvider],
) -> None:
    scene, behind = pair
    scene.configure("fallbacks: [anthropic/claude-haiku-4-5]\nmodels: {scripted-1: {efforts: [low, high]}}\n")
    for provider in (scene.provider, behind):
        provider.answer = lambda request: step("Yes.")
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.prompt(session)
        options = await choose(editor, session, "effort", "max")
        assert options["effort"]["category"] == "thought_level"
        assert [value["value"] for value in options["effort"]["options"]] == [
            "default",
            "low",
            "medium",
            "high",
            "xhigh",
            "max",
        ]
        assert [value["value"] for value in options["model"]["options"]] == [
            "openai_compatible/scripted-1",
            "anthropic/claude-haiku-4-5",
        ]
        assert options["provider"]["currentValue"] == "openai_compatible"
        await editor.prompt(session)
        await editor.prompt(session)
        assert (
            ShownSession(editor, session).thoughts
            == "scripted-1 has no reasoning effort max; high is used.\n"
        )
        options = await choose(editor, session, "provider", "anthropic")
        assert options["model"]["currentValue"] == "anthropic/claude-haiku-4-5"
        await editor.prompt(session)
        assert "claude-haiku-4-5 has no levels of reasoning effort" in ShownSession(editor, session).thoughts
        await choose(editor, session, "effort", "default")
        options = await choose(editor, session, "model", "scripted-1")
        assert options["provider"]["currentValue"] == "openai_compatible"
        await editor.prompt(session)
        for name, value in (("model", "gpt-99"), ("provider", "gemini"), ("effort", "extreme")):
            params: Json = {"sessionId": session, "configId": name, "value": value}
            assert (await editor.refusal("session/set_config_option", params)).code == INVALID_PARAMS
    assert [request.effort for request in scene.provider.requests] == [None, "high", "high", None]
    assert [(request.model, request.effort) for request in behind.requests] == [("claude-haiku-4-5", None)]


async def test_a_chosen_fallback_is_used_after_a_restart_too(pair: tuple[Scene, ScriptedProvider]) -> None:
    scene, behind = pair
    behind.answer = lambda request: step("Yes.")
    async with scene.editor() as editor:
        answer = await editor.call("session/new", {"cwd": str(scene.project), "mcpServers": []})
        session = answer["sessionId"]
        await editor.until(lambda: "claude-haiku" in str([answer, *ShownSession(editor, session).updates]))
        await choose(editor, session, "model", "anthropic/claude-haiku-4-5")
    async with scene.editor() as editor:
        await editor.call("session/load", {"sessionId": session, "cwd": str(scene.project), "mcpServers": []})
        assert await editor.prompt(session) == "end_turn"
    assert len(behind.requests) == 1


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ("fallbacks: [nobody/x]\n", "must be one of"),
        ("fallbacks: [gemini/gemini-3.5-flash]\n", "needs an API key"),
        ("fallbacks: [openrouter]\n", "without a model"),
        ("fallbacks: {a: b}\n", "fallbacks"),
        ("providers: {anthropic: {api_key_variable: A, api_key_variables: [B]}}\n", "either"),
        ("retry: {jitter: 2}\n", "retry.jitter"),
    ],
)
async def test_a_mistake_in_the_settings_is_named(scene: Scene, config: str, words: str) -> None:
    scene.configure(config)
    scene.variables |= {"OPENROUTER_API_KEY": "sk-or-hunter2"}
    async with scene.editor() as editor:
        params: Json = {"cwd": str(scene.project), "mcpServers": []}
        error = await editor.refusal("session/new", params)
    assert words in error.message
    assert "hunter2" not in error.message


async def test_an_endpoint_that_cannot_list_its_models_is_replaced_by_the_next(
    pair: tuple[Scene, ScriptedProvider],
) -> None:
    scene, behind = pair
    del scene.variables["HERMES_MODEL"]
    scene.variables["HERMES_PROVIDER"] = "openai_compatible"
    scene.provider.listed = GONE
    behind.plays(step("I am here."))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        assert await editor.prompt(session, "Anybody?") == "end_turn"
        reported = ShownSession(editor, session)
    assert reported.text == "I am here."
    assert "No such host. http://scripted.invalid/v1 could not say which models it has" in reported.thoughts
