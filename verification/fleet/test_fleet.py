"""A fleet of two, of which one is lost: what comes of it is, to the unit, what one machine finds.

    python3 -m unittest

VERIFY names the binary; else it is looked for where `cargo build` leaves it.
"""

import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import fleet
import frontier
import jobs

HERE = pathlib.Path(__file__).resolve().parent


def the_binary():
    """Where `verify` is, if it is anywhere."""
    target = HERE.parent.parent / "target"
    places = [os.environ.get("VERIFY"), target / "debug" / "verify", target / "release" / "verify"]
    return next((str(place) for place in places if place and pathlib.Path(place).exists()), None)


BINARY = the_binary()


#: On a busy machine a model's own bound may come first.
UNTIL_ITS_END = ("--checkpoint", "here.json", "--seconds", "600")


def missing():
    """Why nothing can be tried, in a line."""
    if fleet.distributed is None:
        return "Dask is not here: python3 -m pip install distributed"
    return None if BINARY else "there is no verify: build it, or say where it is with VERIFY"


def counts(rows):
    """What does not depend on the machine."""
    return [(row["model"], row["engine"], row["verdict"], row["executions"], row["outcomes"]) for row in rows]


class TwoWorkers:
    """A scheduler and two workers, each a process of its own, without anybody who would start them again."""

    def __enter__(self):
        self.folder = tempfile.TemporaryDirectory(prefix="fleet-test-")
        self.file = pathlib.Path(self.folder.name) / "scheduler.json"
        self.log = open(pathlib.Path(self.folder.name) / "log", "w", encoding="utf-8")
        self.processes = [self.start("scheduler", "--port", "0", "--no-dashboard")]
        for name in ("one", "two"):
            more = ["--no-nanny", "--nthreads", "1", "--name", name, "--no-dashboard"]
            self.processes.append(self.start("worker", *more))
        self.client = fleet.distributed.Client(scheduler_file=str(self.file), timeout=60)
        self.client.wait_for_workers(2, timeout=60)
        return self

    def start(self, what, *more):
        """One process of the cluster."""
        command = [sys.executable, "-m", "dask", what, *more, "--scheduler-file", str(self.file)]
        return subprocess.Popen(command, cwd=self.folder.name, stdout=self.log, stderr=self.log)

    def kill_one(self):
        """Kills a worker that is at work, as a machine that loses its power; what it had begun."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            processing = self.client.processing()
            begun = {worker: tasks for worker, tasks in processing.items() if tasks}
            if begun:
                pids = self.client.run(os.getpid)
                worker = sorted(begun)[0]
                os.kill(pids[worker], signal.SIGKILL)
                return list(begun[worker])
            time.sleep(0.01)
        raise AssertionError("there was never a moment at which a worker had work")

    def __exit__(self, *_):
        self.client.close()
        for process in self.processes:
            process.kill()
            process.wait()
        self.log.close()
        self.folder.cleanup()


@unittest.skipIf(missing(), missing() or "")
class AWorkerIsLost(unittest.TestCase):
    """The counts are those of one machine."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="fleet-test-")
        self.folder = fleet.Folder(self.place.name, {"test": self.id()})
        self.lost = []
        fleet.say = lambda text: None

    def tearDown(self):
        self.place.cleanup()

    def here(self, *arguments):
        """The same on this machine, without a fleet."""
        done = jobs.run(jobs.Job("here", ("run", *arguments, "--json", jobs.RESULT)), BINARY)
        return json.loads(done.results[0])

    def test_between_models(self):
        names = ["runnext", "globq"]
        all_jobs = fleet.runs(BINARY, names, ["rc11", "sc"], False)
        self.assertGreater(len(all_jobs), 5)
        with TwoWorkers() as fleet_of_two:

            def heard(_):
                if not self.lost:
                    self.lost = fleet_of_two.kill_one()

            results = fleet.do_all(fleet_of_two.client, all_jobs, self.folder, BINARY, heard=heard)
            self.assertEqual(len(fleet_of_two.client.scheduler_info()["workers"]), 1, "a worker was lost")
        self.assertTrue(self.lost, "it had begun something")
        rows = fleet.rows_of(all_jobs, results)
        here = self.here(*names, "--engine", "rc11", "--engine", "sc")
        self.assertEqual(sorted(counts(rows), key=repr), sorted(counts(here), key=repr))

    def test_within_one_exploration(self):
        model = fleet_model()
        with TwoWorkers() as fleet_of_two:

            def heard(pool):
                if not self.lost and pool.parts_given > 4 and len(pool.out) == 2:
                    self.lost = fleet_of_two.kill_one()

            row = fleet.explore(fleet_of_two.client, model, self.folder, BINARY, sitting=0.5, heard=heard)
            self.assertEqual(len(fleet_of_two.client.scheduler_info()["workers"]), 1, "a worker was lost")
        self.assertTrue(self.lost, "it had begun something")
        self.assertEqual(row["verdict"], "proved")
        self.assertEqual(counts([row]), counts(self.here(model, "--engine", "rc11", *UNTIL_ITS_END)))


    def test_or_the_driver_is(self):
        class Gone(Exception):
            """The driver is no more."""

        def heard(pool):
            if pool.parts_given > 4:
                raise Gone

        model = fleet_model()
        with TwoWorkers() as fleet_of_two:
            with self.assertRaises(Gone):
                fleet.explore(fleet_of_two.client, model, self.folder, BINARY, sitting=0.5, heard=heard)
            state = frontier.read((self.folder.path / "state.json").read_bytes())
            self.assertTrue(state["left"], "it was not over")
            row = fleet.explore(fleet_of_two.client, model, self.folder, BINARY, sitting=0.5)
        self.assertEqual(counts([row]), counts(self.here(model, "--engine", "rc11", *UNTIL_ITS_END)))


