#!/usr/bin/env python3
"""What a compiler leaves of the orderings: of the litmus tests, and of the kernel.

`verification/targets/run compiled` calls it:

    compiled.py litmus RUSTC HERD7 MODELS FOLDER   compiles each test for 64-bit Arm, and asks herd7 what Arm's model allows the code to do
    compiled.py pairs ARM X86                      reads which instructions stand at each pair of the kernel, in two shared objects with lines
    compiled.py table                              writes docs/evidence/arm.md anew
"""
import collections, concurrent.futures, pathlib, re, subprocess, sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LITMUS = HERE.parent / "litmus"
KERNEL = ROOT / "src/kernel/src"
# What is written here, and read by the ledger: the answers, and the instructions.
ANSWERS, INSTRUCTIONS = HERE / "litmus.tsv", HERE / "pairs.tsv"
# Which tests stand for a pair of docs/reference/orderings.md.
STANDS_FOR = {
    "publish": ["MP+na+rel-acq"],
    "consume": ["LB+slot-put", "LB+slot-steal-chain"],
    "slot": ["MP+rmw-rel-rlxrmw-acq"],
    "nextp": ["MP+rmw-rel-rlxrmw-acq"],
    "token": ["Park+token"],
    "work/spinning": ["Wake+scfences"],
    "baton": ["Wake+rmws"],
    "request": ["Wake+rmws"],
    "share": ["MP+rel-acq"],
    "timer/poll": ["SB+scfences"],
    "poll": ["MP+na+rel-acq"],
    "syscall-word": ["MP+na+rel-acq"],
    "syscall/stop": ["SB+scfences"],
    "bell": ["MP+rmw-rel-rlxrmw-acq"],
    "at-rest": ["MP+relseq-rmw"],
    "awaited": ["MP+relseq-rmw", "SB+scfences"],
    "notice": ["SB+scfences"],
    "cancelled": ["MP+rel-acq"],
}
# What Arm has: without the atomics of version 8.1, with them, and with the weaker acquire of version 8.3.
FEATURES = {"v8.0": "-outline-atomics", "v8.1": "+lse", "v8.3": "+lse,+rcpc"}
PRELUDE = """#![no_std]
#![allow(unused, non_camel_case_types, non_upper_case_globals, internal_features, static_mut_refs)]
use core::sync::atomic::{AtomicI32 as atomic_int, Ordering, fence};
pub const memory_order_relaxed: Ordering = Ordering::Relaxed;
pub const memory_order_acquire: Ordering = Ordering::Acquire;
pub const memory_order_consume: Ordering = Ordering::Acquire;
pub const memory_order_release: Ordering = Ordering::Release;
pub const memory_order_acq_rel: Ordering = Ordering::AcqRel;
pub const memory_order_seq_cst: Ordering = Ordering::SeqCst;
#[inline(always)] fn atomic_load_explicit(x: &atomic_int, o: Ordering) -> i32 { x.load(o) }
#[inline(always)] fn atomic_store_explicit(x: &atomic_int, v: i32, o: Ordering) { x.store(v, o) }
#[inline(always)] fn atomic_exchange_explicit(x: &atomic_int, v: i32, o: Ordering) -> i32 { x.swap(v, o) }
#[inline(always)] fn atomic_fetch_add_explicit(x: &atomic_int, v: i32, o: Ordering) -> i32 { x.fetch_add(v, o) }
#[inline(always)] fn atomic_fetch_sub_explicit(x: &atomic_int, v: i32, o: Ordering) -> i32 { x.fetch_sub(v, o) }
#[inline(always)] fn atomic_fetch_or_explicit(x: &atomic_int, v: i32, o: Ordering) -> i32 { x.fetch_or(v, o) }
#[inline(always)] fn atomic_fetch_and_explicit(x: &atomic_int, v: i32, o: Ordering) -> i32 { x.fetch_and(v, o) }
#[inline(always)] fn atomic_fetch_xor_explicit(x: &atomic_int, v: i32, o: Ordering) -> i32 { x.fetch_xor(v, o) }
#[inline(always)] fn atomic_thread_fence(o: Ordering) { fence(o) }
#[inline(always)] fn atomic_compare_exchange_strong_explicit(x: &atomic_int, e: *mut i32, v: i32, s: Ordering, f: Ordering) -> i32 {
    match x.compare_exchange(unsafe { *e }, v, s, f) { Ok(_) => 1, Err(found) => { unsafe { *e = found }; 0 } }
}
#[inline(always)] fn atomic_compare_exchange_weak_explicit(x: &atomic_int, e: *mut i32, v: i32, s: Ordering, f: Ordering) -> i32 {
    match x.compare_exchange_weak(unsafe { *e }, v, s, f) { Ok(_) => 1, Err(found) => { unsafe { *e = found }; 0 } }
}
"""


