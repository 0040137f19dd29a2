"""Code help: the repository of the company, made on the spot, and questions about it."""

import os
import shutil
import subprocess
import time

from errors import SOURCE

SYNC_SECONDS = 120
# Fixed, so that the commit has the same id every time.
AUTHOR = {"NAME": "Ida Lindqvist", "EMAIL": "ida.lindqvist@example.com", "DATE": "2026-01-05T09:00:00Z"}
QUESTIONS = ("How is a card charged?", "Who calls charge_card?")


class GitError(Exception):
    """The repository cannot be made or synced."""


def fill(demo):
    """Connects the repository, asks about it, and returns what was indexed."""
    folder = demo.folder.inside("repository")
    _make(folder)
    repository = demo.api.post("/api/v1/repositories", {"url": f"file://{folder}", "name": "shop", "auto_sync": False})[
        "id"
    ]
    state = _synced(demo.api, repository)
    session = None
    for question in QUESTIONS:
        session = demo.api.post(
            "/api/v1/chat", {"repository": repository, "question": question, "session_id": session}
        )["session_id"]
    stats = state["stats"]
    return (
        f"{stats['files_indexed']} files in five languages, {stats['wiki_pages']} pages of wiki, "
        f"{stats['diagrams']} diagrams; a chat of {len(QUESTIONS)} questions"
    )


def _make(folder):
    """Commits the files of the company to a new repository."""
    shutil.copytree(SOURCE, folder)
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    for role in ("AUTHOR", "COMMITTER"):
        environment.update({f"GIT_{role}_{field}": value for field, value in AUTHOR.items()})
    for arguments in (
        ["init", "--quiet", "--initial-branch=main"],
        ["add", "--all"],
        ["-c", "commit.gpgsign=false", "commit", "--quiet", "--no-verify", "--message=The shop"],
    ):
        try:
            subprocess.run(
                ["git", "-C", folder, *arguments], check=True, capture_output=True, text=True, env=environment
            )
        except FileNotFoundError:
            raise GitError("git is not installed") from None
        except subprocess.CalledProcessError as error:
            raise GitError(f"git {arguments[0]} failed: {error.stderr.strip()}") from None


def _synced(api, repository):
    """Waits until the first sync has ended, and returns the repository."""
    deadline = time.monotonic() + SYNC_SECONDS
    while time.monotonic() < deadline:
        state = api.get(f"/api/v1/repositories/{repository}")
        if state["status"] == "synced":
            return state
        if state["status"] == "failed":
            raise GitError(f"the repository was not synced: {state['last_error']}")
        time.sleep(0.1)
    raise GitError(f"the repository is not synced after {SYNC_SECONDS} s")