def fleet_model():
    """One that takes a second or two on rc11, so that there is something to divide."""
    return "deadlock::never_told_without_reason::another_is_in_a_system_call"


@unittest.skipIf(missing(), missing() or "")
class WhatIsDoneIsNotDoneAgain(unittest.TestCase):
    """A run that was broken off goes on."""

    def test_from_its_folder(self):
        with tempfile.TemporaryDirectory() as place:
            folder = fleet.Folder(place, {"of": "this"})
            job = jobs.Job("one", ("run",))
            folder.keep(jobs.Done(job, 0, (b"[]",), "", ()))
            # No client: it would have to be asked if there were anything to do.
            client = fleet.distributed.Client(processes=False, n_workers=1, dashboard_address=None)
            with client:
                self.assertEqual(fleet.do_all(client, [job], folder, "no such binary"), [b"[]"])

    def test_but_not_from_that_of_another_run(self):
        with tempfile.TemporaryDirectory() as place:
            fleet.Folder(place, {"of": "this"})
            with self.assertRaises(SystemExit):
                fleet.Folder(place, {"of": "that"})


@unittest.skipUnless(BINARY, "there is no verify: build it, or say where it is with VERIFY")
class Shards(unittest.TestCase):
    """Records of parts make the record of the whole."""

    def test_are_put_together_by_the_binary(self):
        whole = json.loads((HERE.parent / "cli/tests/full-record.json").read_bytes())
        with tempfile.TemporaryDirectory() as place:
            folder = fleet.Folder(place, {"of": "this"})
            all_jobs = fleet.shards(("report",), 3, 1, ["--no-steps"])
            for n, job in enumerate(all_jobs):
                part = {**whole, "shard": f"{n + 1}/3", "runs": whole["runs"][n::3], "mutants": []}
                folder.keep(jobs.Done(job, 0, (json.dumps(part).encode(),), "", ()))
            self.assertEqual(fleet.merge_report(folder, all_jobs, BINARY), 0)
            merged = json.loads((folder.path / "record.json").read_bytes())
            self.assertEqual(sorted(map(repr, merged["runs"])), sorted(map(repr, whole["runs"])))
            self.assertTrue((folder.path / "html" / "index.html").exists())
            self.assertTrue((folder.path / "junit.xml").exists())


