"""The pages behind nginx as in ``docs/nginx.conf.example``: a browser gets all that it asks for."""

from __future__ import annotations

import pytest
from playwright.sync_api import Response

from tests.browser.proxy import behind_nginx


@pytest.mark.slow
def test_pages_are_complete(open_lab, server, tmp_path):
    with behind_nginx(tmp_path, server.removeprefix("http://")) as (_, https):
        lab = open_lab(on=https, ignore_https_errors=True)
        refused: list[str] = []

        def note(got: Response) -> None:
            # Streamlit looks for its server below the page's own address first, and goes on.
            if got.status >= 400 and "/_stcore/" not in got.url:
                refused.append(got.url)

        lab.page.on("response", note)
        for page in ("", "estimators"):
            lab.open(f"/{page}")
            lab.must_be_fine()
        assert lab.chart("estimators").count() == 1
        lab.page.goto("about:blank")  # before its server is gone
        assert refused == []
