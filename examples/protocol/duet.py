"""The example client and the example agent, together."""

import os
import sys
from pathlib import Path

import anyio
from client import main

if __name__ == "__main__":
    agent = Path(__file__).with_name("agent.py")
    anyio.run(main, [sys.executable, os.fspath(agent)])