class NotTranslated(Exception):
    """This test, or its code, has what is not translated."""


class Test:
    """A test of verification/litmus, as the C that it is written in."""

    def __init__(self, path):
        text = path.read_text()
        comment = re.search(r"(?s)\(\*(.*?)\*\)", text)[1]
        self.name = path.stem
        self.expected = re.search(r"Expected: (\w+)", comment)[1]
        # Does a model allow load buffering here? RC11 does not.
        self.may_buffer = "LB" if re.search(r"Under (?:imm|c11-dep): Sometimes", comment) else "-"
        text = re.sub(r"(?s)\(\*.*?\*\)", "", text)
        self.initial = re.findall(r"(\w+) = (\w+);", re.search(r"\{(.*?)\}", text)[1])
        self.question = re.search(r"(?m)^((?:~ *)?exists|forall) *\((?s:.*)\)\s*$", text)
        self.threads = re.findall(r"(?ms)^P(\d) *\((.*?)\) *\{\n(.*?)^\}", text)
        if not self.question or not self.threads:
            raise NotTranslated("it asks nothing")
        self.question = self.question[0].strip()
        self.asked = sorted(set(re.findall(r"\b(\d):(\w+)", self.question)))

    def rust(self):
        functions = []
        for number, parameters, body in self.threads:
            arguments = []
            for parameter in parameters.split(","):
                kind, name = re.fullmatch(r"\s*(.*?)\*? *\*?(\w+)\s*", parameter).groups()
                arguments.append((name, "atomic_int" if "atomic" in kind else "i32"))
            if "volatile" in parameters or "*)" in parameters:
                raise NotTranslated("volatile")
            functions.append(self.function(number, arguments, body))
        return PRELUDE + "\n".join(functions)

    def function(self, number, arguments, body):
        declared = sorted(set(re.findall(r"\bint (\w+)", body)))
        body = re.sub(r"\bint (\w+) = ", r"\1 = ", body)
        body = re.sub(r"\bint \w+;", "", body)
        body = re.sub(r", &(\w+),", r", &raw mut \1,", body)
        body = re.sub(r"\b(if|while) \((\w+)\) \{", r"\1 \2 != 0 {", body)
        body = re.sub(r"\b(if|while) \((.*)\) \{", r"\1 \2 {", body)
        if re.search(r"\bfor\b|\?|volatile", body):
            raise NotTranslated("a loop that counts")
        asked = [register for thread, register in self.asked if thread == number]
        parameters = [f"{name}: &atomic_int" if kind == "atomic_int" else f"{name}: *mut i32" for name, kind in arguments]
        parameters += [f"out_{register}: *mut i32" for register in asked]
        if len(parameters) > 8:
            raise NotTranslated("too many arguments")
        self.__dict__.setdefault("places", {})[number] = [name for name, _ in arguments] + [f"P{number}_{register}" for register in asked]
        ends = "".join(f"    *out_{register} = {register};\n" for register in asked)
        lets = "".join(f"    let mut {register}: i32 = 0;\n" for register in declared)
        return f"#[unsafe(no_mangle)] pub unsafe extern \"C\" fn P{number}({', '.join(parameters)}) {{ unsafe {{\n{lets}{body}{ends}}} }}\n"

    def herd(self, assembler):
        """The test in herd7's Arm assembler."""
        columns, initial = [], [f"{name}={value};" for name, value in self.initial]
        for number, _, _ in self.threads:
            columns.append([f"P{number}"] + code(assembler, number))
            initial += [f"{number}:X{at}={place};" for at, place in enumerate(self.places[number])]
        height = max(map(len, columns))
        for column in columns:
            column += [""] * (height - len(column))
        rows = [" " + " | ".join(row) + " ;" for row in zip(*columns)]
        question = re.sub(r"\b(\d):(\w+)", r"P\1_\2", self.question)
        return "\n".join([f"AArch64 {self.name}", "{ " + " ".join(initial) + " }", *rows, question, ""])


