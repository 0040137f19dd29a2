#!/usr/bin/env python3
"""A strict receiver of notifications, for black-box tests. Standard library only.

Usage: receiver.py [--secret whsec_...]... [--window SECONDS]

Listens on 127.0.0.1, port 0. The first line of standard output is {"port": n}. Each request becomes a
line when it is received: {"n", "at", "method", "path", "query", "headers", "body", "json", "problems",
"status"}; `problems` lists every violated rule, and a request with problems is answered as the real
service does (400 and its error), unless a status is scripted.

Paths: /slack… /discord… /teams… /pagerduty/v2/enqueue /opsgenie/v2/alerts… /webhook… ; a prefix such as
/slack/services/T/B/x is accepted. With --secret, webhook signatures must verify with each secret given.
Lengths are counted in UTF-16 code units.

Scripted misbehaviour, in the query or, where a base address allows no query, in parameters of the first
segment (`/pagerduty;status=500,500/v2/enqueue`):
  status=500,500,204  the statuses of the first requests with this script; then the normal response
  retry_after=3       `Retry-After` (and the body of a Discord 429) on scripted errors; alone it means one 429
  body=no_service     the body of the response, with the normal status or the scripted one
  hang=60             seconds before the response
  redirect=URL        302 to the URL
  drip=1              the body is endless, so many bytes a minute
  huge=10000000000    the body has so many bytes
  close=1             the connection is closed without a response
GET /requests returns all lines as a JSON array. HEAD and other
methods are problems.
"""
import argparse
import base64
import hashlib
import hmac
import json
import queue
import re
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

BODY_BYTES_MAX = 4 << 20
ISO = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$")
LINK = re.compile(r"^https?://[^\s<>|]+$")
SLACK_ENTITY = re.compile(r"&(?!(amp|lt|gt);)")
SLACK_LINK = re.compile(r"<https?://[^\s<>|]+(\|[^<>|]+)?>")


def units(text):
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


class Check:
    """Collects the rules that a request violates."""

    def __init__(self):
        self.problems = []

    def require(self, ok, problem):
        if not ok:
            self.problems.append(problem)
        return bool(ok)

    def text(self, value, where, most, least=1):
        if not self.require(isinstance(value, str), f"{where}: must be a string, is {value!r:.60}"):
            return ""
        size = units(value)
        self.require(least <= size <= most, f"{where}: {size} code units, must be {least}..{most}")
        bad = any("\ud800" <= c <= "\udfff" for c in value)
        self.require(not bad, f"{where}: lone surrogate")
        return value

    def object(self, value, where, required, optional=()):
        if not self.require(isinstance(value, dict), f"{where}: must be an object"):
            return {}
        for name in required:
            self.require(name in value, f"{where}: {name} is missing")
        for name in value:
            self.require(name in required or name in optional, f"{where}: unknown member {name}")
        return value

    def list(self, value, where, most, least=1):
        if not self.require(isinstance(value, list), f"{where}: must be an array"):
            return []
        self.require(least <= len(value) <= most, f"{where}: {len(value)} items, must be {least}..{most}")
        return value

    def link(self, value, where):
        self.require(isinstance(value, str) and LINK.match(value), f"{where}: not a link: {value!r:.80}")

    def time(self, value, where):
        self.require(isinstance(value, str) and ISO.match(value), f"{where}: not ISO 8601: {value!r:.60}")


def slack_text(check, text, where):
    check.require(not SLACK_ENTITY.search(text), f"{where}: unescaped or cut & sequence")
    rest = SLACK_LINK.sub("", text)
    check.require("<" not in rest and ">" not in rest, f"{where}: unescaped < or >: {rest!r:.80}")


def slack_object(check, value, where, most):
    value = check.object(value, where, ["type", "text"], ["emoji", "verbatim"])
    kind = value.get("type")
    check.require(kind in ("plain_text", "mrkdwn"), f"{where}: type {kind!r}")
    check.require(kind == "plain_text" or "emoji" not in value, f"{where}: emoji is for plain_text")
    check.require(kind == "mrkdwn" or "verbatim" not in value, f"{where}: verbatim is for mrkdwn")
    slack_text(check, check.text(value.get("text"), where, most), where)
    return kind


