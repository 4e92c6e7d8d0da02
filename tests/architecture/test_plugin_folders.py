"""Every file in a plugin folder is a plugin that exports the same constant, and no plugin imports another."""

import ast

import pytest

from hermes_acp.core.plugins import PluginFolder
from tests.architecture.sources import ROOT, tree_of

DRAWERS = {
    "hermes_acp.tools.builtin": "TOOL",
    "hermes_acp.models.providers": "PROVIDER",
    "hermes_acp.models.transcription.transcribers": "TRANSCRIBER",
    "hermes_acp.workspaces.backends": "BACKEND",
    "hermes_acp.context.kinds": "KIND",
    "hermes_acp.memory.services": "SERVICE",
    "hermes_acp.notifications.services": "SERVICE",
    "hermes_acp.web.search_services": "SERVICE",
    "hermes_acp.runs.engines": "ENGINE",
    "hermes_acp.training.trainers": "TRAINER",
    "hermes_acp.sessions.commands": "COMMAND",
    "hermes_acp.frontends.acp.own_methods": "EXTENSION",
    "hermes_acp.frontends.acp.v1.methods": "METHOD",
    "hermes_acp.frontends.acp.v2.methods": "METHOD",
    "hermes_acp.frontends.chat.commands": "COMMAND",
    "hermes_acp.frontends.gateway.platforms": "PLATFORM",
    "hermes_acp.frontends.lsp.actions": "ACTION",
    "hermes_acp.frontends.lsp.features": "FEATURE",
}
CATALOGUE = """
hermes_acp.context.kinds: agents_md claude_md copilot_instructions cursor_rules cursorrules gemini_md hermes_md
  soul_md windsurfrules
hermes_acp.frontends.acp.own_methods: board_add board_answer board_approve board_comment board_diff board_edit
  board_link board_list board_move board_park board_remove board_send_back board_show board_watch
  checkpoints_diff checkpoints_list checkpoints_restore context_list edits_judge edits_list files_fetch
  files_find files_read mcp_change mcp_list runs_answer runs_list runs_show runs_stop schedules_add schedules_change
  schedules_history schedules_list sessions_search settings_change settings_list setup_check
  setup_save setup_status speech_transcribe trust_approve trust_list trust_revoke usage_list waiting_list
hermes_acp.frontends.acp.v1.methods: auth_status authenticate initialize logout mcp_message providers_disable
  providers_list providers_set session_archive session_attach session_cancel session_close session_delete
  session_detach session_fork session_list session_load session_new session_prompt session_resume
  session_set_config_option session_set_mode session_set_title session_status session_unarchive
hermes_acp.frontends.acp.v2.methods: auth_login auth_logout initialize mcp_message session_attach session_cancel
  session_close session_delete session_detach session_list session_new session_prompt session_resume
  session_set_config_option terminal_cancel tool_call_cancel
hermes_acp.frontends.chat.commands: clear copy diff effort fork help mode model new options output quit rename resume
  review rewind sessions thoughts
hermes_acp.frontends.gateway.platforms: discord email irc matrix mattermost slack teams telegram twilio xmpp
hermes_acp.frontends.lsp.actions: continue_writing explain fix refactor write_tests
hermes_acp.frontends.lsp.features: initialize initialized text_document_code_action text_document_did_change
  text_document_did_close text_document_did_open text_document_hover text_document_inline_completion
  window_work_done_progress_cancel workspace_did_change_configuration workspace_execute_command
hermes_acp.memory.services: hindsight honcho mem0 supermemory
hermes_acp.models.providers: anthropic bedrock gemini openai_compatible openai_responses
hermes_acp.models.transcription.transcribers: faster_whisper provider
hermes_acp.notifications.services: apprise desktop gateway
hermes_acp.runs.engines: embedded temporal
hermes_acp.sessions.commands: answer board compact config context cost digest export init mcp memory park permissions
  redo shell skills status take trust undo
hermes_acp.tools.builtin: apply_patch ask_user board browser card delegate diagnostics edit_file execute_code
  git glob list_files memory notebook_edit plan process read_file schedule search session_search skill skill_manage
  terminal tool_manage web_fetch web_search write_file
hermes_acp.training.trainers: tinker trl
hermes_acp.web.search_services: brave exa searxng serper tavily
hermes_acp.workspaces.backends: daytona docker local modal singularity ssh vercel
"""


@pytest.mark.parametrize("package", DRAWERS)
def test_plugins_export_their_constant_and_do_not_import_each_other(package: str) -> None:
    plugin_folder: PluginFolder[object] = PluginFolder(package, DRAWERS[package])
    folder = ROOT / package.replace(".", "/")
    assert plugin_folder.names()
    for name in plugin_folder:
        assert plugin_folder.open(name) is not None
        for node in ast.walk(tree_of(folder / f"{name}.py")):
            if isinstance(node, ast.ImportFrom) and node.module:
                assert not node.module.startswith(f"{package}."), f"{name} imports {node.module}"


def test_the_plugins_match_the_reviewed_catalogue() -> None:
    written = " ".join(
        f"{package}: {' '.join(PluginFolder[object](package, DRAWERS[package]).names())}"
        for package in sorted(DRAWERS)
    )
    assert written == " ".join(CATALOGUE.split())


def test_an_unknown_plugin_name_is_rejected() -> None:
    plugin_folder: PluginFolder[object] = PluginFolder("hermes_acp.tools.builtin", "TOOL")
    with pytest.raises(KeyError):
        plugin_folder.open("no_such_tool")
    assert "../policy" not in plugin_folder
