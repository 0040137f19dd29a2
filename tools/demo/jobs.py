"""Jobs: queues with jobs in every state, and workers that go on working while the demo runs."""

import time
from typing import NamedTuple

from api import ApiError
from story import REGIONS, iso

HEARTBEAT_SECONDS = 10


class Kind(NamedTuple):
    """A class of jobs; jobs a second while the demo runs, and how attempts fail."""

    queue: str
    arguments: dict
    seconds: tuple
    rate: float
    failures: float
    failure: tuple


CLASSES = {
    "SendReceipt": Kind(
        "mail",
        {"order": "{order}", "template": "receipt"},
        (0.3, 2),
        0.4,
        0.02,
        ("Net::SMTPFatalError", "550 5.1.1 mailbox unavailable", "mail/receipts.rb:13:in 'deliver'"),
    ),
    "SendNewsletter": Kind(
        "mail",
        {"customer": "{user}", "issue": "november"},
        (0.3, 1),
        0.1,
        0.01,
        ("Net::SMTPServerBusy", "421 4.7.0 try again later", "mail/receipts.rb:13:in 'deliver'"),
    ),
    "ShipOrder": Kind(
        "orders",
        {"order": "{order}", "carrier": "parcelfox"},
        (1, 5),
        0.25,
        0.04,
        ("CarrierError", "parcelfox answered 503", "orders/shipping.py:41 in ship"),
    ),
    "SyncStock": Kind(
        "orders",
        {"warehouse": "{region}"},
        (2, 8),
        0.05,
        0.3,
        ("TimeoutError", "the warehouse did not answer within 30 s", "orders/stock.py:88 in sync"),
    ),
    "MakeThumbnails": Kind(
        "images",
        {"product": "{product}"},
        (2, 6),
        0.6,
        0.03,
        ("ThumbnailError", "TooLarge", "worker/src/thumbnails.rs:20 in make_thumbnails"),
    ),
    "ReindexCatalog": Kind(
        "search-index",
        {"region": "{region}"},
        (60, 240),
        0.012,
        0.05,
        ("LeaseLost", "another indexer holds the lease of ap-south", "search/index.go:33 in Reindex"),
    ),
    "BuildReport": Kind(
        "reports",
        {"report": "revenue", "region": "{region}"},
        (90, 400),
        0.005,
        0.02,
        (
            "ReportIncomplete",
            "no orders of ap-south: is its export late?",
            "reports/nightly.py:24 in revenue_by_region",
        ),
    ),
    "PayOut": Kind(
        "payouts",
        {"seller": "{user}", "cents": "{cents}"},
        (1, 3),
        0.01,
        0.0,
        ("BankError", "the bank is closed", "payouts/bank.py:17 in pay"),
    ),
}
WORKERS = (
    ("worker-eu-1", ["payouts", "orders", "mail"], 6),
    ("worker-us-1", ["mail", "orders"], 6),
    ("worker-eu-2", ["images"], 3),
    ("worker-ap-1", ["search-index", "reports", "images"], 4),
)
# Dead jobs by class, retries with their attempts, scheduled jobs, and jobs of the paused queue.
DEAD = (("SendReceipt", 5), ("ShipOrder", 4), ("SyncStock", 3), ("ReindexCatalog", 2))
RETRYING = (
    ("SyncStock", 4),
    ("ShipOrder", 4),
    ("SyncStock", 3),
    ("SendReceipt", 3),
    ("ReindexCatalog", 3),
    ("ShipOrder", 4),
)
FINISHED, SCHEDULED, PAUSED, WAITING = 120, 24, 40, 180


class Worker:
    """A worker: it fetches jobs, holds each for as long as its work takes, and ends it.

    It obeys the server as real workers do: a quiet one gets no jobs, one that is to stop leaves when
    its jobs are done, and is started again, as by a supervisor.
    """

    def __init__(self, jobs, hostname, pid, queues, concurrency):
        self.jobs = jobs
        self.body = {"hostname": hostname, "pid": pid, "queues": queues, "concurrency": concurrency}
        self._register()

    def step(self, now):
        """Ends the jobs whose work is done, fetches others, and sends a heartbeat when it is due."""
        try:
            self._end_jobs(now)
            self._fetch(now)
            if now >= self.next_heartbeat:
                self._send_heartbeat(now)
        except ApiError as error:
            if error.code != "worker_not_found":
                raise
            self._register()

    def leave(self):
        """Deregisters; the jobs that it holds return to their queues."""
        self.jobs.api.send("DELETE", self.path)

    def _register(self):
        self.path = "/api/v1/workers/" + self.jobs.api.post("/api/v1/workers", self.body)["id"]
        self.held = []
        self.next_heartbeat = 0

    def _end_jobs(self, now):
        for end, job in [held for held in self.held if held[0] <= now]:
            self.held.remove((end, job))
            try:
                self.jobs.end(job)
            except ApiError as error:
                if error.code != "reservation_lost":
                    raise

    def _fetch(self, now):
        free = self.body["concurrency"] - len(self.held)
        if free:
            for job in self.jobs.api.post(self.path + "/fetch", {"limit": free})["jobs"]:
                self.held.append((now + self.jobs.numbers.uniform(*_kind(job).seconds), job))

    def _send_heartbeat(self, now):
        self.next_heartbeat = now + HEARTBEAT_SECONDS
        busy, numbers = len(self.held), self.jobs.numbers
        answer = self.jobs.api.post(
            self.path + "/heartbeat",
            {
                "busy_threads": busy,
                "memory_mb": round(180 + 35 * busy + numbers.uniform(0, 20), 1),
                "cpu_percent": round(6 + 14 * busy + numbers.uniform(0, 5), 1),
            },
        )
        if answer["status"] == "stopping" and not self.held:
            self.leave()
            self._register()