def slack(check, request):
    body = check.object(request.json, "body", ["text"], ["blocks", "attachments"])
    slack_text(check, check.text(body.get("text"), "text", 4_000), "text")
    for i, block in enumerate(check.list(body.get("blocks", []), "blocks", 50, 0)):
        where = f"blocks[{i}]"
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "header":
            check.object(block, where, ["type", "text"], ["block_id"])
            check.require(slack_object(check, block.get("text"), where, 150) == "plain_text", f"{where}: header")
        elif kind == "section":
            check.object(block, where, ["type"], ["text", "fields", "block_id"])
            if "text" in block:
                slack_object(check, block["text"], where, 3_000)
            for field in check.list(block.get("fields", []), f"{where}.fields", 10, 0):
                slack_object(check, field, f"{where}.fields", 2_000)
            check.require("text" in block or "fields" in block, f"{where}: empty")
        elif kind == "context":
            for element in check.list(block.get("elements"), f"{where}.elements", 10):
                slack_object(check, element, f"{where}.elements", 3_000)
        else:
            check.require(kind == "divider", f"{where}: unknown type {kind!r}")
    for i, item in enumerate(check.list(body.get("attachments", []), "attachments", 20, 0)):
        item = check.object(item, f"attachments[{i}]", [], ["color", "title", "text", "fields", "blocks", "fallback"])
        for name, most in (("title", 1_024), ("text", 3_000), ("fallback", 3_000)):
            if name in item:
                slack_text(check, check.text(item[name], name, most), f"attachments[{i}].{name}")
    return (400, b"invalid_payload", {}) if check.problems else (200, b"ok", {"Content-Type": "text/html"})


def discord(check, request):
    known = ["username", "avatar_url", "tts", "embeds", "allowed_mentions", "content", "flags"]
    body = check.object(request.json, "body", ["allowed_mentions"], known)
    check.require(body.get("content") or body.get("embeds"), "body: content or embeds is required")
    if "content" in body:
        check.text(body["content"], "content", 2_000, 0)
    check.require(body.get("allowed_mentions") == {"parse": []}, "allowed_mentions: must parse nothing")
    total = 0
    for i, embed in enumerate(check.list(body.get("embeds", []), "embeds", 10, 0)):
        where = f"embeds[{i}]"
        embed = check.object(embed, where, [], ["title", "description", "url", "color", "timestamp", "fields", "footer"])
        for name, most in (("title", 256), ("description", 4_096)):
            if name in embed:
                total += units(check.text(embed[name], f"{where}.{name}", most))
        if "color" in embed:
            color = embed["color"]
            fits = isinstance(color, int) and not isinstance(color, bool) and 0 <= color <= 0xFFFFFF
            check.require(fits, f"{where}.color: {color!r}")
        if "url" in embed:
            check.link(embed["url"], f"{where}.url")
        if "timestamp" in embed:
            check.time(embed["timestamp"], f"{where}.timestamp")
        for field in check.list(embed.get("fields", []), f"{where}.fields", 25, 0):
            field = check.object(field, f"{where}.fields", ["name", "value"], ["inline"])
            total += units(check.text(field.get("name"), f"{where}.fields.name", 256))
            total += units(check.text(field.get("value"), f"{where}.fields.value", 1_024))
            check.require(str(field.get("value", "")).strip(), f"{where}.fields.value: blank")
            check.require(isinstance(field.get("inline", False), bool), f"{where}.fields.inline: not a boolean")
        if "footer" in embed:
            total += units(check.text(embed["footer"].get("text"), f"{where}.footer", 2_048))
    check.require(total <= 6_000, f"embeds: {total} code units together, must be at most 6000")
    if check.problems:
        error = {"message": "Invalid Form Body", "code": 50035, "errors": {}}
        return 400, json.dumps(error).encode(), {"Content-Type": "application/json"}
    if dict(request.query).get("wait") == "true":
        return 200, b'{"id":"1"}', {"Content-Type": "application/json"}
    return 204, b"", {}


