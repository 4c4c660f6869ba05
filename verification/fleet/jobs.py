"""A job: one run of the binary `verify`, in a folder of its own, which leaves one file.

A job is done again from the beginning if the machine that does it is lost: it changes nothing but that folder. What it leaves
is whole or is not there.
"""

import ctypes
import dataclasses
import hashlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

#: What a job's arguments call the file that it leaves.
RESULT = "result.json"


@dataclasses.dataclass(frozen=True)
class Job:
    """What is to be run. It finds `inputs` in its folder, and leaves `results` there; arguments name them as they are."""

    name: str
    arguments: tuple
    inputs: tuple = ()
    results: tuple = (RESULT,)

    def file(self):
        """The name of its result in the folder of results: readable, and of this job only."""
        mark = hashlib.sha256(repr((self.name, self.arguments)).encode()).hexdigest()[:8]
        return f"{re.sub('[^A-Za-z0-9]+', '-', self.name).strip('-')[:80]}-{mark}.json"


@dataclasses.dataclass(frozen=True)
class Done:
    """What came of a job: its exit status, the files it left, what it printed, and the schedules of what fails."""

    job: Job
    status: int
    results: tuple
    said: str
    schedules: tuple


class Lost(Exception):
    """The job did not come to its end: it was killed, or its machine has no room. It may be done again."""


class Refused(Exception):
    """The binary does not understand what it was asked. To ask again does not help."""


def die_with_parent():
    """A job must not outlive the worker that does it: it would not be collected. Linux only; elsewhere it is left."""
    if sys.platform == "linux":
        death_signal = 1  # PR_SET_PDEATHSIG
        ctypes.CDLL(None).prctl(death_signal, signal.SIGKILL)


def run(job, binary, source=None):
    """Does `job`, here and now. `source`: the folder of the project's source, for jobs that need it."""
    with tempfile.TemporaryDirectory(prefix="fleet-") as folder:
        folder = pathlib.Path(folder)
        for name, content in job.inputs:
            (folder / name).write_bytes(content)
        own = {"schedules", *job.results, *(name for name, _ in job.inputs)}
        arguments = [str(folder / argument) if argument in own else argument for argument in job.arguments]
        ran = subprocess.run(
            [binary, *arguments],
            cwd=source or folder,
            env=dict(os.environ, NO_COLOR="1"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            preexec_fn=die_with_parent if os.name == "posix" else None,
            check=False,
        )
        said = ran.stdout.decode(errors="replace")
        if ran.returncode == 2:
            raise Refused(f"{job.name}: verify {' '.join(job.arguments)}\n{said}")
        # 1: something does not hold. That is a result, too.
        if ran.returncode not in (0, 1) or not all((folder / name).exists() for name in job.results):
            raise Lost(f"{job.name}: exit status {ran.returncode}\n{said[-2000:]}")
        results = tuple((folder / name).read_bytes() for name in job.results)
        schedules = tuple((path.name, path.read_bytes()) for path in sorted((folder / "schedules").glob("*")))
        return Done(job, ran.returncode, results, said, schedules)


def attempt(job, binary, source=None):
    """Does `job` for a scheduler, which does again whatever raises: what would not help is returned."""
    try:
        return run(job, binary, source)
    except Refused as refused:
        return refused


def write(path, content):
    """Writes a file so that it is whole or not there."""
    beside = path.with_name(path.name + ".new")
    beside.write_bytes(content)
    os.replace(beside, path)


def find(binary):
    """Where the binary is, as a shell would find it."""
    path = shutil.which(binary)
    if path is None:
        raise SystemExit(f"there is no `{binary}` here: say where it is with --binary")
    return path
