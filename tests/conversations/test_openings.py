"""The first messages on a connection, and invalid requests."""

from typing import Any

import anyio
import pytest

from hermes_protocol.errors import (
    AUTH_REQUIRED,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    NOT_FOUND,
)
from tests.conversations.app_scene import Scene
from tests.conversations.fake_editor import ShownSession
from tests.conversations.scripted_provider import Pause, call, step
from tests.conversations.wire_laws import Json

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("version", [0, 1, 2, 99])
async def test_version_1_is_spoken_whatever_version_is_requested(scene: Scene, version: int) -> None:
    async with scene.strange_editor() as editor:
        answer = await editor.initialize(version)
        assert answer["protocolVersion"] == 1
        assert answer["agentInfo"]["name"] == "hermes-acp"
        assert await editor.new_session(scene.project)


async def test_only_supported_features_are_announced(scene: Scene) -> None:
    async with scene.strange_editor() as editor:
        agent = (await editor.initialize())["agentCapabilities"]
        assert agent["loadSession"] is True
        assert agent["promptCapabilities"] == {"image": True, "audio": False, "embeddedContext": True}
        for name in agent["sessionCapabilities"]:
            method = {"additionalDirectories": "new"}.get(name, name)
            params: Json = {"sessionId": "ses_none", "cwd": "/", "mcpServers": []}
            if method in ("new", "list", "delete"):
                await editor.call(f"session/{method}", params)
            else:
                assert (await editor.refusal(f"session/{method}", params)).code == NOT_FOUND


async def test_the_terminal_setup_is_offered_to_a_client_with_a_terminal(scene: Scene) -> None:
    async with scene.strange_editor() as editor:
        answer = await editor.initialize(auth={"terminal": True})
        assert [method.get("type") for method in answer["authMethods"]] == ["terminal", None]
    async with scene.strange_editor() as editor:
        assert len((await editor.initialize())["authMethods"]) == 1


async def test_authenticate_checks_the_configuration_again(scene: Scene) -> None:
    async with scene.editor() as editor:
        assert await editor.call("authenticate", {"methodId": "hermes-configured"}) == {}
        error = await editor.refusal("authenticate", {"methodId": "magic"})
        assert error.code == INVALID_PARAMS


async def test_authenticating_loses_none_of_the_models(scene: Scene) -> None:
    """CodeCompanion authenticates before its first session, while the models are being listed."""
    scene.provider.listed = ("scripted-1", "scripted-2")
    scene.provider.listing = pause = Pause()
    async with scene.editor() as editor:
        await pause.reached.wait()
        await editor.call("authenticate", {"methodId": "hermes-configured"})
        session = await editor.new_session(scene.project)
        pause.go.set()
        await editor.until(lambda: "scripted-2" in str(editor.options(session)))
        await editor.call("authenticate", {"methodId": "hermes-configured"})
        plan: Json = {"sessionId": session, "configId": "mode", "value": "plan"}
        assert "scripted-2" in str(await editor.call("session/set_config_option", plan))


@pytest.mark.parametrize(
    "method", ["session/new", "session/list", "session/prompt", "session/load", "authenticate"]
)
async def test_nothing_is_served_before_initialize(scene: Scene, method: str) -> None:
    async with scene.strange_editor() as editor:
        error = await editor.refusal(method, {"cwd": str(scene.project), "mcpServers": []})
        assert (error.code, error.data) == (INVALID_REQUEST, {"code": "not_initialized"})
        await editor.initialize()


UNKNOWN = (
    "session/fly",
    "_ext/thing",
    "_hermes/none",
    "session_new",
    "session/set/mode",
    "fs/read_text_file",
    "",
    "x",
)


@pytest.mark.parametrize("method", UNKNOWN)
async def test_an_unknown_method_is_named_as_such(scene: Scene, method: str) -> None:
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        error = await editor.refusal(method, {"sessionId": session, "modeId": "ask"})
        assert error.code == METHOD_NOT_FOUND
        editor.connection.notify(method, {"any": "thing"})
        assert await editor.call("session/list", {})