class Fronts(unittest.TestCase):
    """A frontier that is cut is the frontier."""

    OF = {"what": "it", "owner": "test", "engine": "0.1.0", "program": 7}

    def state(self):
        """An exploration of which five branches are left, of two executions."""
        ways = [{"weight": weight} for weight in (0.1, 0.2, 0.3, 0.15)]
        left = [(execution, way) for execution, way in zip("AABB", ways)]
        executions = {name: {"name": name, "weight": 0.25} for name in "AB"}
        found = [(executions[name], way) for name, way in left] + [(executions["B"], None)]
        tally = {**frontier.nothing_found(), "executions": 7, "outcomes": {"x": 7}, "done": 0.1, "peak_bytes": 9}
        return frontier.checkpoint(self.OF, tally, 1.0, found)

    def test_parts_have_each_branch_once(self):
        pool = frontier.Pool(self.state())
        before = [json.dumps(branch) for branch in pool.branches]
        parts = []
        while given := pool.give(3):
            parts += [json.dumps(branch) for branch in frontier.branches(frontier.read(given[1]))]
        self.assertEqual(sorted(parts), sorted(before))
        self.assertFalse(pool.is_over())

    def test_what_is_out_is_not_lost(self):
        pool = frontier.Pool(self.state())
        pool.give(2)
        again = frontier.Pool(frontier.read(frontier.text(pool.state())))
        self.assertEqual(len(again.branches), 5)
        self.assertEqual(again.tally["executions"], 7)

    def test_what_comes_back_is_added(self):
        pool = frontier.Pool(self.state())
        number, content = pool.give(1)
        part = frontier.read(content)
        self.assertEqual((part["tally"]["executions"], len(part["left"])), (0, 5))
        tally = {**frontier.nothing_found(), "executions": 3, "outcomes": {"x": 1, "y": 2}, "std_counts": True}
        tally = {**tally, "done": 0.9, "peak_bytes": 5}
        pool.take(number, frontier.text(frontier.checkpoint(self.OF, tally, 2.0, [])))
        self.assertTrue(pool.is_over())
        self.assertEqual((pool.tally["executions"], pool.tally["outcomes"]), (10, {"x": 8, "y": 2}))
        self.assertTrue(pool.tally["std_counts"])
        self.assertEqual((pool.tally["done"], pool.tally["peak_bytes"], pool.seconds), (1.0, 9, 3.0))

    def test_the_format_is_rc11s(self):
        sources = [path.read_text() for path in (HERE.parent / "rc11" / "src").rglob("*.rs")]
        (tally,) = [text.split("pub struct Tally {")[1] for text in sources if "pub struct Tally {" in text]
        fields = {line.split()[1].rstrip(":") for line in tally.split("\n}")[0].splitlines() if line.strip().startswith("pub ")}
        self.assertTrue(any(f"const FORMAT: u32 = {frontier.FORMAT};" in text for text in sources))
        self.assertEqual(fields, set(frontier.nothing_found()), "each count is added up")

    def test_another_is_refused(self):
        good = frontier.text(self.state())
        frontier.read(good, "it")
        others = {
            "another format": good.replace(b'"rc11_checkpoint":2', b'"rc11_checkpoint":1'),
            "another model": frontier.text({**self.state(), "what": "another"}),
            "an unknown count": frontier.text({**self.state(), "tally": {"new": 1}}),
            "a changed one": good.replace(b'"executions":7', b'"executions":8'),
            "one that was cut off": good[:-9],
        }
        for what, content in others.items():
            with self.subTest(what), self.assertRaises(frontier.Broken):
                frontier.read(content, "it")


class AJob(unittest.TestCase):
    """What does not come to its end is told from what does not hold."""

    def job(self, script, results=("out",)):
        """A shell's script in the place of the binary."""
        return jobs.Job("job", ("-c", script), (), results)

    def test_that_fails_leaves_its_result(self):
        done = jobs.run(self.job("echo found > out; mkdir schedules; echo s > schedules/a; exit 1"), "sh")
        self.assertEqual((done.status, done.results, done.schedules), (1, (b"found\n",), (("a", b"s\n"),)))

    def test_that_is_killed_is_lost(self):
        for script in ("echo half > out; kill -9 $$", "exit 0", "exit 101"):
            with self.subTest(script), self.assertRaises(jobs.Lost):
                jobs.run(self.job(script), "sh")

    def test_that_is_not_understood_is_refused(self):
        with self.assertRaises(jobs.Refused):
            jobs.run(self.job("echo what; exit 2"), "sh")
        self.assertIsInstance(jobs.attempt(self.job("exit 2"), "sh"), jobs.Refused)


if __name__ == "__main__":
    unittest.main()
