"""Attacks that other tests already cover, so that none is tested twice and none is forgotten."""

from types import MappingProxyType
from typing import Final

BAD_INPUT = "tests/e2e/test_bad_input.py"
ENDS = "tests/e2e/test_ends.py"
HOMES = "tests/e2e/test_stored_homes.py"
STDIO = "tests/e2e/test_stdio_transport.py"
FAULTS = "tests/conversations/test_model_faults.py"
CANCELLING = "tests/conversations/test_cancelling.py"
WORKSPACES = "tests/contract/test_workspaces.py"

ELSEWHERE: Final = MappingProxyType(
    {
        "B21 B22 containers: asked about as this machine is, and widened by nothing in a repository": (
            "tests/unit/workspaces/test_container_isolation.py::test_a_mounted_container_needs_the_same_approvals_as_this_machine",
            "tests/unit/workspaces/test_container_isolation.py::test_no_container_settings_are_read_from_a_workspace",
            "tests/unit/workspaces/test_container_isolation.py::test_settings_that_would_weaken_the_isolation_are_rejected",
            "tests/contract/test_containers.py::test_there_is_no_network_no_capability_and_no_privilege_escalation",
        ),
        "A05 a link swapped in between approval and write": (
            f"{WORKSPACES}::test_a_link_swapped_in_after_locate_is_not_followed",
            "tests/contract/test_local_workspace.py::test_the_local_disk_follows_no_link",
        ),
        "A08 hard links": (f"{WORKSPACES}::test_writing_to_a_hard_link_is_refused",),
        "B15 B16 answers that are none, and those for another session": (
            "tests/attacks/test_editors_under_attack.py::test_e12_b15_an_invalid_approval_is_not_accepted",
            "tests/attacks/test_editors_under_attack.py::test_e12_duplicate_answers_and_answers_for_another_session",
        ),
        "B17 nobody to ask": (
            "tests/conversations/test_permissions.py::test_an_editor_that_disconnects_while_asked_approves_nothing",
            "tests/e2e/test_headless.py::test_a_mode_decides_what_runs_without_approval",
        ),
        "B18 a policy that crashes or takes too long": (
            "tests/unit/agent/test_permission.py::test_a_policy_that_crashes_lets_nothing_run",
            "tests/unit/agent/test_permission.py::test_a_huge_command_is_checked_in_a_worker_and_needs_approval",
        ),
        "B20 a mode that changes while a question stands": (
            "tests/conversations/test_modes.py::test_the_mode_can_change_while_a_question_is_open",
            "tests/conversations/test_modes.py::test_an_unknown_mode_is_rejected_and_nothing_changes",
        ),
        "E01 calls before initialize": (f"{BAD_INPUT}::test_requests_before_initialize",),
        "E02 frames and parameters that are none": (
            f"{BAD_INPUT}::test_frames_that_are_not_requests",
            f"{BAD_INPUT}::test_unknown_methods_and_wrong_parameters",
        ),
        "E04 lines without end": (
            f"{BAD_INPUT}::test_a_line_of_34_megabytes",
            f"{BAD_INPUT}::test_a_pasted_file_of_five_megabytes",
        ),
        "E05 nesting without end": (f"{BAD_INPUT}::test_deep_nesting_in_parameters",),
        "E07 a cancel at each moment of a turn": (
            f"{CANCELLING}::test_cancelling_while_a_failed_step_waits_for_its_retry",
            f"{CANCELLING}::test_a_cancel_sent_right_after_its_prompt_cancels_it",
        ),
        "E09 closed input, signals, a killed editor": (
            f"{ENDS}::test_closed_input_during_a_stream_ends_the_process_at_once",
            f"{ENDS}::test_closed_input_while_a_question_is_open",
            f"{ENDS}::test_a_signal_ends_the_server_and_its_commands",
            f"{ENDS}::test_a_killed_editor_ends_agent_and_command",
            f"{ENDS}::test_kill_9_during_a_turn_loses_nothing_that_was_shown",
            f"{STDIO}::test_an_editor_that_does_not_read_does_not_keep_the_process_alive",
        ),
        "E10 E11 prints to descriptor 1, reads from descriptor 0": (
            f"{BAD_INPUT}::test_a_command_that_prints_to_descriptor_1_and_reads_its_input",
            f"{STDIO}::test_only_the_protocol_reaches_the_wire",
        ),
        "E15 half surrogates and calls cut off": (
            f"{FAULTS}::test_half_a_surrogate_pair_from_the_model_breaks_nothing",
            f"{FAULTS}::test_a_call_truncated_with_the_answer_is_not_run",
        ),
        "G05 a disk that fills up": (f"{ENDS}::test_a_disk_that_fills_up_ends_only_the_turn",),
        "G08 one session in two processes": (
            f"{ENDS}::test_two_processes_with_one_home_and_20_sessions_each",
            f"{HOMES}::test_two_processes_list_search_and_write_in_one_home",
        ),
        "G11 indexes of earlier versions": (
            "tests/unit/storage/test_index_formats.py::test_a_list_of_an_earlier_format_is_migrated",
        ),
        "G14 a home that is read-only or full": (
            f"{HOMES}::test_stored_sessions_stay_accessible",
            f"{ENDS}::test_an_unwritable_home_is_reported",
        ),
    }
)
