#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Draws outputs of `./dev bench shards`: one with gate=on, and one with gate=off.

    bench/plot_shards.py docs/shards.svg "filters=on.txt" "does not filter=off.txt"
    bench/plot_shards.py --table on.txt     the rows of a table in docs/shards.md

Each argument is what the server does, and the output. The panels above have the memory and the CPU time of a replica
against their number, the mean of all; the panels below have the namespaces that nobody wrote to while replicas were
suspended, killed and stopped. Needs only Python's standard library.
"""

import sys

from plot_soak import COLORS, GAP, HEIGHT, LEFT, TOP, WIDTH, Panel, nice

PROCESSES, OBJECTS, RSS, PSS, PEAK, CPU = 2, 5, 6, 7, 8, 9  # words of a line about a replica


def read(path):
    """Returns the means of the replicas by step and number of processes, the samples, and the faults."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file if line.strip()]
    steps = {}
    for row in lines:
        if row[0] in ("start", "idle", "updates") and row[PROCESSES].isdigit():
            steps.setdefault((row[0], int(row[PROCESSES])), []).append([float(word) for word in row[OBJECTS:]])
    means = {step: [sum(column) / len(rows) for column in zip(*rows)] for step, rows in steps.items()}
    samples = [(float(row[1]), float(row[2])) for row in lines if row[0] == "sample"]
    faults = [(float(row[1]), " ".join(row[2:-1])) for row in lines if row[0] == "fault"]
    return {"means": means, "samples": samples, "faults": faults}


def against_number(runs, x, step, column, title, unit):
    points = {label: sorted((processes, mean[column - OBJECTS]) for (name, processes), mean in run["means"].items()
                            if name == step) for label, run in runs}
    most = max(point[0] for each in points.values() for point in each)
    panel = Panel(x, TOP, title, most, nice(max(point[1] for each in points.values() for point in each) * 1.1), unit)
    for label, each in points.items():
        panel.line("the server " + label, each)
    panel.parts.append(f'<text x="{x + WIDTH / 2}" y="{TOP + HEIGHT + 34}" text-anchor="middle">processes</text>')
    return panel


def over_time(label, run, x, y, most):
    last = run["samples"][-1][0]
    panel = Panel(x, y, f"namespaces without a writer, the server {label}", last, most, "")
    path = " ".join(f"{x + WIDTH * second / last:.1f},{y + HEIGHT * (1 - min(count / most, 1)):.1f}"
                    for second, count in run["samples"])
    panel.parts.append(f'<polyline points="{path}" fill="none" stroke="{COLORS[1]}" stroke-width="1.5"/>')
    for number, (second, name) in enumerate(run["faults"]):
        at = x + WIDTH * second / last
        anchor = "end" if second > last * 0.8 else "start"
        panel.parts.append(f'<line x1="{at:.1f}" y1="{y}" x2="{at:.1f}" y2="{y + HEIGHT}" stroke="#bbb"/>')
        panel.parts.append(f'<text x="{at + (-3 if anchor == "end" else 3):.1f}" y="{y + 14 + 14 * (number % 5)}" '
                           f'text-anchor="{anchor}">{name}</text>')
    panel.parts.append(f'<text x="{x + WIDTH / 2}" y="{y + HEIGHT + 34}" text-anchor="middle">seconds</text>')
    return panel


def draw(runs):
    step = WIDTH + GAP + 20
    panels = [against_number(runs, LEFT, "start", RSS, "memory of a replica (RSS)", " MB"),
              against_number(runs, LEFT + step, "start", CPU, "CPU of a replica until the parts are even", " s"),
              against_number(runs, LEFT + 2 * step, "updates", CPU, "CPU of a replica for the updates", " s")]
    timed = [(label, run) for label, run in runs if run["samples"]]
    most = nice(max([1] + [count for _, run in timed for _, count in run["samples"]]) * 1.5)
    for i, (label, run) in enumerate(timed):
        panels.append(over_time(label, run, LEFT + i * step, TOP + HEIGHT + GAP + 20, most))
    body = "\n".join(part for panel in panels for part in panel.parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{LEFT + 3 * step}" height="{TOP + (2 if timed else 1) * (HEIGHT + GAP + 20)}" '
            f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def table(run):
    for processes in sorted({processes for _, processes in run["means"]}):
        start, idle, updates = (run["means"][(step, processes)] for step in ("start", "idle", "updates"))
        place = lambda column: column - OBJECTS
        print(f"| {processes} | {start[place(OBJECTS)]:,.0f} | {start[place(RSS)]:.0f} MB | {start[place(PSS)]:.0f} MB "
              f"| {updates[place(PEAK)]:.0f} MB | {start[place(CPU)]:.1f} s | {updates[place(CPU)]:.2f} s "
              f"| {idle[place(CPU)] / 0.3:.1f} % |")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--table":
        return table(read(sys.argv[2]))
    if len(sys.argv) < 3 or any("=" not in argument for argument in sys.argv[2:]):
        sys.exit(__doc__)
    runs = [argument.split("=", 1) for argument in sys.argv[2:]]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw([(label, read(path)) for label, path in runs]))


if __name__ == "__main__":
    main()