def teams(check, request):
    check.require(len(request.body) <= 28_000, f"body: {len(request.body)} bytes, must be at most 28 KB")
    body = check.object(request.json, "body", ["type", "attachments"])
    check.require(body.get("type") == "message", "type: must be message")
    for i, item in enumerate(check.list(body.get("attachments"), "attachments", 1)):
        item = check.object(item, f"attachments[{i}]", ["contentType", "contentUrl", "content"])
        kind = item.get("contentType")
        check.require(kind == "application/vnd.microsoft.card.adaptive", f"contentType: {kind!r}")
        check.require(item.get("contentUrl", 0) is None, "contentUrl: must be null")
        card = check.object(item.get("content"), "content", ["type", "version", "body"], ["$schema", "msteams", "actions"])
        check.require(card.get("type") == "AdaptiveCard", "content.type")
        check.require(card.get("version") == "1.2", "content.version: must be 1.2")
        schema = card.get("$schema")
        check.require(schema in (None, "http://adaptivecards.io/schemas/adaptive-card.json"), "content.$schema")
        check.require(card.get("msteams", {}) in ({}, {"width": "full"}, {"width": "Full"}), "content.msteams")
        for j, block in enumerate(check.list(card.get("body"), "content.body", 100)):
            where = f"content.body[{j}]"
            block = check.object(block, where, ["type", "text"], ["wrap", "weight", "size", "color", "spacing", "isSubtle"])
            check.require(block.get("type") == "TextBlock", f"{where}: must be a TextBlock")
            check.text(block.get("text"), where, 28_000)
            check.require(block.get("weight", "default").lower() in ("default", "lighter", "bolder"), f"{where}.weight")
            sizes = ("default", "small", "medium", "large", "extralarge")
            check.require(block.get("size", "default").lower() in sizes, f"{where}.size")
            check.require(isinstance(block.get("wrap", True), bool), f"{where}.wrap")
        for action in check.list(card.get("actions", []), "content.actions", 6, 0):
            action = check.object(action, "content.actions", ["type", "title", "url"])
            check.require(action.get("type") == "Action.OpenUrl", "content.actions.type")
            check.link(action.get("url"), "content.actions.url")
    return (400, b"", {}) if check.problems else (202, b"", {})


def pagerduty(check, request):
    check.require(len(request.body) <= 512_000, f"body: {len(request.body)} bytes, must be at most 512 KB")
    check.require(request.path.endswith("/v2/enqueue"), f"path: {request.path}")
    optional = ["payload", "client", "client_url", "links", "images"]
    event = check.object(request.json, "body", ["routing_key", "event_action", "dedup_key"], optional)
    key = event.get("routing_key")
    check.require(isinstance(key, str) and re.fullmatch(r"[!-~]{32}", key), "routing_key: must have 32 characters")
    action = event.get("event_action")
    check.require(action in ("trigger", "acknowledge", "resolve"), f"event_action: {action!r}")
    check.text(event.get("dedup_key"), "dedup_key", 255)
    if action == "trigger" or "payload" in event:
        optional = ["timestamp", "component", "group", "class", "custom_details"]
        payload = check.object(event.get("payload"), "payload", ["summary", "source", "severity"], optional)
        check.text(payload.get("summary"), "payload.summary", 1_024)
        for name in ("source", "component", "group", "class"):
            if name in payload:
                check.text(payload[name], f"payload.{name}", 1_024)
        severity = payload.get("severity")
        check.require(severity in ("critical", "error", "warning", "info"), f"payload.severity: {severity!r}")
        if "timestamp" in payload:
            check.time(payload["timestamp"], "payload.timestamp")
        check.require(isinstance(payload.get("custom_details", {}), dict), "payload.custom_details: not an object")
    if "client" in event:
        check.text(event["client"], "client", 255)
    if "client_url" in event:
        check.link(event["client_url"], "client_url")
    for link in check.list(event.get("links", []), "links", 10, 0):
        link = check.object(link, "links", ["href"], ["text"])
        check.link(link.get("href"), "links.href")
    kind = {"Content-Type": "application/json"}
    if check.problems:
        error = {"status": "invalid event", "message": "Event object is invalid", "errors": check.problems}
        return 400, json.dumps(error).encode(), kind
    done = {"status": "success", "message": "Event processed", "dedup_key": event["dedup_key"]}
    return 202, json.dumps(done).encode(), kind


