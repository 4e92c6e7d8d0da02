"""Make the pictures of the documentation: `python docs/site/pictures.py demo|chat|full-chat|vscode|web`.

Each one shows a real run, so that it stays true: the demo, `hermes-acp chat` on a terminal, the same with `--full`,
VS Code in a browser, and the web page.
Only the model is scripted. `vscode` and `web` need what `bash tests/install.sh all` installs.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


def main() -> int:
    """Make one picture and say where it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("picture", choices=("demo", "chat", "full-chat", "vscode", "web"))
    sys.path[:0] = [str(ROOT), str(ROOT / "protocol")]  # for the parts of the tests that run an agent
    picture = _make(parser.parse_args().picture)
    print(f"{picture.relative_to(ROOT)}: {picture.stat().st_size:,} bytes")
    return 0


def _make(name: str) -> Path:
    match name:
        case "demo":
            from demo_picture import draw_demo

            return draw_demo()
        case "chat":
            from chat_picture import draw_chat

            return draw_chat()
        case "full-chat":
            from full_chat_picture import draw_full_chat

            return draw_full_chat()
        case "web":
            from web_picture import draw_web_page

            return draw_web_page()
        case _:
            from vscode_picture import draw_vscode

            return draw_vscode()


if __name__ == "__main__":
    sys.exit(main())
