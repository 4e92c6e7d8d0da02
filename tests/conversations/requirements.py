"""The tests that cover each obligation."""

from typing import NamedTuple

TURNS = "tests/conversations/test_turns.py"
OPENINGS = "tests/conversations/test_openings.py"
STORED = "tests/conversations/test_stored_sessions.py"
CANCELLING = "tests/conversations/test_cancelling.py"
ASKING = "tests/conversations/test_permissions.py"
OPTIONS = "tests/conversations/test_options.py"
MODES = "tests/conversations/test_modes.py"
FAULTS = "tests/conversations/test_model_faults.py"
PROMPTS = "tests/conversations/test_prompts.py"
FILES = "tests/conversations/test_editor_files.py"
TERMINALS = "tests/conversations/test_editor_terminals.py"
STORAGE = "tests/conversations/test_storage_faults.py"
MCP = "tests/contract/test_mcp_sessions.py"
CARRIED = "tests/conversations/test_mcp_over_acp.py"
ELICITATION = "tests/conversations/test_elicitation.py"
UNSTABLE = "tests/conversations/test_unstable.py"
LAWS = "tests/conversations/test_wire_laws.py"
COMPACTION = "tests/conversations/test_compaction.py"
PEER = "tests/unit/protocol/test_connection.py"
PEER_ENDS = "tests/unit/protocol/test_connection_ends.py"
ENVELOPE = "tests/unit/protocol/test_envelope.py"
FRAMING = "tests/unit/protocol/test_framing.py"
SALVAGE = "tests/unit/protocol/test_salvage.py"
STDIO = "tests/e2e/test_stdio_transport.py"
WORKSPACES = "tests/contract/test_workspaces.py"
TOOLS = "tests/contract/test_tools.py"
PROVIDER_FAULTS = "tests/contract/test_provider_faults.py"


class Requirement(NamedTuple):
    """One obligation and the tests that cover it; a test is its file and its function."""

    name: str
    file: str
    tests: tuple[str, ...]


class Later(NamedTuple):
    """One obligation that is not met yet, and what it waits for."""

    name: str
    reason: str


def met(name: str, file: str, *tests: str) -> Requirement:
    return Requirement(name, file, tests)


