"""The core in the Linux kernel: what BPF cannot do, and what the kernel's verifier says of every algorithm."""

import concurrent.futures
import ctypes
import errno
import os
import platform
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from targets import (
    HERE, ROOT, RUSTC, Missing, Unsound, build, build_host, entry_points, list_algorithms, output, target_folder, tool,
)

TARGET = "bpfel-unknown-none"
TABLE = ROOT / "docs/src/trust/verifier.md"
BTF = "/sys/kernel/btf/vmlinux"
# Functions of windlass_cc's `math` that the verifier looks at once, and not at each place where they are called:
# the shim makes each a global BPF function.
SHARED = {
    "mul_long": ("i64", "i64, i64"),
    "mul_div_long": ("i64", "i64, i64, i64"),
    "mul_shift_long": ("i64", "i64, i64, i32"),
    "sqrt": ("i64", "i64"),
    "cbrt": ("i64", "i64"),
    "log2_q16": ("i32", "i64"),
    "exp2_q16": ("i64", "i32"),
}
# The kernel's own algorithms whose functions it shows to BPF programs.
THEIRS = ["reno", "cubic"]
# What the object of an algorithm has for the loader.
KEPT = ["windlass", "_license", "options", "storage", "ring"]
KEPT += ["begin", "acknowledge", "turn", "event", "threshold", "take_back"]
KEPT += [f"part_{part}" for part in ("init", "phase", "loss", "undo", "idle", "mss", "look")]
# Entry points of the algorithms whose paths see each other, and what their objects have besides.
COUPLED = ["Lia", "Olia", "Balia", "DLia", "WVegas", "MpFast", "EmReno"]
KEPT += ["families", "leave", "part_group", "part_own"]


def check():
    """The recipe by which an algorithm gets into a kernel's BPF object, as far as the algorithm goes."""
    text, roots = compile_core()
    check_ir(text.read_text())
    if left := re.findall(r"^define internal .*@([\w.$]+)\(", text.read_text(), re.M):
        raise Unsound(f"{TARGET}: not inlined: {', '.join(left)}")
    # llc says what BPF cannot do: a stack too large, a routine of the compiler's library.
    built = target_folder() / "bpf.o"
    done = compile_object(text, built)
    complaints = "\n".join(dict.fromkeys(line for line in done.stderr.splitlines() if "error" in line.lower()))
    if done.returncode or complaints:
        raise Unsound(f"{TARGET}: {complaints or done.stderr.strip()[-3000:]}")
    unknown = output(tool("llvm-nm"), "--undefined-only", "--format=just-symbols", built).split()
    unknown = [name for name in unknown if not name.startswith("windlass_shared_")]
    panics = [name for name in output(tool("llvm-nm"), "--format=just-symbols", built).split() if "panic" in name]
    if unknown or panics:
        raise Unsound(f"{TARGET}: {', '.join(unknown + panics)}")
    return f"{len(roots)} entry points, no panic, float, 128-bit arithmetic or call outside"


def compile_core():
    """All algorithms as LLVM's text, each entry point with all that it calls inlined but what is shared."""
    folder = build("cc-object", TARGET, "--emit=llvm-bc", level="3") / "deps"
    bitcode = max(folder.glob("cc_object-*.bc"), key=lambda path: path.stat().st_mtime)
    # What is chosen among all at run time has no place in a BPF program; its parts are here one by one.
    roots = [root for root in entry_points(bitcode) if not re.match("windlass_any_(?!start)", root)]
    raw, whole = (target_folder() / name for name in ("bpf-raw.ll", "bpf.ll"))
    made_of = max(path.stat().st_mtime for path in (bitcode, Path(__file__)))
    if whole.exists() and whole.stat().st_mtime > made_of:
        return whole, roots
    output(tool("llvm-dis"), bitcode, "-o", raw)
    # Calls say for themselves that they are not to be inlined.
    raw.write_text(re.sub(r"^(attributes #\d+ = \{.*?) noinline\b", r"\1", share(raw.read_text()), flags=re.M))
    # A BPF function has five arguments at most; with everything inlined only the entry points have any.
    inline = ["-force-remove-attribute=noinline", "-force-attribute=alwaysinline"]
    public = roots + [f"windlass_math_{name}" for name in SHARED]
    half = whole.with_suffix(f".{os.getpid()}")
    output(
        tool("opt"), "-S", "-passes=internalize,forceattrs,default<O2>,globaldce", *inline,
        f"-internalize-public-api-list={','.join(public)}", raw, "-o", half,
    )
    half.rename(whole)
    return whole, roots


