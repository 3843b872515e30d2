#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""search.py SITE WORDS=PAGE...: searches in the site with headless Chromium, from its files and without a network, and
fails unless PAGE is among the results."""

import html
import pathlib
import re
import subprocess
import sys
import tempfile
import urllib.parse


def results(site, words):
    """The pages that a search finds, in order."""
    url = f"{(site / 'search.html').as_uri()}?{urllib.parse.urlencode({'q': words})}"
    with tempfile.TemporaryDirectory() as profile:
        command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
        # No host can be reached, so a search that needs one finds nothing.
        command += [f"--user-data-dir={profile}", "--host-resolver-rules=MAP * ~NOTFOUND"]
        command += ["--virtual-time-budget=20000", "--dump-dom", url]
        page = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout
    found = page[page.find('id="search-results"') :]
    links = [html.unescape(link) for link in re.findall(r'<li[^>]*>\s*<a href="([^"]*)"', found)]
    return [re.split(r"[?#]", link)[0] for link in links]


def main(arguments):
    site, failures = pathlib.Path(arguments[0]).resolve(), 0
    for case in arguments[1:]:
        words, _, page = case.partition("=")
        found = results(site, words)
        if page not in found:
            print(f"a search for '{words}' does not find {page} but {found[:10]}")
            failures += 1
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
