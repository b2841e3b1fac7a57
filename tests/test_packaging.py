"""What is handed out: sources that can be built anywhere, and wheels with the kernel or, in so many words, without.

Everything is built from a copy of the checkout, offline, with the tools of this environment.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import pytest

from scrapy_simhash import __version__

#: How an archive is unpacked; Python before 3.10.12 and 3.11.4 has no filters.
SAFELY: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
ROOT = Path(__file__).parents[1]
NAME = f"scrapy_simhash-{__version__}"
KERNEL = "scrapy_simhash/kernel"
DOORS = ["_hamming", "_native"]
COMPILED = "scrapy_simhash/page/compiled"
# Python modules that are compiled too, by the files with their types.
RULES = [f"{COMPILED}/{path.stem}" for path in (ROOT / COMPILED).glob("*.pxd")] + [f"{KERNEL}/_second_look"]
IS_STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")
COMPILER = (sysconfig.get_config_var("CC") or "cl").split()[0]

needs_compiler = pytest.mark.skipif(not shutil.which(COMPILER), reason="needs a C compiler: apt install gcc")
builds_a_package = pytest.mark.slow("it builds a wheel or an editable package from the sources")
finds_compiler_by_name = pytest.mark.skipif(sys.platform == "win32", reason="CC names no compiler here")


def run(folder: Path, *arguments: str | Path, **environment: str) -> tuple[int, str]:
    """Run Python in *folder*; return its exit code and all that it says."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, made by the build backend in a copy of the checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    made = ("*.so", "*.pyd", "*.egg-info", "__pycache__", "_build", "out", "build", "dist")
    tools = (".git", ".venv", ".tox", ".*_cache", ".hypothesis", ".scrapy")
    shutil.copytree(ROOT, folder / "checkout", ignore=shutil.ignore_patterns(*made, *tools))
    backend = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    code, said = run(folder / "checkout", "-c", backend, folder)
    assert code == 0, said
    return folder / f"{NAME}.tar.gz"


class Build:
    """What became of a wheel of the source distribution."""

    def __init__(self, sdist: Path, folder: Path, mode: str, **environment: str) -> None:
        offline = ("-v", "--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir")
        environment["SCRAPY_SIMHASH_BUILD"] = mode
        code, said = run(folder, "-m", "pip", "wheel", *offline, "-w", folder / "dist", sdist, **environment)
        self.is_built = code == 0
        self.said = " ".join(said.split())
        self.wheels = sorted((folder / "dist").glob("*"))

    @property
    def tag(self) -> str:
        (wheel,) = self.wheels
        return wheel.stem.removeprefix(f"{NAME}-")

    @property
    def files(self) -> set[str]:
        (wheel,) = self.wheels
        with ZipFile(wheel) as opened:
            return {name for name in opened.namelist() if ".dist-info/" not in name}


def python_files() -> set[str]:
    """Return what every wheel has."""
    package = ROOT / "scrapy_simhash"
    kinds = ("*.py", "*.pyi", "*.txt", "*.lua", "*.css", "*.html", "*.js", "py.typed")
    found = [path for kind in kinds for path in package.rglob(kind)]
    return {path.relative_to(ROOT).as_posix() for path in found}


# --- The sources.


def test_make_builds_the_kernel_with_what_pyproject_asks_for() -> None:
    pyproject, makefile = ((ROOT / name).read_text("utf-8") for name in ("pyproject.toml", "Makefile"))
    required = re.search(r"^requires = \[(.+)\]$", pyproject, flags=re.MULTILINE)
    used = re.search(r"^BUILD_TOOLS := (.+)$", makefile, flags=re.MULTILINE)
    assert required
    assert used
    assert re.findall(r'"(.+?)"', used[1]) == re.findall(r'"(.+?)"', required[1])


