"""Reports analysed in a shell: ``python -m rr_core analyse reports.csv --design warner --p 0.7``; and surveys planned.

What cannot be done ends with exit status 2 and one sentence on standard error.
"""

from __future__ import annotations

import argparse
import codecs
import contextlib
import dataclasses
import math
import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from rr_core.data import read_toml
from rr_core.mechanism import RandomizedResponse
from rr_core.plain_text import plain, some
from rr_core.plan.one_share import GoalKey, share_curve
from rr_core.plan.settings import ShareSettings
from rr_core.recompute import recompute
from rr_core.recompute.result import Recomputed
from rr_core.reports import designs
from rr_core.reports.analysis import ByGroup, Collecting
from rr_core.reports.by_group import Stated, designs_of
from rr_core.reports.designs import DESIGNS, Counted, Design, Unclear
from rr_core.reports.epsilon_fit import Simulations, fit_test
from rr_core.script import VERSION

if TYPE_CHECKING:
    from rr_core.io import Collected, Names, Odd, Reports, Source
    from rr_core.io.columns import Layout
    from rr_core.io.distribution import Preview
    from rr_core.io.people import People
    from rr_core.io.report_results import ReportsInUse, Results

_MOST_TESTED = 10_000  # categories of which the test of k-RR's epsilon is simulated
_TESTED = 1000


def _option(several: bool = False, flag: bool = False, type: str = "str", **told: Any) -> dict[str, Any]:
    """Arguments of `argparse.ArgumentParser.add_argument`."""
    if flag:
        return {"action": argparse.BooleanOptionalAction, **told}
    kind = {"str": str, "int": int, "float": float}[type]
    return {"type": kind, **({"action": "append", "default": []} if several else {}), **told}


_OPTIONS = {name: _option(**told) for name, told in read_toml("options.toml").items()}
_OWN = {
    "k_rr": "epsilon p redraw categories list",
    "forced": "forced",
    "table": "table",
    "unary": "epsilon p encoding f q reports",
}
# The options that some designs alone have, by design.
_OPTIONS_OF: dict[str, set[str]] = {
    key: {
        *_OWN.get(key, "").split(),
        *(one.key for one in design.parameters),
        *(["yes"] if design.positive else []),
        *([] if key == "unary" else ["merge", "keep", "leave-out"]),
    }
    for key, design in DESIGNS.items()
}
# What may differ by group: in the option itself, as "north=1,south=2", or in a column named by the option with -by.
_BY_GROUP = ("epsilon", "p", "redraw", "prevalence", "p2", "f", "q", "forced")
# What the readers of files say to a person at the app, and what is typed in a shell instead.
_IN_A_SHELL = read_toml("shell.toml") | {
    f"{word}hoose “{re.escape(design.name)}”( above)?": f"{say} --design {key}"
    for key, design in DESIGNS.items()
    for word, say in (("C", "Say"), ("c", "say"))
}


