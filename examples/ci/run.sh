#!/usr/bin/env bash
# One agent run in a script: reads the prompt from a file, stores the events, and exits with the agent's own exit code.
#
#   examples/ci/run.sh PROMPT_FILE [FOLDER]
#
# Set the model first: OPENAI_API_KEY or ANTHROPIC_API_KEY, or OPENAI_BASE_URL and HERMES_MODEL for another endpoint.
# MODE (default accept_edits) says what runs without asking. Commands need MODE=auto; use that only in a container.
set -uo pipefail

prompt_file=${1:?usage: run.sh PROMPT_FILE [FOLDER]}
folder=${2:-.}
events=${EVENTS_FILE:-hermes-events.jsonl}

hermes-acp run \
  --prompt "@$prompt_file" \
  --cwd "$folder" \
  --mode "${MODE:-accept_edits}" \
  --max-steps "${MAX_STEPS:-40}" \
  --timeout "${TIMEOUT_S:-900}" \
  --output-format stream-json >"$events"
code=$?

case $code in
  0) echo "agent: done" ;;
  1) echo "agent: it failed or gave up" ;;
  2) echo "agent: wrong usage or configuration" ;;
  3) echo "agent: the model or the network failed" ;;
  4) echo "agent: it could not write its records" ;;
  5) echo "agent: it needed an approval that nobody could give" ;;
  124) echo "agent: out of time" ;;
  130) echo "agent: interrupted" ;;
  *) echo "agent: ended with $code" ;;
esac
exit "$code"