def share(text):
    """Calls of the shared functions go to `windlass_shared_*`, which the shim defines by `windlass_math_*`."""
    for name, (result, arguments) in SHARED.items():
        found = re.search(rf"^define .*@(\w*4math{len(name)}{name}\w*)\(", text, re.M)
        if found is None:
            raise Unsound(f"{TARGET}: no function `math::{name}`: bpf.py shares it")
        mangled = found.group(1)
        # C knows one calling convention only: with Rust's own at one end, arguments would be lost.
        text = re.sub(rf"^define [^@\n]*@{mangled}\(", f"define {result} @windlass_math_{name}(", text, flags=re.M)
        text = re.sub(rf"\bcall (?:fastcc )?([^@\n]*)@{mangled}\(", rf"call \1@windlass_shared_{name}(", text)
        if left := re.search(rf".*@{mangled}\b.*", text):
            raise Unsound(f"{TARGET}: `math::{name}` is not only called: {left.group(0)[:160]}")
        text += f"\ndeclare {result} @windlass_shared_{name}({arguments})\n"
    return text


def compile_object(source, to):
    """A relocatable object, or what llc has to say."""
    # Without the option, code that is never reached calls a trap that kernels refuse.
    options = ["-march=bpf", "-mcpu=v3", "-bpf-disable-trap-unreachable", "-filetype=obj"]
    return subprocess.run([tool("llc"), *options, source, "-o", to], capture_output=True, text=True)


FORBIDDEN = {
    "a panic": re.compile(r"(call|invoke).*(panicking|windlass_core_can_panic)"),
    "floating point": re.compile(r"\b(float|double|half|fp128)\b"),
    # The type, not the end of a value's name such as %x.i128.
    "128-bit arithmetic": re.compile(r"(?<![.\w%])i128\b"),
    "signed division": re.compile(r"= s(div|rem) "),
}


def check_ir(text):
    """Refuses what BPF lacks, naming the functions that have it."""
    function, found = "", {}
    for line in text.splitlines():
        if line.startswith("define"):
            function = re.search(r"@\"?([\w.$]+)", line).group(1)
        if line.startswith(("target ", "declare ", "!", "attributes ", ";")) or "metadata" in line:
            continue
        for what, pattern in FORBIDDEN.items():
            if pattern.search(line):
                found.setdefault((what, function), line.strip())
    if found:
        lines = (f"  {what} in {function}: {line[:160]}" for (what, function), line in found.items())
        raise Unsound(f"{TARGET}:\n" + "\n".join(lines))


def check_verdicts(write):
    """Shows every algorithm to the kernel and compares what it says with the table."""
    if os.geteuid() != 0:
        raise Missing("loading into the kernel takes root")
    if not os.path.exists(BTF) or b"\0bpf_struct_ops_tcp_congestion_ops\0" not in Path(BTF).read_bytes():
        raise Missing("this kernel takes no congestion control from BPF, or does not say so in its BTF")
    loader, core = Loader(), target_folder() / "bpf.ll"
    if not core.exists():
        raise Missing(f"{core} is missing")
    algorithms = list_algorithms(build_host())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        judge = pool.map(lambda algorithm: loader.judge(make_control(core, algorithm.entry)), algorithms)
        verdicts = {algorithm.id: verdict for algorithm, verdict in zip(algorithms, judge)}
    denied = f"libbpf: {os.strerror(errno.EPERM)}"
    if all(verdict.refused == denied for verdict in verdicts.values()):
        raise Missing("this kernel lets nobody load programs here")
    if write:
        TABLE.write_text(render(verdicts))
    return compare(verdicts)


