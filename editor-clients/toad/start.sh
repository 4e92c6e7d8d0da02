#!/bin/sh
# Start Toad in the given folder, or in the current one, with hermes-acp as its agent.
exec toad acp "hermes-acp" "${1:-.}"