class Jobs:
    """The jobs of the company."""

    def __init__(self, demo):
        self.api = demo.api
        self.story = demo.story
        self.numbers = self.story.random("jobs")
        self.workers = []

    def fill(self):
        """Makes jobs in every state, and returns what was made."""
        self._work_off()
        now, count, numbers = self.story.now, self.story.count, self.numbers
        self._enqueue([self._job("PayOut") for _ in range(count(PAUSED))])
        self.api.post("/api/v1/queues/payouts/pause")
        reports = [self._job("BuildReport", run_at=iso(now + 1800 * (n + 1))) for n in range(count(SCHEDULED) // 2)]
        letters = [
            self._job("SendNewsletter", run_at=iso(now + numbers.uniform(600, 80_000)))
            for _ in range(count(SCHEDULED) // 2)
        ]
        waiting = [self._job("MakeThumbnails") for _ in range(count(WAITING))]
        begun = [
            self._job(name) for name in ("ReindexCatalog", "ReindexCatalog", "BuildReport", "ShipOrder", "ShipOrder")
        ]
        self._enqueue(reports + letters + waiting + begun)
        dead = sum(size for _, size in DEAD)
        return (
            f"6 queues, one of them paused; {dead} dead jobs, others wait, run or are retried; {len(WORKERS)} workers"
        )

    def start_workers(self):
        """Registers the workers, which fetch their first jobs."""
        self.workers = [
            Worker(self, hostname, 4000 + n, queues, size) for n, (hostname, queues, size) in enumerate(WORKERS)
        ]
        self.work(time.time())

    def work(self, now):
        """Lets all workers take a step."""
        for worker in self.workers:
            worker.step(now)

    def live(self, _time):
        """Enqueues the jobs of one second."""
        self._enqueue([self._job(name) for name, kind in CLASSES.items() if self.numbers.random() < kind.rate])

    def stop_workers(self):
        """Deregisters the workers; the jobs that they hold return to their queues."""
        for worker in self.workers:
            worker.leave()

    def end(self, job):
        """Ends a job that a worker holds, sometimes as failed."""
        if self.numbers.random() < _kind(job).failures:
            self._fail(job)
        else:
            self.api.post(f"/api/v1/jobs/{job['job_id']}/ack", {"reservation_token": job["reservation_token"]})

    def _work_off(self):
        """Makes finished and dead jobs, and jobs that wait for another attempt, most of them for minutes."""
        body = {"hostname": "worker-us-2", "pid": 3999, "queues": ["orders", "mail", "search-index"], "concurrency": 50}
        worker = "/api/v1/workers/" + self.api.post("/api/v1/workers", body)["id"]
        failing = [(self._job(name, max_attempts=3), 3) for name, size in DEAD for _ in range(size)]
        failing += [(self._job(name), attempts) for name, attempts in RETRYING]
        finishing = [
            (self._job(name), 0)
            for name in self.numbers.choices(("SendReceipt", "ShipOrder"), k=self.story.count(FINISHED))
        ]
        jobs = failing + finishing
        # How often each job fails before it is left alone.
        failures = dict(zip(self._enqueue([job for job, _ in jobs]), (times for _, times in jobs)))
        while failures:
            for job in self.api.post(worker + "/fetch", {"limit": 50, "wait_seconds": 5})["jobs"]:
                left = failures.pop(job["job_id"])
                if left == 0:
                    self.api.post(f"/api/v1/jobs/{job['job_id']}/ack", {"reservation_token": job["reservation_token"]})
                    continue
                self._fail(job)
                if left > 1:
                    failures[job["job_id"]] = left - 1
                    self.api.post(f"/api/v1/jobs/{job['job_id']}/run")
        self.api.send("DELETE", worker)

    def _enqueue(self, jobs):
        return self.api.post("/api/v1/jobs/batch", {"jobs": jobs})["job_ids"] if jobs else []

    def _job(self, name, **fields):
        kind, story, numbers = CLASSES[name], self.story, self.numbers
        values = {
            "order": numbers.randrange(48_000, 52_000),
            "user": numbers.choice(story.users)["id"],
            "region": numbers.choice(list(REGIONS)),
            "product": numbers.choice(story.products)["id"],
            "cents": numbers.randrange(900, 90_000),
        }
        arguments = {key: value.format(**values) for key, value in kind.arguments.items()}
        return {"class_name": name, "queue": kind.queue, "arguments": arguments, "max_attempts": 8, **fields}

    def _fail(self, job):
        kind, message, line = _kind(job).failure
        self.api.post(
            f"/api/v1/jobs/{job['job_id']}/fail",
            {
                "reservation_token": job["reservation_token"],
                "error_class": kind,
                "error_message": message,
                "backtrace": [line, "worker/runner.py:61 in run"],
            },
        )


def _kind(job):
    """Returns the class of a job; jobs that somebody else has enqueued are like receipts."""
    return CLASSES.get(job["class_name"], CLASSES["SendReceipt"])
