"""The chat's questions to the user, and the effect of the answers."""

from pathlib import Path

import pytest
from hermes_acp_client.asking import Permission

from hermes_acp.frontends.chat.input.attachments import MAX_TEXT_BYTES, attachments_of
from hermes_acp.frontends.chat.input.command_names import as_command, split_command
from hermes_acp.frontends.chat.input.file_mentions import matching
from hermes_acp.frontends.chat.questions.approval_prompt import ApprovalAnswer, ApprovalPrompt
from hermes_acp.frontends.chat.questions.form_prompts import FormPrompter, is_secret
from hermes_acp.frontends.chat.screens.screen import INTERRUPTED, LEFT, Gesture
from hermes_protocol import v1
from tests.unit.frontends.chat_tools import CWD, AnsweredScreen, layout

pytestmark = pytest.mark.anyio

BEFORE = "".join(f"{n}\n" for n in range(1, 21))
AFTER = BEFORE.replace("2\n", "two\n", 1).replace("18\n", "eighteen\n")
OPTIONS = [
    v1.PermissionOption(option_id="a", name="Allow once", kind="allow_once"),
    v1.PermissionOption(option_id="w", name="Always", kind="allow_always"),
    v1.PermissionOption(option_id="r", name="Reject", kind="reject_once"),
]


def request(after: str = AFTER) -> v1.RequestPermissionRequest:
    diff = v1.Diff(path=f"{CWD}/a", old_text=BEFORE, new_text=after)
    call = v1.ToolCallUpdate(tool_call_id="c", title="Edit a", content=[diff])
    return v1.RequestPermissionRequest(session_id="s", tool_call=call, options=OPTIONS)


async def judge(
    *answers: str | Gesture, accepts_partial_edits: bool = True
) -> tuple[ApprovalAnswer, AnsweredScreen]:
    screen = AnsweredScreen(*answers)
    answer = await ApprovalPrompt(
        screen, layout(), request(), CWD, accepts_partial_edits=accepts_partial_edits
    ).put()
    return answer, screen


@pytest.mark.parametrize(
    ("answers", "permission"),
    [
        (("y",), Permission("a")),
        (("2",), Permission("w")),
        (("n",), Permission("r")),
        (("v", "n"), Permission("r")),
        (("c", "too loud "), Permission("r", comment="too loud")),
        (("c", INTERRUPTED, "y"), Permission("a")),
        (("h", "n", "n"), Permission("r")),
        (("h", "q", "y"), Permission("a")),
        (("h", "a"), Permission("a")),
    ],
)
async def test_an_answer_is_one_of_the_agents_options(
    answers: tuple[str, ...], permission: Permission
) -> None:
    answer, screen = await judge(*answers)
    assert answer == ApprovalAnswer(permission)
    assert "2 - 2" in screen.written
    assert "1 Allow once" in screen.written


@pytest.mark.parametrize("is_warning", [True, False])
async def test_a_question_says_why_it_is_asked_and_warns_about_what_cannot_be_undone(
    is_warning: bool,
) -> None:
    reported = {"approvalText": "rm -rf build", "reason": "Asked because it deletes files: build."}
    call = v1.ToolCallUpdate(
        tool_call_id="c", title="Clean", meta={"hermes": {**reported, "isWarning": is_warning}}
    )
    asked = v1.RequestPermissionRequest(session_id="s", tool_call=call, options=OPTIONS)
    screen = AnsweredScreen("n")
    await ApprovalPrompt(screen, layout(), asked, CWD, accepts_partial_edits=True).put()
    assert "│ rm -rf build" in screen.written
    assert "Asked because it deletes files: build." in screen.written
    assert ("⚠ Asked" in screen.written) is is_warning


async def test_the_choices_stay_below_a_diff_that_is_shown_in_full() -> None:
    _, screen = await judge("v", "n")
    assert screen.written.count("1 Allow once") == 2
    assert screen.written.rindex("1 Allow once") > screen.written.rindex("+ eighteen")


async def test_a_rejected_hunk_is_reported() -> None:
    answer, _ = await judge("h", "y", "n")
    assert answer.permission is not None
    assert answer.permission.edits == {f"{CWD}/a": BEFORE.replace("2\n", "two\n", 1)}
    assert answer.permission.rejected[f"{CWD}/a"] == ("at line 18:\n-18\n+eighteen",)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ("zwei\ntrois\n", BEFORE.replace("2\n", "zwei\ntrois\n", 1)),
        ("zwei", BEFORE.replace("2\n", "zwei\n", 1)),
        ("", BEFORE.replace("2\n", "", 1)),
    ],
)
async def test_a_hunk_may_be_edited_by_the_user(written: str, text: str) -> None:
    seen: list[str] = []
    screen = AnsweredScreen("h", "e", "y", rewrite=lambda given: seen.append(given) or written)
    answer = await ApprovalPrompt(screen, layout(), request(), CWD, accepts_partial_edits=True).put()
    after = text.replace("18\n", "eighteen\n")
    assert seen == ["two\n"]
    assert answer == ApprovalAnswer(Permission("a", edits={f"{CWD}/a": after}, rejected={f"{CWD}/a": ()}))


@pytest.mark.parametrize("written", ["2\n", None])
async def test_a_hunk_edited_back_to_its_old_text_is_omitted(written: str | None) -> None:
    screen = AnsweredScreen("h", "e", "y", rewrite=lambda _: written)
    answer = await ApprovalPrompt(screen, layout(), request(), CWD, accepts_partial_edits=True).put()
    assert answer.permission is not None
    assert answer.permission.edits == {f"{CWD}/a": BEFORE.replace("18\n", "eighteen\n")}
    assert answer.permission.rejected[f"{CWD}/a"] == ("at line 2:\n-2\n+two",)


