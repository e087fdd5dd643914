"""Check the links of the built site, offline: `python docs/check_links.py site`.

Every link to a page of the site must lead to a file, and to an element of it if it has a fragment.
Links to other sites are not followed.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

__all__ = ["Page", "dead_links"]


class Page(HTMLParser):
    """The identifiers and the links of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag defines and what it refers to."""
        for name, value in attrs:
            if value is None:
                continue
            if name == "id" or (tag == "a" and name == "name"):
                self.anchors.add(value)
            elif name in {"href", "src"} and tag != "base":
                self.links.append(value)


def dead_links(site: Path) -> list[str]:
    """Return each link that leads nowhere, with its page."""
    pages = {path.resolve(): Page(path) for path in sorted(site.rglob("*.html"))}
    dead: list[str] = []
    for path, page in pages.items():
        if path.name == "404.html":  # its links begin at the root of the published site
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            known = pages.get(target)
            fragment = unquote(parts.fragment)
            if not target.exists() or (
                known is not None and fragment and fragment not in known.anchors
            ):
                dead.append(f"{path.relative_to(site.resolve())}: {link}")
    return dead


if __name__ == "__main__":
    found = dead_links(Path(sys.argv[1]))
    print("\n".join(found) or "every link leads somewhere")
    sys.exit(bool(found))