def compare(verdicts):
    """The table's verdicts against those found: none may be worse."""
    rows = re.findall(r"^\| `([\w-]+)` \| (\w+)", TABLE.read_text() if TABLE.exists() else "", re.M)
    if [name for name, _ in rows] != list(verdicts):
        raise Unsound(f"{TABLE.name} lists other algorithms; run tests/small-targets/run --write")
    passed = {name for name, word in rows if word == "passes"}
    worse = [f"  {name}: {verdicts[name].refused}" for name in passed if verdicts[name].refused]
    if worse:
        raise Unsound("the kernel's verifier refuses what it took before:\n" + "\n".join(worse))
    better = [name for name, verdict in verdicts.items() if not verdict.refused and name not in passed]
    more = f"; {', '.join(better)} better than in the table" if better else ""
    count = sum(not verdict.refused for verdict in verdicts.values())
    return f"{count} of {len(verdicts)} algorithms pass on Linux {platform.release()}{more}"


def make_control(core, name):
    """The object of one algorithm: the core and the shim, and of both what it needs."""
    folder = target_folder() / "bpf"
    folder.mkdir(exist_ok=True)
    shim, linked, whole, built = (folder / f"{name}{ending}" for ending in (".shim.bc", ".linked.bc", ".bc", ".o"))
    output(
        tool("clang"), "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", f"-DALGORITHM={name}",
        *(["-DCOUPLED"] if name in COUPLED else []), "-emit-llvm", "-c", HERE / "bpf/shim.c", "-o", shim,
    )
    output(tool("llvm-link"), shim, core, "-o", linked)
    public = KEPT + [f"windlass_shared_{name}" for name in SHARED]
    output(
        tool("opt"), "-passes=internalize,globaldce,default<O2>,globaldce",
        f"-internalize-public-api-list={','.join(public)}", linked, "-o", whole,
    )
    done = compile_object(whole, built)
    if done.returncode:
        raise Unsound(f"{TARGET}: {name}: {done.stderr.strip()[-3000:]}")
    output(tool("llvm-strip"), "-g", built)
    return built


def make_theirs(name):
    """An object that hands all to the kernel's own algorithm of this name."""
    built = target_folder() / f"bpf/theirs-{name}.o"
    built.parent.mkdir(exist_ok=True)
    compiler = [tool("clang"), "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror"]
    output(*compiler, f"-DTHEIRS_{name}", "-c", HERE / "bpf/theirs.c", "-o", built)
    output(tool("llvm-strip"), "-g", built)
    return built


def kernel_release():
    return tuple(int(number) for number in re.findall(r"\d+", platform.release())[:2])


@dataclass
class Verdict:
    """What the verifier said of the programs of one object."""

    # Its last word, and of which program; empty when it takes all.
    refused: str
    # Instructions that it looked at, for each program.
    steps: dict


# The verifier's figures, which follow its last word.
FIGURES = re.compile(r"processed (\d+) insns|verification time|stack depth")


