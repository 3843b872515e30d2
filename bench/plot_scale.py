#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Draws outputs of `./dev bench scale processes=N`, against the number of processes.

    bench/plot_scale.py docs/scale.svg "filters=n1.txt,n2.txt,n4.txt" "does not filter=n1.txt,n2_all.txt,n4_all.txt"

Each argument is what the server does, and the outputs. The panels have the memory and the CPU time of a process after
the sync. Needs only Python's standard library.
"""

import sys

from plot_soak import GAP, HEIGHT, LEFT, TOP, WIDTH, Panel, nice

USER, SYSTEM, RSS = 4, 5, 7  # words of a line


def read(path):
    """Returns the number of processes, and the means of what one of them used."""
    with open(path, encoding="utf-8") as file:
        lines = [line.split() for line in file]
    sync = [line for line in lines if line and line[0] == "sync"]
    mean = lambda *columns: sum(float(row[c]) for row in sync for c in columns) / len(sync)
    return {"processes": len(sync), "rss": mean(RSS), "sync": mean(USER, SYSTEM)}


def draw(runs):
    most = max(point["processes"] for _, points in runs for point in points)
    panels = []
    for i, (key, title, unit) in enumerate([("rss", "memory of a process after the sync", " MB"),
                                            ("sync", "CPU of a process for the sync", " s")]):
        top = nice(max(point[key] for _, points in runs for point in points) * 1.1)
        panel = Panel(LEFT + i * (WIDTH + GAP + 20), TOP, title, most, top, unit)
        for label, points in runs:
            panel.line("the server " + label, [(point["processes"], point[key]) for point in points])
        panel.parts.append(f'<text x="{panel.x + WIDTH / 2}" y="{panel.y + HEIGHT + 34}" text-anchor="middle">'
                           "processes</text>")
        panels.append(panel)
    width = LEFT + len(panels) * (WIDTH + GAP + 20)
    body = "\n".join(part for panel in panels for part in panel.parts)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + HEIGHT + GAP}" '
            f'font-family="sans-serif" font-size="11">\n<rect width="100%" height="100%" fill="white"/>\n{body}\n</svg>\n')


def main():
    if len(sys.argv) < 3 or any("=" not in argument for argument in sys.argv[2:]):
        sys.exit(__doc__)
    runs = [argument.split("=", 1) for argument in sys.argv[2:]]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write(draw([(label, [read(path) for path in paths.split(",")]) for label, paths in runs]))


if __name__ == "__main__":
    main()