KIT = (
    met("config-001", OPTIONS, "test_options_are_sent_with_a_session_and_the_model_once_it_is_known"),
    met("config-002", OPTIONS, "test_setting_an_option_returns_the_complete_list"),
    met("config-003", OPTIONS, "test_an_unknown_option_or_value_is_rejected"),
    met("auth-003", OPTIONS, "test_signing_out_disables_the_model_until_the_client_authenticates"),
    met("auth-004", OPTIONS, "test_signing_out_disables_the_model_until_the_client_authenticates"),
    met("delete-001", OPTIONS, "test_a_deleted_session_is_gone_and_deleting_it_again_succeeds"),
    met("delete-002", OPTIONS, "test_a_deleted_session_is_gone_and_deleting_it_again_succeeds"),
    met("transport-001", ENVELOPE, "test_encoders_write_one_line_and_omit_unset_members"),
    met("transport-002", FRAMING, "test_lines_do_not_depend_on_how_the_stream_is_split"),
    met("jsonrpc-001", LAWS, "test_a_broken_rule_is_detected"),
    met("jsonrpc-002", ENVELOPE, "test_ids_are_echoed_exactly"),
    met("jsonrpc-003", OPENINGS, "test_an_unknown_method_is_named_as_such"),
    met("jsonrpc-004", ENVELOPE, "test_invalid_json_is_a_parse_error_with_a_null_id"),
    met("jsonrpc-005", OPENINGS, "test_invalid_parameters_are_rejected_without_quoting_them"),
    met("init-001", OPENINGS, "test_version_1_is_spoken_whatever_version_is_requested"),
    met("init-002", OPENINGS, "test_only_supported_features_are_announced"),
    met("init-003", OPENINGS, "test_version_1_is_spoken_whatever_version_is_requested"),
    met("init-004", OPENINGS, "test_nothing_is_served_before_initialize"),
    met("schema-001", LAWS, "test_a_broken_rule_is_detected", "test_a_valid_turn_has_no_violations"),
    met(
        "schema-002",
        SALVAGE,
        "test_capabilities_are_salvaged_one_by_one",
        "test_invalid_items_are_omitted_and_valid_ones_repaired",
    ),
    met("session-001", TURNS, "test_a_full_turn_from_the_thought_to_the_end"),
    met("session-002", OPENINGS, "test_an_unusable_folder_is_rejected"),
    met("prompt-001", TURNS, "test_a_full_turn_from_the_thought_to_the_end"),
    met("prompt-002", TURNS, "test_a_truncated_or_declined_answer_ends_with_its_own_reason"),
    met("prompt-003", TURNS, "test_nothing_about_a_session_is_sent_before_its_answer_or_after_its_turn"),
    met(
        "cancel-001",
        CANCELLING,
        "test_cancelling_while_the_model_streams_text",
        "test_cancelling_while_a_command_runs",
    ),
    met(
        "cancel-002",
        CANCELLING,
        "test_cancelling_an_idle_session_is_no_error",
        "test_cancelling_while_the_user_is_asked_and_answers_cancelled",
    ),
    met("auth-001", OPENINGS, "test_the_terminal_setup_is_offered_to_a_client_with_a_terminal"),
    met("auth-002", OPENINGS, "test_authenticate_checks_the_configuration_again"),
    met("auth-005", OPENINGS, "test_a_vendor_without_a_key_requires_authentication"),
    met("clientcap-001", FILES, "test_without_the_capability_the_editor_is_never_asked"),
    met("clientcap-002", FILES, "test_only_the_announced_half_is_used"),
    met("clientcap-003", FILES, "test_without_the_capability_the_editor_is_never_asked"),
    met("ext-001", OPENINGS, "test_an_unknown_method_is_named_as_such"),
    met("load-001", STORED, "test_a_session_is_replayed_in_order_and_then_answered"),
    met("load-002", OPENINGS, "test_an_unknown_session_is_not_found_by_any_method"),
    met("load-003", STORED, "test_calls_left_open_by_a_killed_process_are_closed_and_reported"),
    met("resume-001", STORED, "test_a_resumed_session_is_not_replayed"),
    met("resume-002", OPENINGS, "test_an_unknown_session_is_not_found_by_any_method"),
    met("list-001", STORED, "test_many_sessions_are_listed_newest_first_page_by_page"),
    met("list-002", STORED, "test_many_sessions_are_listed_newest_first_page_by_page"),
    met("close-001", CANCELLING, "test_closing_a_session_stops_its_turn"),
    met("close-002", OPENINGS, "test_an_unknown_session_is_not_found_by_any_method"),
    met("adddirs-001", OPENINGS, "test_the_root_may_have_additional_folders"),
    met("modes-001", MODES, "test_a_new_session_offers_four_modes_and_starts_in_ask"),
    met("modes-002", MODES, "test_an_unknown_mode_is_rejected_and_nothing_changes"),
    met("promptcap-001", PROMPTS, "test_files_and_images_in_a_prompt_reach_the_model_and_are_replayed"),
    met("promptcap-002", OPENINGS, "test_invalid_parameters_are_rejected_without_quoting_them"),
    met("promptcap-003", PROMPTS, "test_files_and_images_in_a_prompt_reach_the_model_and_are_replayed"),
    met("meta-001", OPENINGS, "test_meta_fields_named_like_parameters_are_ignored"),
    met("error-001", FAULTS, "test_a_failure_is_an_error_with_a_code_and_never_a_normal_end"),
    met("shutdown-001", STORED, "test_a_client_that_leaves_during_a_turn_finds_it_ended"),
    met("cancel request by id", CANCELLING, "test_a_request_cancelled_by_its_id_ends_the_turn_too"),
    met(
        "terminals of the editor",
        TERMINALS,
        "test_a_command_runs_in_a_terminal_shown_in_its_card",
        "test_cancelling_kills_and_releases_the_terminal",
    ),
    met(
        "elicitation",
        ELICITATION,
        "test_a_question_is_a_flat_form_linked_to_its_card",
        "test_an_editor_without_forms_is_not_asked",
        "test_a_page_is_opened_by_the_editor_and_closed_with_the_turn",
        "test_cancelling_while_the_question_is_open",
    ),
    met(
        "unstable methods only behind their flag",
        UNSTABLE,
        "test_without_the_flag_nothing_unstable_is_available",
        "test_the_features_announced_with_the_flag_work",
    ),
    met("files of the editor", FILES, "test_unsaved_changes_take_precedence_when_reading_and_in_the_diff"),
    met(
        "compactions only where announced",
        COMPACTION,
        "test_older_messages_are_summarised_before_the_window_is_full",
        "test_a_client_without_compaction_support_is_told_why_there_is_a_pause",
        "test_the_whole_conversation_is_replayed_with_a_mark_at_the_compaction",
    ),
    met("notices only where announced", TURNS, "test_notices_are_sent_only_to_clients_that_support_them"),
    met("leniency", OPENINGS, "test_missing_mcp_servers_do_not_prevent_the_session"),
    met(
        "MCP servers",
        MCP,
        "test_the_model_calls_a_tool_of_the_editors_server",
        "test_a_cancelled_turn_cancels_the_call",
        "test_an_unusable_server_is_rejected",
    ),
    met(
        "MCP over ACP",
        CARRIED,
        "test_the_server_is_announced_and_called",
        "test_progress_is_live_output_and_a_cancel_reaches_the_server",
        "test_errors_of_the_server_and_of_the_connection_are_outcomes",
        "test_version_2_works_too",
    ),
    met(
        "prompts, resources and questions of MCP servers",
        CARRIED,
        "test_a_prompt_is_a_slash_command",
        "test_changed_prompts_are_announced",
        "test_resources_are_listed_and_read",
        "test_a_servers_question_is_shown_in_the_editor",
        "test_servers_are_told_whether_anybody_can_be_asked",
    ),
    met("replay of 10,000 items", "tests/unit/core/test_replay.py", "test_ten_thousand_frames_become_one"),
)

