"""The sections about layers: where the time goes, the slowest ones as bars, and the whole table."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cuvil_edge.profile.records import INSTRUCTIONS
from cuvil_edge.report.markup import Child, Markup, tag
from cuvil_edge.report.model import Group, LayerRow, Report
from cuvil_edge.report.text import (
    bytes_text,
    count_text,
    giga_text,
    layers_text,
    per_flop_text,
    percent_text,
    shapes_text,
    short_layers_text,
    time_text,
)

SLOWEST = 20
_NAMED_OPS = 6


def shares_section(report: Report) -> Markup | None:
    """One bar with the ops, the gaps and the profiler of the median run; their sum is the wall time, in nanoseconds."""
    parts = _run_parts(report) if report.closure is not None else _instruction_parts(report)
    total = sum(value for _, value, _ in parts)
    if not total:
        return None
    segments = [
        tag(
            "span",
            class_=f"segment {c}",
            style=f"width:{100 * v / total:.3f}%",
            title=f"{n}: {percent_text(v / total, 2)}",
        )
        for n, v, c in parts
        if v > 0
    ]
    head = "Where the time goes" if report.is_timed else "Where the instructions go"
    return tag(
        "section",
        tag("h2", head),
        tag("p", _closure_text(report), class_="lead"),
        tag("div", segments, class_="stack", role="img", aria_label=head),
        tag(
            "div",
            tag("table", tag("tbody", (_key_row(report, *part, total) for part in parts)), class_="keys"),
            _sum_table(report),
            class_="columns",
        ),
        class_="card",
    )


def _key_row(report: Report, name: str, value: int, class_: str | None, total: int) -> Markup:
    swatch = tag("span", class_=f"swatch {class_}", aria_hidden="true") if class_ else None
    return tag(
        "tr",
        tag("td", swatch, name),
        tag("td", f"{value:,} ns" if report.is_timed else f"{value:,}", class_="num"),
        tag("td", percent_text(value / total if total else None, 2), class_="num"),
    )


def _sum_table(report: Report) -> Markup | None:
    """Layers + gaps + profiler = wall time, in whole nanoseconds; with what the gaps are made of."""
    if report.closure is None:
        return None
    run = report.closure.shown_run
    parts = (
        ("all layers", run.layers_ns),
        ("+ gaps between layers", run.gaps_ns),
        ("+ profiler", run.profiler_ns),
    )
    rows = [_key_row(report, name, value, None, run.wall_ns) for name, value in parts]
    total = _key_row(report, "= wall time", run.wall_ns, None, run.wall_ns)
    return tag("table", tag("tbody", rows), tag("tfoot", total), class_="keys sum")


def _closure_text(report: Report) -> str:
    closure = report.closure
    if closure is None:
        return "Executed instructions of one run, by op."
    text = f"Run {closure.shown + 1} of {len(closure.runs)}, the median one."
    text += " Layers, gaps and profiler add up to the wall time."
    if closure.slowdown is not None:
        text += (
            f" Without the profiler a run takes {time_text(closure.unprofiled_median_ns)}, "
            f"with it {time_text(closure.profiled_median_ns)} ({closure.slowdown:+.1%})."
        )
    return text


def _by_op(report: Report, weights: Sequence[int]) -> list[tuple[str, int, str]]:
    """(op, sum, class) of the ops with the largest sums, and the rest as one."""
    sums: dict[str, int] = {}
    for row, weight in zip(report.layers, weights, strict=True):
        sums[row.op] = sums.get(row.op, 0) + weight
    ordered = sorted(sums.items(), key=lambda item: (-item[1], item[0]))
    parts = [(op, value, f"op{i}") for i, (op, value) in enumerate(ordered[:_NAMED_OPS])]
    if rest := ordered[_NAMED_OPS:]:
        parts.append((f"{len(rest)} other ops", sum(value for _, value in rest), "op-rest"))
    return parts


def _run_parts(report: Report) -> list[tuple[str, int, str]]:
    closure = report.closure
    if closure is None:
        return []
    run = closure.shown_run
    ops = _by_op(report, report.profile.step_duration_ns[closure.shown])
    return [*ops, ("gaps between layers", run.gaps_ns, "gap"), ("profiler", run.profiler_ns, "profiler")]


def _instruction_parts(report: Report) -> list[tuple[str, int, str]]:
    counts = report.profile.step_counters.get(INSTRUCTIONS)
    return _by_op(report, counts) if counts else []


def bars_section(report: Report) -> Markup | None:
    """The layers with the largest shares, as bars."""
    rows = [row for row in report.hottest(SLOWEST) if row.share is not None]
    if not rows:
        return None
    most = max(row.share or 0.0 for row in rows) or 1.0
    items = [_bar(row, (row.share or 0.0) / most) for row in rows]
    together = percent_text(sum(row.share or 0.0 for row in rows), 0)
    noun = "time" if report.is_timed else "instructions"
    bounds = {row.bound for row in rows if row.bound}
    legend = [
        tag("span", tag("i", class_=f"swatch {b}"), f"bound by {b}") for b in ("compute", "memory") if b in bounds
    ]
    return tag(
        "section",
        tag("h2", "Slowest layers" if report.is_timed else "Layers with the most instructions"),
        tag("p", f"{len(rows)} of {len(report.layers)} steps take {together} of the {noun} in layers.", class_="lead"),
        tag("p", legend, class_="legend") if legend else None,
        tag("ol", items, class_="bars"),
        class_="card",
    )


def _bar(row: LayerRow, fill: float) -> Markup:
    amount = time_text(row.time.median) if row.time else count_text(row.instructions)
    details = [row.op, shapes_text(row.outputs[:1])]
    if row.flops_per_second:
        details.append(f"{giga_text(row.flops_per_second)} GFLOP/s")
    if row.limit_share is not None:
        details.append(f"{percent_text(row.limit_share, 0)} of the {row.bound} limit")
    return tag(
        "li",
        tag(
            "span",
            tag("b", short_layers_text(row)),
            tag("small", " · ".join(d for d in details if d)),
            class_="bar-name",
            title=f"{layers_text(row)} ({row.kernel})",
        ),
        tag(
            "span",
            tag("span", class_=f"fill {row.bound or 'unknown'}", style=f"width:{100 * fill:.2f}%"),
            class_="track",
        ),
        tag("span", amount, class_="num"),
        tag("span", percent_text(row.share), class_="num"),
    )


Cell = tuple[str, float | str | None]
"""What a cell shows, and what it sorts by."""
_TIME_COLUMNS: tuple[tuple[str, Callable[[LayerRow], Cell]], ...] = (
    ("Min", lambda r: _timed(r, "min")),
    ("Median", lambda r: _timed(r, "median")),
    ("Mean", lambda r: _timed(r, "mean")),
    ("p90", lambda r: _timed(r, "p90")),
    ("p99", lambda r: _timed(r, "p99")),
    ("Max", lambda r: _timed(r, "max")),
    ("Share", lambda r: (percent_text(r.share), r.share)),
    ("Cumulative", lambda r: (percent_text(r.cumulative_share), r.cumulative_share)),
    ("GFLOP/s", lambda r: (giga_text(r.flops_per_second), r.flops_per_second)),
    ("GB/s", lambda r: (giga_text(r.bytes_per_second), r.bytes_per_second)),
    ("Limit", lambda r: (percent_text(r.limit_share, 0), r.limit_share)),
)
_COUNT_COLUMNS: tuple[tuple[str, Callable[[LayerRow], Cell]], ...] = (
    ("Instructions", lambda r: (count_text(r.instructions), r.instructions)),
    ("Share", lambda r: (percent_text(r.share), r.share)),
    ("Cumulative", lambda r: (percent_text(r.cumulative_share), r.cumulative_share)),
    ("Per FLOP", lambda r: (per_flop_text(r.instructions_per_flop), r.instructions_per_flop)),
)
_WORK_COLUMNS: tuple[tuple[str, Callable[[LayerRow], Cell]], ...] = (
    ("FLOP", lambda r: (count_text(r.flops), r.flops)),
    ("Read", lambda r: (bytes_text(r.bytes_read), r.bytes_read)),
    ("Written", lambda r: (bytes_text(r.bytes_written), r.bytes_written)),
    ("Weights", lambda r: (bytes_text(r.weights_bytes), r.weights_bytes)),
    ("FLOP/byte", lambda r: (per_flop_text(r.flops_per_byte), r.flops_per_byte)),
    ("Calls", lambda r: (str(r.calls), r.calls)),
)
_TEXT_COLUMNS: tuple[tuple[str, Callable[[LayerRow], Cell]], ...] = (
    ("Op", lambda r: (r.op, r.op)),
    ("Bound by", lambda r: (r.bound or "-", r.bound)),
    ("Type", lambda r: (r.dtype, r.dtype)),
    ("In", lambda r: (shapes_text(r.inputs), shapes_text(r.inputs))),
    ("Out", lambda r: (shapes_text(r.outputs), shapes_text(r.outputs))),
    ("Kernel", lambda r: (r.kernel, r.kernel)),
)


def _timed(row: LayerRow, key: str) -> Cell:
    value = getattr(row.time, key) if row.time is not None else None
    return time_text(value), value


def table_section(report: Report) -> Markup:
    """Every step, with a filter and heads that sort; in the order of the plan without scripts."""
    numbers = (*(_TIME_COLUMNS if report.is_timed else _COUNT_COLUMNS), *_WORK_COLUMNS)
    before, after = ([name for name, _ in columns] for columns in (_TEXT_COLUMNS[:2], _TEXT_COLUMNS[2:]))
    head = tag(
        "tr",
        _head("#", is_number=True),
        (_head(name) for name in ("Layers", *before)),
        (_head(name, is_number=True) for name, _ in numbers),
        (_head(name) for name in after),
    )
    most = max((row.share or 0.0 for row in report.layers), default=0.0) or 1.0
    body = [_table_row(row, numbers, most) for row in report.layers]
    return tag(
        "section",
        tag("h2", "All steps"),
        tag(
            "p",
            tag("label", "Filter ", tag("input", type="search", id="filter", placeholder="name, op, kernel, shape")),
            tag("output", f"{len(body)} step{'s' if len(body) != 1 else ''}", id="shown", for_="filter"),
            class_="tools",
        ),
        tag(
            "div",
            tag("table", tag("thead", head), tag("tbody", body), id="steps"),
            class_="scroll",
            tabindex="0",
            role="region",
            aria_label="All steps",
        ),
        class_="card",
    )


def _head(name: str, *, is_number: bool = False) -> Markup:
    return tag("th", tag("button", name, type="button"), scope="col", class_="num" if is_number else None)


def _table_row(row: LayerRow, numbers: Sequence[tuple[str, Callable[[LayerRow], Cell]]], most: float) -> Markup:
    return tag(
        "tr",
        tag("td", str(row.index), class_="num", data_value=row.index),
        tag("th", short_layers_text(row), scope="row", title=layers_text(row)),
        (_text_cell(read(row)) for _, read in _TEXT_COLUMNS[:2]),
        (_number_cell(name, read(row), most) for name, read in numbers),
        (_text_cell(read(row)) for _, read in _TEXT_COLUMNS[2:]),
    )


def _text_cell(cell: Cell) -> Markup:
    return tag("td", cell[0])


def _number_cell(name: str, cell: Cell, most_share: float) -> Markup:
    text, value = cell
    sort_key = "" if value is None else repr(value)
    style = f"--fill:{100 * value / most_share:.1f}%" if name == "Share" and isinstance(value, float) else None
    return tag("td", text, class_="num share" if style else "num", data_value=sort_key, style=style)


def groups_section(report: Report) -> Markup | None:
    """Sums by op and by kernel, side by side."""
    if not report.layers:
        return None
    return tag(
        "div",
        _group_card("By op", report.by_op, report.is_timed),
        _group_card("By kernel", report.by_kernel, report.is_timed),
        class_="columns",
    )


def _group_card(title: str, groups: Sequence[Group], is_timed: bool) -> Markup:
    heads = ("Name", "Steps", "Time" if is_timed else "Instructions", "Share", "GFLOP/s" if is_timed else "FLOP")
    rows = [
        tag(
            "tr",
            tag("th", group.name, scope="row"),
            (tag("td", text, class_="num") for text in _group_cells(group, is_timed)),
        )
        for group in groups
    ]
    head = tag("tr", (tag("th", text, scope="col") for text in heads))
    table: Child = tag("table", tag("thead", head), tag("tbody", rows))
    return tag("section", tag("h2", title), tag("div", table, class_="scroll short", tabindex="0"), class_="card")


def _group_cells(group: Group, is_timed: bool) -> tuple[str, str, str, str]:
    if is_timed:
        return str(group.steps), time_text(group.time_ns), percent_text(group.share), giga_text(group.flops_per_second)
    return str(group.steps), count_text(group.instructions), percent_text(group.share), count_text(group.flops)