def code(assembler, number):
    """The instructions of one thread."""
    # Threads with the same code are one function, with two names.
    alias = re.search(rf"(?m)^(?:\s*\.set )?P{number}(?:, | ?= ?)P(\d)$", assembler)
    body = re.search(rf"(?ms)^P{alias[1] if alias else number}:\n(.*?)^\.Lfunc_end", assembler)[1]
    lines = []
    for line in body.splitlines():
        line = re.sub(r"\s+", " ", line.split("//")[0]).strip()
        label = re.fullmatch(r"\.(L\w+):", line)
        if label:
            lines.append(f"L{number}{label[1]}:")
        # Nothing comes of an exclusive load that no store follows.
        elif line and not line.startswith(".") and line != "clrex":
            line = re.sub(r"\.(LBB\w+)", rf"L{number}\1", line)
            line = re.sub(r"#0x([0-9a-f]+)", lambda hexadecimal: f"#{int(hexadecimal[1], 16)}", line)
            lines.append(f"b L{number}End" if line == "ret" else line)
    if lines and lines[-1] == f"b L{number}End":
        lines.pop()
    return lines + [f"L{number}End:"]


class Tools:
    def __init__(self, rustc, herd, models, room):
        self.rustc, self.herd, self.models, self.room = rustc, herd, models, pathlib.Path(room)

    def compiled(self, test, version):
        folder = self.room / version / test.name
        folder.mkdir(parents=True, exist_ok=True)
        source, assembler = folder / "litmus.rs", folder / "litmus.s"
        source.write_text(test.rust())
        done = subprocess.run([self.rustc, "--crate-type", "lib", "--crate-name", "litmus", "--edition", "2024", "-Copt-level=3", "-Cpanic=abort",
            "-Ccodegen-units=1", "--emit=asm", "--target", "aarch64-unknown-linux-gnu", f"-Ctarget-feature={FEATURES[version]}", "-o", assembler, source],
            capture_output=True, text=True)
        if done.returncode:
            raise NotTranslated("rustc: " + re.search(r"error.*", done.stderr)[0])
        return assembler.read_text()

    def asked(self, test, version):
        """`Never`, `Sometimes` or `Always`."""
        litmus = self.room / version / test.name / "arm.litmus"
        litmus.write_text(test.herd(self.compiled(test, version)))
        done = subprocess.run([self.herd, "-set-libdir", self.models, "-unroll", "1" if version == "v8.0" else "3", litmus], capture_output=True, text=True, timeout=60)
        said = re.search(r"(?m)^Observation \S+ (\w+)", done.stdout)
        if not said:
            raise NotTranslated("herd7: " + (done.stderr.strip().splitlines() or ["says nothing"])[0])
        return said[1]


def litmus(tools):
    """Asks of every test; an answer that RC11 forbids is an error, unless a model with load buffering allows it."""

    def one(path):
        try:
            test = Test(path)
            if test.expected == "Race":
                raise NotTranslated("a race: no outcome is defined")
            return [test.name, test.expected, test.may_buffer, *(tools.asked(test, version) for version in FEATURES)]
        except (NotTranslated, subprocess.TimeoutExpired) as error:
            return [path.stem, "left out", "herd7: takes too long" if isinstance(error, subprocess.TimeoutExpired) else str(error)]

    paths = [path for path in sorted(LITMUS.glob("*.litmus")) if not path.stem.startswith("Asym")]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(one, paths))
    wrong = [row for row in rows if row[1] in ("Never", "Always") and set(row[3:]) != {row[1]} and row[2] == "-"]
    ANSWERS.write_text("".join("\t".join(row) + "\n" for row in rows))
    for row in wrong:
        print("64-bit Arm allows what RC11 forbids:", *row)
    return 1 if wrong else 0


