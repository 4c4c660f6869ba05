"""Hands out runs of `verify` to the workers of a Dask cluster, and puts together what comes back.

    python3 fleet.py run NAME…     models x engines               DIR/rows.json
    python3 fleet.py report        the whole, in shards           DIR/record.json, DIR/html, DIR/junit.xml
    python3 fleet.py mutants       the kill matrix, in shards     DIR/mutants.json
    python3 fleet.py explore NAME  one exploration on rc11        DIR/state.json, DIR/rows.json

What is done stands in DIR/done, a file a job; what stands there is not done again. README.md has the rest.
"""

import argparse
import hashlib
import json
import pathlib
import sys

import frontier
import jobs

try:
    import distributed
except ImportError:
    distributed = None

#: What becomes of a mutant when all is well.
DEAD = ("killed", "killed-by-proptest", "argued")

#: How often a job is done again that was killed. A worker that is lost is counted by Dask itself.
RETRIES = 3


class Folder:
    """Where results are: what is done, and of what."""

    def __init__(self, path, of):
        self.path = pathlib.Path(path)
        self.done = self.path / "done"
        self.done.mkdir(parents=True, exist_ok=True)
        text = json.dumps(of, indent=2, sort_keys=True).encode()
        of_what = self.path / "fleet.json"
        if of_what.exists() and of_what.read_bytes() != text:
            raise SystemExit(f"{self.path} has results of another run, or of another binary: see {of_what}")
        jobs.write(of_what, text)

    def result(self, job):
        """The result of `job`, if it is done."""
        path = self.done / job.file()
        return path.read_bytes() if path.exists() else None

    def keep(self, done):
        """A job is done."""
        for name, content in done.schedules:
            schedules = self.path / "schedules"
            schedules.mkdir(exist_ok=True)
            jobs.write(schedules / name, content)
        jobs.write(self.done / done.job.file(), done.results[0])


def prepare(client):
    """Workers, those that come later too, need no file of this folder: they are sent the one that they do need."""
    client.upload_file(jobs.__file__)


def do_all(client, all_jobs, folder, binary, source=None, heard=lambda done: None):
    """Does all jobs that are not done, in whatever order; the results, in the jobs' order."""
    prepare(client)
    left = [job for job in all_jobs if folder.result(job) is None]
    submit = {client.submit(jobs.attempt, job, binary, source, key=job.file(), retries=RETRIES): job for job in left}
    for n, (future, done) in enumerate(finished(distributed.as_completed(submit)), 1):
        if isinstance(done, Exception):
            client.cancel(list(submit))
            raise done
        folder.keep(done)
        future.release()
        say(f"[{n}/{len(left)}] {done.job.name}{'' if done.status == 0 else ': DOES NOT HOLD'}")
        heard(done)
    return [folder.result(job) for job in all_jobs]


def finished(futures):
    """Each future that comes to its end, and what came of it, which may be an error."""
    for future in futures:
        yield future, future.result() if future.status == "finished" else future.exception()


def explore(client, model, folder, binary, deep=False, sitting=60.0, heard=lambda pool: None):
    """Explores one model on rc11 with all workers. The row that `verify run` has of it in the end."""
    prepare(client)
    path = folder.path / "state.json"
    slots = max(1, sum(client.nthreads().values()))
    if path.exists():
        pool = frontier.Pool(frontier.read(path.read_bytes()))
    else:
        # The first sitting: short, so that there is something to hand out.
        done = jobs.run(part_of(model, None, min(1.0, sitting), deep), binary)
        stop_if_it_fails(done, folder)
        pool = frontier.Pool(frontier.read(done.results[1]))
    running, futures = {}, distributed.as_completed()
    while not pool.is_over():
        while len(running) < slots and (given := pool.give(2 * slots)):
            number, content = given
            job = part_of(model, content, sitting, deep, number)
            future = client.submit(jobs.attempt, job, binary, key=f"{model} {number} {id(pool)}", retries=RETRIES)
            running[future.key] = number
            futures.add(future)
        heard(pool)
        future, done = next(finished(futures))
        if isinstance(done, Exception):
            raise done
        stop_if_it_fails(done, folder)
        pool.take(running.pop(future.key), done.results[1])
        future.release()
        jobs.write(path, frontier.text(pool.state()))
        say(f"{pool.tally['executions']:,} executions, {pool.tally['done']:.1%} done, {len(pool.branches)} branches wait")
    jobs.write(path, frontier.text(pool.state()))
    # Nothing is left to do but to judge it.
    done = jobs.run(part_of(model, path.read_bytes(), sitting, deep), binary)
    jobs.write(folder.path / "rows.json", done.results[0])
    return json.loads(done.results[0])[0]


