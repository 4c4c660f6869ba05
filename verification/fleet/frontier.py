"""One large exploration on rc11, in many hands.

What is left of an exploration is a list of branches: an execution, and a way that it did not go. Each branch is explored by
itself, and what was found is added up; so it does not matter who explores which, or in how many sittings. The file that
`--checkpoint` writes has all that, and is the only thing that is sent to and fro.

    state    what was found, and the parts without a worker: the pool
    part     some branches out of the pool, as a checkpoint of its own that has found nothing yet
    sitting  `verify run MODEL --engine rc11 --checkpoint part --seconds S`: what is left of it goes back to the pool
"""

import json
import struct

#: The format of rc11's checkpoints that is understood here: `FORMAT` in verification/rc11/src/checkpoint/file.rs.
FORMAT = 2

#: What is added up.
COUNTS = ("executions", "blocked", "plays", "done", "skipped", "cuts", "preempted", "shown")

#: What holds of the whole if it holds of a part.
MARKS = ("std_counts",)

#: How much threads have in common: of two parts the later holds.
SHARING = ("None", "Own", "Shared")

#: What a file's first line says of who has written it: the same binary works on all parts.
WRITER = ("engine", "program")


class Broken(Exception):
    """A file that is no checkpoint of that exploration."""


def nothing_found():
    """The tally of a part without any work yet."""
    more = {"done": 0.0, "outcomes": {}, "cut": [], "threads": 0, "sharing": SHARING[0], "peak_bytes": 0}
    return {**{count: 0 for count in COUNTS}, **{mark: False for mark in MARKS}, **more}


def digest(content):
    """rc11's digest of some bytes: `digest` in verification/rc11/src/checkpoint/file.rs."""
    def add(so_far, word):
        turned = (so_far << 5 | so_far >> 59) & MASK
        return (turned ^ word) * 0x517CC1B727220A95 & MASK

    so_far, whole = 0, len(content) // 8 * 8
    for (word,) in struct.iter_unpack("<Q", content[:whole]):
        so_far = add(so_far, word)
    return add(add(so_far, int.from_bytes(content[whole:], "little")), len(content))


MASK = (1 << 64) - 1


def read(content, what=None):
    """A checkpoint, from the file's bytes."""
    first, _, rest = content.partition(b"\n")
    head = json.loads(first)
    if head.get("rc11_checkpoint") != FORMAT:
        raise Broken(f"a checkpoint of format {head.get('rc11_checkpoint')}; format {FORMAT} is understood here")
    if head["sum"] != digest(rest):
        raise Broken("a checkpoint that was cut off or changed")
    entries = json.loads(rest)["entries"]
    if len(entries) != 1:
        raise Broken(f"a checkpoint of {len(entries)} models, not of one")
    state = {**entries[0], **{name: head[name] for name in WRITER}}
    if what is not None and state["what"] != what:
        raise Broken(f"a checkpoint of `{state['what']}`, not of `{what}`")
    unknown = set(state["tally"]) - set(nothing_found())
    if unknown:
        raise Broken(f"it counts what is not known how to add up: {', '.join(sorted(unknown))}")
    return state


def text(state):
    """As a file's bytes."""
    entry = {name: value for name, value in state.items() if name not in WRITER}
    rest = json.dumps({"entries": [entry]}, separators=(",", ":")).encode()
    head = {"rc11_checkpoint": FORMAT, **{name: state[name] for name in WRITER}, "sum": digest(rest)}
    return json.dumps(head, separators=(",", ":")).encode() + b"\n" + rest


def checkpoint(state, tally, seconds, some):
    """A checkpoint of the branches `some` of the exploration of which `state` is one; each is an execution and a way. Branches of
    one execution that lie side by side share it."""
    executions, left = [], []
    for execution, way in some:
        if not executions or executions[-1] is not execution:
            executions.append(execution)
        left.append((len(executions) - 1, way))
    return {**state, "tally": tally, "seconds": seconds, "executions": executions, "left": left}


def branches(state):
    """What is left: a list of executions and ways."""
    return [(state["executions"][n], way) for n, way in state["left"]]


def weight(branch):
    """Which part of the whole it is, as a guess."""
    execution, way = branch
    return execution["weight"] if way is None else way["weight"]


def add(tally, other):
    """What was found by two."""
    outcomes = dict(tally["outcomes"])
    for outcome, n in other["outcomes"].items():
        outcomes[outcome] = outcomes.get(outcome, 0) + n
    counts = {count: tally.get(count, 0) + other.get(count, 0) for count in COUNTS}
    marks = {mark: tally.get(mark, False) or other.get(mark, False) for mark in MARKS}
    most = {name: max(tally[name], other[name]) for name in ("threads", "peak_bytes")}
    sharing = max(tally["sharing"], other["sharing"], key=SHARING.index)
    cut = sorted({*tally["cut"], *other["cut"]})
    return {**counts, **marks, **most, "outcomes": dict(sorted(outcomes.items())), "sharing": sharing, "cut": cut}


class Pool:
    """The state of an exploration that several work on."""

    def __init__(self, state):
        # Whose exploration it is, and by whom: the same in all its parts.
        self.of = {name: value for name, value in state.items() if name not in ("tally", "seconds", "executions", "left")}
        self.tally = state["tally"]
        self.seconds = state["seconds"]
        self.branches = branches(state)
        # Parts with a worker. If all is lost, they are in the pool again.
        self.out = {}
        self.parts_given = 0

    def give(self, share):
        """One part of `share` in which what is there is cut: its number, and its checkpoint's bytes. `None`: nothing is there."""
        if not self.branches:
            return None
        # Every so many-th, the heaviest first; and branches of one execution together.
        order = sorted(self.branches, key=weight, reverse=True)
        part = sorted(order[::share], key=lambda branch: id(branch[0]))
        self.branches = [branch for n, branch in enumerate(order) if n % share]
        self.parts_given += 1
        self.out[self.parts_given] = part
        return self.parts_given, text(checkpoint(self.of, nothing_found(), 0.0, part))

    def take(self, number, content):
        """The part comes back: what was found is added, what is left is for the next."""
        state = read(content, self.of["what"])
        del self.out[number]
        self.tally = add(self.tally, state["tally"])
        self.seconds += state["seconds"]
        self.branches.extend(branches(state))

    def is_over(self):
        """Is nothing left, and no worker busy?"""
        return not self.branches and not self.out

    def state(self):
        """As a checkpoint: what is out counts as not begun."""
        out = [branch for part in self.out.values() for branch in part]
        return checkpoint(self.of, self.tally, self.seconds, sorted(self.branches + out, key=lambda one: id(one[0])))
