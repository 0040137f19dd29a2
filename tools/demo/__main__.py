"""Starts a server with a day of data of an imaginary shop in every area, and goes on sending more.

    python3 -B tools/demo --program PATH [--data DIR] [--listen ADDRESS] [--seed N] [--scale S]

Everything is sent to the public HTTP API. The data directory holds the data of the server, its log,
a repository and the state of the demo; if the data is complete, it is served as it is. Ctrl-C stops
both.
"""

import argparse
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import dashboards
import repositories
import snapshots
from alerts import Alerts
from api import Api, ApiError
from errors import Errors
from events import Events
from folder import Folder, NotADemo
from jobs import Jobs
from metrics import Metrics
from repositories import GitError
from server import Server, ServerError, free_address
from status import SUBDOMAIN, Status
from story import NAME, Story
from website import Site, SiteError

WORK_PAUSE_SECONDS = 0.5
# A live stream that is further behind, as after the sleep of a laptop, leaves a gap.
BEHIND_SECONDS_MAX = 600
KEYS = (
    {
        "name": "Agents on the hosts",
        "user": "agents@example.com",
        "scopes": ["ingest"],
        "limits": {"batch": "unlimited"},
    },
    {"name": "Errors of the web page", "user": "mia.keller@example.com", "scopes": ["ingest"], "public_ingest": True},
    {"name": "Workers", "user": "workers@example.com", "scopes": ["work", "ingest"]},
    {"name": "Screen in the kitchen", "user": "tom.okafor@example.com", "scopes": ["read"]},
)


class Demo:
    """Everything that the areas need, and the areas."""

    def __init__(self, folder, api):
        self.folder = folder
        self.api = api
        self.story = Story(folder.state["seed"], folder.state["scale"], int(time.time()))
        self.site = Site(folder.state.get("site_port", 0))
        folder.save(site_port=self.site.port)
        if folder.is_complete:
            self.site.redesign()
        self.metrics = Metrics(self)
        self.events = Events(self)
        self.errors = Errors(self)
        self.jobs = Jobs(self)
        self.alerts = Alerts(self)
        self.status = Status(self)

    def fill(self):
        """Sends a day of data. Two lanes, because the server works while the demo makes the next data."""
        print(f"{NAME}: a day of its data, with the seed {self.story.seed}", flush=True)
        lanes = (
            [("metrics", self.metrics.fill), ("events", self.events.fill)],
            [
                ("repository", lambda: repositories.fill(self)),
                ("errors", self.errors.fill),
                ("jobs", self.jobs.fill),
                ("status", self.status.fill),
                ("snapshots", lambda: snapshots.fill(self)),
                ("dashboards", lambda: dashboards.fill(self)),
                ("keys", self._make_keys),
            ],
        )
        with ThreadPoolExecutor(len(lanes)) as pool:
            runs = [pool.submit(_run, lane) for lane in lanes]
            try:
                for run in runs:
                    run.result()
            except BaseException:
                self.api.is_ending.set()
                raise
        # After the metrics and events that rules are about.
        _run([("alerting", self.alerts.fill), ("alerts", self.alerts.acknowledge_one)])
        self.folder.save(complete=True)

    def live(self, server, is_stopping):
        """Sends what happens, second by second, until the demo stops; begins where the day ended."""
        self.jobs.start_workers()
        worker = threading.Thread(target=self._work, args=(is_stopping,))
        worker.start()
        reported, second = set(), self.story.now
        try:
            while not is_stopping.wait(max(0, second - time.time())):
                server.check()
                behind = time.time() - second
                areas = [self.metrics, self.events, self.errors]
                if behind < 2:
                    areas += [self.jobs, self.status, self.alerts]
                for area in areas:
                    _try(area.live, second, reported)
                second = int(time.time()) if behind > BEHIND_SECONDS_MAX else second + 1
        finally:
            is_stopping.set()
            worker.join()

    def _work(self, is_stopping):
        reported = set()
        while not is_stopping.wait(WORK_PAUSE_SECONDS):
            _try(self.jobs.work, time.time(), reported)

    def _make_keys(self):
        for key in KEYS:
            self.api.post("/api/v1/keys", key)
        return ", ".join(f"“{key['name']}”" for key in KEYS)


