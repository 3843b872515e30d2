#!/usr/bin/env python3
# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""screenshots.py SITE FOLDER [PAGE...]: writes the tops of pages of the site as PNG files, as headless Chromium shows
them at two widths, in light and dark, and says what a reader would notice in the whole page: something that is wider
than its room, a message in the console, text that has too little contrast, a request to a host. Without pages: the ones
below."""

import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from chromium import Browser  # noqa: E402

LIMIT = 900  # seconds for all pages
MOST = 3000  # pixels of the height of a page that a picture shows
# One of each sort: long tables, drawings, code, the reference of a header and of built-in types, lists of pages.
PAGES = (
    "index",
    "docs/README",
    "docs/start/ten-minutes",
    "docs/start/controller",
    "docs/concepts/informer",
    "docs/concepts/reconcile",
    "docs/guides/webhooks",
    "docs/operate/troubleshooting",
    "docs/reference/options",
    "docs/reference/metrics",
    "docs/benchmarks",
    "docs/install",
    "docs/decisions/0033-documentation-site",
    "api/index",
    "api/kgen/client/resource_client",
    "api/k8s/core/v1",
)
VIEWS = [(width, scheme) for width in (1280, 400) for scheme in ("light", "dark")]
# Elements that are wider than the window and in nothing that scrolls; and text whose contrast to the background is less
# than 3:1, which WCAG 2 asks of large text. Drawings are images, so what they show is not seen here.
LOOK = """(() => {
  const room = document.documentElement.clientWidth;
  const remembered = find => { const known = new Map(); const f = e => {
      if (!known.has(e)) known.set(e, find(e, f)); return known.get(e); }; return f; };
  const scrolls = remembered((e, again) => e !== null && e !== document.body &&
      (/auto|scroll|hidden/.test(getComputedStyle(e).overflowX) || again(e.parentElement)));
  const shown = e => e.getClientRects().length && getComputedStyle(e).visibility === "visible";
  const all = [...document.querySelectorAll(".page *")].filter(shown);
  const wide = all.filter(e => e.getBoundingClientRect().right > room + 1 && e.getBoundingClientRect().left < room &&
      getComputedStyle(e).position !== "fixed" && !scrolls(e.parentElement) &&
      !e.closest(".sidebar-drawer, .toc-drawer"));
  const numbers = color => (color.match(/[\\d.]+/g) || [0, 0, 0]).map(Number);
  const light = color => { const [r, g, b] = numbers(color).map(v => v / 255).map(
      v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const back = remembered((e, again) => { if (e === null) return "rgb(255, 255, 255)";
      const color = getComputedStyle(e).backgroundColor;
      return /rgba\\(.*, 0\\)|transparent/.test(color) ? again(e.parentElement) : color; });
  const contrast = e => { const a = light(getComputedStyle(e).color), b = light(back(e));
      return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05); };
  const text = all.filter(e => e.closest("article") && [...e.childNodes].some(
      node => node.nodeType === 3 && node.data.trim() && !node.data.startsWith("#")) && !e.closest(".headerlink"));
  const faint = text.filter(e => contrast(e) < 3);
  const name = e => e.outerHTML.slice(0, 90).replace(/\\s+/g, " ");
  const broken = [...document.images].filter(e => e.complete && !e.naturalWidth);
  return {width: document.documentElement.scrollWidth, room, wide: wide.slice(0, 3).map(name),
          faint: faint.slice(0, 3).map(name), broken: broken.map(name)};
})()"""


def look(browser, address, view, picture):
    """Writes one picture and returns the faults of the page."""
    width, scheme = view
    session = browser.open(width, scheme)
    browser.navigate(session, address)
    seen = browser.evaluate(session, LOOK)
    browser.screenshot(session, width, picture, MOST)
    faults = list(browser.complaints())
    local = ("file:", "data:")
    faults += [f"a request to {request}" for request in browser.requests() if not request.startswith(local)]
    if seen["width"] > seen["room"]:
        faults.append(f"the page is {seen['width']} pixels wide, of {seen['room']}")
    faults += [f"too wide: {each}" for each in seen["wide"]]
    faults += [f"too little contrast: {each}" for each in seen["faint"]]
    faults += [f"an image is missing: {each}" for each in seen["broken"]]
    browser.close_page()
    return faults


def main(arguments):
    site, folder = (pathlib.Path(argument).resolve() for argument in arguments[:2])
    pages, failures = arguments[2:] or PAGES, 0
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser("chromium", profile, LIMIT, ["--host-resolver-rules=MAP * ~NOTFOUND", "--hide-scrollbars"])
        try:
            for page in pages:
                file = site / f"{page}.html"
                if not file.is_file():
                    print(f"{page}: there is no such page")
                    failures += 1
                    continue
                for width, scheme in VIEWS:
                    picture = folder / f"{page.replace('/', '-')}-{width}-{scheme}.png"
                    for fault in look(browser, file.as_uri(), (width, scheme), picture):
                        print(f"{page}, {width} pixels, {scheme}: {fault}")
                        failures += 1
        finally:
            browser.close()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
