"""The HTTP API of the server: JSON requests with the key of the demo."""

import http.client
import json
import threading
import time

# How often a request is sent that the server sheds, and how long it may take at most.
TRIES = 8
TIMEOUT_SECONDS = 120


class ApiError(Exception):
    """The server refused a request, or cannot be reached; `code` is that of the response, if there is one."""

    def __init__(self, message, code=""):
        super().__init__(message)
        self.code = code


class Api:
    """A client with one connection for each thread."""

    def __init__(self, address, key):
        self.address = address
        self.key = key
        # Set to end the work of all threads at their next request.
        self.is_ending = threading.Event()
        self._local = threading.local()

    def get(self, path):
        """Returns the response of a GET request."""
        return self.send("GET", path)

    def post(self, path, body=None):
        """Returns the response of a POST request with a JSON body."""
        return self.send("POST", path, body)

    def send(self, method, path, body=None):
        """Returns the response of a request with a JSON body."""
        data = b"" if body is None else json.dumps(body).encode()
        return self.send_bytes(method, path, data, "application/json")

    def send_bytes(self, method, path, data, content_type):
        """Returns the response of a request. One that is shed is repeated when the server says so."""
        headers = {"Authorization": f"Bearer {self.key}"}
        if data:
            headers["Content-Type"] = content_type
        for attempt in range(TRIES):
            if self.is_ending.is_set():
                raise ApiError("the demo ends")
            status, retry_after, text = self._exchange(method, path, data, headers)
            if status not in (429, 503) or attempt + 1 == TRIES:
                break
            time.sleep(min(retry_after, 5))
        if status >= 300:
            raise ApiError(f"{method} {path}: {status} {text[:400]}", _code(text))
        return json.loads(text) if text else {}

    def _exchange(self, method, path, data, headers):
        """Sends a request once, or twice if the server has closed the idle connection."""
        for is_last in (False, True):
            connection = self._connection()
            try:
                connection.request(method, path, data, headers)
                response = connection.getresponse()
                text = response.read().decode()
                return response.status, float(response.getheader("Retry-After") or 1), text
            except (OSError, http.client.HTTPException) as error:
                connection.close()
                is_idle = isinstance(error, (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError))
                if is_last or not is_idle:
                    raise ApiError(f"{method} {path}: {error or type(error).__name__}") from error
        raise AssertionError("the loop returns or raises")

    def _connection(self):
        if not hasattr(self._local, "connection"):
            host, port = self.address
            self._local.connection = http.client.HTTPConnection(host, port, timeout=TIMEOUT_SECONDS)
        return self._local.connection


def _code(text):
    try:
        return json.loads(text)["error"]["code"]
    except (ValueError, KeyError, TypeError):
        return ""
