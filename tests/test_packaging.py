"""The source distribution, and the wheel without a compiler. Wheels with the kernel are built by wheels.yml."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from scrapy_simhash import __version__

ROOT = Path(__file__).parents[1]
NAME = f"scrapy_simhash-{__version__}"
SOURCES = ("*.c", "*.h", "*.pyx", "*.pxd", "*.py", "*.lua", "*.txt", "*.html", "*.css", "*.js", "*.pyi")
MADE = ("*.so", "*.pyd", "*.egg-info", "__pycache__", "_build", "out", "build", "dist")
TOOLS = (".git", ".venv", ".tox", ".*_cache", ".hypothesis", ".scrapy")


def python(folder: Path, *arguments: str | Path, **environment: str) -> str:
    """Run Python in *folder*; return all that it says."""
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
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The source distribution, made by the build backend in a copy of the checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    shutil.copytree(ROOT, folder / "checkout", ignore=shutil.ignore_patterns(*MADE, *TOOLS))
    backend = "import sys; from setuptools.build_meta import build_sdist; build_sdist(sys.argv[1])"
    python(folder / "checkout", "-c", backend, folder)
    return folder / f"{NAME}.tar.gz"


def test_the_sources_have_all_of_the_package_and_nothing_that_was_made(sdist: Path) -> None:
    with tarfile.open(sdist) as opened:
        files = {name.removeprefix(f"{NAME}/") for name in opened.getnames()}
    # What Cython makes of a source is beside it in a checkout.
    made = {path.with_suffix(".c") for path in (ROOT / "scrapy_simhash").rglob("*.py*")}
    package = {
        path.relative_to(ROOT).as_posix()
        for kind in SOURCES
        for path in (ROOT / "scrapy_simhash").rglob(kind)
        if path not in made
    }
    assert files > package | {"setup.py", "pyproject.toml", "LICENSE"}
    assert [name for name in files if name.endswith((".so", ".pyd", ".pyc"))] == []
    assert files.isdisjoint(path.relative_to(ROOT).as_posix() for path in made)


@pytest.mark.slow("it builds a wheel")
@pytest.mark.skipif(sys.platform == "win32", reason="CC names no compiler here")
def test_without_a_compiler_there_is_a_pure_wheel_and_a_sentence(sdist: Path, tmp_path: Path) -> None:
    offline = ("--no-deps", "--no-index", "--no-build-isolation", "--no-cache-dir")
    said = python(
        tmp_path,
        *("-m", "pip", "wheel", "-v", *offline, "-w", "wheels", sdist),
        CC="/nowhere/cc",
        SCRAPY_SIMHASH_BUILD="auto",
    )
    assert [path.name for path in (tmp_path / "wheels").iterdir()] == [f"{NAME}-py3-none-any.whl"]
    assert "built without its compiled kernel" in said
