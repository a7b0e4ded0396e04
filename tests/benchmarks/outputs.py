"""What the app gives out, saved and compared: words, figures and files of many links and of uploads.

    python -m tests.benchmarks.outputs save FOLDER [CHECKOUT]
    python -m tests.benchmarks.outputs compare BEFORE AFTER

Before and after a change of the code that must change no number. The app is the one of CHECKOUT, by default of here.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from rr_core import RandomizedResponse, zipf
from tests.browser import chromium
from tests.browser.lab import Lab, profile
from tests.browser.server import ROOT, serving

_SCENARIOS = (
    "",
    "k=3&s=1&eps=0.5&n=40&seed=5",
    "k=1000&s=1.3&eps=2&n=100000&seed=7",
    "dist=uniform&k=40&eps=20&n=1000000000&seed=2",
)
LINKS = (
    *(
        f"/{page}?{query}"
        for page in ("", "noisy_histogram", "inv_negatives", "estimators", "geometry", "ibu")
        for query in _SCENARIOS
    ),
    "/lesson?scene=3&said_subtract=30",
    "/lesson?scene=11&draw=2&said_coin=50",
    "/geometry?k=3&s=1&eps=1&n=200&phi=6,4,2",
    "/experiments",
    "/experiments?sweep=main&map=kn&metric=nll",
    "/experiments?sweep=own&pop=zipf:1&ks=20&es=1-4&ns=1000&seeds=20",
    "/plan",
    "/plan?k=25&s=1.5&eps=2&n=8000&target=max&value=1&conf=95&find=eps&whose=fixed",
    "/plan?k=25&eps=2&target=share&share=20&value=1&conf=95&find=n&whose=sampled",
    *(f"/protocols?k=12&n=2000&channel={design}" for design in ("k_rr", "warner", "geometric")),
    "/protocols?channel=own&matrix=a 0.9 0.1;b 0.2 0.8",
    *(f"/protocols?part={part}&k=8&n=500" for part in ("unary", "posterior", "time")),
    "/reference",
)
_FIGURES = """() => [...document.querySelectorAll('.js-plotly-plot')].map(plot => JSON.stringify(
  plot.data.map(t => [t.name, t.x, t.y, t.z, t.base, t.text, t.customdata])))"""
# Times, versions of the day and identifiers of one run.
_OF_THE_RUN = re.compile(
    rb"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?(Z|\+00:00)?|\d+(\.\d)? (ms|s)\b|[0-9a-f]{8}-[0-9a-f-]{27}"
)


def reports() -> bytes:
    """Counts per category of made-up reports at ε = 2."""
    truth = np.random.default_rng(3).multinomial(5000, zipf(12, 1.2))
    counts = RandomizedResponse(12, 2.0).randomize_histogram(truth, 4)
    return b"category,count\n" + b"".join(b"c%d,%d\n" % pair for pair in enumerate(counts))


def take(lab: Lab, folder: Path) -> None:
    """Save what one page shows and offers."""
    folder.mkdir(parents=True)
    main = lab.page.get_by_test_id("stMain")
    closed = main.locator('[data-testid="stExpander"] details:not([open]) > summary').filter(visible=True)
    while closed.count():
        closed.first.click()
        lab.page.wait_for_timeout(300)
    lab.settle()
    (folder / "words.txt").write_text(main.inner_text(), encoding="utf-8")
    for number, figure in enumerate(lab.page.evaluate(_FIGURES)):
        (folder / f"figure {number}.json").write_text(figure, encoding="utf-8")
    for button in main.locator('[data-testid="stDownloadButton"] button').all():
        if button.is_visible() and button.is_enabled():
            with lab.page.expect_download() as caught:
                button.click(delay=80)
            name = f"{button.inner_text()} {caught.value.suggested_filename}".replace("/", " ")
            caught.value.save_as(folder / name)


def save(folder: Path, checkout: Path) -> None:
    with (
        sync_playwright() as playwright,
        tempfile.TemporaryDirectory() as home,
        serving("app.py", checkout, Path(home)) as server,
    ):
        path = chromium.installed(playwright.chromium.executable_path)
        browser = playwright.chromium.launch(executable_path=path, args=chromium.flags())
        context = profile(browser)
        for number, link in enumerate(LINKS):
            lab = Lab(context, server).open(link)
            take(lab, folder / f"{number:02} {link[1:].replace('/', ' ')}")
            lab.page.close()
            print(link, flush=True)
        for page in ("estimators", "ibu"):
            lab = Lab(context, server).open(f"/{page}?eps=2&n=5000&seed=3")
            lab.use("table.csv", reports())
            take(lab, folder / f"upload {page}")
            lab.page.close()
        lab = Lab(context, server).open("/your_reports")
        with lab.rerun():
            lab.page.locator(".st-key-reports_files input[type=file]").set_input_files(
                {"name": "table.csv", "mimeType": "text/csv", "buffer": reports()}
            )
        box = lab.page.get_by_role("textbox", name="Value of ε", exact=True)
        box.fill("2")
        with lab.rerun():
            box.press("Enter")
        with lab.rerun():
            lab.page.get_by_role("radio", name="All of them are in the files").locator(
                "xpath=ancestor::label"
            ).click(delay=80)
        lab.page.get_by_role("button", name="Analyse these reports", exact=True).click(delay=80)
        lab.page.get_by_test_id("stAlert").filter(has_text="against ε").wait_for(
            state="attached", timeout=120_000
        )
        lab.settle()
        take(lab, folder / "upload your_reports")
        browser.close()


def compare(before: Path, after: Path) -> int:
    """Print what differs; give the number of outputs that do."""
    names = {
        str(path.relative_to(folder))
        for folder in (before, after)
        for path in folder.rglob("*")
        if path.is_file()
    }
    different = 0
    for name in sorted(names):
        if not (before / name).exists() or not (after / name).exists():
            print("only", "after" if (after / name).exists() else "before", name)
            different += 1
            continue
        old, new = ((folder / name).read_bytes() for folder in (before, after))
        if _OF_THE_RUN.sub(b"", old) != _OF_THE_RUN.sub(b"", new):
            print("differs", name)
            different += 1
    print(f"{len(names)} outputs, {different} different")
    return different


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("do", choices=["save", "compare"])
    parser.add_argument("first", type=Path)
    parser.add_argument("second", type=Path, nargs="?", default=ROOT)
    given = parser.parse_args()
    if given.do == "save":
        save(given.first, given.second.resolve())
    else:
        sys.exit(bool(compare(given.first, given.second)))


if __name__ == "__main__":
    main()