def part_of(model, content, sitting, deep, number=0):
    """One sitting at a part of an exploration; `content`: its checkpoint, or nothing at the beginning."""
    arguments = ["run", model, "--engine", "rc11", "--jobs", "1", "--checkpoint", "part.json", "--leave-checkpoint"]
    arguments += ["--seconds", str(sitting), "--json", jobs.RESULT, "--schedules", "schedules"]
    inputs = () if content is None else (("part.json", content),)
    results = (jobs.RESULT, "part.json")
    return jobs.Job(f"{model}, part {number}", (*arguments, *(["--deep"] if deep else [])), inputs, results)


def stop_if_it_fails(done, folder):
    """A part need not reach all that the whole must reach. Any other failure is one of the whole."""
    rows = json.loads(done.results[0])
    failure = rows[0]["failure"]
    if len(rows) != 1:
        raise SystemExit(f"{done.job.name}: that names {len(rows)} runs; name one model in full")
    if failure is not None and not failure.startswith("vacuous:"):
        folder.keep(done)
        raise SystemExit(f"{done.job.name} DOES NOT HOLD: {failure}\n{done.said}")


def runs(binary, names, engines, deep):
    """A job for each model on each engine, in reading order."""
    listed = jobs.run(jobs.Job("list", ("list", "--json", jobs.RESULT)), binary).results[0]
    rows = json.loads(listed)
    rooms = {row["room"] for row in rows}

    def is_named(row):
        # As the binary does: a room's name means the room.
        return not names or any(row["room"] == name if name in rooms else name in row["model"] for name in names)

    wanted = list(dict.fromkeys((row["model"], row["engine"]) for row in rows if is_named(row)))
    if engines:
        wanted = list(dict.fromkeys((model, engine) for model, _ in wanted for engine in engines))
    rest = ("--jobs", "1", "--json", jobs.RESULT, "--schedules", "schedules", *(["--deep"] if deep else []))
    return [jobs.Job(f"{model} on {engine}", ("run", model, "--engine", engine, *rest)) for model, engine in wanted]


def rows_of(all_jobs, results):
    """The rows of all jobs. A model's name may be part of another's, which is then run, too: that row is not the job's."""
    rows = []
    for job, result in zip(all_jobs, results):
        rows += [row for row in json.loads(result) if row["model"] == job.arguments[1]]
    return rows


def shards(command, n, jobs_each, rest):
    """A job for each of `n` shards of a command."""
    first = (*command, "--jobs", str(jobs_each), "--json", jobs.RESULT, *rest)
    return [jobs.Job(f"{command[0]} {i}/{n}", (*first, "--shard", f"{i}/{n}")) for i in range(1, n + 1)]


def merge_report(folder, all_jobs, binary):
    """One record and its page from those of all shards: the binary does that."""
    inputs = [(f"{n}.json", folder.result(job)) for n, job in enumerate(all_jobs)]
    arguments = ["report", "--json", "record.json", "--junit", "junit.xml", "--html", str(folder.path.resolve() / "html")]
    for name, _ in inputs:
        arguments += ["--from", name]
    done = jobs.run(jobs.Job("merge", tuple(arguments), tuple(inputs), ("record.json", "junit.xml")), binary)
    jobs.write(folder.path / "record.json", done.results[0])
    jobs.write(folder.path / "junit.xml", done.results[1])
    return done.status


def say(text):
    """For observers."""
    print(text, file=sys.stderr, flush=True)


def connect(asked):
    """The cluster: one that is there, or processes of this machine."""
    if distributed is None:
        raise SystemExit("Dask is not here: python3 -m pip install distributed")
    if asked.scheduler:
        return distributed.Client(asked.scheduler)
    return distributed.Client(n_workers=asked.local, threads_per_worker=1, processes=True, dashboard_address=None)