TRAPS = (
    met(
        "a bare [], 42 or string on stdin",
        PEER,
        "test_junk_is_answered_with_a_null_id_and_the_next_request_served",
    ),
    met("bad JSON swallowed in silence", ENVELOPE, "test_invalid_json_is_a_parse_error_with_a_null_id"),
    met("_meta overrides a parameter", OPENINGS, "test_meta_fields_named_like_parameters_are_ignored"),
    met(
        "mcpServers null refuses the session", OPENINGS, "test_missing_mcp_servers_do_not_prevent_the_session"
    ),
    met("a cancelled request never answered", PEER, "test_cancelling_a_running_request_is_answered_once"),
    met("exception text leaks in error data", PEER, "test_errors_of_a_handler"),
    met("a pasted file, 34 MB", FRAMING, "test_a_pasted_file_and_34_megabytes"),
    met("20,000 queued prompts", PEER, "test_twenty_thousand_requests_start_no_more_tasks_than_the_limit"),
    met(
        "Stop wedges the session",
        CANCELLING,
        "test_cancelling_while_the_model_is_silent",
        "test_cancelling_while_the_model_is_being_set_up",
    ),
    met(
        "cancel answered -32603",
        CANCELLING,
        "test_cancelling_while_the_user_is_asked",
        "test_cancelling_while_a_failed_step_waits_for_its_retry",
    ),
    met(
        "the next prompt merged with the failed one",
        FAULTS,
        "test_a_failure_is_an_error_with_a_code_and_never_a_normal_end",
    ),
    met(
        "a failed step's words go to the model",
        FAULTS,
        "test_text_of_a_failed_step_is_not_sent_to_the_model_again",
    ),
    met("few sessions served at once", TURNS, "test_ten_sessions_are_served_concurrently"),
    met(
        "completion on another call's card",
        FAULTS,
        "test_calls_with_the_same_id_each_have_a_card_and_an_outcome",
    ),
    met("never in_progress", TURNS, "test_a_full_turn_from_the_thought_to_the_end"),
    met("no live output", CANCELLING, "test_cancelling_while_a_command_runs"),
    met(
        "the question under another toolCallId",
        ASKING,
        "test_the_question_shows_the_cards_own_id_and_its_diff_or_command",
    ),
    met(
        "AGENTS.md of the process's folder",
        PROMPTS,
        "test_context_files_are_those_of_the_sessions_own_folder",
    ),
    met("the diff of another folder's file", ASKING, "test_the_diff_is_relative_to_the_sessions_own_folder"),
    met("read-before-write after the approval", ASKING, "test_a_call_allowed_once_needs_approval_again"),
    met(
        "load of an unknown session succeeds", OPENINGS, "test_an_unknown_session_is_not_found_by_any_method"
    ),
    met(
        "set_mode of an unknown session succeeds",
        MODES,
        "test_an_unknown_mode_is_rejected_and_nothing_changes",
    ),
    met("a relative cwd accepted", OPENINGS, "test_an_unusable_folder_is_rejected"),
    met(
        "a provider failure reported as end_turn",
        FAULTS,
        "test_a_failure_is_an_error_with_a_code_and_never_a_normal_end",
    ),
    met(
        "allow_always not remembered",
        ASKING,
        "test_always_applies_to_that_path_only",
        "test_always_applies_to_that_command_in_that_folder_only",
    ),
    met("deny falls through to allow", ASKING, "test_anything_but_a_clear_approval_is_a_rejection"),
    met("terminal ids in replay", STORED, "test_terminals_are_not_replayed"),
    met("children left after the editor", WORKSPACES, "test_cancelling_leaves_no_process"),
    met("an unsupported version echoed", OPENINGS, "test_version_1_is_spoken_whatever_version_is_requested"),
    met("bad session ids answered variously", OPENINGS, "test_an_unknown_session_is_not_found_by_any_method"),
    met("the command's process alive after cancel", CANCELLING, "test_cancelling_while_a_command_runs"),
    met(
        "a card without an end after cancel",
        CANCELLING,
        "test_cancelling_while_the_user_is_asked",
        "test_cancelling_while_a_command_runs",
    ),
    met("answers one prompt late", CANCELLING, "test_cancelling_with_a_second_prompt_in_the_queue"),
    met("the stream still read after cancel", CANCELLING, "test_cancelling_while_the_model_is_silent"),
    met("a second prompt never answered", TURNS, "test_a_second_prompt_waits_for_the_first_and_is_answered"),
    met(
        "no exit on end of input",
        PEER_ENDS,
        "test_end_of_input_cancels_and_answers_what_runs_and_fails_our_calls",
    ),
    met(
        "a new file behind the editor's fs fails",
        FILES,
        "test_a_file_unknown_to_the_editor_is_a_new_file",
    ),
    met(
        "a write answered with success and not done",
        FILES,
        "test_a_write_that_the_editor_confirms_without_doing_it_is_done_on_disk",
    ),
    met("state in the work tree", PROMPTS, "test_nothing_is_written_to_the_work_tree"),
    met(
        "a long AGENTS.md cut in silence",
        "tests/contract/test_context_files.py",
        "test_the_budget_shortens_the_large_file_visibly",
    ),
    met("AGENTS.md unscanned", PROMPTS, "test_the_scanners_findings_are_reported_to_the_user"),
    met(
        "a second session/new stalls a stream",
        OPENINGS,
        "test_a_session_is_started_while_another_one_streams",
    ),
    met(
        "a request's method as a notification wedges",
        OPENINGS,
        "test_a_request_method_sent_as_a_notification_does_nothing",
    ),
)

