#!/usr/bin/env python3
"""The examples http_server and https_proxy, on spinpark beside the same source on tokio.

   python3 benches/http/bench.py                  HTTP and the HTTPS proxy, 64 connections, seven rounds of five seconds each
   python3 benches/http/bench.py --quick          does it still run?
   python3 benches/http/bench.py --syscalls       system calls a request, counted by strace, which slows everything down
   python3 benches/http/bench.py --json FILE      the figures, to be read by a program

Builds both (cargo, release), and drives one after the other with wrk, round by round, in processes that are started for the round and
have answered for a second: what disturbs the machine disturbs both alike. Both proxies have the same server behind them, http_server on tokio. Figures are medians of the rounds; ratios are of medians, spinpark to tokio.
"""

import argparse
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
KINDS = ("ours", "tokio")
UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 60e6}


def fail(text):
    sys.exit(f"bench.py: {text}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=int, default=5)
    parser.add_argument("--only", choices=("http", "https"), help="only one of both")
    parser.add_argument("--quick", action="store_true", help="two rounds of a second")
    parser.add_argument("--syscalls", action="store_true", help="count system calls a request, by strace")
    parser.add_argument("--json", metavar="FILE")
    options = parser.parse_args()
    if options.quick:
        options.rounds, options.seconds = 2, 1
    return options


def build():
    subprocess.run(["cargo", "build", "--quiet", "--release", "--manifest-path", HERE / "Cargo.toml"], check=True)
    folder = Path(os.environ.get("CARGO_TARGET_DIR", HERE / "target")).resolve()
    return folder / "release"


class Server:
    """A process that says where it listens."""

    def __init__(self, command, prefix=()):
        self.process = subprocess.Popen(
            [*map(str, prefix), *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        line = self.process.stdout.readline()
        found = re.search(r"listening on (https?://[0-9.:]+)", line)
        if not found:
            fail(f"{command[0]} has not said where it listens, but: {line!r}")
        self.url = found.group(1) + "/"

    def stop(self, children=False):
        """Asks it to end; what is traced, and not the tracer."""
        pid = self.process.pid
        if children:
            pid = int(Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0])
        os.kill(pid, signal.SIGTERM)
        self.process.wait(timeout=30)

    def cpu(self):
        """Seconds of processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wrk(url, connections, seconds):
    command = ["wrk", "--latency", "-t1", f"-c{connections}", f"-d{seconds}s", url]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    errors = re.search(r"(Socket errors|Non-2xx).*", text)
    if errors:
        fail(f"{url}: {errors.group(0)}")

    def latency(share):
        number, unit = re.search(rf"^\s+{share}%\s+([0-9.]+)([a-z]+)", text, re.M).groups()
        return float(number) * UNITS[unit]

    requests = int(re.search(r"(\d+) requests in", text).group(1))
    rate = float(re.search(r"Requests/sec:\s+([0-9.]+)", text).group(1))
    return {"requests": requests, "requests/s": rate, "p50, us": latency(50), "p99, us": latency(99)}


def commands(binaries, what, kind, certificate, behind):
    if what == "http":
        return [binaries / f"http_server_{kind}", "127.0.0.1:0"]
    proxy = [binaries / f"https_proxy_{kind}", "--self-signed", certificate, "--upstream", behind]
    return proxy + ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"]


def measure(start, options):
    """Interleaved rounds: for each kind, its figures. A process may be slower than the next of the same program by several percent, as
    long as it lives: so each round has its own."""
    figures = {kind: [] for kind in KINDS}
    for n in range(options.rounds):
        # Who comes first has the caches of the other: they take turns.
        for kind in KINDS if n % 2 == 0 else KINDS[::-1]:
            server = Server(start(kind))
            try:
                wrk(server.url, options.connections, 1)
                before = server.cpu()
                figure = wrk(server.url, options.connections, options.seconds)
                figure["CPU us/request"] = (server.cpu() - before) * 1e6 / figure["requests"]
                figures[kind].append(figure)
            finally:
                server.stop()
    return figures


def table(what, figures):
    names = ("requests/s", "p50, us", "p99, us", "CPU us/request")
    print(f"\n{what:<10}" + "".join(f"{name:>16}" for name in names))
    medians = {
        kind: {name: statistics.median(figure[name] for figure in rounds) for name in names}
        for kind, rounds in figures.items()
    }
    for kind, of in medians.items():
        print(f"{kind:<10}" + "".join(f"{of[name]:>16.1f}" for name in names))
    ratios = {name: medians["ours"][name] / medians["tokio"][name] for name in names}
    print(f"{'ratio':<10}" + "".join(f"{ratios[name]:>16.3f}" for name in names))
    return {"medians": medians, "ratios": ratios, "rounds": figures}


def syscalls(what, start, options):
    """How many of each system call a request, after the connections were made."""
    counts = {}
    for kind in KINDS:
        with tempfile.NamedTemporaryFile(mode="r") as out:
            server = Server(start(kind), ["strace", "-f", "-c", "-U", "calls,name", "-o", out.name])
            requests = wrk(server.url, options.connections, options.seconds)["requests"]
            server.stop(children=True)
            lines = re.findall(r"^\s*(\d+)\s+([a-z_0-9]+)$", out.read(), re.M)
            counts[kind] = {name: int(count) / requests for count, name in lines if name != "total"}
    print(f"\n{what}, system calls a request")
    names = {name for of in counts.values() for name, count in of.items() if count >= 0.01}
    for name in sorted(names, key=lambda name: -max(counts[kind].get(name, 0) for kind in KINDS)):
        print(f"  {name:<16}" + "".join(f"{kind:>8}{counts[kind].get(name, 0):>8.3f}" for kind in KINDS))
    totals = {kind: sum(of.values()) for kind, of in counts.items()}
    print(f"  {'all':<16}" + "".join(f"{kind:>8}{totals[kind]:>8.3f}" for kind in KINDS))
    return counts


def main():
    options = arguments()
    for tool in ["wrk"] + (["strace"] if options.syscalls else []):
        if not shutil.which(tool):
            fail(f"{tool} is not installed: on Debian, apt-get install {tool}")
    binaries = build()
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        certificate = Path(folder) / "cert.pem"
        behind = Server([binaries / "http_server_tokio", "127.0.0.1:0"])
        try:
            for what in [options.only] if options.only else ["http", "https"]:
                address = behind.url.removeprefix("http://").rstrip("/")
                start = lambda kind: commands(binaries, what, kind, certificate, address)
                if options.syscalls:
                    results[what] = syscalls(what, start, options)
                else:
                    results[what] = table(what, measure(start, options))
        finally:
            behind.stop()
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