def opsgenie(check, request):
    authorization = request.headers.get("Authorization", "")
    authorized = check.require(re.fullmatch(r"GenieKey [!-~]+", authorization), "Authorization: must be GenieKey …")
    body = request.json
    change = re.search(r"/v2/alerts/([^/]+)/(acknowledge|close)$", request.path)
    if change:
        check.require(dict(request.query).get("identifierType") == "alias", "query: identifierType must be alias")
        check.text(unquote(change[1]), "alias", 512)
        body = check.object(body, "body", [], ["source", "note", "user"])
        limits = (("source", 100), ("note", 25_000), ("user", 100))
    else:
        check.require(request.path.endswith("/v2/alerts"), f"path: {request.path}")
        optional = ["alias", "description", "tags", "details", "entity", "source", "priority", "user", "note"]
        body = check.object(body, "body", ["message"], optional)
        limits = (("message", 130), ("alias", 512), ("description", 15_000), ("entity", 512), ("source", 100))
        check.require(body.get("priority", "P3") in ("P1", "P2", "P3", "P4", "P5"), "priority")
        for tag in check.list(body.get("tags", []), "tags", 20, 0):
            check.text(tag, "tags", 50)
        details = body.get("details", {})
        if check.require(isinstance(details, dict), "details: must be an object"):
            texts = [text for pair in details.items() for text in pair]
            check.require(all(isinstance(text, str) for text in texts), "details: must be strings")
            size = sum(units(str(text)) for text in texts)
            check.require(size <= 8_000, f"details: {size} code units, must be at most 8000")
    for name, most in limits:
        if name in body:
            check.text(body[name], name, most)
    kind = {"Content-Type": "application/json"}
    if check.problems:
        error = {"message": "Request body is not processable.", "errors": {}, "took": 0.0, "requestId": "r"}
        return (422 if authorized else 401), json.dumps(error).encode(), kind
    return 202, b'{"result":"Request will be processed","took":0.1,"requestId":"r"}', kind


def webhook(check, request):
    check.require(len(request.body) < 20_000, f"body: {len(request.body)} bytes, must be less than 20 kB")
    event = check.object(request.json, "body", ["type", "timestamp", "data"])
    kind = str(event.get("type"))
    check.require(re.fullmatch(r"[a-zA-Z0-9_]+(\.[a-zA-Z0-9_]+)*", kind), f"type: {kind!r}")
    check.time(event.get("timestamp"), "timestamp")
    check.require(isinstance(event.get("data"), dict), "data: must be an object")
    message_id = request.headers.get("webhook-id", "")
    sent_at = request.headers.get("webhook-timestamp", "")
    check.require(re.fullmatch(r"[!-~]{1,256}", message_id) and "." not in message_id, f"webhook-id: {message_id!r}")
    if check.require(re.fullmatch(r"\d{1,11}", sent_at), f"webhook-timestamp: {sent_at!r}"):
        skew = abs(time.time() - int(sent_at))
        check.require(skew <= OPTIONS.window, f"webhook-timestamp: {skew:.0f} s off")
    signatures = request.headers.get("webhook-signature", "").split(" ")
    for signature in signatures:
        check.require(re.fullmatch(r"v1,[A-Za-z0-9+/]{43}=", signature), f"webhook-signature: {signature!r}")
    for secret in OPTIONS.secret:
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{message_id}.{sent_at}.".encode() + request.body
        expected = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        found = any(hmac.compare_digest(expected, signature) for signature in signatures)
        check.require(found, f"webhook-signature: none of {secret[:10]}…")
    return (400, b"", {}) if check.problems else (204, b"", {})


SERVICES = {
    "slack": slack,
    "discord": discord,
    "teams": teams,
    "pagerduty": pagerduty,
    "opsgenie": opsgenie,
    "webhook": webhook,
}
SCRIPT = {"status", "retry_after", "body", "hang", "redirect", "drip", "huge", "close"}


class Log:
    """All requests, and how often each script ran."""

    def __init__(self):
        self.lock = threading.Lock()
        self.entries = []
        self.runs = {}
        self.lines = queue.Queue()

    def add(self, entry):
        with self.lock:
            entry["n"] = len(self.entries)
            self.entries.append(entry)
            self.lines.put(json.dumps(entry))

    def write(self):
        """Writes the lines, on a thread of its own: no response waits for the reader of the pipe."""
        while True:
            sys.stdout.write(self.lines.get() + "\n")
            sys.stdout.flush()

    def next_run(self, script):
        with self.lock:
            run = self.runs.get(script, 0)
            self.runs[script] = run + 1
            return run


LOG = Log()


