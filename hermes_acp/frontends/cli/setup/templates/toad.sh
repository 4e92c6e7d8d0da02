#!/bin/sh
# Toad in the folder given, or the one you are in, with hermes-acp as its agent.
exec toad acp "hermes-acp" "${1:-.}"
