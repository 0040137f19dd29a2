"""The process of the server: started on the settings of the demo, watched and stopped."""

import ctypes
import json
import os
import signal
import socket
import subprocess
import sys
import time

START_SECONDS = 120
STOP_SECONDS = 60
PR_SET_PDEATHSIG = 1


class ServerError(Exception):
    """The server did not start, or has ended."""


class Server:
    """A running server. Its log goes to a file."""

    def __init__(self, program, settings, log, key):
        self.program = program
        self.settings = settings
        self.log = log
        self._start = os.path.getsize(log) if os.path.exists(log) else 0
        self._environment = {name: value for name, value in os.environ.items() if not name.startswith("TELLTALE_")}
        # In a session of its own, so that Ctrl-C reaches the demo first.
        with open(log, "ab") as output:
            self._process = subprocess.Popen(
                [program, "serve", "--config", settings],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**self._environment, "TELLTALE_ADMIN_KEY": key},
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        try:
            self.address = self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    @property
    def pid(self):
        """The id of the process."""
        return self._process.pid

    @property
    def url(self):
        """The URL of the server."""
        return "http://{}:{}".format(*self.address)

    def check(self):
        """Raises an error if the process has ended."""
        status = self._process.poll()
        if status is not None:
            raise ServerError(f"the server has ended with {status}; the end of {self.log}:\n{self._last_lines()}")

    def sign_in_link(self):
        """Returns a link that signs in to the console once, as `telltale login` prints it."""
        command = [self.program, "login", "--config", self.settings]
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=self._environment)
        if done.returncode != 0:
            raise ServerError(f"telltale login failed: {done.stderr.strip()}")
        return done.stdout.strip()

    def stop(self):
        """Stops the server as an operator does, so that it seals its data."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _wait_until_ready(self):
        """Waits until the log says that the server is ready, and returns the address that it listens on."""
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            self.check()
            logged = {line.get("message"): line for line in self._lines()}
            if "listening" in logged and "ready" in logged:
                host, _, port = logged["listening"]["listen"].rpartition(":")
                return host.strip("[]"), int(port)
            time.sleep(0.1)
        raise ServerError(f"the server is not ready after {START_SECONDS} s; see {self.log}")

    def _lines(self):
        """Returns the complete JSON lines that this process has logged."""
        lines = []
        with open(self.log, encoding="utf-8", errors="replace") as file:
            file.seek(self._start)
            for text in file:
                try:
                    line = json.loads(text)
                except ValueError:
                    continue
                if isinstance(line, dict):
                    lines.append(line)
        return lines

    def _last_lines(self):
        with open(self.log, encoding="utf-8", errors="replace") as file:
            file.seek(self._start)
            return "".join(file.readlines()[-5:])


def free_address(listen):
    """Returns an address to listen on, with a free port instead of 0; an error if another program listens on it."""
    host, _, port = listen.rpartition(":")
    if not port.isdigit():
        raise ServerError(f"{listen!r} is not an address and port such as 127.0.0.1:8080")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), int(port)))
            return f"{host}:{probe.getsockname()[1]}"
        except OSError as error:
            raise ServerError(f"cannot listen on {listen} ({error.strerror}); name another one with LISTEN=") from None


def _end_with_parent():
    """Lets the kernel stop the server if the demo is killed."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