class Request:
    def __init__(self, handler, body):
        target = urlsplit(handler.path)
        first, *rest = target.path.lstrip("/").split("/")
        first, *parameters = first.split(";")
        self.service = first
        self.path = "/" + "/".join([first, *rest])
        pairs = [tuple(p.split("=", 1)) for p in parameters if "=" in p]
        pairs = [(name, unquote(value)) for name, value in pairs]
        pairs += parse_qsl(target.query, keep_blank_values=True)
        self.script = {name: value for name, value in pairs if name in SCRIPT}
        self.query = [pair for pair in pairs if pair[0] not in SCRIPT]
        self.headers = handler.headers
        self.body = body
        self.json = None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        if self.path != "/requests":
            return self.handle_notification(b"")
        with LOG.lock:
            body = json.dumps(LOG.entries).encode()
        self.respond(200, body, {"Content-Type": "application/json"})

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch(r"\d{1,8}", length) or int(length) > BODY_BYTES_MAX:
            return self.respond(413 if length else 411, b"", {})
        self.handle_notification(self.rfile.read(int(length)))

    do_PUT = do_PATCH = do_DELETE = do_HEAD = do_POST

    def handle_notification(self, body):
        request = Request(self, body)
        check = Check()
        check.require(self.command == "POST", f"method: {self.command}")
        kind = self.headers.get("Content-Type", "").split(";")[0].strip()
        check.require(kind == "application/json", f"Content-Type: {kind!r}")
        check.require(len(self.headers.get_all("Host", [])) == 1, "Host: must be sent once")
        names = [name.lower() for name in self.headers.keys()]
        for name in {name for name in names if names.count(name) > 1}:
            check.problems.append(f"{name}: sent {names.count(name)} times")
        try:
            request.json = json.loads(body.decode("utf-8"))
        except (UnicodeDecodeError, ValueError) as error:
            check.problems.append(f"body: not UTF-8 JSON: {error}")
        service = SERVICES.get(request.service)
        if service is None:
            check.problems.append(f"path: unknown service {request.service!r}")
            status, answer, headers = 404, b"", {}
        else:
            status, answer, headers = service(check, request)
        status, answer, headers = self.scripted(request, status, answer, headers)
        LOG.add({
            "at": time.time(),
            "method": self.command,
            "path": request.path,
            "query": request.query,
            "headers": {name.lower(): value for name, value in self.headers.items()},
            "body": body.decode("utf-8", "replace"),
            "json": request.json,
            "problems": check.problems,
            "status": status,
        })
        self.misbehave(request, status, answer, headers)

    def scripted(self, request, status, answer, headers):
        """Replaces the normal response by the scripted one, if there is one for this request."""
        script = request.script
        statuses = script.get("status") or ("429" if "retry_after" in script else "")
        statuses = [int(text) for text in statuses.split(",") if text]
        if statuses:
            run = LOG.next_run((request.path, tuple(sorted(script.items()))))
            if run < len(statuses):
                status, answer, headers = statuses[run], b"", {}
                if "retry_after" in script and not 200 <= status < 300:
                    headers = {"Retry-After": script["retry_after"]}
                    if request.service == "discord" and status == 429:
                        wait = {"message": "You are being rate limited.", "global": False}
                        wait["retry_after"] = float(script["retry_after"])
                        answer = json.dumps(wait).encode()
                        headers["Content-Type"] = "application/json"
                elif request.service == "slack" and status == 200:
                    answer = b"ok"
        if "redirect" in script:
            status, answer, headers = 302, b"", {"Location": script["redirect"]}
        if "body" in script:
            answer = script["body"].encode()
        return status, answer, headers

    def misbehave(self, request, status, answer, headers):
        script = request.script
        if "hang" in script:
            time.sleep(float(script["hang"]))
        if "close" in script:
            self.close_connection = True
            return
        try:
            if "drip" in script:
                self.start(status, headers)
                while True:
                    self.wfile.write(b"x")
                    self.wfile.flush()
                    time.sleep(60 / float(script["drip"]))
            elif "huge" in script:
                self.start(status, {**headers, "Content-Length": script["huge"]})
                left = int(script["huge"])
                while left > 0:
                    left -= self.wfile.write(b"x" * min(left, 1 << 16))
            else:
                self.respond(status, answer, headers)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def start(self, status, headers):
        self.close_connection = True
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()

    def respond(self, status, answer, headers):
        if status in (204, 304):
            answer = b""
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 204:
            self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--secret", action="append", default=[], help="a signing secret that must have signed")
    parser.add_argument("--window", type=float, default=300, help="seconds that webhook-timestamp may be off")
    return parser.parse_args()


OPTIONS = options()

if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    sys.stdout.write(json.dumps({"port": server.server_address[1]}) + "\n")
    sys.stdout.flush()
    threading.Thread(target=LOG.write, daemon=True).start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        pass
