"""Status: monitors of the company's site, and its status page with incidents and maintenance.

The server observes monitors itself, so their history begins with the demo.
"""

from story import DAY_SECONDS, NAME, iso

INTERVAL_SECONDS = 10
HEARTBEAT_SECONDS = 60
SUBDOMAIN = "harbor-pine"


class Status:
    """The monitors and the status page of the company."""

    def __init__(self, demo):
        self.api = demo.api
        self.story = demo.story
        self.site = demo.site
        self.folder = demo.folder

    def fill(self):
        """Makes the monitors and the page, and returns what was made."""
        host = {"host": "127.0.0.1", "port": self.site.port}
        shop = self._http("shop", "/", body_contains="Sleep outdoors")
        checkout = self._http("checkout", "/health/checkout", degraded_after_ms=250)
        search = self._http("search", "/health/search")
        balancer = self._monitor({"name": "lb-eu", "type": "tcp", "interval_seconds": INTERVAL_SECONDS, **host})
        exports = self._monitor({"name": "exports", "type": "heartbeat", "interval_seconds": HEARTBEAT_SECONDS})
        backup = self._monitor({"name": "backup", "type": "heartbeat", "interval_seconds": DAY_SECONDS})
        self.api.post(f"/api/v1/monitors/{backup}/heartbeat", {"status": "down", "message": "disk full on backup-2"})
        self._http("old-shop", "/old", paused=True)
        self.folder.save(heartbeat=exports)
        self.live(0)
        page = self.api.post(
            "/api/v1/status-pages", {"name": NAME, "subdomain": SUBDOMAIN, "branding": {"primary_color": "#1f4d3a"}}
        )
        page = f"/api/v1/status-pages/{page['id']}"
        for name, group, monitor in (
            ("Shop", "Web", shop),
            ("Checkout", "Web", checkout),
            ("Search", "Web", search),
            ("Load balancer", "Network", balancer),
            ("Exports to partners", "Programs", exports),
        ):
            self.api.post(f"{page}/monitors", {"monitor_id": monitor, "display_name": name, "group": group})
        self._incidents(page, checkout, search)
        self._maintenance(page, search, exports)
        return "7 monitors, one of which fails again and again; a page with 2 incidents and 2 maintenances"

    def live(self, now):
        """Reports that the exports run."""
        if int(now) % (HEARTBEAT_SECONDS // 2) == 0:
            self.api.post(f"/api/v1/monitors/{self.folder.state['heartbeat']}/heartbeat")

    def _http(self, name, path, **fields):
        return self._monitor(
            {
                "name": name,
                "type": "http",
                "url": self.site.url + path,
                "interval_seconds": INTERVAL_SECONDS,
                "retries": 0,
                **fields,
            }
        )

    def _monitor(self, body):
        return self.api.post("/api/v1/monitors", body)["id"]

    def _incidents(self, page, checkout, search):
        """Opens an incident and resolves it step by step; opens another one."""
        past = self.api.post(
            f"{page}/incidents",
            {
                "title": "Orders fail",
                "impact": "major",
                "monitors": [checkout],
                "message": "Some payments are not accepted. We are looking into it.",
            },
        )
        for status, message in (
            (
                "identified",
                "Since the deploy of this morning we wait too long for our payment provider. We roll it back.",
            ),
            ("monitoring", "The version before runs again, and orders go through."),
            ("resolved", "No payment has failed for half an hour. Orders that were charged twice are refunded today."),
        ):
            self.api.send("PATCH", f"{page}/incidents/{past['id']}", {"status": status, "message": message})
        self.api.post(
            f"{page}/incidents",
            {
                "title": "Search in Asia misses new products",
                "impact": "minor",
                "status": "identified",
                "monitors": [search],
                "message": "The index of the region is older than usual. Everything that is found can be bought.",
            },
        )

    def _maintenance(self, page, search, exports):
        """Schedules a maintenance, and one that has been."""
        now = self.story.now
        past = self.api.post(
            f"{page}/maintenance",
            {
                "title": "Larger disks for exports",
                "description": "Exports to partners may be an hour late.",
                "monitors": [exports],
                "starts_at": iso(now - 7200),
                "ends_at": iso(now + 3600),
            },
        )
        # One that ends in the past cannot be created; this ends it now.
        self.api.send("PATCH", f"{page}/maintenance/{past['id']}", {"ends_at": iso(now - 60)})
        self.api.post(
            f"{page}/maintenance",
            {
                "title": "New search cluster",
                "description": "Search may find nothing for some minutes.",
                "monitors": [search],
                "starts_at": iso(now + 2 * DAY_SECONDS),
                "ends_at": iso(now + 2 * DAY_SECONDS + 7200),
            },
        )