class _Parser(argparse.ArgumentParser):
    """Says what is wrong with the words of a command in one sentence."""

    def error(self, message: str) -> NoReturn:
        about = message.removeprefix("argument ")
        self.exit(2, f"{self.prog}: {about}; {self.prog} --help lists what can be said.\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser("rr", description="Frequencies from randomized response.")
    parser.add_argument("--version", action="version", version=VERSION)
    commands = parser.add_subparsers(dest="command", required=True)
    analyse = commands.add_parser("analyse", help="analyse the reports in a file")
    analyse.add_argument(
        "file",
        metavar="FILE",
        help="one report per row, or a category and its count; a folder or ZIP archive of such files is one table",
    )
    analyse.add_argument(
        "--design", required=True, type=_design, choices=list(DESIGNS), help="how the reports were made"
    )
    for name, settings in _OPTIONS.items():
        analyse.add_argument(f"--{name}", **settings)
    for name in _BY_GROUP:
        metavar = "ANSWER=COLUMN,..." if name == "forced" else "COLUMN"
        analyse.add_argument(f"--{name}-by", metavar=metavar, help=f"--{name} of each group, a column")
    _add_plan(commands)
    again = commands.add_parser("recompute", help="the numbers of a page of the app")
    again.add_argument("link", metavar="LINK")
    again.add_argument("files", nargs="*", metavar="FILE")
    again.add_argument("--out", metavar="FILE.csv", help="the whole table; else some rows on standard output")
    return parser


def _design(text: str) -> str:
    """The key of a design, which may be typed as k-RR."""
    return text.lower().replace("-", "_")


def main(words: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status."""
    given = vars(_parser().parse_args(words))
    command = given.pop("command")
    try:
        if command == "recompute":
            _recompute(**given)
        elif command == "plan":
            _plan(given)
        else:
            _analyse(argparse.Namespace(**given))
    except BrokenPipeError:
        return 0  # who reads has enough
    except (OSError, ValueError, ImportError) as error:
        print(_sentence(error), file=sys.stderr)
        return 2
    return 0


def _sentence(error: Exception) -> str:
    if isinstance(error, FileNotFoundError) and error.filename is not None:
        return f"There is no file {error.filename}."
    if isinstance(error, IsADirectoryError):
        return f"{error.filename} is a folder: name the file in it."
    if isinstance(error, ModuleNotFoundError):
        return f"Reading files needs {error.name}: pip install 'rr_core[io]'."
    text = _in_a_shell(" ".join(f"{error}".split()))
    return text if text.endswith((".", "…")) else f"{text}."


def _in_a_shell(text: str) -> str:
    """The same with options in place of the app's widgets."""
    for words, instead in _IN_A_SHELL.items():
        text = re.sub(words, instead, text)
    return text


def _recompute(link: str, files: Sequence[str], out: str | None) -> None:
    found = recompute(link, files)
    if out is None:
        print(found)
    else:
        found.save(out)


def _analyse(asked: argparse.Namespace) -> None:
    if asked.out is not None and not asked.out.endswith((".csv", ".json")):
        raise Unclear(f"{asked.out} cannot be written: name a file that ends in .csv or .json")
    if not 0 < asked.level < 1:
        raise Unclear(f"The level {asked.level:g} cannot be: it lies between 0 and 1, as 0.95 does")
    for name in sorted(set[str]().union(*_OPTIONS_OF.values()) - _OPTIONS_OF[asked.design]):
        given = getattr(asked, _OPTIONS[name].get("dest", name.replace("-", "_")))
        given = getattr(asked, f"{name}_by", None) if given is None else given
        if given is not None and given != []:
            of = " or ".join(key for key, own in _OPTIONS_OF.items() if name in own)
            raise Unclear(f"--{name} belongs to --design {of}, not to {asked.design}: leave it out")
    results, notes = _unary(asked) if asked.design == "unary" else _by_reports(asked)
    for note in _said(results, notes):
        print(_in_a_shell(note), file=sys.stderr)
    from rr_core.io import report_files
    from rr_core.io.report_sentences import advice

    if asked.out is not None and asked.out.endswith(".json"):
        data = report_files.json_file(results, advice(results)[0], report_files.now())
    else:
        data = (report_files.csv_file if results.survey is None else report_files.groups_file)(results)
    if asked.out is None:
        # The mark is for Excel: behind a pipe it would be a part of the first name.
        sys.stdout.buffer.write(data.removeprefix(codecs.BOM_UTF8))
        sys.stdout.flush()
    else:
        Path(asked.out).write_bytes(data)


def _by_reports(asked: argparse.Namespace) -> tuple[Results, list[str]]:
    from rr_core.io import (
        AllSeen,
        Collected,
        Domain,
        Size,
        Source,
        odd_names,
        read_list,
        read_reports,
        rows_left_out,
        too_few,
        within,
    )
    from rr_core.io.report_results import ReportSettings, ReportsInUse

    sources, design = _sources(asked.file, asked.sheet), DESIGNS[asked.design]
    read = read_reports(sources, **_columns(asked, sources))
    domain: Domain = AllSeen()
    if asked.list_of_categories is not None:
        domain = read_list(Source.of(asked.list_of_categories))
    elif asked.categories is not None:
        domain = Size(asked.categories)
    stated, varied = design.key == "k_rr", _varied(asked)
    whole = _with_examples(asked)
    odd = odd_names(read, domain, (lambda k: _mechanism(asked, k)) if stated and not varied else None)
    names = _decided(asked, odd.names, read)
    alone = not stated and len(read.labels) < 2  # which the design refuses in its own words
    collected = Collected(read.labels, read.counts) if alone else within(read, domain, names)
    notes = [
        *_read_from(asked, sources, read),
        *rows_left_out(read.dropped, 0 if asked.by else read.merged),  # groups repeat each category
        *read.notes,
        *_left_out(collected, names, asked.leave_out, odd.names),
        *_counted_though(odd.names, names),
        *collected.notes,
    ]
    settings = ReportSettings(names=names, design=asked.design)
    if stated:
        mechanism = _mechanism(whole, collected.k)
        known: Any = {AllSeen: "seen", Size: "size"}.get(type(domain), "listed")
        kind: Any = next(name for name in ("epsilon", "p", "redraw") if getattr(whole, name) is not None)
        settings = dataclasses.replace(settings, domain=known, privacy_kind=kind)
        few = () if varied else too_few(read, names, domain, lambda k: _mechanism(asked, k))
        collected = dataclasses.replace(collected, too_few=few)
        used = ReportsInUse(read, collected, mechanism, settings)
    else:
        counted = _counted(whole, design, read, collected)
        notes += counted.notes
        if not counted.channel.identified and not varied:
            raise Unclear(
                "As stated, different shares give the same reports, so nobody can estimate them: check the chances"
            )
        used = ReportsInUse.of_counted(read, collected, counted, settings)
    results, notes = _analysed(asked, used, sources, notes)
    return results, [*notes, *_reported(results.used)]


def _analysed(
    asked: argparse.Namespace, used: ReportsInUse, sources: Sequence[Source], notes: Sequence[str]
) -> tuple[Results, list[str]]:
    """The analysis of all people and by group, with the test of k-RR's epsilon; and the notes."""
    from rr_core.io.people import read_people
    from rr_core.io.report_results import Results
    from rr_core.io.reports import read_again

    used, notes = dataclasses.replace(used, name=", ".join(plain(one.name) for one in sources[:3])), [*notes]
    if any(_beside(asked)):
        if asked.weights is not None and asked.inclusion is not None:
            raise Unclear("Name a column of weights or one of inclusion probabilities, not both")
        weighing, inverse = asked.weights or asked.inclusion, asked.inclusion is not None
        stated, labels = _columns_of(_varied(asked)), tuple(map(str, used.collected.labels))
        # Without groups, those who answered alike are one.
        by = asked.by or list(dict.fromkeys(stated))
        names, bits = used.settings.names, used.unary is not None
        people = read_people(
            sources, used.reports, labels, names, by, weighing, inverse=inverse, bits=bits, stated=stated
        )
        notes = [*read_again(notes, weighted=weighing is not None), *people.notes]
        if _varied(asked):
            used = dataclasses.replace(used, protocol=_of_groups(asked, people, used.k, labels))
        used = used.with_people(people, tuple(asked.by), weighing, inverse)
    results = Results.of(used, asked.level, asked.users)
    if used.k_rr is not None and used.k <= _MOST_TESTED:
        test = fit_test(results.analysis.counts, used.k_rr, _TESTED)
        results = dataclasses.replace(results, simulated=Simulations(test))
    return results, notes


def _said(results: Results, notes: Sequence[str]) -> list[str]:
    """What the page says first; then the notes, and where shares of the table lie outside their intervals."""
    from rr_core.io import report_sentences as sentences

    fit = sentences.fit(results)[:1]
    answer = f"{sentences.heading(results)} {sentences.answer(results)}"
    said = [answer, sentences.advice(results)[0], *filter(None, [sentences.whose(results)])]
    said += [*sentences.luck(results, simultaneous=False), *sentences.few_reports(results)]
    said += sentences.groups(results)
    analyses = [results.analysis] if results.survey is None else results.survey.analyses
    outside = sentences.outside(analyses, [one.leading for one in analyses])
    return [*(fit + said if results.rejects_epsilon else said + fit), *notes, *outside]


def _varied(asked: argparse.Namespace) -> dict[str, str | dict[str, str]]:
    """What differs by group, in the order of the options: the column of it, or the text for each group."""
    varied: dict[str, str | dict[str, str]] = {}
    for name in (*_BY_GROUP, "table"):
        column, text = getattr(asked, f"{name}_by", None), getattr(asked, name)
        if column is not None and text is not None:
            raise Unclear(f"--{name} and --{name}-by say the same thing: leave one out")
        if column is not None:
            varied[name] = column
        elif text is not None and name != "forced" and "=" in text and not Path(text).exists():
            if not asked.by:
                raise Unclear(f"--{name} “{plain(text)}” is for groups: name their column with --by")
            varied[name] = _pairs(text, f'--{name} "north=…,south=…"')
    return varied


def _with_examples(asked: argparse.Namespace) -> argparse.Namespace:
    """The same with a number in place of each that differs by group: how reports are counted does not depend on it."""
    likes = {one.key: one.example for one in designs.numbers_of(DESIGNS[asked.design], _encoding(asked))}
    likes |= {"epsilon": "1"} | ({"p": "0.9", "redraw": "0.5"} if asked.design == "k_rr" else {})
    examples = {name: likes.get(name) for name in _varied(asked)}
    if isinstance(tables := _varied(asked).get("table"), dict):
        examples["table"] = next(iter(tables.values()))
    return argparse.Namespace(**{**vars(asked), **examples})


def _encoding(asked: argparse.Namespace) -> str:
    """The kind of unary encoding, a key of ENCODINGS."""
    coins = any(getattr(asked, name) or getattr(asked, f"{name}_by") for name in ("f", "p", "q"))
    return "fpq" if coins else asked.encoding or "rappor"


def _columns_of(varied: Mapping[str, str | dict[str, str]]) -> list[str]:
    """The columns of what differs by group."""
    columns = list[str]()
    for name, where in varied.items():
        if isinstance(where, str):
            columns += (
                _pairs(where, '--forced-by "yes=COLUMN,no=COLUMN"').values() if name == "forced" else [where]
            )
    return columns


def _of_groups(
    asked: argparse.Namespace, people: People, k: int, reports: Sequence[str]
) -> Collecting | ByGroup:
    """What made the reports of each group, by what was stated of it."""
    design, varied = DESIGNS[asked.design], _varied(asked)
    columns, names = _columns_of(varied), list[str]()
    told: list[list[tuple[str, ...]]] = [[] for _ in people.groups]
    for name, where in varied.items():
        if isinstance(where, dict):
            names.append(f"option --{name}")
            for texts, group in zip(told, people.groups, strict=True):
                texts.append((where.get(group, ""),))
            continue
        own = _pairs(where, "").values() if name == "forced" else [where]
        names += [f"column “{plain(column)}”" for column in own]
        for texts, of_file in zip(told, people.stated or (), strict=True):
            texts += [of_file[columns.index(column)] for column in own]
    stated = Stated(tuple(names), tuple(map(tuple, told)))

    whole = _with_examples(asked)

    def make(texts: Sequence[str]) -> Collecting:
        if design.key == "table":
            return _by_table(texts[0], reports, np.zeros(len(reports), dtype=np.int64), in_order=True).channel
        if design.key == "forced":
            held = dict(zip(_pairs(asked.forced_by, ""), texts, strict=True))
            return designs.made_of(design, k, [held.get(label, "0") for label in reports])
        if design.key == "k_rr":
            return designs.made_of(design, k, texts, *varied)
        given = {**vars(whole), **dict(zip(varied, texts, strict=True))}
        numbers = designs.numbers_of(design, _encoding(asked))
        return designs.made_of(design, k, [given[one.key] for one in numbers], encoding=_encoding(asked))

    return designs_of(people.groups, stated, make)


def _sources(path: str, sheet: str | None) -> list[Source]:
    """The file at this path, or the parts of one table: the files in a folder, or the tables in a ZIP archive."""
    from rr_core.io import Source
    from rr_core.io.decoding import parts_of_zip

    if not Path(path).is_dir():
        file = Source.of(path, sheet)
        return [Source(name, data, sheet) for name, data in parts_of_zip(bytes(file.data)).items()] or [file]
    # Programs that write parts put marks beside them, as _SUCCESS and .part-0.crc.
    files = [one for one in sorted(Path(path).iterdir()) if one.is_file() and one.name[0] not in "._"]
    if not files:
        raise Unclear(f"The folder {path} has no file in it (folders in it are not looked into)")
    return [Source.of(one, sheet) for one in files]


def _columns(asked: argparse.Namespace, sources: Sequence[Source]) -> dict[str, Any]:
    """Arguments of `read_reports`; refuses to choose between columns that may all hold the reports."""
    from rr_core.io.columns import counts_beside, likely_category

    options: dict[str, Any] = {"has_header": asked.header}
    if asked.count is not None:
        return options | {"layout": "counts", "category": asked.column, "count": asked.count}
    preview = _preview(asked, sources)
    if asked.column is None:
        # Else reading refuses it, in better words.
        if preview.layout == "counts" or not counts_beside(preview, preview.category):
            _one_column(asked, preview)
        beside = [i for i, name in enumerate(preview.columns) if name in _beside(asked)]
        if preview.category in beside:  # which says of whom
            if preview.count is None and (cross := counts_beside(preview, preview.category)):
                raise Unclear(cross)
            options["category"] = likely_category(preview, preview.count, beside)
            options |= {} if preview.count is None else {"layout": "counts", "count": preview.count}
        return options
    options["category"] = asked.column
    # Whom a person belongs to, or stands for, is no number of reports.
    if preview.count is not None and preview.columns[preview.count] in _beside(asked):
        options["layout"] = "values"
    return options


def _read_from(asked: argparse.Namespace, sources: Sequence[Source], read: Reports) -> list[str]:
    """A sentence on the column of the reports, where nobody named it and it could be another."""
    taken = (*_beside(asked), read.category_name, read.count_name)
    others = [one for one in _preview(asked, sources).columns if one not in taken]
    if asked.column is not None or not others or not read.has_header:
        return []
    names = ", ".join(f"“{plain(one, 40)}”" for one in others[:6])
    return [
        f"The reports were read from the column “{plain(read.category_name, 40)}”, not from {names}: else say --column."
    ]


def _preview(asked: argparse.Namespace, sources: Sequence[Source]) -> Preview:
    """What the first part that has rows seems to be."""
    from rr_core.io import inspect_reports
    from rr_core.io.decoding import NoRows

    for source in sources[:-1]:
        with contextlib.suppress(NoRows):
            return inspect_reports(source, has_header=asked.header)
    return inspect_reports(sources[-1], has_header=asked.header)


def _decided(asked: argparse.Namespace, odd: Sequence[Odd], read: Reports) -> Names:
    """What is done with odd names, as the options say; two that may be one answer are not decided on unasked."""
    from rr_core.io import decisions_on
    from rr_core.io.labels import TRUTHS

    there = {*read.labels.tolist()}
    for option, wanted in (("keep", asked.keep), ("leave-out", asked.leave_out)):
        for name in wanted:
            if name not in there:
                raise Unclear(f"--{option} “{plain(name)}”: the reports have no such name")
    odd = [one for one in odd if one.label not in (*asked.keep, *asked.leave_out)]
    # What is not on a list would else be left out, and true and 1 have no second meaning beside one another.
    sure = asked.list_of_categories is not None or {one.casefold() for one in there} <= TRUTHS.keys()
    for one in odd:
        if asked.merge is None and one.reason == "nearly the same" and not (sure and one.by_default):
            raise Unclear(
                f"“{plain(one.label)}” and “{plain(one.twin or '')}” may be one answer: say --merge to count such names "
                "together, or --no-merge to keep them apart"
            )
    lists = [one for one in odd if one.reason == "several answers"]
    if lists and asked.design == "k_rr":
        several = some([f"“{plain(one.label)}” ({one.reports:,})" for one in lists], 12)
        raise Unclear(
            f"Several answers in one cell have {several}, and a report is one answer: give a column of 0 and 1 for each, "
            "with --design unary; or say of each list --leave-out NAME, or --keep NAME where people chose such lists"
        )
    names = decisions_on(
        [one for one in odd if (one.by_default if one.twin is None or asked.merge is None else asked.merge)]
    )
    return dataclasses.replace(names, left_out=(*names.left_out, *asked.leave_out))


def _beside(asked: argparse.Namespace) -> tuple[str, ...]:
    """The columns of groups and of weights, and of what differs by group."""
    return *asked.by, *_columns_of(_varied(asked)), asked.weights or "", asked.inclusion or ""


def _one_column(asked: argparse.Namespace, preview: Preview) -> None:
    from rr_core.io.reports import rivals
    from rr_core.io.unary_reports import seems_bits

    some = rivals(preview, _beside(asked))
    if some and all(seems_bits(preview, i) for i in some):
        raise Unclear(
            "Several columns hold 0 and 1, or yes and no, as unary encoding has them: say --design unary, or one of them "
            f"with --column “{plain(preview.columns[some[0]])}”"
        )
    if some:
        names = " or ".join(f"--column “{plain(preview.columns[i])}”" for i in some[:6])
        numbers = [preview.columns[i] for i in some if preview.numeric[i] and not preview.hints[i].again]
        counts = f"; or --count “{plain(numbers[0])}” if its numbers are counts" if numbers else ""
        raise Unclear(f"Several columns may hold the reports: say which one, with {names}{counts}")


def _mechanism(asked: argparse.Namespace, k: int) -> RandomizedResponse:
    """k-RR of k categories by what was stated of it."""
    stated = {name: text for name in ("epsilon", "p", "redraw") if (text := getattr(asked, name)) is not None}
    if len(stated) != 1:
        raise Unclear("Say how private the reports are: --epsilon E, --p P or --redraw R, one of them")
    ((name, text),) = stated.items()
    return designs.k_rr(k, name, text)


def _counted(asked: argparse.Namespace, design: Design, read: Reports, collected: Collected) -> Counted:
    labels, counts, in_order = designs.by_number(tuple(map(str, collected.labels)), collected.counts)
    in_order = in_order or read.layout == "counts"
    if design.chances is not None:
        missing = [f"--{one.key}" for one in design.parameters if getattr(asked, one.key) is None]
        if missing:
            raise Unclear(f"{design.name}: say {' and '.join(missing)}")
        values = [designs.parameter(one, getattr(asked, one.key)) for one in design.parameters]
        positive = asked.yes or (designs.likely_yes(labels) if design.truths is None else None)
        if design.positive and positive is None and len(labels) == 2:
            raise Unclear(
                f"{design.positive} Say it with --yes “{plain(labels[0])}” or --yes “{plain(labels[1])}”"
            )
        return designs.of_yes_and_no(design, labels, counts, values, positive)
    if design.key == "forced":
        texts = _forced(asked, labels)
        unreported = np.zeros(len(texts) - len(labels), dtype=np.int64)
        return designs.of_forced(tuple(texts), np.concatenate([counts, unreported]), list(texts.values()))
    if asked.table is None:
        raise Unclear("Say the chance of each report for each truth: --table FILE")
    return _by_table(asked.table, labels, counts, in_order=in_order)


def _by_table(path: str, labels: Sequence[str], counts: NDArray[np.int64], *, in_order: bool) -> Counted:
    from rr_core.io.channel_file import read_matrix_file

    file = Path(path)
    table = read_matrix_file(file.read_bytes(), file.name)
    counted = designs.of_table(labels, counts, table.matrix, table.truths, table.reports, in_order=in_order)
    return dataclasses.replace(counted, notes=(*table.notes, *counted.notes))


def _forced(asked: argparse.Namespace, labels: Sequence[str], *, alone: bool = False) -> dict[str, str]:
    """How often the die asked for each answer, as written: for these and, unless they are ``alone``, for others; 0
    where that differs by group, in columns named by answer."""
    option, each = ("--forced", "1/6") if asked.forced_by is None else ("--forced-by", "COLUMN")
    text = asked.forced if asked.forced_by is None else asked.forced_by
    like = f'{option} "{",".join(f"{label}={each}" for label in labels[:2])}"'
    if text is None:
        raise Unclear(f"Say how often the die asked for each answer: {like}")
    held = _pairs(text, like)
    others = [name for name in held if name not in labels]
    if others and (alone or asked.forced_by is not None or not held.keys() >= {*labels}):
        answers = ", ".join(plain(label, 20) for label in labels[: designs.MOST_FORCED])
        raise Unclear(f"No answer is called “{plain(others[0])}”, they are {answers}: write {like}")
    if asked.forced_by is not None:
        return dict.fromkeys(labels, "0")
    return {name: held.get(name, "") for name in (*labels, *others)}


def _pairs(text: str, like: str) -> dict[str, str]:
    """Names and what is written behind each; a name may have a comma in it, as crossed groups do."""
    held, name_so_far = dict[str, str](), ""
    for part in re.split(r",(?!\d+(?:,|$))", text):  # 0,25 is a number
        name, sign, value = f"{name_so_far}{part}".rpartition("=")
        name_so_far = "" if sign else f"{name_so_far}{part},"
        if sign:
            held[name.strip()] = value.strip()
    if name_so_far:
        raise Unclear(f"“{plain(name_so_far[:-1])}” is no name with its value: write {like}")
    return held


def _left_out(collected: Collected, names: Names, wanted: Sequence[str], odd: Sequence[Odd]) -> list[str]:
    why = {one.label: f": {one.reason}" for one in odd if one.twin is None and one.label not in wanted}
    notes = [
        f"Left out: “{plain(name)}” ({count:,}){why.get(name, '')}." for name, count in collected.outside[:20]
    ]
    if any(name in names.left_out and name not in wanted for name, _ in collected.outside):
        notes.append("A name that is left out, but is a category, is counted with --keep NAME.")
    for one, other in names.counted_as[:20]:
        alike = unicodedata.normalize("NFKC", one) == unicodedata.normalize("NFKC", other)
        notes.append(
            f"“{plain(one)}” is counted as “{plain(other)}”{', the same in other characters' if alike else ''}."
        )
    return notes


def _counted_though(odd: Sequence[Odd], names: Names) -> list[str]:
    """Sentences about names that are counted as categories, though they look like none."""
    some = [one for one in odd if one.twin is None and one.label not in names.left_out]
    return [
        f"“{plain(one.label)}” ({one.reports:,}) is counted as a category, though it looks odd ({one.reason}): if it is "
        "none, say --leave-out NAME."
        for one in some[:20]
    ]


def _reported(used: ReportsInUse) -> list[str]:
    """A sentence on the reports, where the table has no place for them."""
    if used.counts_by_category is not None:
        return []
    pairs = zip(used.collected.labels[:20], used.collected.counts.tolist(), strict=False)
    each = ", ".join(f"{plain(name)} ({number:,})" for name, number in pairs)
    return [f"The column reports is empty, for these categories are not what people reported: {each}."]


def _unary(asked: argparse.Namespace) -> tuple[Results, list[str]]:
    from rr_core.io import Collected, rows_left_out
    from rr_core.io.report_results import ReportSettings, ReportsInUse
    from rr_core.io.unary_reports import NO_GROUPS_OF_ONES, read_unary

    layout: Layout | None = "counts" if asked.count is not None else None
    if asked.column is not None and layout is None:
        layout = "values"
    sources = _sources(asked.file, asked.sheet)
    if len(sources) > 1:
        raise Unclear(
            f"Unary encoding is read from one file, and {asked.file} has {len(sources):,}: put them together"
        )
    read = read_unary(sources[0], layout, asked.column, asked.count, asked.header, apart=_beside(asked))
    if read.bits is None and any(_beside(asked)):
        raise Unclear(NO_GROUPS_OF_ONES)
    n, k = read.n if read.n is not None else asked.reports, len(read.labels)
    if n is None:
        raise Unclear(
            "The file has only the ones of each category: say how many reports there are with --reports N"
        )
    whole, encoding = _with_examples(asked), _encoding(asked)
    coins = [getattr(whole, name) for name in ("f", "p", "q")]
    if any(coins) and (whole.epsilon or asked.encoding):
        raise Unclear("--f, --p and --q say all of RAPPOR: leave out --epsilon and --encoding")
    if any(coins) and not all(coins):
        raise Unclear("RAPPOR has three chances: say --f, --p and --q")
    if not (any(coins) or whole.epsilon):
        raise Unclear("Say how private the reports are: --epsilon E, or --f, --p and --q")
    protocol = designs.unary_encoding(k, encoding, coins if any(coins) else [whole.epsilon])
    if n < read.support.max():
        most = plain(read.labels[int(read.support.argmax())])
        raise Unclear(
            f"“{most}” has {int(read.support.max()):,} ones, more than there are reports: mend --reports"
        )
    collected = Collected(np.array(read.labels, dtype=object), read.support)
    settings = ReportSettings(design="unary")
    used = ReportsInUse(read.reports, collected, protocol, settings, unary=read, stated_n=n)
    about = rows_left_out(read.reports.dropped, 0 if asked.by else read.reports.merged)
    return _analysed(asked, used, sources, [*about, *read.reports.notes])


def _add_plan(commands: Any) -> None:
    plan = commands.add_parser("plan", help="how many people one share takes")
    keys = [one.key for one in designs.OF_ONE_SHARE]
    plan.add_argument("--design", required=True, type=_design, choices=keys, help="how people are asked")
    for name in ("p", "p2", "prevalence", "draws", "forced", "epsilon", "encoding", "f", "q"):
        plan.add_argument(f"--{name}", **_OPTIONS[name])
    share = "the share that you expect, of the first group where there are two: 0.1"
    plan.add_argument("--share", required=True, dest="assumed", metavar="S", help=share)
    plan.add_argument("--half-width", metavar="H", help="of the 95%% interval: 0.03")
    plan.add_argument("--power", metavar="P", help="chance that a test at level 5%% sees it: 0.8")
    plan.add_argument("--difference", metavar="D", help="between two groups, with --power: 0.05")


def _plan(given: dict[str, Any]) -> None:
    """Print people by share: of the share that was stated, of half and twice as much, and of the one that takes most."""
    width, power, difference = (given[name] is not None for name in ("half_width", "power", "difference"))
    if width == power or (width and difference):
        raise Unclear("Say --half-width H, or --power P, or --power P with --difference D")
    goal: GoalKey = "half_width" if width else "difference" if difference else "power"
    if given["design"] == "unary" and (given["f"] or given["q"]):
        given["encoding"] = "fpq"
    forced = given.pop("forced")
    if given["design"] == "forced":
        of_plan = argparse.Namespace(forced=forced, forced_by=None)
        chances = _forced(of_plan, ("no", "yes"), alone=True)
        given["no"], given["yes"] = chances["no"], chances["yes"]
    settings = ShareSettings(goal=goal, **{name: text for name, text in given.items() if text is not None})
    missing = [f"--{one.key}" for one in settings.of_design if not getattr(settings, one.key)]
    if missing and settings.design != "forced":
        raise Unclear(f"{DESIGNS[settings.design].name}: say {' and '.join(missing)}")
    curve = share_curve(*settings.understood())
    if math.isinf(curve.needed):
        raise Unclear("Not even a trillion people are enough: the reports hardly depend on the truth")
    rows = [(curve.share, curve.needed), *curve.others, *([curve.hardest] if curve.hardest else [])]
    people = ["" if math.isinf(needed) else int(needed) for _, needed in rows]
    Recomputed({}, {"share": [share for share, _ in rows], "people": people}).write(sys.stdout)


def run() -> None:
    """The console script."""
    sys.exit(main())


if __name__ == "__main__":
    run()
