#!/bin/sh
# Start hermes-acp where marimo expects the agent that it calls OpenCode. Run this in the folder of your notebooks.
exec npx stdio-to-ws "hermes-acp" --port 3023
