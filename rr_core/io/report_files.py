"""The files of a finished analysis of reports: CSV, Parquet, JSON, and the script that recomputes the numbers."""

from __future__ import annotations

import io
import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rr_core.io.report_results import K_RR, ReportsInUse, Results
from rr_core.io.text import csv_bytes
from rr_core.plain_text import csv_columns
from rr_core.protocols import Channel, UnaryEncoding
from rr_core.reports.analysis import ByGroup, Collecting
from rr_core.rounding import p_of_file
from rr_core.script import script as recompute_script

FORMAT = 2
SEED = 0  # of every simulation behind the page
# A JSON of more would be hundreds of megabytes of text; CSV and Parquet hold all.
MOST_JSON_ROWS = 100_000
# A longer list of categories is a file of its own.
MOST_WRITTEN = 200


def now() -> str:
    """Date and time of an analysis."""
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def csv_file(results: Results) -> bytes:
    """All categories in the order of the domain; no spreadsheet runs a name as a formula."""
    return csv_bytes(csv_columns(results.columns()))


def parquet_file(results: Results, verdict: str) -> bytes:
    """The same columns, names as they are, with all of `facts` in the metadata: one key per part, in JSON."""
    table = pa.table(results.columns())
    about = {name: strict_json(part) for name, part in facts(results, verdict).items()}
    out = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(about), out)
    return out.getvalue()


def json_file(results: Results, verdict: str, when: str) -> bytes:
    """Settings, versions, what was read and left out, tests, the advice ``verdict``, and the table by column, analysed
    ``when``.

    Beyond MOST_JSON_ROWS categories the table holds the most reported ones; ``rows`` says how many of how many. Of
    groups with more rows than that the table is null: the CSV file holds it.
    """
    k, table = results.used.k, results.columns()
    if k > MOST_JSON_ROWS:
        most = results.order[:MOST_JSON_ROWS]
        kinds = {name: getattr(values, "dtype", object) for name, values in table.items()}
        table = {name: np.array(values, dtype=kinds[name])[most] for name, values in table.items()}
    everything = {
        "analysed": when,
        **facts(results, verdict),
        "rows": {"held": min(k, MOST_JSON_ROWS), "of": k},
        "table": table,
    }
    if (survey := results.survey) is not None:
        everything["groups"] = {
            "names": survey.groups,
            "alike": None if survey.alike is None else p_of_file(survey.alike),
            "alike_by_chance": survey.alike_by_chance,
            "table": survey.table() if k * len(survey.groups) <= MOST_JSON_ROWS else None,
        }
    return (strict_json(everything) + "\n").encode()


def script(results: Results) -> str:
    """Python for the person's own files and ``rr_core``."""
    used, simulated, test = results.used, results.simulated, results.epsilon_test
    design, names, reports = _designs(used)[0], used.settings.names, used.reports
    address, files = f"/your_reports?made={used.settings.design}", [file.name for file in reports.files]
    decided = {"left_out": list(names.left_out), "counted_as": dict(names.counted_as)}
    counts = dict(zip(used.collected.labels.tolist(), used.collected.counts.tolist(), strict=True))
    made: dict[str, Any] = {}
    tested: dict[str, Any] = {}
    again: dict[str, Any] = {}  # what it needs besides to read groups and weights
    if isinstance(design, UnaryEncoding):
        held = used.unary is not None and used.unary.bits is not None
        files = files if held else []
        made = {"reading": {"columns": (), **reports.reading}} if held else {"ones": counts}
        told = "epsilon" if design.chances is None else "chances"
        made |= {"source": used.source, told: _each(used, lambda one: getattr(one, told))}
        made |= {"optimized": design.optimized, "n": used.n}
    elif isinstance(design, Channel):
        files = [] if used.people is None else files
        made = {"source": used.source, "reports": counts, "names": list(used.labels)}
        made["matrix"] = _each(used, lambda one: one.matrix.tolist())
        again = {"reading": reports.reading, **decided, "sha256": reports.sha256}
    else:
        address, made = "/your_reports", {"reading": reports.reading}
        if used.settings.domain == "size":
            made["size"] = used.k
        elif used.settings.domain == "listed":
            apart = list_is_a_file(results)
            made["listed"] = "categories.txt" if apart else used.collected.labels.tolist()
        told = "p" if used.settings.privacy_kind == "p" else "epsilon"
        made |= {**decided, told: _each(used, lambda one: getattr(one, told))}
        tested = {"replicates": 0 if test is None else test.done, "seed": SEED}
        tested["search_epsilon"] = simulated is not None and simulated.plausible is not None
        tested["sha256"] = reports.sha256
    if used.people is not None:
        again |= {"by": list(used.by), "weights": used.weights, "inverse": used.inverse}
    else:
        again = {}
    common = {"level": results.level, "users": results.analysis.users}
    return recompute_script(address, files, **made, **common, **tested, **again)


def _designs(used: ReportsInUse) -> Sequence[Collecting]:
    """What made the reports; by group where that differs."""
    return used.protocol.designs if isinstance(used.protocol, ByGroup) else [used.protocol]


