"""Alerting: who is notified and how, who is on call, and rules, some of which fire at once."""

import datetime
import time

from story import DAY_SECONDS, TEAM, iso

# How long an alert may take to fire after its rule was made.
FIRE_SECONDS = 40


class Alerts:
    """The alerting of the company."""

    def __init__(self, demo):
        self.api = demo.api
        self.story = demo.story
        self.site = demo.site
        self.rules = {}

    def fill(self):
        """Makes channels, policies, schedules, rules and windows, and returns what was made."""
        chat = self._channel("#shop-alerts", "team_chat_a", {"webhook_url": f"{self.site.url}/hooks/chat"})
        pager = self._channel(
            "Pager", "webhook", {"webhook_url": f"{self.site.url}/hooks/pager", "headers": {"X-Team": "shop"}}
        )
        # Its receiver is gone, so the server disables it at the first alert.
        gone = self._channel("Old pager", "webhook", {"webhook_url": f"{self.site.url}/hooks/gone"})
        self.api.post(
            "/api/v1/channels",
            {
                "name": "Mail to the team",
                "channel_type": "email",
                "enabled": False,
                "config": {"recipients": list(TEAM)},
            },
        )
        policy = self._create(
            "escalation_policies",
            {
                "name": "Shop",
                "description": "The chat at once, the pager after five minutes, and again until somebody acknowledges",
                "steps": [{"channel_id": chat, "delay_minutes": 0}, {"channel_id": pager, "delay_minutes": 5}],
                "repeat": True,
                "repeat_after_minutes": 15,
                "max_repeats": 3,
            },
        )
        schedule = self._schedules()
        for rule in self._rules(chat, gone, policy, schedule):
            self.rules[rule["name"]] = self._create("alert_rules", rule)
        self._windows()
        self.deliver_from_prometheus()
        count = len(self.rules)
        return f"4 channels, a policy, 2 on-call schedules with an override, {count} rules, 3 maintenance windows"

    def acknowledge_one(self):
        """Waits until the rules that are to fire have fired, acknowledges one, and returns what fires."""
        deadline = time.monotonic() + FIRE_SECONDS
        wanted = {"Disk almost full", "Search index is stale", "Staging is busy"}
        while True:
            firing = self.api.get("/api/v1/alerts?status=firing")["data"]
            if wanted <= {alert["rule_name"] for alert in firing} or time.monotonic() > deadline:
                break
            time.sleep(0.5)
        for alert in firing:
            if alert["rule_name"] == "Disk almost full":
                self.api.post(f"/api/v1/alerts/{alert['id']}/acknowledge")
        return f"{len(firing)} alerts fire, one of them acknowledged, one muted"

    def live(self, now):
        """Delivers the alert of Prometheus again, before it ends."""
        if int(now) % 60 == 0:
            self.deliver_from_prometheus()

    def deliver_from_prometheus(self):
        """Delivers an alert as Prometheus does."""
        labels = {
            "alertname": "KubePodCrashLooping",
            "namespace": "shop",
            "pod": "recommendations-7d9f",
            "severity": "warning",
        }
        annotations = {"summary": "Pod shop/recommendations-7d9f restarts again and again"}
        self.api.post(
            "/api/v2/alerts", [{"labels": labels, "annotations": annotations, "startsAt": iso(self.story.now - 1200)}]
        )

    def _create(self, area, body):
        return self.api.post(f"/api/v1/{area}", body)["data"]["id"]

    def _channel(self, name, kind, config):
        channel = self._create("channels", {"name": name, "channel_type": kind, "config": config})
        self.api.post(f"/api/v1/channels/{channel}/test")
        return channel

    def _schedules(self):
        now = self.story.now
        monday = (
            now
            - now % DAY_SECONDS
            - DAY_SECONDS * datetime.datetime.fromtimestamp(now, datetime.timezone.utc).weekday()
        )
        primary = self._create(
            "on_call_schedules",
            {
                "name": "Shop, primary",
                "schedule_type": "custom",
                "timezone": "Europe/Berlin",
                "rotation_type": "weekly",
                "rotation_start": iso(monday - 7 * DAY_SECONDS + 8 * 3600),
                "members": list(TEAM),
            },
        )
        self.api.post(
            f"/api/v1/on_call_schedules/{primary}/overrides",
            {"user": TEAM[1], "starts_at": iso(now + 20 * 3600), "ends_at": iso(now + 28 * 3600)},
        )
        days = {
            day: {"user": TEAM[n % 2]} for n, day in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday"))
        }
        self._create(
            "on_call_schedules",
            {
                "name": "Business hours",
                "schedule_type": "weekly",
                "timezone": "America/New_York",
                "members": list(TEAM[:2]),
                "weekly_schedule": days,
            },
        )
        return primary

    def _rules(self, chat, gone, policy, schedule):
        """Returns the rules. The first three fire at once, the next two again and again."""
        return [
            {
                "name": "Disk almost full",
                "query": {"metric": "host.disk_percent", "aggregation": "last"},
                "group_by": "tags.host",
                "condition": {"op": "gt", "threshold": 90},
                "severity": "warning",
                "channel_ids": [chat, gone],
                "description": "Ask for a larger volume, or delete old logs.",
            },
            {
                "name": "Search index is stale",
                "query": {"metric": "search.index_age_seconds", "aggregation": "max"},
                "group_by": "tags.region",
                "condition": {"op": "gt", "threshold": 900},
                "severity": "critical",
                "escalation_policy_id": policy,
                "services": ["search"],
                "description": "See “The search index is stale” in docs/operations.md.",
            },
            {
                "name": "Staging is busy",
                "query": {"metric": "host.cpu_percent", "aggregation": "avg", "tags": {"service": "staging"}},
                "group_by": "tags.host",
                "condition": {"op": "gt", "threshold": 90},
                "severity": "info",
                "channel_ids": [chat],
            },
            {
                "name": "Checkout is slow",
                "query": {"metric": "http.latency_ms", "aggregation": "p95", "tags": {"service": "checkout"}},
                "group_by": "tags.region",
                "condition": {"op": "gt", "threshold": 1000},
                "window": "1m",
                "severity": "critical",
                "escalation_policy_id": policy,
                "services": ["checkout"],
            },
            {
                "name": "A monitor is down",
                "query": {"metric": "telltale.monitor.up", "aggregation": "last"},
                "group_by": "tags.monitor",
                "condition": {"op": "lt", "threshold": 1},
                "severity": "warning",
                "channel_ids": [chat],
            },
            {
                "name": "Payments fail",
                "query": {"event": "payment.failed"},
                "condition": {"op": "gt", "threshold": 60},
                "window": "10m",
                "for": "2m",
                "severity": "critical",
                "escalation_policy_id": policy,
                "on_call_schedule_id": schedule,
                "services": ["checkout"],
            },
            {
                "name": "No backup of the orders",
                "query": {"event": "backup.finished"},
                "condition": {"op": "absent"},
                "window": "1d",
                "severity": "warning",
                "channel_ids": [chat],
            },
            {
                "name": "Alerts of the cluster",
                "query": {"alert": "Kube*", "tags": {"namespace": "shop"}},
                "channel_ids": [chat],
            },
            {
                "name": "CPU high",
                "query": {"metric": "host.cpu_percent", "aggregation": "avg"},
                "group_by": "tags.host",
                "enabled": False,
                "condition": {"op": "gt", "threshold": 85},
                "for": "10m",
                "severity": "info",
                "channel_ids": [chat],
            },
        ]

    def _windows(self):
        now, rules = self.story.now, self.rules
        self._create(
            "maintenance_windows",
            {
                "name": "Load test on staging",
                "description": "Until the end of the day",
                "starts_at": iso(now - 3600),
                "ends_at": iso(now + DAY_SECONDS),
                "rule_ids": [rules["Staging is busy"]],
                "services": ["staging"],
            },
        )
        night = now - now % DAY_SECONDS + 2 * 3600
        self._create(
            "maintenance_windows",
            {
                "name": "Backup of the databases",
                "starts_at": iso(night),
                "ends_at": iso(night + 5400),
                "recurring": True,
                "recurrence_rule": "FREQ=WEEKLY;BYDAY=SU,WE",
                "timezone": "Europe/Berlin",
                "rule_ids": [rules["Checkout is slow"]],
            },
        )
        self._create(
            "maintenance_windows",
            {
                "name": "New search cluster",
                "starts_at": iso(now + 2 * DAY_SECONDS),
                "ends_at": iso(now + 2 * DAY_SECONDS + 7200),
                "rule_ids": [rules["Search index is stale"]],
                "services": ["search"],
            },
        )
