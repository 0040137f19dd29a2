#!/usr/bin/env python3
"""A server of git repositories, for black-box tests: smart HTTP with and without TLS. It needs
git and openssl, and the standard library only.

Usage: repositories_git.py FOLDER

Serves the repositories in FOLDER with `git http-backend` on two ports of 127.0.0.1, one with TLS
and a certificate of an authority that is made at the start. Commands are lines of JSON on standard
input, and each is answered with a line of JSON; an empty line asks for the addresses:

    {"http": port, "https": port, "ca_file": path}

    {"do": "token", "token": text or null}     the password that is required from now on
    {"do": "redirect", "to": base or null}     every request is redirected to base + path
    {"do": "status", "status": n or null, "echo": bool}
                                               every request gets this status; with `echo` a token
                                               is required and repeated: in the body, or with 200
                                               in an error of git's protocol
    {"do": "hold", "phase": "refs" | "pack"}   responses stop in the middle: those with the
                                               branches, or those with the objects
    {"do": "await_held"}                       answered when a response is held
    {"do": "release"}                          held responses go on, and none is held any more
    {"do": "requests"}                         all requests so far
    {"do": "forget"}                           forgets them

A request is {"method", "path", "tls", "phase", "authorization", "password", "status"}; `phase` is
"info", "refs", "pack" or "other".
"""
import base64
import gzip
import json
import os
import ssl
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

FOLDER = os.path.abspath(sys.argv[1])
OPENSSL = """
[req]
distinguished_name = name
[name]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
subjectAltName = IP:127.0.0.1, DNS:localhost
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
"""


class State:
    """What the test wants, and what was requested."""

    def __init__(self):
        self.changed = threading.Condition()
        self.token = None
        self.redirect = None
        self.status = None
        self.echo = False
        self.hold = None
        self.held = 0
        self.requests = []

    def record(self, request):
        with self.changed:
            self.requests.append(request)

    def wait_if_held(self, phase):
        with self.changed:
            if self.hold != phase:
                return
            self.held += 1
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.hold != phase)
            self.held -= 1

    def holds(self, phase):
        with self.changed:
            return self.hold == phase

    def command(self, line):
        command = json.loads(line)
        do = command["do"]
        with self.changed:
            if do == "token":
                self.token = command["token"]
            elif do == "redirect":
                self.redirect = command["to"]
            elif do == "status":
                self.status = command["status"]
                self.echo = command.get("echo", False)
            elif do == "hold":
                self.hold = command["phase"]
            elif do == "await_held":
                self.changed.wait_for(lambda: self.held > 0)
            elif do == "release":
                self.hold = None
                self.changed.notify_all()
            elif do == "requests":
                return self.requests
            elif do == "forget":
                self.requests = []
            else:
                return {"error": f"unknown command {do!r}"}
        return {"done": do}


STATE = State()