def places():
    """Each access of the kernel that is half of a pair, but for the Relaxed ones: pair, ordering, file, first and last line, code."""
    names = re.findall(r"(?m)^\| `([a-z/-]+)` \|", (ROOT / "docs/reference/orderings.md").read_text())
    for path in sorted(KERNEL.rglob("*.rs")):
        lines = path.read_text().splitlines()
        for first in range(len(lines)):
            if not lines[first].strip().startswith("// ") or first and lines[first - 1].strip().startswith("//"):
                continue
            code = first
            while lines[code].strip().startswith("//"):
                code += 1
            last = code
            while not re.search(r"[;{]\s*(//.*)?$", lines[last]) and not lines[last + 1].strip().startswith("}"):
                last += 1
            said = re.match(r"\s*// (?:(Release|Acquire|AcqRel|Relaxed): )?`([a-z/-]+)`(.*)", lines[first])
            if said and said[2] in names and said[1] != "Relaxed":
                named = [said[2]] + re.findall(r"and `([a-z/-]+)`", said[3])
                yield from ((name, path.relative_to(ROOT), code + 1, last + 1, " ".join(lines[code : last + 1])) for name in named if name in names)


def instructions(library, prefix, wanted):
    """By file and line of the kernel: the instructions with this form, that stand there or were inlined."""
    text = subprocess.run([f"{prefix}objdump", "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True).stdout
    found, of_ours = {}, False
    for line in text.splitlines():
        if head := re.match(r"[0-9a-f]+ <(.*)>:", line):
            of_ours = "spinpark" in head[1]
        elif of_ours and (step := re.match(r"\s+([0-9a-f]+):\s+(.*)", line)) and (form := re.match(wanted, step[2])):
            found[int(step[1], 16)] = form[0]
    asked = "\n".join(f"{address:x}" for address in found)
    text = subprocess.run([f"{prefix}addr2line", "-ia", "-e", library], input=asked, capture_output=True, text=True, check=True).stdout
    at, frames = collections.defaultdict(set), collections.defaultdict(list)
    for line in text.splitlines():
        if line.startswith("0x"):
            address = int(line, 16)
        else:
            frames[address].append(line.split(" (")[0])
    for address, chain in frames.items():
        # The access itself, and not what else the line does.
        if "sync/atomic.rs" in chain[0] or "spinpark" not in chain[0]:
            for frame in chain:
                if place := re.search(r"(src/kernel/src/.*):(\d+)$", frame):
                    at[place[1], int(place[2])].add(found[address])
    return at


# What the compiler calls where it does not know whether the processor has atomics of version 8.1: with them it is one instruction.
OUTLINE = {"cas": "cas", "swp": "swp", "ldadd": "ldadd", "relax": "", "acq": "a", "rel": "l", "acq_rel": "al"}
ACCESSES = {"load": "load", "store": "store", "swap": "swap", "fetch_add": "add", "fetch_sub": "add", "compare_exchange": "exchange"}


def pairs(arm, x86):
    """Writes which instructions stand at each pair. A half of which there is none is an error."""
    on_arm = instructions(arm, "aarch64-linux-gnu-", r"(ldar|ldapr|stlr|dmb)\b|bl\s.*<__aarch64_(\w+?)\d_(\w+)")
    on_x86 = instructions(x86, "", r"(lock )?(xchg|mfence|xadd|cmpxchg|or|mov|add|sub|inc|dec)\w*\b.*\(.*")
    rows, missing = collections.defaultdict(set), []
    for name, path, first, last, code in places():
        access = re.search(r"\.(load|store|swap|fetch_add|fetch_sub|compare_exchange)\(.*?(SeqCst|AcqRel|Acquire|Release)", code)
        what = f"{ACCESSES[access[1]]} {access[2]}" if access else "fence SeqCst" if "store_load" in code else "add AcqRel"
        lines = [(str(path), line) for line in range(first, last + 1)]
        arms = {named(text) for line in lines for text in on_arm[line]}
        x86s = {named(text) for line in lines for text in on_x86[line]}
        wanted = fitting(what)
        arms, x86s = arms & wanted, x86s & wanted
        if not arms or not x86s:
            missing.append(f"{path}:{first}: `{name}`: {what}: {sorted(arms)} {sorted(x86s)}")
        rows[name, what].add((" or ".join(sorted(x86s)), " or ".join(sorted(arms))))
    INSTRUCTIONS.write_text("".join(f"{name}\t{what}\t{x}\t{a}\n" for (name, what), both in rows.items() for x, a in sorted(both)))
    print("\n".join(missing))
    return 1 if missing else 0


def named(text):
    """An instruction by its name: of a call of the compiler's, what it does on a processor that can."""
    if outline := re.search(r"__aarch64_([a-z]+)\d_(\w+)", text):
        return OUTLINE[outline[1]] + OUTLINE[outline[2]]
    name = re.match(r"(lock )?(\w+)", text)
    plain = re.sub(r"^(xchg|xadd|cmpxchg|or|mov|add|sub|inc|dec)[bwlq]?$", r"\1", name[2])
    return (name[1] or "") + plain


def fitting(what):
    """What an access may be compiled to. That it is strong enough, the litmus tests show."""
    return {
        "load": {"ldar", "ldapr", "mov"},
        "store": {"stlr", "mov"},
        "swap": {"swp" + order for order in ("", "a", "l", "al")} | {"xchg"},
        "add": {"ldadd" + order for order in ("", "a", "l", "al")} | {f"lock {name}" for name in ("xadd", "add", "sub", "inc", "dec")},
        "exchange": {"cas" + order for order in ("", "a", "l", "al")} | {"lock cmpxchg"},
        "fence": {"dmb", "mfence", "lock or"},
    }[what.split()[0]]


def table():
    """Writes the page's tables."""
    answers = {row[0]: row[1:] for row in (line.split("\t") for line in ANSWERS.read_text().splitlines())}
    halves, forms = collections.defaultdict(list), collections.defaultdict(lambda: (set(), set()))
    for name, what, x86, arm in (line.split("\t") for line in INSTRUCTIONS.read_text().splitlines()):
        halves[name].append(what)
        forms[what][0].add(f"`{x86}`")
        forms[what][1].add(f"`{arm}`")
    accesses = ["| access | x86-64 | Arm |", "|---|---|---|"]
    accesses += [f"| {what} | {', '.join(sorted(x86))} | {', '.join(sorted(arm))} |" for what, (x86, arm) in sorted(forms.items())]
    lines = ["| pair | its halves | as a litmus test: on Arm |", "|---|---|---|"]
    for name, tests in STANDS_FOR.items():
        said = sorted({answer.lower() for test in tests for answer in answers[test][2:]})
        lines.append(f"| `{name}` | {', '.join(dict.fromkeys(halves[name]))} | {', '.join(tests)}: {' or '.join(said)} |")
    by_answer = collections.defaultdict(list)
    for name, row in answers.items():
        if row[0] == "Never" and (set(row[2:]) != {"Never"} or "LB+slot" in name):
            by_answer[" or ".join(sorted({answer.lower() for answer in row[2:]}))].append(f"`{name}`")
    buffered = [f"* {said}: {', '.join(names)}" for said, names in sorted(by_answer.items())]
    page = ROOT / "docs/evidence/arm.md"
    text = page.read_text()
    for mark, rows in (("accesses", accesses), ("pairs", lines), ("buffered", buffered)):
        text = re.sub(rf"(?s)(<!-- {mark} -->\n).*?(<!-- /{mark} -->)", lambda m: m[1] + "\n" + "\n".join(rows) + "\n\n" + m[2], text)
    asked = [row for row in answers.values() if row[0] != "left out"]
    text = re.sub(r"<!-- asked -->.*?<!-- /asked -->", f"<!-- asked -->{len(asked)} of {len(answers)}<!-- /asked -->", text)
    page.write_text(text)
    return 0


def main():
    if sys.argv[1] == "litmus":
        return litmus(Tools(*sys.argv[2:6]))
    return pairs(*sys.argv[2:4]) if sys.argv[1] == "pairs" else table()


sys.exit(main())
