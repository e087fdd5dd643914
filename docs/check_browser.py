"""Look at the built site in a browser: `python docs/check_browser.py site [FOLDER]`.

Opens each page at the width of a desk and of a phone, in the light and in the dark scheme, and
reports

- a page that is wider than the window, or content that is cut off;
- a picture that is not there, has hardly any contrast, or is a light block on a dark page;
- a script or a picture that is loaded from elsewhere;
- a page of the guides that has code, but none on the first screen of a desk;
- a search that finds another page first than the one that explains the word.

With a folder, it writes a picture of each first screen there. Needs the extra `browser`, and
Chromium: the program `chromium`, or the one that `playwright install chromium` brings.
"""

from __future__ import annotations

import bisect
import collections
import contextlib
import functools
import http.server
import importlib
import itertools
import shutil
import sys
import threading
import time
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Generator

__all__ = ["faults", "look", "pages"]

SIZES = {"desk": (1280, 900), "phone": (390, 844)}
SCHEMES = ("light", "dark")
LEAST_CONTRAST = 0.3
"""The least range of the luminance of a picture, from 0 to 1."""
LIGHT_BLOCK = 0.6
"""The mean luminance from which a picture on a dark page is a light block."""
SEARCHES = {
    "vmap": ("transforms.html",),
    "np.array of list": ("existing-code.html",),
    "pandas": ("pandas.html",),
    "bounds": ("optimize.html",),
    "jit": ("compile.html", "from-jax.html"),
}
"""The pages that explain a word; the search must find one of them first."""
RECORDS = {"benchmarks.html", "tests.html"}
"""Pages of the first level that are tables, with a command at the end."""
# Of every element of the page's content: does it reach out of the window, or hide a part of itself,
# without an element around it that scrolls?
MEASURE = """() => {
  const scrolls = element => {
    for (let e = element; e && e.tagName != "BODY"; e = e.parentElement)
      if (["auto", "scroll"].includes(getComputedStyle(e).overflowX)) return true;
    return false;
  };
  const name = e => `${e.tagName.toLowerCase()} ${e.textContent.trim().slice(0, 40)}`;
  const shown = [...document.querySelectorAll(".md-content *")].filter(e => e.checkVisibility());
  const code = shown.filter(e => e.tagName == "PRE").map(e => e.getBoundingClientRect().top);
  return {
    width: document.documentElement.scrollWidth,
    out: shown.filter(e => {
      const box = e.getBoundingClientRect();
      return box.width && box.right > innerWidth + 1 && !scrolls(e);
    }).map(name),
    cut: shown.filter(e => {
      const style = getComputedStyle(e);
      return ["hidden", "clip"].includes(style.overflowX) && e.scrollWidth > e.clientWidth + 1
        && e.clientWidth > 1 && style.display != "inline";
    }).map(name),
    missing: [...document.images].filter(e => e.complete && !e.naturalWidth).map(e => e.src),
    code: code.length ? Math.min(...code) : null,
  };
}"""


def pages(site: Path) -> list[str]:
    """Return the pages of the first two levels, without the texts of the project's files."""
    found = [path.relative_to(site) for path in sorted(site.rglob("*.html"))]
    return [str(path) for path in found if len(path.parts) <= 2 and path.parts[:1] != ("source",)]


def faults(measured: dict[str, Any], width: int, height: int, *, needs_code: bool) -> list[str]:
    """Return what is wrong with a page, of the numbers that the browser has measured."""
    found: list[str] = []
    if measured["width"] > width:
        found.append(f"the page is {measured['width']} pixels wide")
    found += [f"out of the window: {name}" for name in measured["out"][:3]]
    found += [f"cut off: {name}" for name in measured["cut"][:3]]
    found += [f"no picture: {name}" for name in measured["missing"]]
    code = measured["code"]
    if needs_code and code is not None and code > height:
        found.append(f"code begins at {code:.0f} pixels only")
    return found


def picture_faults(image: Any, scheme: str) -> list[str]:
    """Return what is wrong with a picture as it is shown."""
    counts: list[int] = image.convert("L").histogram()  # of the 256 levels
    total = sum(counts)
    before = list(itertools.accumulate(counts))
    low, high = (bisect.bisect(before, share * total) / 255 for share in (0.002, 0.998))
    mean = sum(level * count for level, count in enumerate(counts)) / total / 255
    found: list[str] = []
    if high - low < LEAST_CONTRAST:
        found.append(f"a picture has a contrast of {high - low:.2f} only")
    if scheme == "dark" and mean > LIGHT_BLOCK:
        found.append(f"a picture is a light block ({mean:.2f}) on a dark page")
    return found


def first_found(view: Any, words: str) -> str:
    """Return the page that the search lists first."""
    view.fill(".md-search__input", "")
    view.type(".md-search__input", words)
    view.wait_for_timeout(1000)  # it searches when the typing has paused
    links = view.query_selector_all(".md-search-result__link")
    address: str = links[0].get_attribute("href") if links else ""
    return urlsplit(address).path.rpartition("/")[2]


@contextlib.contextmanager
def served(site: Path) -> Generator[str]:
    """Serve the site, and yield its address: the search does not work on files."""
    handler = functools.partial(_Quiet, directory=str(site))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def look(site: Path, folder: Path | None = None) -> list[str]:
    """Open each page, and return all faults."""
    playwright: Any = importlib.import_module("playwright.sync_api")
    pillow: Any = importlib.import_module("PIL.Image")
    found: list[str] = []
    with served(site) as address, playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for scheme in SCHEMES:
            for size, (width, height) in SIZES.items():
                view = browser.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                requests = collections.UserList[Any]()
                view.on("request", requests.append)
                for name in pages(site):
                    requests.clear()
                    view.goto(address + name)
                    guide = size == "desk" and "/" not in name and name not in RECORDS
                    said = faults(view.evaluate(MEASURE), width, height, needs_code=guide)
                    asked = [str(request.url) for request in requests]
                    said += [
                        f"loads {url}" for url in asked if not url.startswith((address, "data:"))
                    ]
                    if folder is not None:
                        stem = name.replace("/", "-").removesuffix(".html")
                        view.screenshot(path=str(folder / f"{stem}-{size}-{scheme}.png"))
                    for picture in view.query_selector_all(".md-content img"):
                        picture.scroll_into_view_if_needed()
                        said += picture_faults(pillow.open(BytesIO(picture.screenshot())), scheme)
                    found += [f"{name}, {size}, {scheme}: {fault}" for fault in said]
                    print(
                        *found[len(found) - len(said) :],
                        sep="\n",
                        end="\n" * bool(said),
                        flush=True,
                    )
                if size == "desk":
                    for words, wanted in SEARCHES.items():
                        first = first_found(view, words)
                        print(f"search, {scheme}: {words!r} finds {first}")
                        if first not in wanted:
                            found.append(f"the search for {words!r} finds {first}")
                view.close()
        browser.close()
    return found


if __name__ == "__main__":
    start = time.perf_counter()
    built = Path(sys.argv[1])
    found = look(built, Path(sys.argv[2]) if sys.argv[2:] else None)
    views = len(pages(built)) * len(SIZES) * len(SCHEMES)
    print(f"{views} views, {len(found)} faults, {time.perf_counter() - start:.0f} s")
    sys.exit(bool(found))