def _run(lane):
    """Runs the parts of a lane one after the other, and prints what each has made."""
    for name, part in lane:
        begin = time.monotonic()
        made = part()
        print(f"{name:>11} {time.monotonic() - begin:5.1f} s  {made}", flush=True)


def _try(live, time_now, reported):
    """Goes on after a refusal, such as that of something that a user has deleted; prints each kind once."""
    try:
        live(time_now)
    except ApiError as error:
        if error.code not in reported:
            reported.add(error.code)
            print(f"(not sent: {error})", flush=True)


def _print_guide(server, folder):
    program, settings = server.program, server.settings
    print(
        f"""
The console, signed in (once, within ten minutes):

    {server.sign_in_link()}

Another link:    {program} login --config {settings}
Status page:     {server.url}/status/{SUBDOMAIN}
API:             {server.url}/docs, with the key in {folder.inside("demo.json")}

What to look at:
  alerts         “Search index is stale” escalates, “Disk almost full” is acknowledged, one on staging is muted
  dashboards     “Shop”, “Checkout” with an incident three hours before the start, “Hosts”
  errors         “PaymentTimeout” of the incident, “TypeError” with the lines of its source, “KeyError”, which came back
  events         order.paid: from page.viewed over cart.added and checkout.started; deploy.finished
  jobs           the queue “payouts” is paused; dead jobs to retry; workers to quiet, which obey
  status         “search” is down for some seconds every five minutes, which alerts
  snapshots      a comparison of the front page waits for a review
  code           ask the repository “shop”: Where is a voucher applied?

What only the server observes begins now: the history of monitors, queues, workers and alerts.
New data arrives every second. Ctrl-C stops the demo and the server; the same command serves the data again.
""",
        flush=True,
    )


def _arguments():
    parser = argparse.ArgumentParser(
        prog="tools/demo", description="A server with a day of data of an imaginary shop in every area."
    )
    parser.add_argument("--program", required=True, help="the telltale program")
    parser.add_argument("--data", default="./data-demo", help="the directory of the demo (default: %(default)s)")
    parser.add_argument("--listen", default="127.0.0.1:8080", help="the address of the server (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed makes other data (default: %(default)s)")
    parser.add_argument("--scale", type=float, default=1.0, help="how much data, from 0.01 to 1 (default: %(default)s)")
    arguments = parser.parse_args()
    if not 0.01 <= arguments.scale <= 1:
        parser.error("--scale must be from 0.01 to 1")
    return arguments


def _serve(arguments, is_stopping):
    listen = free_address(arguments.listen)
    folder = Folder(arguments.data, arguments.seed, arguments.scale)
    is_everywhere = listen.startswith(("0.0.0.0:", "[::]:"))
    settings = folder.write_settings(listen, None if is_everywhere else f"http://{listen}")
    begin = time.monotonic()
    server = Server(arguments.program, settings, folder.inside("server.log"), folder.state["key"])
    demo = None
    try:
        print(f"the server listens on {server.url}, with its data in {folder.path}", flush=True)
        demo = Demo(folder, Api(server.address, folder.state["key"]))
        if not folder.is_complete:
            demo.fill()
            print(f"filled in {time.monotonic() - begin:.0f} s", flush=True)
        _print_guide(server, folder)
        demo.live(server, is_stopping)
        demo.jobs.stop_workers()
    finally:
        server.stop()
        if demo:
            demo.site.stop()


def main():
    """Runs the demo, and returns the exit code."""
    arguments, is_stopping = _arguments(), threading.Event()

    def stop(number, _frame):
        # The second signal ends at once; the kernel or the terminal then stops the server.
        signal.signal(number, signal.SIG_DFL)
        is_stopping.set()
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        _serve(arguments, is_stopping)
    except KeyboardInterrupt:
        print("the server is stopped", flush=True)
        return 0
    except BrokenPipeError:
        # Nobody reads what is printed any more; without this Python would complain once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (ApiError, NotADemo, ServerError, SiteError, GitError, OSError, ValueError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