def arguments():
    """What can be asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--binary", default="verify", help="the binary, on each worker and here")
    common.add_argument("--out", required=True, metavar="DIR", help="where results go, and from where it goes on")
    common.add_argument("--scheduler", metavar="ADDRESS", help="a Dask scheduler: tcp://host:8786")
    common.add_argument("--local", type=int, default=2, metavar="N", help="without one: so many workers here")
    common.add_argument("--deep", action="store_true", help="wider bounds")
    parts = argparse.ArgumentParser(add_help=False)
    parts.add_argument("--shards", type=int, default=64, metavar="N", help="in how many parts; several for each worker")
    parts.add_argument("--jobs-each", type=int, default=1, metavar="N", help="how many cores a job takes")
    parts.add_argument("--source", metavar="DIR", help="the source, on each worker: for steps, which are built first")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser("run", parents=[common], help="models x engines")
    run.add_argument("names", nargs="*", metavar="NAME")
    run.add_argument("--engine", action="append", default=[])
    commands.add_parser("report", parents=[common, parts], help="everything, in shards")
    mutants = commands.add_parser("mutants", parents=[common, parts], help="the kill matrix, in shards")
    mutants.add_argument("names", nargs="*", metavar="NAME")
    one = commands.add_parser("explore", parents=[common], help="one exploration on rc11, divided")
    one.add_argument("name", metavar="NAME")
    one.add_argument("--sitting", type=float, default=60.0, metavar="S", help="seconds after which a part comes back")
    return parser


def main():
    """Does what was asked. The exit status is that of `verify`: 0, all holds; 1, something does not."""
    asked = arguments().parse_args()
    if "/" in asked.binary:
        # Jobs run in folders of their own.
        asked.binary = str(pathlib.Path(asked.binary).resolve())
    # Where it runs and how long a sitting is: that changes no result.
    result = {key: value for key, value in vars(asked).items() if key not in ("scheduler", "local", "sitting", "out")}
    folder = Folder(asked.out, {**result, "binary": hash_of(asked.binary)})
    with connect(asked) as client:
        return COMMANDS[asked.command](client, folder, asked)


def hash_of(binary):
    """The hash of the binary: results of two versions do not belong together."""
    path = jobs.find(binary)
    return hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()


def run_models(client, folder, asked):
    """`fleet.py run`."""
    all_jobs = runs(asked.binary, asked.names, asked.engine, asked.deep)
    rows = rows_of(all_jobs, do_all(client, all_jobs, folder, asked.binary))
    jobs.write(folder.path / "rows.json", json.dumps(rows, indent=2).encode())
    failed = [f"{row['model']} on {row['engine']}" for row in rows if row["verdict"] == "FAILED"]
    say("\n".join([f"{len(rows)} runs, {len(failed)} failed", *failed]))
    return 1 if failed else 0


def run_report(client, folder, asked):
    """`fleet.py report`."""
    rest = [*([] if asked.source else ["--no-steps"]), *(["--deep"] if asked.deep else [])]
    all_jobs = shards(("report",), asked.shards, asked.jobs_each, rest)
    do_all(client, all_jobs, folder, asked.binary, asked.source)
    return merge_report(folder, all_jobs, asked.binary)


def run_mutants(client, folder, asked):
    """`fleet.py mutants`."""
    rest = [*([] if asked.source else ["--sort", "variant", "--sort", "ordering"]), *(["--deep"] if asked.deep else [])]
    all_jobs = shards(("mutants", *asked.names), asked.shards, asked.jobs_each, rest)
    results = do_all(client, all_jobs, folder, asked.binary, asked.source)
    tried = [mutant for result in results for mutant in json.loads(result)]
    if not tried:
        raise SystemExit(f"there is no mutant `{' '.join(asked.names)}`")
    jobs.write(folder.path / "mutants.json", json.dumps(tried, indent=2).encode())
    alive = [mutant for mutant in tried if mutant.get("verdict", mutant.get("fate")) not in DEAD]
    say(f"{len(tried)} mutants tried, {len(alive)} neither killed nor argued")
    return 1 if alive else 0


def run_explore(client, folder, asked):
    """`fleet.py explore`."""
    row = explore(client, asked.name, folder, asked.binary, asked.deep, asked.sitting)
    say(f"{row['model']}: {row['verdict']}, {row['executions']:,} executions")
    return 1 if row["verdict"] == "FAILED" else 0


COMMANDS = {"run": run_models, "report": run_report, "mutants": run_mutants, "explore": run_explore}

if __name__ == "__main__":
    sys.exit(main())
