#!/usr/bin/env python3
"""A server with the part of OpenAI's API that answers of chats need, for black-box tests. The
test chooses its answers. Standard library only.

Commands are lines of JSON on standard input, and each is answered with a line of JSON; an empty
line asks for the port: {"port": n}.

    {"do": "reply", "text": text}        what the model says from now on
    {"do": "fail", "status": n}          every request gets this status
    {"do": "body", "text": text}         every request gets this body
    {"do": "hang"}                       no request gets a response
    {"do": "requests"}                   all requests so far: {"path", "authorization", "body"}
"""
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class State:
    def __init__(self):
        self.lock = threading.Lock()
        self.mode = {"do": "reply", "text": "Nothing."}
        self.requests = []

    def command(self, line):
        command = json.loads(line)
        with self.lock:
            if command["do"] == "requests":
                return self.requests
            self.mode = command
        return {"done": command["do"]}


STATE = State()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        with STATE.lock:
            mode = STATE.mode
            STATE.requests.append({
                "path": self.path,
                "authorization": self.headers.get("Authorization"),
                "body": json.loads(body),
            })
        if mode["do"] == "hang":
            # Until the client gives up or the test ends.
            self.rfile.read(1)
            self.close_connection = True
        elif mode["do"] == "fail":
            error = {"error": {"message": "the model is overloaded", "type": "server_error"}}
            self.respond(mode["status"], json.dumps(error))
        elif mode["do"] == "body":
            self.respond(200, mode["text"])
        else:
            message = {"role": "assistant", "content": mode["text"]}
            choice = {"index": 0, "message": message, "finish_reason": "stop"}
            answer = {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice]}
            self.respond(200, json.dumps(answer))

    def respond(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.handle_error = lambda *_: None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for line in sys.stdin:
        answer = STATE.command(line) if line.strip() else {"port": server.server_address[1]}
        print(json.dumps(answer), flush=True)


main()