def password(authorization):
    """Returns the password of a header, if it has one."""
    scheme, _, encoded = (authorization or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return base64.b64decode(encoded).decode().partition(":")[2]
    except ValueError:
        return None


def packet(text):
    """Returns a line of git's protocol."""
    return f"{len(text) + 4:04x}{text}".encode()


def phase(method, path, body):
    if path.endswith("/info/refs"):
        return "info"
    if method == "POST" and b"command=ls-refs" in body:
        return "refs"
    if method == "POST" and (b"command=fetch" in body or b"want " in body):
        return "pack"
    return "other"


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        self.handle_request()

    do_POST = do_HEAD = do_GET

    def handle_request(self):
        url = urlsplit(self.path)
        body = self.read_body()
        is_zipped = self.headers.get("Content-Encoding") == "gzip"
        plain = gzip.decompress(body) if is_zipped else body
        authorization = self.headers.get("Authorization")
        request = {
            "method": self.command,
            "path": url.path,
            "tls": isinstance(self.connection, ssl.SSLSocket),
            "phase": phase(self.command, url.path, plain),
            "authorization": authorization,
            "password": password(authorization),
        }
        status, headers, answer = self.answer(request, url, body)
        STATE.record({**request, "status": status})
        try:
            self.respond(request["phase"], status, headers, answer)
        except (ConnectionError, ssl.SSLError, TimeoutError):
            self.close_connection = True

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while True:
            size = int(self.rfile.readline().split(b";")[0], 16)
            body += self.rfile.read(size)
            self.rfile.readline()
            if size == 0:
                return body

    def answer(self, request, url, body):
        with STATE.changed:
            token, redirect = STATE.token, STATE.redirect
            status, echo = STATE.status, STATE.echo
        if redirect is not None:
            return 302, {"Location": redirect + self.path}, b""
        sent = request["password"]
        is_missing = echo and sent is None or token is not None and sent != token
        if is_missing:
            headers = {"WWW-Authenticate": 'Basic realm="git"', "Content-Type": "text/plain"}
            return 401, headers, b"a token is required\n"
        if status == 200:
            # Without the URL in it, the second one is the token as well.
            where = f"https://{self.headers['Host']}{url.path.removesuffix('/info/refs')}"
            said = f"ERR refused: {sent} {(sent or '')[:5]}{where}{(sent or '')[5:]}"
            said = packet("# service=git-upload-pack\n") + b"0000" + packet(said)
            return 200, {"Content-Type": "application/x-git-upload-pack-advertisement"}, said
        if status is not None:
            said = f"refused: {sent}\n" if echo else "refused\n"
            return status, {"Content-Type": "text/plain"}, said.encode()
        return self.backend(url, body)

    def backend(self, url, body):
        """Runs git's own server, as described in git-http-backend(1)."""
        environment = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": FOLDER,
            "GIT_HTTP_EXPORT_ALL": "1",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REQUEST_METHOD": self.command,
            "PATH_INFO": unquote(url.path),
            "QUERY_STRING": url.query,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "REMOTE_ADDR": self.client_address[0],
            "REMOTE_USER": "",
        }
        run = subprocess.run(["git", "http-backend"], input=body, env=environment,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        head, _, answer = run.stdout.partition(b"\r\n\r\n")
        headers = dict(line.split(": ", 1) for line in head.decode().split("\r\n") if ": " in line)
        status = int(headers.pop("Status", "200").split()[0]) if head else 500
        return status, headers, answer

    def respond(self, phase, status, headers, answer):
        self.send_response(status)
        for name, value in headers.items():
            if name.lower() != "content-length":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        if self.command == "HEAD":
            return
        if STATE.holds(phase):
            middle = len(answer) // 2
            self.wfile.write(answer[:middle])
            self.wfile.flush()
            STATE.wait_if_held(phase)
            answer = answer[middle:]
        self.wfile.write(answer)


def openssl(folder, *arguments):
    command = ["openssl", *arguments]
    subprocess.run(command, cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)


def certificates(folder):
    """Makes an authority, and a certificate of 127.0.0.1 that it signed."""
    with open(os.path.join(folder, "openssl.cnf"), "w") as file:
        file.write(OPENSSL)
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl(folder, "req", "-x509", *key, "-config", "openssl.cnf", "-extensions", "authority",
            "-subj", "/CN=Test authority", "-days", "30", "-keyout", "ca.key", "-out", "ca.pem")
    openssl(folder, "req", *key, "-config", "openssl.cnf", "-subj", "/CN=127.0.0.1",
            "-keyout", "server.key", "-out", "server.csr")
    openssl(folder, "x509", "-req", "-in", "server.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
            "-CAcreateserial", "-days", "30", "-extfile", "openssl.cnf", "-extensions", "server",
            "-out", "server.pem")


def serve(context=None):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if context is not None:
        # The handshake is made on the thread of the connection.
        server.socket = context.wrap_socket(
            server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    with tempfile.TemporaryDirectory() as folder:
        certificates(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(f"{folder}/server.pem", f"{folder}/server.key")
        # The folder of the test outlives this process, which is killed.
        ca_file = os.path.join(FOLDER, "ca.pem")
        with open(f"{folder}/ca.pem") as source, open(ca_file, "w") as target:
            target.write(source.read())
        addresses = {"http": serve(), "https": serve(context), "ca_file": ca_file}
    for line in sys.stdin:
        answer = STATE.command(line) if line.strip() else addresses
        print(json.dumps(answer), flush=True)


main()
