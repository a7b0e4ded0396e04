"""Results of collected reports, made as the page makes them: read, put on a domain, analysed, simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rr_core.comparison import Target
from rr_core.io import (
    AS_WRITTEN,
    AllSeen,
    Domain,
    Listed,
    Names,
    Size,
    Source,
    read_reports,
    report_files,
    too_few,
    within,
)
from rr_core.io import report_sentences as sentences
from rr_core.io.report_results import DomainKind, ReportSettings, ReportsInUse, Results
from rr_core.mechanism import RandomizedResponse
from rr_core.reports.analysis import analyse
from rr_core.reports.epsilon_fit import Simulations, fit_test, plausible_epsilon

HOSTILE = [
    "</script><img src=x onerror=alert(1)>",
    "=1+1",
    "@cmd",
    "+49 30",
    "-5",
    "<b>bold</b>",
    "<!--<script>",
    "&lt;&amp;",
    'say "hi", twice',
    "it's 'quoted' \\ \"\"\"",
    "naïve 👩‍👧",
    "{found}${x}%s",
    "x" * 200,
    "line\u2028separated",
    "plain",
]
COUNTS = [220, 150, 90, 80, 75, 60, 55, 40, 41, 42, 38, 39, 36, 35, 20]


def analysed(
    files: Sequence[tuple[str, bytes]],
    domain: Domain,
    *,
    epsilon: float = 1.0,
    p: float | None = None,
    level: float = 0.95,
    target: Target = "users",
    replicates: int = 0,
    seek: bool = False,
    names: Names = AS_WRITTEN,
    **options: object,
) -> Results:
    """What the page holds after reading these files; no simulations when ``replicates`` is 0."""
    reports = read_reports([Source(*file) for file in files], **options)
    collected = within(reports, domain, names)
    k = len(collected.labels)
    mechanism = RandomizedResponse(k, epsilon) if p is None else RandomizedResponse.from_p(k, p)
    few = too_few(
        reports,
        names,
        domain,
        lambda k: RandomizedResponse(k, epsilon) if p is None else RandomizedResponse.from_p(k, p),
    )
    collected = replace(collected, too_few=few)
    kinds: dict[type, DomainKind] = {AllSeen: "seen", Size: "size", Listed: "listed"}
    settings = ReportSettings(
        repr(epsilon if p is None else p), "epsilon" if p is None else "p", kinds[type(domain)], names=names
    )
    used = ReportsInUse(reports, collected, mechanism, settings, files[0][0], 1)
    users = "fixed" if target == "users" else "sampled"
    analysis = analyse(collected.counts, mechanism, level, users=users)
    simulated = None
    if replicates:
        simulated = Simulations(
            fit_test(collected.counts, mechanism, replicates),
            plausible_epsilon(collected.counts, k, above=mechanism.epsilon) if seek else None,
        )
    return Results(used, level, target, analysis, simulated)


def counts_csv(labels: Sequence[str] = HOSTILE, counts: Sequence[int] = COUNTS) -> bytes:
    """A table of counts, quoted by CSV's own rules."""
    quoted = ('"' + label.replace('"', '""') + '"' for label in labels)
    return "".join(
        ["category,count\n", *(f"{a},{b}\n" for a, b in zip(quoted, counts, strict=True))]
    ).encode()


def json_of(results: Results, when: str) -> bytes:
    """The JSON file as the page offers it."""
    return report_files.json_file(results, sentences.advice(results)[0], when)


def parquet_of(results: Results) -> bytes:
    """The Parquet file as the page offers it."""
    return report_files.parquet_file(results, sentences.advice(results)[0])
