"""Dockerfile emulation without a container engine: `Box` executes the instructions.

A folder takes the place of the image's /home/user. As root, instructions run as uid 1000. The only
variables taken from this environment are those that configure downloads by pip.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import stat
import subprocess
import sys
from pathlib import Path

from seqviz.models import store
from tools import dockerfile

ROOT = Path(__file__).resolve().parent.parent
UID = 1000
HOME, PORT = "/home/user", "7860"
FETCHING = ("PIP_", "SSL_", "REQUESTS_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")


class ContainerError(RuntimeError):
    """Error of a build or start step; the message has the end of its output."""


class Box:
    """Emulated container: home, environment, working directory, user.

    Args:
        position: empty folder.
        port: port in place of the image's.
        quick: use the packages of this Python and the models of this machine's cache.
    """

    def __init__(self, position: Path, port: str, quick: bool) -> None:
        self.home, self.port, self.quick = position / "home", port, quick
        self.home.mkdir()
        position.chmod(0o755)
        self.folder = self.home
        base = Path(sys.base_prefix) / "bin"
        self.environment = {"PATH": f"{base}:/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.arguments: dict[str, str] = {}
        self.health: list[str] = []
        self.command: list[str] = []
        self.user = ""
        self.own(self.home)

    def here(self, text: str) -> str:
        """Return text with the image's home and port replaced by those of this box."""
        return text.replace(PORT, self.port).replace(HOME, str(self.home))

    def own(self, path: Path) -> None:
        if os.geteuid() == 0:
            os.chown(path, UID, UID, follow_symlinks=False)

    def start(self, command: list[str], output: int | None, build: bool) -> subprocess.Popen[bytes]:
        """Start a program as the user of the box, with only the environment of the box.

        Args:
            command: the program and its arguments.
            output: file descriptor of its output; None to inherit this one.
            build: add build arguments and the settings for downloads.
        """
        existing = {**self.environment, **self.arguments} if build else self.environment
        if build:
            existing |= {k: v for k, v in os.environ.items() if k.upper().startswith(FETCHING)}
            settings = Path.home() / ".config/pip/pip.conf"
            existing |= {"PIP_CONFIG_FILE": str(settings)} if settings.is_file() else {}
        return subprocess.Popen(
            [*_as_user(), *command],
            env=existing,
            cwd=self.folder,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
        )

    def run(self, command: list[str], build: bool = True) -> tuple[int, str]:
        process = self.start(command, subprocess.PIPE, build)
        message = process.communicate()[0].decode("utf-8", "replace")
        return process.returncode, message

    # The instructions of the Dockerfile

    def do(self, step: dockerfile.Step) -> None:
        """Execute one instruction.

        Raises:
            ContainerError: it failed, or is not supported.
        """
        action = getattr(self, f"_{step.name.lower()}", None)
        if action is None:
            raise ContainerError(
                f"The Dockerfile has {step.name}, which tools/container.py does not support."
            )
        action(step)

    def _from(self, step: dockerfile.Step) -> None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        if step.text != f"python:{version}-slim":
            raise ContainerError(f"The image is {step.text}, and this is Python {version}.")

    def _arg(self, step: dockerfile.Step) -> None:
        name, _, default = step.text.partition("=")
        self.arguments.setdefault(name, default)

    def _env(self, step: dockerfile.Step) -> None:
        for pair in shlex.split(step.text):
            name, _, text = pair.partition("=")
            value = dockerfile.expand(self.here(text), {**self.arguments, **self.environment})
            self.environment[name] = value

    def _user(self, step: dockerfile.Step) -> None:
        self.user = step.text

    def _workdir(self, step: dockerfile.Step) -> None:
        self.folder = Path(self.here(step.text))
        self.folder.mkdir(parents=True, exist_ok=True)
        self.own(self.folder)

    def _expose(self, step: dockerfile.Step) -> None:
        if step.text != PORT:
            raise ContainerError(f"The image exposes {step.text}, and the Space expects {PORT}.")

    def _copy(self, step: dockerfile.Step) -> None:
        if step.flags != (f"--chown={self.user}",):
            raise ContainerError(f"COPY {step.text}: the files would belong to root.")
        *sources, target = step.text.split()
        existing = dockerfile.context(ROOT, (ROOT / ".dockerignore").read_text("utf-8"))
        if target != "./" or not (sources == ["."] or {*map(Path, sources)} <= {*existing}):
            raise ContainerError(f"COPY {step.text}: some sources are not in the build context.")
        for path in existing if sources == ["."] else map(Path, sources):
            for folder in reversed(path.parents[:-1]):
                if not (self.folder / folder).exists():
                    (self.folder / folder).mkdir()
                    self.own(self.folder / folder)
            shutil.copy2(ROOT / path, self.folder / path, follow_symlinks=False)
            self.own(self.folder / path)

    def _run(self, step: dockerfile.Step) -> None:
        if not self.user:
            if step.text != f"useradd -m -u {UID} user":
                raise ContainerError(f"RUN {step.text}: as root, only the user may be created.")
            return
        if self.quick and "pip install" in step.text:
            (self.home / "env").symlink_to(sys.prefix)
            return
        if self.quick and "seqviz bake" in step.text:
            self._take_cache()
        status, message = self.run(["sh", "-c", self.here(step.text)])
        if status:
            raise ContainerError(f"RUN {step.text}\n{message[-3000:]}")

    def _healthcheck(self, step: dockerfile.Step) -> None:
        self.health = ["sh", "-c", self.here(step.text.removeprefix("CMD "))]

    def _cmd(self, step: dockerfile.Step) -> None:
        self.command = json.loads(self.here(step.text))

    def _take_cache(self) -> None:
        """Copy the models and features of this machine's cache, so that nothing is downloaded."""
        target = self.home / ".cache" / "seqviz"
        for name in ("models", "features"):
            if (store.cache() / name).is_dir():
                shutil.copytree(store.cache() / name, target / name, dirs_exist_ok=True)
        for path in (target.parent, target, *target.rglob("*")):
            if path.exists():
                self.own(path)


def _as_user() -> list[str]:
    """Return the command prefix that switches to uid 1000; empty without root."""
    if os.geteuid() != 0:
        return []
    command = ["setpriv", f"--reuid={UID}", f"--regid={UID}", "--clear-groups"]
    lying = [Path(sys.base_prefix), Path(sys.prefix), Path.home() / ".config"]
    for path in (position for start in lying for position in (start, *start.parents)):
        if path.exists() and not path.stat().st_mode & stat.S_IXOTH:
            # This Python is in root's home, so the user gets read access everywhere.
            reading = "+dac_read_search"
            return [*command, f"--inh-caps={reading}", f"--ambient-caps={reading}"]
    return command
