"""The script that recomputes an analysis: the program `recompute`, with the settings of these results."""

from __future__ import annotations

from importlib import resources

from pages._ui.your_reports.files.facts import SEED
from pages._ui.your_reports.results import Results
from pages._ui.your_reports.words import tested

# A longer list of categories is a file of its own.
MOST_WRITTEN = 200

_BEGIN, _END = "# Settings, as they were in the app.\n", "# End of the settings.\n"
_PROGRAM = "recompute.py"


def script(found: Results) -> str:
    """Python for the person's own files and ``rr_core``; names from files enter it as literals only."""
    before, _, rest = resources.files(__package__).joinpath(_PROGRAM).read_text("utf-8").partition(_BEGIN)
    after = rest.partition(_END)[2]
    return f"{before}{_BEGIN}{_settings(found)}{_END}{after}"


def categories_file(found: Results) -> bytes:
    """The domain, one category per line: what the script reads when the list is long."""
    return "".join(f"{label}\n" for label in found.used.collected.labels).encode()


def _settings(found: Results) -> str:
    used, simulated = found.used, found.simulated
    reports, mechanism = used.reports, used.mechanism
    domain = used.said.domain or "seen"
    written = domain == "listed" and mechanism.k <= MOST_WRITTEN
    lines = [
        f"FILES: list[str] = {[file.name for file in reports.files]!r}",
        f"CATEGORY: str = {reports.category_name!r}",
        f"COUNT: str | None = {reports.count_name!r}",
        f'DOMAIN: Literal["seen", "size", "listed"] = {domain!r}',
        f"LISTED: list[str] | None = {_listed(used.collected.labels.tolist()) if written else None}",
        f"LEFT_OUT: list[str] = {list(used.said.names.left_out)!r}",
        f"COUNTED_AS: dict[str, str] = {dict(used.said.names.counted_as)!r}",
        f"SWAPPED: bool = {used.said.swapped}",
        f"PRIVACY: float = {mechanism.p if used.said.privacy_is_p else mechanism.epsilon!r}",
        f"IS_P: bool = {used.said.privacy_is_p}",
        f"LEVEL: float = {found.level!r}",
        f'USERS: Literal["fixed", "sampled"] = {found.analysis.users!r}',
        f"REPLICATES = {test.done if (test := tested(found)) is not None else 0}",
        f"SEED = {SEED}",
        f"SEARCH_EPSILON: bool = {simulated is not None and simulated.plausible is not None}",
        f"APP_K, APP_N = {mechanism.k}, {used.n}",
        f"APP_SHA256: str = {reports.sha256!r}",
    ]
    if domain == "listed" and not written:
        lines.insert(
            4, "# The list is long: download the categories as well, and save them beside this script."
        )
    return "".join(f"{line}\n" for line in lines)


def _listed(labels: list[str]) -> str:
    return "[\n" + "".join(f"    {label!r},\n" for label in labels) + "]"