def test_the_sources_have_all_of_the_kernel_and_nothing_that_was_made(sdist: Path) -> None:
    with tarfile.open(sdist) as opened:
        files = {name.removeprefix(f"{NAME}/") for name in opened.getnames()}
    kernel = {
        path.relative_to(ROOT).as_posix()
        for kind in ("*.c", "*.h", "*.pyx", "*.pxd")
        for path in (ROOT / KERNEL).rglob(kind)
    }
    assert {f"{KERNEL}/{door}.pyx" for door in DOORS} < kernel
    assert {f"{name}.pxd" for name in RULES} <= set(files)
    assert files > kernel | python_files() | {"setup.py", "pyproject.toml", "LICENSE", "README.md"}
    assert {name.partition("/")[0] for name in files if "/" in name} == {
        "scrapy_simhash",
        "scrapy_simhash.egg-info",
    }
    made = (".so", ".pyd", ".pyc", "/_native.c", "/_hamming.c", "/main_text.c", "/choose.c", "/shingles.c")
    assert [name for name in files if name.endswith(made)] == []


#: The copyright lines of the files that go into a package: no file has one, all of them are under LICENSE.
FOREIGN = re.compile(r"copyright (?:\(c\)|©|\d{4})|spdx-license", re.IGNORECASE)


def test_no_file_of_the_package_is_under_the_licence_of_others() -> None:
    kinds = (".py", ".pyx", ".pxd", ".c", ".h", ".txt", ".lua", ".css", ".html", ".js", ".pyi")
    files = [path for path in (ROOT / "scrapy_simhash").rglob("*") if path.suffix in kinds]
    assert [path for path in files if FOREIGN.search(path.read_text("utf-8"))] == []
    assert FOREIGN.search((ROOT / "LICENSE").read_text("utf-8"))


# --- With the kernel.


@builds_a_package
@needs_compiler
def test_a_wheel_with_the_kernel_serves_every_later_python_and_has_no_sources_of_it(
    sdist: Path, tmp_path: Path
) -> None:
    build = Build(sdist, tmp_path, "require")
    assert build.is_built, build.said
    compiled = sorted(build.files - python_files())
    assert [name.split(".")[0] for name in compiled] == sorted(
        [*RULES, *(f"{KERNEL}/{door}" for door in DOORS)]
    )
    assert build.files > python_files()
    assert build.tag.startswith("cp310-abi3-") == IS_STABLE
    assert not build.tag.endswith("-any")

    with ZipFile(build.wheels[0]) as opened:
        opened.extractall(tmp_path / "installed")
    reads = (
        "from scrapy_simhash import PageFingerprinter, kernel;"
        "PageFingerprinter().from_html('<p>A page');"
        "print(kernel.NAME, kernel.native.__file__, kernel.hamming.__file__)"
    )
    code, said = run(tmp_path / "installed", "-c", reads, SCRAPY_SIMHASH_KERNEL="native")
    assert code == 0, said
    doors = [
        str(tmp_path / "installed" / name) for name in compiled if name.split(".")[0].endswith(tuple(DOORS))
    ]
    assert said.split() == ["native", *reversed(doors)]
    crawls_from_a_folder_that_may_not_be_written_to(tmp_path)


def crawls_from_a_folder_that_may_not_be_written_to(folder: Path) -> None:
    """Crawl the example site with what is installed in *folder*, which has to stay as it is."""
    installed = folder / "installed"
    before = sorted(path for path in installed.rglob("*") if path.suffix != ".pyc")
    for path in [installed, *before]:
        path.chmod(path.stat().st_mode & ~0o222)
    example = folder / "example_project"
    shutil.copytree(ROOT / "example_project", example, ignore=shutil.ignore_patterns("out", "__pycache__"))
    try:
        code, said = run(example, "demo.py", "--json", PYTHONPATH=str(installed), PYTHONDONTWRITEBYTECODE="1")
    finally:
        for path in [installed, *before]:
            path.chmod(path.stat().st_mode | 0o200)
    assert code == 0, said
    result = json.loads(said[said.index("{") :])
    assert (result["wrong"], result["errors"]) == ([], 0)
    assert len(result["near_duplicates"]) > 50
    assert sorted(path for path in installed.rglob("*") if path.suffix != ".pyc") == before


