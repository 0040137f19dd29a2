"""Page snapshots: two pages of the company's site before and after a change, if there is a Chromium."""

import shutil

VIEWPORT = {"width": 1280, "height": 720}
# Where the server looks for its browser.
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def fill(demo):
    """Captures the pages, compares them, and returns what was captured."""
    if not any(map(shutil.which, BROWSERS)):
        return "none: there is no Chromium (the Debian package chromium)"
    for path in ("/", "/cart"):
        _capture(demo, path)
    _approve(demo, _compare(demo, _capture(demo, "/")), "Nothing has changed")
    demo.site.redesign()
    _approve(demo, _compare(demo, _capture(demo, "/cart")), "The button has the new colour")
    home = _compare(demo, _capture(demo, "/"))
    return f"2 pages: two comparisons are approved, one is to be reviewed ({home['diff_percentage']:.1f} % differ)"


def _capture(demo, path):
    """Captures a page and returns the id of the snapshot."""
    body = {"url": demo.site.url + path, "viewport": VIEWPORT, "wait_for": "load"}
    snapshot = demo.api.post("/api/v1/snapshots", body)
    if snapshot["status"] != "completed":
        raise ValueError(f"{path} was not captured: {snapshot.get('error') or snapshot['status']}")
    return snapshot["id"]


def _compare(demo, snapshot):
    return demo.api.post(f"/api/v1/snapshots/{snapshot}/compare")


def _approve(demo, comparison, reason):
    demo.api.post(f"/api/v1/comparisons/{comparison['comparison_id']}/approve", {"reason": reason})
