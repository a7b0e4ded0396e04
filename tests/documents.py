"""What the project tells its readers: the README, how to contribute, and the pages in `docs/`."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
}
# Name, address and question of every page, in the order of the README's table, which is that of the navigation.
PAGES: list[tuple[str, str, str]] = re.findall(
    r"^\| ([^|`]+) `/(\w*)` \| (.+) \|$", DOCUMENTS["README.md"].replace("\\*", "*"), flags=re.M
)
ADDRESSES = [address for _, address, _ in PAGES]


def documents_with(word: str) -> dict[str, str]:
    """The texts in which a word stands, by their name; there is at least one."""
    found = {name: text for name, text in DOCUMENTS.items() if word in text}
    assert found, f"no document has {word}"
    return found