async def test_a_request_method_sent_as_a_notification_does_nothing(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a", content="x")))
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        block = {"type": "text", "text": "go"}
        editor.connection.notify("session/prompt", {"sessionId": session, "prompt": [block]})
        editor.connection.notify("session/new", {"cwd": str(scene.project), "mcpServers": []})
        assert (await editor.call("session/list", {}))["sessions"] == []
        assert scene.provider.requests == []
        assert len(list((scene.home / "sessions").glob("*.jsonl"))) == 1


BAD_PARAMS: tuple[tuple[str, object], ...] = (
    ("session/new", {}),
    ("session/new", {"cwd": 1, "mcpServers": []}),
    ("session/new", []),
    ("session/prompt", {"sessionId": "ses_0001", "prompt": "go"}),
    ("session/prompt", {"sessionId": "ses_0001"}),
    ("session/prompt", {"sessionId": ["ses_0001"], "prompt": []}),
    ("session/prompt", {"sessionId": "ses_0001", "prompt": []}),
    ("session/prompt", {"sessionId": "ses_0001", "prompt": [{"type": "text", "text": "  "}]}),
    (
        "session/prompt",
        {"sessionId": "ses_0001", "prompt": [{"type": "audio", "data": "", "mimeType": "a/b"}]},
    ),
    ("session/set_mode", {"sessionId": "ses_0001"}),
    ("session/list", {"cursor": "not one of ours"}),
    ("session/list", {"cursor": "e30="}),
    ("session/list", {"cursor": "ﬂ"}),
)


@pytest.mark.parametrize(("method", "params"), BAD_PARAMS, ids=str)
async def test_invalid_parameters_are_rejected_without_quoting_them(
    scene: Scene, method: str, params: object
) -> None:
    async with scene.editor() as editor:
        await editor.new_session(scene.project)
        error = await editor.refusal(method, params)
        assert error.code == INVALID_PARAMS
        assert "not one of ours" not in f"{error.message} {error.data}"


@pytest.mark.parametrize("method", ["session/new", "session/load", "session/resume"])
@pytest.mark.parametrize("cwd", ["src", "./", "", "none", "a.txt", "nul\0"])
async def test_an_unusable_folder_is_rejected(scene: Scene, method: str, cwd: str) -> None:
    scene.write("a.txt", "")
    place = str(scene.project / cwd) if cwd in ("none", "a.txt") else cwd
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        await editor.call("session/close", {"sessionId": session})
        params: Json = {"sessionId": session, "cwd": place, "mcpServers": []}
        error = await editor.refusal(method, params)
        assert (error.code, error.data) == (INVALID_PARAMS, {"code": "bad_request"})
        assert await editor.call("session/load", {**params, "cwd": str(scene.project)})


NO_SESSIONS = ("ses_none", "../../etc/passwd", "ses_0001/../ses_0001", "", ".", "x" * 5000, "a\0b")


@pytest.mark.parametrize("session", NO_SESSIONS, ids=lambda text: text[:20])
async def test_an_unknown_session_is_not_found_by_any_method(scene: Scene, session: str) -> None:
    more: dict[str, dict[str, Any]] = {
        "session/load": {"cwd": str(scene.project), "mcpServers": []},
        "session/resume": {"cwd": str(scene.project)},
        "session/prompt": {"prompt": [{"type": "text", "text": "go"}]},
        "session/set_mode": {"modeId": "ask"},
        "session/close": {},
    }
    async with scene.editor() as editor:
        for method, params in more.items():
            error = await editor.refusal(method, {"sessionId": session, **params})
            named = {"code": "not_found", "sessionId": session}
            assert (method, error.code, error.data) == (method, NOT_FOUND, named)
            assert len(error.message) < 300


async def test_meta_fields_named_like_parameters_are_ignored(scene: Scene) -> None:
    scene.provider.plays(step(call("write_file", "c1", path="a", content="x")), step("Done."))
    meta: Json = {
        "cwd": "/etc",
        "sessionId": "ses_9999",
        "mcpServers": "no",
        "prompt": [],
        "traceparent": "00-0-0-00",
    }
    async with scene.editor() as editor:
        answer = await editor.call(
            "session/new", {"_meta": meta, "cwd": str(scene.project), "mcpServers": []}
        )
        session = answer["sessionId"]
        block = {"type": "text", "text": "go", "_meta": {"text": "stop"}}
        await editor.call("session/prompt", {"_meta": meta, "sessionId": session, "prompt": [block]})
        assert ShownSession(editor, session).text == "Done."
    assert (scene.project / "a").read_text() == "x"


@pytest.mark.parametrize("servers", [None, [], "absent"])
async def test_missing_mcp_servers_do_not_prevent_the_session(scene: Scene, servers: object) -> None:
    params: dict[str, object] = {
        "cwd": str(scene.project),
        "mcpServers": servers,
        "additionalDirectories": None,
    }
    async with scene.editor() as editor:
        if servers == "absent":
            error = await editor.refusal("session/new", {"cwd": str(scene.project)})
            assert error.code == INVALID_PARAMS
        else:
            assert (await editor.call("session/new", params))["sessionId"]


async def test_an_invalid_setting_is_named_and_can_be_corrected(scene: Scene) -> None:
    scene.home.mkdir()
    (scene.home / "config.yaml").write_text("modle: x\n")
    async with scene.editor() as editor:
        error = await editor.refusal("session/new", {"cwd": str(scene.project), "mcpServers": []})
        assert (error.code, error.data) == (INTERNAL_ERROR, {"code": "bad_config"})
        assert "modle" in error.message
        (scene.home / "config.yaml").unlink()
        scene.provider.plays(step("Better."))
        assert await editor.prompt(await editor.new_session(scene.project)) == "end_turn"


async def test_a_vendor_without_a_key_requires_authentication(scene: Scene) -> None:
    scene.variables.update({"HERMES_PROVIDER": "anthropic", "HERMES_MODEL": "claude-x"})
    async with scene.editor() as editor:
        session = await editor.new_session(scene.project)
        error = await editor.prompt_refusal(session)
        assert (error.code, error.data) == (AUTH_REQUIRED, {"code": "auth_required"})
        assert "ANTHROPIC_API_KEY" in error.message


async def test_the_root_may_have_additional_folders(
    scene: Scene, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = tmp_path_factory.mktemp("other").resolve()
    (other / "b.txt").write_text("from the other\n")
    scene.provider.plays(step(call("read_file", "c1", path=str(other / "b.txt"))), step("Read."))
    async with scene.editor() as editor:
        params: Json = {"cwd": str(scene.project), "mcpServers": [], "additionalDirectories": [str(other)]}
        session = (await editor.call("session/new", params))["sessionId"]
        await editor.prompt(session)
        assert ShownSession(editor, session).cards["c1"]["status"] == "completed"
        params["additionalDirectories"] = ["relative"]
        assert (await editor.refusal("session/new", params)).code == INVALID_PARAMS


async def test_a_session_is_started_while_another_one_streams(scene: Scene) -> None:
    pause = Pause()
    scene.provider.plays(step("One ", pause, "two."))
    async with scene.editor() as editor, anyio.create_task_group() as tasks:
        session = await editor.new_session(scene.project)
        tasks.start_soon(editor.prompt, session)
        await pause.reached.wait()
        assert await editor.new_session(scene.project) != session
        assert ShownSession(editor, session).text == "One "
        pause.go.set()
        await editor.until(lambda: ShownSession(editor, session).text == "One two.")
