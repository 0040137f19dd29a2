"""The web site of the company on this machine: pages to capture, health checks to monitor, and the
receiver of notifications.
"""

import http.server
import json
import threading
import time

from story import NAME

# The search is down for a while again and again, checkout is slow.
DOWN_PERIOD, DOWN_SECONDS = 300, 50
SLOW_PERIOD, SLOW_SECONDS, SLOW_DELAY = 240, 60, 0.45

STYLE = """
body { margin: 0; font: 16px/1.5 sans-serif; color: #22302a; background: #f6f4ee; }
header { display: flex; gap: 2rem; align-items: baseline; padding: 1rem 2rem; background: #1f4d3a; color: #fff; }
header b { font-size: 1.4rem; } main { padding: 1.5rem 2rem; } h1 { margin: 0 0 1rem; }
.sale { margin: 0 0 1rem; padding: .8rem 1.2rem; border-radius: 8px; background: #f2b632; font-weight: bold; }
.grid { display: grid; grid-template-columns: repeat(4, 1fr); gap: 1rem; }
.card { padding: 1rem; border-radius: 10px; background: #fff; box-shadow: 0 1px 4px #0002; }
.card i { display: block; height: 110px; border-radius: 6px; margin-bottom: .6rem; }
table { width: 100%; border-collapse: collapse; background: #fff; }
td { padding: .7rem 1rem; border-bottom: 1px solid #ddd; }
.pay { display: inline-block; margin-top: 1rem; padding: .7rem 1.6rem; border-radius: 8px; color: #fff; }
.old .pay { background: #1f4d3a; }
.new .pay { background: #b3481e; }
"""
PRODUCTS = (
    ("Fjord 2", "Tent", "#7fae94", 349),
    ("Heron", "Sleeping bag", "#c98f5a", 189),
    ("Cairn 60", "Pack", "#6d87a8", 229),
    ("Ember", "Stove", "#b85c48", 79),
    ("Wisp", "Lamp", "#d8b84a", 45),
    ("Squall", "Jacket", "#5b7f86", 199),
    ("Tarn", "Mat", "#93a35b", 99),
    ("Ridge", "Tarp", "#8a6f9e", 129),
)


class SiteError(Exception):
    """The port of the site is taken."""


class Site:
    """The running site, in its old design or the new one."""

    def __init__(self, port):
        self._is_redesigned = False
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            """Handles the requests of the server."""

            def do_GET(self):
                status, kind, body = site.answer(self.path)
                self._respond(status, kind, body)

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length") or 0))
                self._respond(410 if self.path.startswith("/hooks/gone") else 200, "text/plain", "ok")

            def _respond(self, status, kind, body):
                data = body.encode()
                self.send_response(status)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_arguments):
                pass

        self._server = _listen(port, Handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def answer(self, path):
        """Returns the status, the type and the body of the response to a GET request."""
        if path.startswith("/health/"):
            return self._health(path.rpartition("/")[2])
        if path in ("/", "/cart"):
            return 200, "text/html; charset=utf-8", self._page(path)
        return 404, "text/plain", "not found"

    def redesign(self):
        """Changes how the pages look."""
        self._is_redesigned = True

    def stop(self):
        """Stops the site."""
        self._server.shutdown()
        self._server.server_close()

    def _health(self, service):
        now = time.time()
        if service == "search" and now % DOWN_PERIOD < DOWN_SECONDS:
            return 503, "application/json", json.dumps({"status": "down", "reason": "shard 3 does not answer"})
        if service == "checkout" and now % SLOW_PERIOD < SLOW_SECONDS:
            time.sleep(SLOW_DELAY)
        return 200, "application/json", json.dumps({"status": "ok", "service": service})

    def _page(self, path):
        design = "new" if self._is_redesigned else "old"
        sale = '<p class="sale">Two nights for one: 15 % off all tents</p>' if design == "new" and path == "/" else ""
        body = self._cart() if path == "/cart" else self._products()
        name = NAME.replace("&", "&amp;")
        return (
            f"<!doctype html><title>{name}</title><style>{STYLE}</style>"
            f'<body class="{design}"><header><b>{name}</b><span>Tents</span><span>Packs</span><span>Guides</span></header>'
            f"<main>{sale}{body}</main></body>"
        )

    def _products(self):
        cards = "".join(
            f'<div class="card"><i style="background: {color}"></i><b>{name}</b><br>{kind} · € {price}.00</div>'
            for name, kind, color, price in PRODUCTS
        )
        return f'<h1>Sleep outdoors</h1><div class="grid">{cards}</div>'

    def _cart(self):
        rows = "".join(
            f"<tr><td>{name}</td><td>{kind}</td><td>€ {price}.00</td></tr>" for name, kind, _, price in PRODUCTS[:3]
        )
        return f'<h1>Your cart</h1><table>{rows}</table><span class="pay">Pay € 767.00</span>'


def _listen(port, handler):
    """Listens on a port; on any that is free if it is 0."""

    class Listener(http.server.ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_arguments):
            """A client that leaves early is no news."""

    try:
        return Listener(("127.0.0.1", port), handler)
    except OSError as error:
        raise SiteError(
            f"cannot listen on 127.0.0.1:{port}, where this demo has its site ({error.strerror}); end what uses it, "
            "or remove the directory of the demo"
        ) from None
