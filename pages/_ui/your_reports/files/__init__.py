"""The files of a finished analysis: tables, a report, and the script that recomputes them. No Streamlit."""

from pages._ui.your_reports.files.report import html_report
from pages._ui.your_reports.files.script import categories_file, script
from pages._ui.your_reports.files.tables import csv_file, json_file, parquet_file

__all__ = ["categories_file", "csv_file", "html_report", "json_file", "parquet_file", "script"]
