"""Others' published examples on spinpark's executor, by run.py: servers and clients that talk to each other, and what they must say.

Each talk has programs of one crate, as it published them; what they print is read, and what they do not say in time has failed.
"""

import http.client
import queue
import re
import signal
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor

SECONDS = 20
# An address that stands in the source of an example is its first argument: a port may be taken.
FIXED = re.compile(r'"127\.0\.0\.1:(9002|8000|8080)"(?!\.to_string)')
ARGUMENT = '&*std::env::args().nth(1).expect("an address").leak()'

FAR = "want a peer on the network"
NEEDS_FUZZER = "wants the server of Autobahn's suite"

# The examples of each crate that run, and what is left out.
CRATES = {
    "async-tungstenite": {
        "examples": ["autobahn-server", "client", "client-bytes", "echo-server", "interval-server", "server", "server-custom-accept"],
        "out": {
            "async-std-echo, smol-echo, tokio-echo": FAR,
            "autobahn-client": NEEDS_FUZZER,
            "gio-echo, gio-echo-server": "are GLib's executor",
            "server-headers": "its client connects before its server listens, or after: it never ends either",
            "tokio-client-bytes": "opens tokio's own standard streams",
        },
    },
    "hyper-util": {
        "examples": ["client", "server", "server_graceful"],
        "out": {"client_tracing": "is `client`, with a log"},
    },
}


def ours(text):
    """An example's source with our executor; what has tokio's `main` is played in tokio's context."""
    text = FIXED.sub(ARGUMENT, text).replace("async_tungstenite::smol::connect_async", "smol::websocket::connect_async")
    text = text.replace("async_tungstenite::{smol::connect_async,", "async_tungstenite::{")
    return re.sub(r"#\[tokio::main[^\]]*\]", "#[spinpark::main(tokio)]", text)


class Program:
    """An example that runs; what it prints, on either stream."""

    def __init__(self, folder, name, *args):
        self.name, self.said, self.lines = name, "", queue.Queue()
        self.process = subprocess.Popen(
            [folder / name, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            env={"RUST_LOG": "info"},
        )
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        while piece := self.process.stdout.read1(4096):
            self.lines.put(piece.decode())
        self.lines.put(None)

    def say(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def expect(self, text):
        """Waits until it has printed that."""
        while text not in self.said:
            try:
                piece = self.lines.get(timeout=SECONDS)
            except queue.Empty:
                piece = None
            assert piece is not None, f"{self.name} has not said {text!r}, but: {self.said}"
            self.said += piece

    def ends(self):
        """Nothing more is said to it, and it ends by itself, well."""
        self.process.stdin.close()
        status = self.process.wait(SECONDS)
        assert status == 0, f"{self.name} has ended with {status}: {self.said}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def address():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % free.getsockname()[1]


def server(folder, name):
    """A server, and where it listens, as soon as it does."""
    at = address()
    program = Program(folder, name, at)
    host, port = at.split(":")
    for _ in range(SECONDS * 20):
        try:
            socket.create_connection((host, int(port))).close()
            return program, at
        except ConnectionRefusedError:
            threading.Event().wait(0.05)
    raise AssertionError(f"{name} does not listen: {program.said}")


def get(at):
    connection = http.client.HTTPConnection(at, timeout=SECONDS)
    connection.request("GET", "/")
    return connection.getresponse().read().decode()


def echoes(folder, name, path=""):
    """What a client says comes back to it, in order, from each of eight at once."""
    listens, at = server(folder, name)

    def talk(n):
        with Program(folder, "client", f"ws://{at}{path}") as speaker:
            speaker.expect("successfully completed")
            for line in range(50):
                speaker.say(f"line {line} of {n}\n")
                speaker.expect(f"line {line} of {n}\n")

    with listens, ThreadPoolExecutor(8) as speakers:
        list(speakers.map(talk, range(8)))


def copies(folder):
    """What is copied to a server is copied back: bytes that end."""
    listens, at = server(folder, "echo-server")
    with listens, Program(folder, "client-bytes", f"ws://{at}") as client:
        for line in range(1000):
            client.say(f"line {line}\n")
        client.process.stdin.close()
        client.expect("".join(f"line {line}\n" for line in range(1000)))


def broadcasts(folder, name, path=""):
    """What a client says comes to the others."""
    listens, at = server(folder, name)
    with listens, Program(folder, "client", f"ws://{at}{path}") as one, Program(folder, "client", f"ws://{at}{path}") as other:
        for program in one, other:
            program.expect("successfully completed")
        for line in range(50):
            one.say(f"ping {line}\n")
            other.expect(f"ping {line}\n")
            other.say(f"pong {line}\n")
            one.expect(f"pong {line}\n")


def ticks(folder):
    """It echoes, and speaks up every second besides."""
    listens, at = server(folder, "interval-server")
    with listens, Program(folder, "client", f"ws://{at}") as client:
        client.expect("tick")
        client.say("hello\n")
        client.expect("hello\n")
        client.expect("ticktick")


def answers(folder):
    """A server answers their own client, and others."""
    listens, at = server(folder, "server")
    with listens, ThreadPoolExecutor(8) as clients:
        with Program(folder, "client", f"http://{at}/") as client:
            client.expect("HTTP/1.1 200")
            client.ends()
        assert set(clients.map(get, [at] * 200)) == {"Hello, world!\n"}


def ends_gracefully(folder):
    """Who is interrupted answers first what it has begun."""
    listens, at = server(folder, "server_graceful")
    with listens, ThreadPoolExecutor(4) as clients:
        slow = [clients.submit(get, at) for _ in range(4)]
        for _ in range(1 + len(slow)):
            listens.expect("incomming connection accepted")
            listens.said = listens.said.replace("incomming connection accepted", "", 1)
        # Accepted is not yet read.
        threading.Event().wait(1)
        listens.process.send_signal(signal.SIGINT)
        assert {answer.result(SECONDS) for answer in slow} == {"Hello World!"}
        listens.expect("Gracefully shutdown!")
        listens.ends()


TALKS = {
    "async-tungstenite": {
        "echo-server": lambda folder: echoes(folder, "echo-server"),
        "echo-server, client-bytes": copies,
        "autobahn-server": lambda folder: echoes(folder, "autobahn-server"),
        "server": lambda folder: broadcasts(folder, "server"),
        "server-custom-accept": lambda folder: broadcasts(folder, "server-custom-accept", "/socket"),
        "interval-server": ticks,
    },
    "hyper-util": {"server, client": answers, "server_graceful": ends_gracefully},
}


def run(name, folder):
    """How many talks passed and failed."""
    failed = 0
    for title, talk in TALKS[name].items():
        try:
            talk(folder)
        except (AssertionError, OSError, subprocess.TimeoutExpired, http.client.HTTPException) as wrong:
            failed += 1
            print(f"{name}, {title}: {wrong}")
    return len(TALKS[name]) - failed, failed