class Loader:
    """libbpf: loading is verifying. What is loaded goes when the object is closed; nothing is attached."""

    ROOM = 1 << 20
    STATISTICS = 4

    def __init__(self):
        try:
            self.bpf = ctypes.CDLL("libbpf.so.1", use_errno=True)
        except OSError:
            raise Missing("libbpf.so.1 is missing") from None
        pointer = ctypes.c_void_p
        for name, result, arguments in [
            ("libbpf_set_print", pointer, [pointer]),
            ("bpf_object__open_file", pointer, [ctypes.c_char_p, pointer]),
            ("bpf_object__next_program", pointer, [pointer, pointer]),
            ("bpf_object__load", ctypes.c_int, [pointer]),
            ("bpf_object__close", None, [pointer]),
            ("bpf_program__name", ctypes.c_char_p, [pointer]),
            ("bpf_program__set_log_level", ctypes.c_int, [pointer, ctypes.c_uint32]),
            ("bpf_object__find_map_by_name", pointer, [pointer, ctypes.c_char_p]),
            ("bpf_map__set_initial_value", ctypes.c_int, [pointer, ctypes.c_char_p, ctypes.c_size_t]),
            ("bpf_program__set_log_buf", ctypes.c_int, [pointer, ctypes.c_char_p, ctypes.c_size_t]),
        ]:
            function = getattr(self.bpf, name)
            function.restype, function.argtypes = result, arguments
        self.bpf.libbpf_set_print(None)

    def judge(self, built):
        opened = self.bpf.bpf_object__open_file(str(built).encode(), None)
        if not opened:
            raise Unsound(f"libbpf cannot read {built}: {os.strerror(ctypes.get_errno())}")
        logs, program = {}, None
        while program := self.bpf.bpf_object__next_program(opened, program):
            log = ctypes.create_string_buffer(self.ROOM)
            logs[self.bpf.bpf_program__name(program).decode()] = log
            self.bpf.bpf_program__set_log_buf(program, log, self.ROOM)
            self.bpf.bpf_program__set_log_level(program, self.STATISTICS)
        if kernel_release() < (6, 10):
            # `options.two_arguments` of the shim.
            options = self.bpf.bpf_object__find_map_by_name(opened, b".rodata.windlass")
            self.bpf.bpf_map__set_initial_value(options, (0).to_bytes(4, "little") + (1).to_bytes(4, "little") + bytes(512), 520)
        code = self.bpf.bpf_object__load(opened)
        self.bpf.bpf_object__close(opened)
        refused, steps = f"libbpf: {os.strerror(-code)}" if code else "", {}
        for name, log in logs.items():
            lines = log.value.decode(errors="replace").splitlines()
            steps |= {name: int(m.group(1)) for line in lines if (m := re.match(r"processed (\d+) insns", line))}
            said = [line for line in lines if not FIGURES.match(line)]
            # Loading ends with the first program that is refused.
            if code and said:
                refused = f"{name}: {said[-1]}"
        return Verdict(refused, steps)


PAGE = """# The kernel's verifier

<!-- Written by tests/small-targets/run --write; do not edit. -->

The verifier of Linux {release} accepts {passed} of {all} algorithms. It is a proof for each algorithm and for any network: no
endless loop, no access out of bounds, no division by zero. It is not a proof that the algorithm is right.

```sh
tests/small-targets/run   # fails if an algorithm is refused that passes here
```

The verifier checks the same objects that [run in a kernel](../guides/kernel-home.md): the algorithm with the standard slow start, joined to a
congestion control of the kernel (`struct_ops` with `cong_control` in `tests/small-targets/bpf/shim.c`). The compilers are rustc {rustc} and
clang {clang}.

The table has the instructions that the verifier examined on all paths, for an ACK and for a change of phase. It refuses a program after a
million. The other parts (undo, idle restart, beginning) have at most {rest}. All parts except the ACK's, and roots, powers and products of
more than 64 bits, are verified once for any state and argument. The state is next to the socket, because it can exceed the kernel's 104 bytes.

| algorithm | verdict | an ACK | a change of phase |
| --- | --- | ---: | ---: |
"""


def render(verdicts):
    rows = []
    for name, verdict in verdicts.items():
        word = f"refused ({verdict.refused})" if verdict.refused else "passes"
        steps = (verdict.steps.get(of, "") for of in ("acknowledge", "turn"))
        rows.append(f"| `{name}` | {word} | {' | '.join(map(str, steps))} |")
    rustc = output(RUSTC, "--version").split()[1]
    clang = output(tool("clang"), "-dumpversion").strip()
    rest = max((verdict.steps.get(of, 0) for verdict in verdicts.values() for of in ("take_back", "event", "begin")), default=0)
    passed = sum(not verdict.refused for verdict in verdicts.values())
    head = PAGE.format(release=platform.release(), rustc=rustc, clang=clang, passed=passed, all=len(verdicts), rest=f"{rest:,}")
    return head + "\n".join(rows) + "\n"