BAD_INPUT = (
    met("unknown method", OPENINGS, "test_an_unknown_method_is_named_as_such"),
    met("wrong params", OPENINGS, "test_invalid_parameters_are_rejected_without_quoting_them"),
    met("missing session", OPENINGS, "test_an_unknown_session_is_not_found_by_any_method"),
    met("relative cwd", OPENINGS, "test_an_unusable_folder_is_rejected"),
    met("cwd that does not exist", OPENINGS, "test_an_unusable_folder_is_rejected"),
    met("binary file", FAULTS, "test_files_that_are_not_plain_text_are_reported_as_what_they_are"),
    met("100 MB file", TOOLS, "test_reading_a_huge_file_is_rejected_with_its_size"),
    met(
        "non-UTF-8",
        FAULTS,
        "test_files_that_are_not_plain_text_are_reported_as_what_they_are",
        "test_a_file_name_that_is_not_utf_8_breaks_nothing",
    ),
    met("provider 401", PROVIDER_FAULTS, "test_a_rejected_key_names_the_variable_to_set"),
    met("provider 429", PROVIDER_FAULTS, "test_a_rate_limit_includes_the_delay"),
    met("provider 500", PROVIDER_FAULTS, "test_every_status_is_named"),
    met(
        "provider cuts the stream",
        PROVIDER_FAULTS,
        "test_an_interrupted_stream_keeps_its_text_and_names_the_endpoint",
    ),
    met("malformed tool JSON", FAULTS, "test_an_invalid_call_is_an_outcome_and_the_turn_continues"),
    met(
        "kill -9 in mid-turn",
        STORED,
        "test_calls_left_open_by_a_killed_process_are_closed_and_reported",
        "test_a_torn_tail_is_cut_off_kept_and_reported",
    ),
    met("two processes on one home", STORED, "test_two_processes_with_one_home_do_not_share_a_session"),
    met(
        "read-only home",
        STORAGE,
        "test_a_home_that_cannot_be_written_is_named",
        "test_a_home_that_is_a_file_is_named",
    ),
    met("full disk", STORAGE, "test_a_full_disk_ends_the_turn_with_its_reason_and_the_session_says_so"),
)

LATER: tuple[Later, ...] = ()
