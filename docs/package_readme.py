"""The README as the description of the package, where its relative links would lead nowhere.

Hatchling runs this when it builds a distribution. If `[project.urls]` has a `Repository`, links
become absolute; without one, their texts remain, and pictures of the repository are left out.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

__all__ = ["Readme", "described"]

LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^]]*)\]\((?P<target>(?!https?:|#)[^)\s]+)\)")


def described(readme: str, repository: str | None) -> str:
    """Return the README with absolute links, or without relative ones."""

    def absolute(link: re.Match[str]) -> str:
        picture, text, target = link.groups()
        if repository is None:
            return "" if picture else text
        kind = "raw" if picture else "blob"
        return f"{picture}[{text}]({repository.rstrip('/')}/{kind}/main/{target})"

    return LINK.sub(absolute, readme)


class Readme(MetadataHookInterface):
    """Sets the description of the package."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Enter the README into the metadata."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        repository = metadata.get("urls", {}).get("Repository")
        metadata["readme"] = {
            "content-type": "text/markdown",
            "text": described(text, repository),
        }
