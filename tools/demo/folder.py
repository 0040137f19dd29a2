"""The data directory of a demo: what makes it one, its settings, and what the next start needs."""

import fcntl
import json
import os
import secrets
import shutil
import string

MARKER = "demo.json"
LOCK = "demo.lock"
BASE62 = string.ascii_letters + string.digits
# What the demo itself creates; the server has a directory of its own in it.
OWN = ("server", "repository", "server.log", "telltale.toml")

SETTINGS = """\
# The settings of the demo, written at each start.
[server]
data = {data}
listen = {listen}
{public_url}
[limits]
batch = "unlimited"
query = "unlimited"
single = "unlimited"
other = "unlimited"
console = "unlimited"

[alerting]
evaluation_interval = "5s"

# The web site, the receiver of messages and the repository of the demo are on this machine.
[outbound]
allow = ["127.0.0.1/32"]

[repositories]
schemes = "https file"

[log]
format = "json"
"""


class NotADemo(Exception):
    """The directory belongs to something else."""


class Folder:
    """The data directory; `state` is what the marker file contains."""

    def __init__(self, path, seed, scale):
        self.path = os.path.abspath(path)
        self._read()
        self._lock = self._take_lock()
        self.state = self._read()
        if not self.state.get("complete"):
            self._clear()
            key_id, secret = (_random(length) for length in (16, 43))
            self.state = {"complete": False, "seed": seed, "scale": scale, "key": f"tt_{key_id}_{secret}"}
            self.save()

    @property
    def is_complete(self):
        """Whether the data is there, and only has to be served."""
        return self.state["complete"]

    def inside(self, name):
        """Returns the path of a file or directory in the folder."""
        return os.path.join(self.path, name)

    def save(self, **changes):
        """Writes the state. The file is readable for its owner only: it contains the admin key."""
        self.state.update(changes)
        new = self.inside(MARKER + ".new")
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(self.state, file, indent=2)
        os.replace(new, self.inside(MARKER))

    def write_settings(self, listen, public_url):
        """Writes the settings of the server, and returns the path of the file."""
        path = self.inside("telltale.toml")
        url = f"public_url = {json.dumps(public_url)}\n" if public_url else ""
        with open(path, "w", encoding="utf-8") as file:
            file.write(
                SETTINGS.format(data=json.dumps(self.inside("server")), listen=json.dumps(listen), public_url=url)
            )
        return path

    def _read(self):
        if not os.path.exists(self.path):
            os.makedirs(self.path)
            return {}
        if not os.path.isdir(self.path):
            raise NotADemo(f"{self.path} is not a directory")
        if set(os.listdir(self.path)) <= {LOCK}:
            return {}
        try:
            with open(self.inside(MARKER), encoding="utf-8") as file:
                state = json.load(file)
        except FileNotFoundError:
            raise NotADemo(
                f"{self.path} exists and is not the directory of a demo; name another one with DATA="
            ) from None
        except (OSError, ValueError) as error:
            raise NotADemo(f"cannot read {self.inside(MARKER)}: {error}") from None
        if not isinstance(state, dict) or not isinstance(state.get("key"), str):
            raise NotADemo(f"{self.inside(MARKER)} is not the file of a demo")
        return state

    def _take_lock(self):
        """Keeps a second demo from the directory, as long as this one lives."""
        file = open(self.inside(LOCK), "w", encoding="utf-8")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise NotADemo(f"another demo runs on {self.path}") from None
        return file

    def _clear(self):
        """Removes what an interrupted demo has created, and nothing else."""
        for name in OWN:
            path = self.inside(name)
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path)
            elif os.path.lexists(path):
                os.remove(path)


def _random(length):
    return "".join(secrets.choice(BASE62) for _ in range(length))
