"""What a page of the app shows, computed again from the page's link: what a downloaded script calls.

result    the numbers and the table, printed and saved
pages     the pages about a scenario
reports   the page about collected reports
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from rr_core.recompute.result import Recomputed


def recompute(link: str, files: Sequence[str | Path] = (), **settings: Any) -> Recomputed:
    """The numbers of the page at this link.

    Args:
        link: address of a page with its parameters, from "/" on, or the whole address.
        files: paths of the person's own files: the distribution of "dist=upload", or the collected reports.
        settings: what is chosen on the page and not in its link: keyword arguments of the page's function in `pages`
            or `reports`; and "upload", how the distribution is read (arguments of `rr_core.io.read_distribution`).

    Raises:
        OSError: a file that is not there.
        ValueError: in one plain sentence: a link that has no numbers, a value that cannot be, or an unreadable
            file.

    >>> print(recompute("/estimators?dist=zipf&k=3&s=1&eps=2&n=1000&seed=5").table["mle_star"].round(3))
    [0.547 0.286 0.167]
    """
    try:
        return _recomputed(link, files, settings)
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"There is no file {error.filename} in the folder where this runs: put it there."
        ) from None


def _recomputed(link: str, files: Sequence[str | Path], settings: Mapping[str, Any]) -> Recomputed:
    address = urlsplit(link)
    page, query = address.path.strip("/").rpartition("/")[2], dict(parse_qsl(address.query))
    # Imported here: `import rr_core` need not load what all pages compute.
    if page == "your_reports":
        from rr_core.recompute.reports import of_reports

        return of_reports(query, files, **settings)
    from rr_core.recompute.pages import of_page

    return of_page(page, query, files, **settings)