# --- Without it.


def stub(folder: Path, package: str) -> str:
    """Return a path on which *package* is one that cannot be used."""
    (folder / package).mkdir(parents=True)
    (folder / package / "__init__.py").write_text(f"raise ImportError('no {package} here')", "utf-8")
    return str(folder)


@builds_a_package
def test_a_pure_wheel_has_no_binary_and_does_not_try(sdist: Path, tmp_path: Path) -> None:
    build = Build(sdist, tmp_path, "pure", CC="/nowhere/cc", PYTHONPATH=stub(tmp_path / "stub", "Cython"))
    assert build.is_built, build.said
    assert build.tag == "py3-none-any"
    assert build.files == python_files()
    assert "compiled kernel" not in build.said


MISSING = [
    pytest.param("compiler", "/nowhere/cc", marks=finds_compiler_by_name, id="no compiler"),
    pytest.param("compiler", "false", marks=finds_compiler_by_name, id="a compiler that fails"),
    pytest.param("package", "Cython", id="no Cython"),
]


@builds_a_package
@pytest.mark.parametrize(("kind", "name"), MISSING)
def test_what_the_kernel_lacks_costs_the_kernel_only_and_a_sentence(
    sdist: Path, tmp_path: Path, kind: str, name: str
) -> None:
    environment = {"CC": name} if kind == "compiler" else {"PYTHONPATH": stub(tmp_path / "stub", name)}
    build = Build(sdist, tmp_path, "auto", **environment)
    assert build.is_built, build.said
    assert build.tag == "py3-none-any"
    assert build.files == python_files()
    assert build.said.count("is built without its compiled kernel, and will run on pure Python: ") == 1
    assert name in build.said
    assert "SCRAPY_SIMHASH_BUILD=require makes that an error." in build.said


@builds_a_package
@pytest.mark.parametrize(("kind", "name"), MISSING[1:3])
def test_whoever_insists_on_the_kernel_gets_no_wheel_without(
    sdist: Path, tmp_path: Path, kind: str, name: str
) -> None:
    environment = {"CC": name} if kind == "compiler" else {"PYTHONPATH": stub(tmp_path / "stub", name)}
    build = Build(sdist, tmp_path, "require", **environment)
    assert not build.is_built
    assert build.wheels == []
    assert "SCRAPY_SIMHASH_BUILD is require, but there is no compiled kernel: " in build.said
    assert name in build.said


@builds_a_package
@finds_compiler_by_name
def test_an_editable_installation_goes_on_without_the_kernel_too(sdist: Path, tmp_path: Path) -> None:
    with tarfile.open(sdist) as opened:
        opened.extractall(tmp_path, **SAFELY)
    suffix = EXTENSION_SUFFIXES[0] if sysconfig.get_config_var("Py_GIL_DISABLED") else ".abi3.so"
    stale = tmp_path / NAME / f"scrapy_simhash/kernel/_native{suffix}"
    stale.touch()
    backend = "import sys; from setuptools.build_meta import build_editable; build_editable(sys.argv[1])"
    code, said = run(tmp_path / NAME, "-c", backend, tmp_path, CC="false", SCRAPY_SIMHASH_BUILD="auto")
    assert code == 0, said
    assert "is built without its compiled kernel" in said
    assert len(list(tmp_path.glob("*.whl"))) == 1
    assert not stale.exists()


def test_a_mode_that_does_not_exist_is_refused() -> None:
    code, said = run(ROOT, "setup.py", "--version", SCRAPY_SIMHASH_BUILD="native")
    assert code == 1
    assert "SCRAPY_SIMHASH_BUILD must be one of auto, require, pure, got 'native'" in said
