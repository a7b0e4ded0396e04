"""What tests of the page of collected reports share: its steps from files or typed counts to the answer, its words."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from rr_core.io import report_files
from rr_core.io.report_results import Results
from rr_core.protocols import UnaryEncoding
from tests.app import opening
from tests.app.opening import ROOT, checked

YES_NO = "yes, 640\nno, 360"
PROTOCOL = UnaryEncoding(3, 1.5)
BITS = PROTOCOL.randomize(np.repeat([0, 1, 2], [300, 150, 50]), 1)
CSV = "bus,car,train\n" + "".join(",".join(map(str, row)) + "\n" for row in BITS.tolist())
SEEN = "Which categories could people choose from?"
SHARED = ROOT.parent / "shared"


def opened(made: str = "k_rr") -> AppTest:
    return opening.opened("your_reports", f"made={made}")


def said(page: AppTest) -> str:
    kinds = (page.markdown, page.caption, page.success, page.error, page.warning, page.info)
    return "\n".join(box.value for kind in kinds for box in kind).replace("\\", "")


def one(kind: Any, label: str) -> Any:
    (found,) = [widget for widget in kind if widget.label == label]
    return found


def press(page: AppTest, label: str) -> AppTest:
    return checked(one(page.button, label).click().run())


def give(page: AppTest, *files: tuple[str, str | bytes]) -> AppTest:
    uploads = [(name, text.encode() if isinstance(text, str) else text, "text/csv") for name, text in files]
    one(page.file_uploader, "Report files").set_value(uploads)
    return checked(page.run())


def given(page: AppTest, text: str, name: str = "reports.csv") -> AppTest:
    return give(page, (name, text))


def case(name: str) -> bytes:
    """A small file that was read wrongly; skipped where the folder as a whole is missing."""
    if not SHARED.exists():
        pytest.skip("the folder of shared cases is missing")
    return (SHARED / "cases" / name).read_bytes()


def uploaded(made: str, name: str) -> AppTest:
    return give(opened(made), (name, case(name)))


def reopened(page: AppTest) -> AppTest:
    """With the panel for reports and settings."""
    buttons = [button for button in page.button if button.label == "Other reports or settings"]
    return checked(buttons[0].click().run()) if buttons else page


def box_of(page: AppTest, key: str) -> Any:
    """The text box for a parameter of a design, or for typed counts; None where it is not on screen."""
    key = "reports_typed" if key == "typed" else f"design_{key}"
    return next((box for box in (*page.text_input, *page.text_area) if box.key == key), None)


def entered(page: AppTest, **texts: str) -> AppTest:
    """With these texts in the panel, not analysed."""
    reopened(page)
    for key, text in texts.items():
        box_of(page, key).set_value(text)
        checked(page.run())
    return page


def analysed(page: AppTest) -> AppTest:
    buttons = [button for button in page.button if button.label == "Analyse these reports"]
    return checked(buttons[0].click().run()) if buttons else page


def typed(page: AppTest, **texts: str) -> AppTest:
    """With these texts in the panel, and analysed."""
    return analysed(entered(page, **texts))


def answered(page: AppTest, privacy: str = "2", domain: str | None = "seen") -> AppTest:
    """Analysed as reports of k-RR, with this epsilon and these categories."""
    one(page.text_input, "Value of ε").set_value(privacy)
    one(page.radio, SEEN).set_value(domain)
    return press(page, "Analyse these reports")


def chosen(page: AppTest, kind: str, label: str, value: Any) -> AppTest:
    """With this value in a widget of the panel, and analysed."""
    one(getattr(reopened(page), kind), label).set_value(value)
    return analysed(checked(page.run()))


def held(page: AppTest) -> Results:
    """What is in use, analysed."""
    of_session = page.session_state["_held"]
    found, survey = of_session.get("latest_analysis")[1]
    target = "users" if found.users == "fixed" else "population"
    return Results(of_session.get("reports_used"), found.level, target, found, None, survey)


def shown(page: AppTest) -> dict[str, list[float]]:
    """The table of shares."""
    (table,) = [box.value for box in page.dataframe if "People" in box.value.columns]
    return table.to_dict("list")


def same_files(results: Results, folder: Path, text: str = "", name: str = "reports.csv") -> None:
    """Run the script of these results beside their file: what it saves is what the page gives, to the byte. (That it runs
    with rr_core alone: tests/app/test_reports_script.py.)"""
    if text:
        (folder / name).write_text(text, "utf-8")
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()) as out:
        exec(report_files.script(results), {})
    assert "{" not in out.getvalue()
    assert (folder / "recomputed.csv").read_bytes() == report_files.csv_file(results)
    if results.survey is not None:
        assert (folder / "recomputed_groups.csv").read_bytes() == report_files.groups_file(results)
