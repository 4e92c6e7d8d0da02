#!/bin/sh
# hermes-acp where marimo expects the agent it calls OpenCode; run it in the folder of your notebooks.
exec npx stdio-to-ws "hermes-acp" --port 3023
