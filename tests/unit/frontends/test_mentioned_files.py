"""The files offered after an @: nearest first, no hidden or generated ones, folders with a slash."""

from pathlib import Path

from hermes_acp.frontends.chat.input.file_mentions import files_below, matching


def test_files_are_listed_breadth_first_in_order(tmp_path: Path) -> None:
    for name in (
        "b/deep/x.py",
        "a/y.py",
        ".git/config",
        "node_modules/z.js",
        "top.txt",
        "b/.hidden",
        "b/k.py",
    ):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    listed = ["a/", "b/", "link", "top.txt", "a/y.py", "b/deep/", "b/k.py", "b/deep/x.py"]
    assert files_below(str(tmp_path)) == listed
    assert files_below(str(tmp_path / "missing")) == []
    assert matching(listed, "", 2) == ["a/", "b/"]
    assert matching(listed, "K", 9) == ["b/k.py", "link"]
