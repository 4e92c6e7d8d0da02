"""The tests that cover each MUST in the protocol's schema, in addition to those of the official kit."""

from tests.conversations.requirements import (
    CANCELLING,
    ELICITATION,
    ENVELOPE,
    OPENINGS,
    PROMPTS,
    TURNS,
    UNSTABLE,
    met,
)

REJOINING = "tests/conversations/test_rejoining.py"
FOLDERS = "tests/conversations/test_additional_directories.py"
CHILD_AGENTS = "tests/conversations/test_child_agents.py"
PROVIDERS = "tests/conversations/test_unstable_providers.py"
DRAFT = "tests/conversations/test_v2.py"
DRAFT_CANCELLING = "tests/conversations/test_v2_cancelling.py"
DRAFT_ASKING = "tests/conversations/test_v2_elicitation.py"
ROUTES = "tests/unit/frontends/test_http_routes.py"
PEER_PAIR = "tests/unit/protocol/test_peer_pair.py"

MUSTS = (
    met("a reply carries the very id of its request", ENVELOPE, "test_ids_are_echoed_exactly"),
    met(
        "text and resource links are taken in every prompt",
        PROMPTS,
        "test_files_and_images_in_a_prompt_reach_the_model_and_are_replayed",
    ),
    met(
        "a terminal auth method only for a client with a terminal",
        OPENINGS,
        "test_the_terminal_setup_is_offered_to_a_client_with_a_terminal",
    ),
    met(
        "notices only to a client that announced them",
        TURNS,
        "test_notices_are_sent_only_to_clients_that_support_them",
    ),
    met(
        "cancelled is the stop reason whatever the cancellation broke",
        CANCELLING,
        "test_cancelling_while_a_failed_step_waits_for_its_retry",
        "test_a_cancel_sent_right_after_its_prompt_cancels_it",
    ),
    met(
        "cancelled by the draft's state too",
        DRAFT,
        "test_a_cancel_sent_right_after_its_prompt_cancels_it",
        "test_a_close_sent_right_after_its_prompt_ends_it",
        "test_cancelling_ends_the_turn_and_its_command",
    ),
    met(
        "one call, or one terminal, is cancelled on request, and told by its last update",
        DRAFT_CANCELLING,
        "test_one_call_is_stopped_and_the_turn_continues",
        "test_a_call_without_a_terminal_has_none_to_stop",
    ),
    met(
        "a call or a terminal that cannot be cancelled is refused as such",
        DRAFT_CANCELLING,
        "test_stopping_without_a_running_call_is_an_error",
    ),
    met(
        "an unknown action of an elicitation is none of the known ones",
        ELICITATION,
        "test_an_invalid_answer_is_reported_as_such",
    ),
    met(
        "requires_action is followed by running or idle",
        DRAFT_ASKING,
        "test_a_question_is_a_form_and_the_session_waits_for_its_user",
        "test_cancelling_while_the_question_is_open",
    ),
    met(
        "additionalDirectories is the complete list; absent or empty is none",
        FOLDERS,
        "test_the_named_folders_are_the_complete_list",
        "test_naming_no_folder_removes_all",
        "test_a_fork_has_the_requested_folders",
        "test_version_2_resumes_with_the_complete_list_too",
    ),
    met(
        "listed folders are the complete ordered list",
        FOLDERS,
        "test_the_list_survives_the_process_and_its_index",
    ),
    met(
        "a load shows everything, in order and once",
        REJOINING,
        "test_events_during_the_replay_are_shown_last_and_once",
        "test_loading_a_running_session_shows_it_once_and_in_order",
        "test_another_client_that_loads_a_running_session_misses_nothing",
        "test_a_prompt_right_after_resuming_in_version_2_is_shown_once",
    ),
    met(
        "every listed session says whether it is archived; an unknown filter is refused",
        UNSTABLE,
        "test_an_archived_session_is_hidden_until_requested",
    ),
    met("archiving cancels what runs, as a close does", UNSTABLE, "test_archiving_stops_running_work"),
    met("an archived session's event stream is closed", ROUTES, "test_replies_by_method"),
    met("session/status has no side effects", UNSTABLE, "test_status_changes_nothing"),
    met(
        "a system prompt that cannot be applied is an error, and no session",
        UNSTABLE,
        "test_invalid_instructions_start_no_session",
    ),
    met(
        "a child agent is announced before anything of it is told, and only to a client that takes subagents",
        CHILD_AGENTS,
        "test_a_client_that_supports_subagents_is_shown_each_as_a_session",
        "test_subagents_are_not_reported_to_other_clients",
    ),
    met(
        "auth/status is never refused for want of authentication",
        PROVIDERS,
        "test_the_auth_status_follows_sign_out_and_sign_in",
    ),
    met(
        "a changed auth status reaches every client of the process",
        PROVIDERS,
        "test_a_changed_status_is_reported_to_every_client_of_the_app",
    ),
    met(
        "an unknown provider protocol is handled",
        PROVIDERS,
        "test_an_invalid_route_is_rejected_without_quoting_it",
    ),
    met(
        "two peers never lose, double or wedge anything",
        PEER_PAIR,
        "test_two_peers_can_do_anything_to_each_other",
    ),
)
