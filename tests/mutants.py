"""Measure the tests by mutants: small faults, drawn with a seed, that the tests of a folder should notice.

    nice python -m tests.mutants [--each 25] [--seed 1] [TARGET ...]

Each mutant is one change of one file, in a copy of what is committed: a comparison turned round, an operator or a
constant changed, a condition negated, a result dropped. It dies if the tests of its folder fail or take five times as
long. Those that live are printed, as file, line and both texts: some change nothing that can be seen, others show
what no test asks for. Written for comparison before and after a change of the tests: the same seed draws the same
places as long as the code is the same.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import sys
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic

ROOT = Path(__file__).parents[1]
PACKAGE = "scrapy_simhash"
#: Of each target its files, and the tests of its own folder.
TARGETS: dict[str, tuple[list[str], list[str]]] = {
    "rule": (["judge/rule.py", "judge/measured.py"], ["tests/judge/test_rule.py"]),
    "second_look": (
        ["judge/second_look.py"],
        ["tests/judge/test_rule.py", "tests/crawls/test_second_look.py"],
    ),
    "policy": (["judge/policy.py"], ["tests/judge/test_policy.py"]),
    "records": (["files/records"], ["tests/files/records"]),
    "batch": (["files/batch"], ["tests/files/batch"]),
    "url_rules": (
        ["observers/url_rules/evidence.py"],
        ["tests/observers/url_rules"],
    ),
    "index": (
        ["index/pure"],
        ["tests/index/pure", "tests/index/test_index.py"],
    ),
    "claim": (
        ["store/local.py", "store/memory.py", "store/candidates.py"],
        ["tests/store/test_memory.py", "tests/store/sqlite/test_contract.py"],
    ),
    # Of these each mutant is compiled.
    "kernel_c": (["kernel/c"], ["tests/page/compiled", "tests/kernel", "tests/fixtures"]),
    "kernel_pure": (
        ["page/text/main_text.py", "page/fingerprint", "page/pieces.py"],
        ["tests/page/text", "tests/page/fingerprint", "tests/page/test_pieces.py"],
    ),
}
#: Small faults of C, as patterns of what is there, and what takes its place.
C_FAULTS = {
    r"(?<= )<(?= )": "<=",
    r"(?<= )<=(?= )": "<",
    r"(?<= )>(?= )": ">=",
    r"(?<= )>=(?= )": ">",
    r"(?<= )==(?= )": "!=",
    r"(?<= )!=(?= )": "==",
    r"(?<= )&&(?= )": "||",
    r"(?<= )\|\|(?= )": "&&",
    r"\+\+(?=;|\))": "+= 2",
    r"\b[1-9]\b": "0",
    r"\b0\b": "1",
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}


def mutated(node: ast.AST) -> ast.AST | None:
    """Return what takes the place of *node* in a mutant, or None if nothing does."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return ast.Compare(node.left, [COMPARISONS[type(node.ops[0])]()], node.comparators)
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return ast.BinOp(node.left, OPERATORS[type(node.op)](), node.right)
    if isinstance(node, ast.BoolOp):
        return ast.BoolOp(ast.Or() if isinstance(node.op, ast.And) else ast.And(), node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return node.operand
    if isinstance(node, ast.IfExp):
        return ast.IfExp(ast.UnaryOp(ast.Not(), node.test), node.body, node.orelse)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return ast.Constant(not node.value)
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return ast.Constant(node.value + 1)
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        return ast.Return(ast.Constant(None))
    return None


def places(tree: ast.Module) -> Iterator[tuple[ast.AST, str, int | None, ast.AST]]:
    """Yield each node that can be mutated: its parent, the field and place there, and the node. Not annotations."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        parent = waiting.pop()
        for field, value in ast.iter_fields(parent):
            if field in ("annotation", "returns", "type_params", "decorator_list"):
                continue
            for number, node in enumerate(value) if isinstance(value, list) else [(None, value)]:
                if isinstance(node, ast.AST):
                    waiting.append(node)
                    if mutated(node) is not None:
                        yield parent, field, number, node


def c_places(text: str) -> list[tuple[int, int, str]]:
    """Return where a statement of C can be mutated: start, end, and what takes the place of what stands there."""
    found, start = [], 0
    for line in text.splitlines(keepends=True):
        code = line.partition("/*")[0]
        if code.startswith("    ") and (";" in code or "{" in code):
            found += [
                (start + match.start(), start + match.end(), new)
                for pattern, new in C_FAULTS.items()
                for match in re.finditer(pattern, code)
            ]
        start += len(line)
    return found


def mutants(copy: Path, files: list[str], each: int, draw: random.Random) -> Iterator[tuple[Path, str, str]]:
    """Yield a file, the text of a mutant, and what is changed, *each* of them in all."""
    paths = [
        path
        for name in files
        for path in sorted({copy / PACKAGE / name, *(copy / PACKAGE / name).glob("*.[pc]*")})
    ]
    found = [
        (path, number)
        for path in paths
        if path.is_file()
        for number, _ in enumerate(
            c_places(path.read_text("utf-8"))
            if path.suffix == ".c"
            else places(ast.parse(path.read_text("utf-8")))
        )
    ]
    for path, number in draw.sample(found, min(each, len(found))):
        if path.suffix == ".c":
            text = path.read_text("utf-8")
            start, end, put = c_places(text)[number]
            line = text.count("\n", 0, start)
            changed = text[:start] + put + text[end:]
            former, latter = (one.splitlines()[line].strip() for one in (text, changed))
            yield path, changed, f"{path.name}:{line + 1}: {former}  ->  {latter}"
            continue
        tree = ast.parse(path.read_text("utf-8"))
        parent, field, place, node = list(places(tree))[number]
        new = mutated(node)
        assert new is not None
        told = f"{path.relative_to(copy)}:{getattr(node, 'lineno', 0)}: {ast.unparse(node)}  ->  {ast.unparse(new)}"
        if place is None:
            setattr(parent, field, new)
        else:
            getattr(parent, field)[place] = new
        yield path, ast.unparse(ast.fix_missing_locations(tree)), told


def run(copy: Path, tests: list[str], patience: float, is_c: bool) -> bool:
    """Return whether *tests* pass in *copy* within *patience* seconds, after the kernel is built if *is_c*."""
    build = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
    if is_c and subprocess.run(build, cwd=copy, capture_output=True, check=False).returncode:
        return False
    there = [name for name in tests if (copy / name).exists()]
    command = [sys.executable, "-m", "pytest", "-qx", "-p", "no:cacheprovider", "-m", "not slow"]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(copy)}
    if is_c:
        # Without it a kernel that differs is left aside, and nothing is compared.
        environment["SCRAPY_SIMHASH_KERNEL"] = "native"
    try:
        done = subprocess.run(
            [*command, "--hypothesis-profile", "quick", *there],
            cwd=copy,
            env=environment,
            capture_output=True,
            timeout=patience,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def main() -> int:
    """Print a line a target: how many of its mutants died."""
    parser = ArgumentParser("python -m tests.mutants", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("targets", nargs="*", default=list(TARGETS), metavar="TARGET")
    parser.add_argument("--each", type=int, default=25)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=ROOT, capture_output=True, check=True)
        subprocess.run(["tar", "x", "-C", folder], input=archive.stdout, check=True)
        for built in (ROOT / PACKAGE).rglob("*.so"):
            shutil.copy(built, copy / built.relative_to(ROOT))
        for name in options.targets:
            files, tests = TARGETS[name]
            is_c = name == "kernel_c"
            began = monotonic()
            if not run(copy, tests, 600, is_c):
                raise SystemExit(f"the tests of {name} fail without any mutant")
            patience = 5 * (monotonic() - began) + 10
            died = total = 0
            for path, text, told in mutants(
                copy, files, options.each, random.Random(f"{options.seed} {name}")
            ):
                right = path.read_text("utf-8")
                path.write_text(text, "utf-8")
                is_dead = not run(copy, tests, patience, is_c)
                path.write_text(right, "utf-8")
                died, total = died + is_dead, total + 1
                if not is_dead:
                    print(f"  lives: {told}", flush=True)
            print(f"{name}: {died} of {total} died", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
