# Copyright The kgen Authors. SPDX-License-Identifier: Apache-2.0
"""Opens /debug in headless Chromium, at two widths, in light and dark, and checks what a reader would notice.

    browser.py CHROMIUM URL FOLDER

Prints one line for each fault, and exits with 1 if there is any: an error in the console, a request to another host, a
page or a table that is wider than its room, a page that does not update itself, or one that does not say so when it
cannot. FOLDER gets a screenshot of each view.
"""
import os
import pathlib
import sys
import tempfile
import urllib.parse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools"))

from chromium import Browser  # noqa: E402

# What the page looks like, as one object. The first list has elements that are wider than their room and do not scroll;
# `scrolling` is the number of tables that do.
LOOK = """(() => {
  const wide = [...document.querySelectorAll("body *")].filter(e => !e.closest(".scroll, pre, svg") &&
      e.getBoundingClientRect().right > document.documentElement.clientWidth + 1).map(e => e.outerHTML.slice(0, 80));
  const scrolling = [...document.querySelectorAll(".scroll")].filter(e => e.scrollWidth > e.clientWidth).length;
  return {wide, scrolling, width: document.documentElement.scrollWidth, room: document.documentElement.clientWidth,
          state: document.getElementById("state").textContent, sections: document.querySelectorAll("section").length,
          rows: document.querySelectorAll("tbody tr").length, lines: document.querySelectorAll("polyline").length,
          injected: window.injected === true, dark: getComputedStyle(document.body).backgroundColor};
})()"""


def look(browser, url, width, scheme, picture, last):
    """The faults of one view. The last one loses its connection at the end."""
    session = browser.open(width, scheme)
    browser.navigate(session, url)
    # The script asks for the page again: its second answer has arrived.
    asked = {}

    def is_update(event):
        if event.get("method") == "Network.requestWillBeSent" and event["params"].get("type") == "Fetch":
            asked[event["params"]["requestId"]] = True
        return event.get("method") == "Network.loadingFinished" and event["params"]["requestId"] in asked

    browser.wait(is_update)
    seen = browser.evaluate(session, LOOK)
    browser.screenshot(session, width, picture)
    faults = list(browser.complaints())
    for request in browser.requests():
        place = urllib.parse.urlsplit(request)
        if place.scheme != "data" and place.netloc != urllib.parse.urlsplit(url).netloc:
            faults.append("request to " + request)
    if seen["width"] > seen["room"]:
        faults.append(f"the page is {seen['width']} pixels wide, of {seen['room']}")
    faults += ["too wide: " + each for each in seen["wide"]]
    if seen["scrolling"]:
        faults.append(f"{seen['scrolling']} tables are wider than their room")
    if seen["injected"]:
        faults.append("a name ran as a script")
    if seen["state"] != "updates every 5 s":
        faults.append("it does not update itself: " + seen["state"])
    if seen["sections"] < 7 or seen["rows"] < 10 or seen["lines"] < 1:
        faults.append(f"it is incomplete: {seen}")
    light = sum(int(part) for part in seen["dark"].strip("rgb()").split(",")) > 3 * 128
    if light != (scheme == "light"):
        faults.append("the background is " + seen["dark"])
    if last:
        faults += lose_connection(browser, session)
    browser.close_page()
    return faults


def lose_connection(browser, session):
    """The faults of a page whose server is out of reach."""
    browser.call("Network.emulateNetworkConditions", session, offline=True, latency=0, downloadThroughput=0,
                 uploadThroughput=0)
    browser.wait(lambda e: e.get("method") == "Network.loadingFailed")
    state = browser.evaluate(session, "document.getElementById('state').textContent")
    return [] if state.startswith("not updated for ") else ["without a server its state is: " + state]


def main():
    chromium, url, folder = sys.argv[1:]
    faults = []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(chromium, profile)
        views = [(width, scheme) for width in (400, 1280) for scheme in ("light", "dark")]
        try:
            for view in views:
                width, scheme = view
                picture = os.path.join(folder, f"debug-{width}-{scheme}.png")
                faults += [f"{width} {scheme}: {each}" for each in
                           look(browser, url, width, scheme, picture, last=view == views[-1])]
        finally:
            browser.close()
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
