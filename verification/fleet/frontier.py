"""One large exploration on rc11, in many hands.

What is left of an exploration is a list of branches: an execution, and a way that it did not go. Each branch is explored by
itself, and what was found is added up; so it does not matter who explores which, or in how many sittings. The file that
`--checkpoint` writes has all that, and is the only thing that is sent to and fro.

    state    what was found, and the parts without a worker: the pool
    part     some branches out of the pool, as a checkpoint of its own that has found nothing yet
    sitting  `verify run MODEL --engine rc11 --checkpoint part --seconds S`: what is left of it goes back to the pool
"""

import json

#: The format of rc11's checkpoints that is understood here: `FORMAT` in verification/rc11/src/checkpoint.rs.
FORMAT = 1

#: What is added up.
COUNTS = ("executions", "blocked", "plays", "done", "skipped", "cuts")


class Broken(Exception):
    """A file that is no checkpoint of that exploration."""


def nothing_found():
    """The tally of a part without any work yet."""
    return {**{count: 0 for count in COUNTS}, "done": 0.0, "outcomes": {}, "peak_bytes": 0}


def read(text, what=None):
    """A checkpoint, from the file's bytes."""
    state = json.loads(text)
    if state.get("rc11_checkpoint") != FORMAT:
        raise Broken(f"a checkpoint of format {state.get('rc11_checkpoint')}; format {FORMAT} is understood here")
    if what is not None and state["what"] != what:
        raise Broken(f"a checkpoint of `{state['what']}`, not of `{what}`")
    unknown = set(state["tally"]) - set(nothing_found())
    if unknown:
        raise Broken(f"it counts what is not known how to add up: {', '.join(sorted(unknown))}")
    return state


def text(state):
    """As a file's bytes."""
    return json.dumps(state, separators=(",", ":")).encode()


def checkpoint(what, tally, seconds, branches):
    """A checkpoint of `branches`, each an execution and a way. Branches of one execution that lie side by side share it."""
    executions, left = [], []
    for execution, way in branches:
        if not executions or executions[-1] is not execution:
            executions.append(execution)
        left.append((len(executions) - 1, way))
    return {
        "rc11_checkpoint": FORMAT,
        "what": what,
        "tally": tally,
        "seconds": seconds,
        "executions": executions,
        "left": left,
    }


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
    peak = max(tally["peak_bytes"], other["peak_bytes"])
    return {**counts, "outcomes": dict(sorted(outcomes.items())), "peak_bytes": peak}


class Pool:
    """The state of an exploration that several work on."""

    def __init__(self, state):
        self.what = state["what"]
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
        return self.parts_given, text(checkpoint(self.what, nothing_found(), 0.0, part))

    def take(self, number, content):
        """The part comes back: what was found is added, what is left is for the next."""
        state = read(content, self.what)
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
        return checkpoint(self.what, self.tally, self.seconds, sorted(self.branches + out, key=lambda one: id(one[0])))
