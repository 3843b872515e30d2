#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Draws the output of `./dev bench soak csv=FILE`, several runs side by side.

    bench/plot_soak.py docs/soak.svg "10,000 pods=a.csv" "100,000 pods=b.csv"

Each run has a panel with its resident memory and its live memory over the updates, and below that a panel with the
latency of each piece that was written at 5,000 updates a second. Needs only Python's standard library.
"""

import csv
import sys

WIDTH, HEIGHT, LEFT, TOP, GAP = 420, 200, 70, 40, 60
COLORS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd"]


def read(path):
    with open(path, encoding="utf-8") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def nice(value):
    """Returns the smallest of 1, 2 and 5 times a power of ten that is not below the value."""
    power = 1.0
    while power * 10 < value:
        power *= 10
    return next(step * power for step in (1, 2, 5, 10) if step * power >= value)


def short(value):
    if value >= 1e6:
        return f"{value / 1e6:.3g}M"
    return f"{value / 1e3:.3g}k" if value >= 1e3 else f"{value:.3g}"


class Panel:
    def __init__(self, x, y, title, x_most, y_most, unit):
        self.x, self.y, self.x_most, self.y_most = x, y, x_most, y_most
        self.parts = [f'<text x="{x + WIDTH / 2}" y="{y - 12}" text-anchor="middle">{title}</text>',
                      f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#888"/>']
        self.names = 0
        for i in range(5):
            part = i / 4
            self.parts.append(f'<text x="{x + WIDTH * part}" y="{y + HEIGHT + 16}" text-anchor="middle">'
                              f"{short(x_most * part)}</text>")
            self.parts.append(f'<text x="{x - 6}" y="{y + HEIGHT * (1 - part) + 4}" text-anchor="end">'
                              f"{short(y_most * part)}{unit if i == 4 else ''}</text>")

    def line(self, name, points):
        color = COLORS[self.names]
        path = " ".join(f"{self.x + WIDTH * a / self.x_most:.1f},{self.y + HEIGHT * (1 - min(b / self.y_most, 1)):.1f}"
                        for a, b in points)
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{color}" stroke-width="1.5"/>')
        self.parts.append(f'<text x="{self.x + 8}" y="{self.y + 16 + 15 * self.names}" fill="{color}">{name}</text>')
        self.names += 1


def draw(runs):
    panels = []
    for column, (label, rows) in enumerate(runs):
        x = LEFT + column * (WIDTH + GAP + 20)
        updates = [row for row in rows if row["relists"] == 0]
        last = max(row["updates"] for row in rows)
        relists = int(max(row["relists"] for row in rows))
        # Relists come after the last update; each gets the width of a hundredth of them.
        place = lambda row: row["updates"] + row["relists"] * last / 100
        memory = Panel(x, TOP, f"{label}: memory over updates, then {relists} relists", place(rows[-1]),
                       nice(max(row["rss_mb"] for row in rows) * 1.2), " MB")
        memory.line("resident", [(place(row), row["rss_mb"]) for row in rows])
        memory.line("alive", [(place(row), row["alive_mb"]) for row in rows])
        panels.append(memory)
        timed = [row for row in updates if row["rate"] > 0]
        if timed:
            latency = Panel(x, TOP + HEIGHT + GAP, f"{label}: write to handler at 5,000 updates a second",
                            timed[-1]["updates"], nice(max(row["p999_ms"] for row in timed) * 1.2), " ms")
            for name, column_name in (("p50", "p50_ms"), ("p99", "p99_ms"), ("p99.9", "p999_ms")):
                latency.line(name, [(row["updates"], row[column_name]) for row in timed])
            panels.append(latency)
    width = LEFT + len(runs) * (WIDTH + GAP + 20)
    height = TOP + 2 * (HEIGHT + GAP)
    body = "\n".join(part for panel in panels for part in panel.parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" font-family="sans-serif" '
            f'font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def main():
    if len(sys.argv) < 3 or any("=" not in argument for argument in sys.argv[2:]):
        sys.exit(__doc__)
    runs = [argument.rsplit("=", 1) for argument in sys.argv[2:]]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw([(label, read(path)) for label, path in runs]))


if __name__ == "__main__":
    main()