def _each(used: ReportsInUse, told: Callable[[Any], Any]) -> Any:
    """What is told of the design, or by group where each has its own."""
    if not isinstance(used.protocol, ByGroup) or used.people is None:
        return told(used.protocol)
    return {name: told(one) for name, one in zip(used.people.groups, used.protocol.designs, strict=True)}


def list_is_a_file(results: Results) -> bool:
    """Whether the script reads the categories from a file."""
    return results.used.settings.domain == "listed" and results.used.k > MOST_WRITTEN


def categories_file(results: Results) -> bytes:
    """The domain, one category per line: what the script reads when the list is long."""
    return "".join(f"{label}\n" for label in results.used.collected.labels).encode()


def groups_file(results: Results) -> bytes:
    """All groups, a row for each category."""
    if results.survey is None:
        raise ValueError("results must have groups, got none")
    return csv_bytes(csv_columns(results.survey.table()))


def answers_file(results: Results) -> bytes:
    """The reports themselves, where they are other things than the categories."""
    held = results.used.collected
    return csv_bytes(csv_columns({"report": held.labels, "reports": held.counts}))


def facts(results: Results, verdict: str) -> dict[str, Any]:
    """All but the table, as plain values for JSON; simulations that were not run are None."""
    simulated, analysis = results.simulated, results.analysis
    reports, collected, held = results.used.reports, results.used.collected, results.used.summaries
    outside = [one for one in collected.outside if one[0] not in held]
    fit: dict[str, Any] | None = None if analysis.fit is None else asdict(analysis.fit)
    if simulated is not None:
        fit = simulated.fit.summary()
        fit["rejected"] = results.rejects_epsilon if results.epsilon_test else None
    elif fit is not None:
        fit["rejected"] = results.rejects_epsilon
    if fit is not None:
        fit["p_value"] = p_of_file(fit["p_value"])
    return {
        "format": FORMAT,
        "versions": {
            "python": platform.python_version(),
            "numpy": version("numpy"),
            "scipy": version("scipy"),
        },
        "settings": _settings(results),
        "files": {
            "name": results.used.name,
            "layout": reports.layout,
            "category_column": reports.category_name,
            "count_column": reports.count_name,
            "sha256": reports.sha256,
            "read": [
                {"name": file.name, "rows": file.rows, "reports": file.reports} for file in reports.files
            ],
            "merged_rows": reports.merged,
        },
        "left_out": {
            "rows": [asdict(dropped) for dropped in reports.dropped],
            "reports_outside_domain": sum(count for _, count in outside),
            "outside_domain": [{"category": label, "reports": count} for label, count in outside],
            "summary_rows": [
                {"name": label, "number": count, "of": held[label]}
                for label, count in collected.outside
                if label in held
            ],
            "categories_without_reports": collected.unreported,
        },
        "notes": [*reports.notes, *collected.notes],
        "simulations": None
        if simulated is None
        else {"seed": SEED, "asked": simulated.fit.requested, "done": simulated.fit.done},
        "fit": fit,
        "plausible_epsilon": None
        if simulated is None or simulated.plausible is None
        else asdict(simulated.plausible),
        "advice": {
            "verdict": verdict,
            "preferred": None if results.rejects_epsilon else analysis.leading,
            **({} if analysis.nearest is None else asdict(analysis.nearest)),
        },
        "intervals": (
            "inv_low and inv_high end the interval of Inv, those with _all the one for all categories at once; with _cut "
            "they are cut at 0 and 1, one wholly outside to a point. The repaired estimates have no intervals of "
            "their own."
        ),
    }


def strict_json(value: Any) -> str:
    """JSON that every reader takes: numbers that are not finite become null."""
    return json.dumps(_finite(value), ensure_ascii=False, allow_nan=False)


def _settings(results: Results) -> dict[str, Any]:
    used, protocol = results.used, results.used.protocol
    made: dict[str, Any] = {"design": used.settings.design, "epsilon": protocol.epsilon}
    if isinstance(protocol, ByGroup):
        made["epsilon_by_group"] = _each(used, lambda one: one.epsilon)
    if isinstance(_designs(used)[0], Channel):
        names = {"reports": used.collected.labels, "truths": list(used.labels)}
        made |= {**names, "chances": _each(used, lambda one: one.matrix)}
    else:
        made |= {"p": _each(used, lambda one: one.p), "q": _each(used, lambda one: one.q)}
    if used.settings.design == K_RR:
        made |= {
            "privacy_given_as": used.settings.privacy_kind,
            "domain": used.settings.domain,
        }
    return {
        **made,
        "k": used.k,
        "n": used.n,
        "level": results.level,
        "target": results.target,
        "counted_as": dict(used.settings.names.counted_as),
        "test_level": None if results.analysis.above is None else results.analysis.above.level,
    }


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _finite(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    if isinstance(value, np.ndarray):
        plain = value.dtype.kind != "f" or bool(np.isfinite(value).all())
        return value.tolist() if plain else _finite(value.tolist())
    if isinstance(value, np.generic):
        return _finite(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