@pytest.mark.parametrize(("gesture", "stops"), [(INTERRUPTED, True), (LEFT, False)])
async def test_no_answer_is_not_an_approval(gesture: Gesture, stops: bool) -> None:
    answer, _ = await judge(gesture)
    assert answer == ApprovalAnswer(None, stops_turn=stops)


async def test_an_agent_without_the_extension_is_not_offered_its_options() -> None:
    _, screen = await judge("y", accepts_partial_edits=False)
    assert "hunk by hunk" not in screen.written
    assert "say why" not in screen.written


def form(**properties: v1.ElicitationPropertySchema) -> v1.CreateElicitationRequestForm:
    schema = v1.ElicitationSchema(type="object", properties=properties, required=list(properties)[:1])
    return v1.CreateElicitationRequestForm(message="Tell me", requested_schema=schema, session_id="s")


async def test_a_form_is_repeated_until_it_is_valid() -> None:
    screen = AnsweredScreen("", "blue", "2", "x", "7", "maybe", "yes", "")
    answer = await FormPrompter(screen, layout()).put(
        form(
            colour=v1.StringPropertySchema(enum=["red", "green"]),
            count=v1.IntegerPropertySchema(),
            sure=v1.BooleanPropertySchema(),
            note=v1.StringPropertySchema(),
        )
    )
    assert answer == v1.CreateElicitationResponseAccept(content={"colour": "green", "count": 7, "sure": True})


@pytest.mark.parametrize(
    ("answers", "content"),
    [
        (("neither, use blue",), {"answer": "neither, use blue"}),
        (("2", ""), {"choice": "green"}),
        (("9", "red", "but light"), {"choice": "red", "answer": "but light"}),
    ],
)
async def test_a_question_with_choices_also_accepts_free_text(
    answers: tuple[str, ...], content: dict[str, v1.ElicitationContentValue]
) -> None:
    screen = AnsweredScreen(*answers)
    answer = await FormPrompter(screen, layout()).put(
        form(choice=v1.StringPropertySchema(enum=["red", "green"]), answer=v1.StringPropertySchema())
    )
    assert answer == v1.CreateElicitationResponseAccept(content=content)
    assert "or your own words" in screen.asked[0][0]


async def test_a_closed_form_is_dismissed() -> None:
    answer = await FormPrompter(AnsweredScreen(INTERRUPTED), layout()).put(
        form(name=v1.StringPropertySchema())
    )
    assert answer == v1.CreateElicitationResponseCancel()


async def test_a_secret_is_read_without_echo() -> None:
    screen = AnsweredScreen("hunter2")
    await FormPrompter(screen, layout()).put(form(key=v1.StringPropertySchema(title="API key")))
    assert [is_hidden for _, is_hidden in screen.asked] == [True]
    assert "hunter2" not in screen.written
    assert not is_secret("name", v1.StringPropertySchema(title="Your name"))
    assert is_secret("x", v1.StringPropertySchema(meta={"secret": True}))


@pytest.mark.parametrize(
    ("key", "answer"),
    [("y", v1.CreateElicitationResponseAccept()), ("n", v1.CreateElicitationResponseDecline())],
)
async def test_an_address_is_shown_and_opened_only_by_the_user(
    key: str, answer: v1.CreateElicitationResponse
) -> None:
    screen = AnsweredScreen(key)
    page = v1.CreateElicitationRequestUrl(
        message="Sign in", elicitation_id="e", url="https://x.test/\x1b[2J", session_id="s"
    )
    assert await FormPrompter(screen, layout()).put(page) == answer
    assert "https://x.test/␛[2J" in screen.written


def test_the_closest_file_is_offered_first() -> None:
    paths = ["docs/", "docs/app.md", "src/app.py", "app.py", "src/map.py"]
    assert matching(paths, "app", 9) == ["app.py", "src/app.py", "docs/app.md"]
    assert matching(paths, "", 2) == ["docs/", "app.py"]


def test_existing_files_are_attached(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("see")
    (tmp_path / "shot.png").write_bytes(b"\x89PNG")
    (tmp_path / "big.log").write_text("x" * (MAX_TEXT_BYTES + 1))
    takes_all = v1.PromptCapabilities(image=True, embedded_context=True)
    prompt = "@c.txt:3, @shot.png @big.log @none and mail@c.txt"
    found = attachments_of(prompt, str(tmp_path), takes_all)
    uri = f"file://{tmp_path}"
    assert list(found.blocks) == [
        v1.EmbeddedResource(resource=v1.TextResourceContents(text="see", uri=f"{uri}/c.txt")),
        v1.ImageContent(data="iVBORw==", mime_type="image/png", uri=f"{uri}/shot.png"),
        v1.ResourceLink(name="big.log", uri=f"{uri}/big.log"),
    ]
    assert list(found.remarks) == [
        "big.log is too large to send (65,537 bytes). The prompt contains a link to it instead."
    ]
    linked = attachments_of("@c.txt @shot.png", str(tmp_path), v1.PromptCapabilities())
    assert [type(block) for block in linked.blocks] == [v1.ResourceLink] * 2


@pytest.mark.parametrize(
    ("line", "name", "words"),
    [
        ("/undo 3", "undo", "3"),
        ("/exit", "quit", ""),
        ("/udno", "udno", ""),
        ("/etc is what?", "", ""),
        ("/etc/hosts is what?", "", ""),
        ("/ 2", "", ""),
        ("no /undo", "", ""),
        (as_command("!ls -l"), "shell", "ls -l"),
        (as_command("!"), "", ""),
    ],
)
def test_a_command_is_distinguished_from_a_path(line: str, name: str, words: str) -> None:
    assert split_command(line) == (name, words)
