"""Builds the kernel where that is possible; all else is in pyproject.toml.

``SCRAPY_SIMHASH_BUILD`` says what to do: ``auto`` (the default) builds the kernel, and goes on without it where that
fails; ``require`` fails there; ``pure`` does not try. docs/performance.rst has more.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from importlib import import_module
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.modified import newer_group

VARIABLE = "SCRAPY_SIMHASH_BUILD"
MODES = ("auto", "require", "pure")
MODE = os.environ.get(VARIABLE) or "auto"
KERNEL = Path("scrapy_simhash", "kernel")
#: Python modules that are compiled as well, since the kernel runs their code too. Their types stand in a file with
#: the name of the compiled module.
COMPILED = {
    "page.compiled._main_text": "page/text/main_text.py",
    "page.compiled._language": "page/language/choose.py",
    "kernel._second_look": "judge/second_look.py",
}
#: The least Python whose stable interface has all that the kernel calls: one wheel then serves every later one.
LEAST = (3, 10)
#: An interpreter without the global lock has no stable interface, and gets a wheel of its own.
IS_STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")
#: Microsoft's compiler has its own flags. No instruction set is named: what is built here runs on all its kind.
FLAGS = (
    ["/O2", "/std:c11"]
    if sysconfig.get_platform().startswith("win")
    else ["-O3", "-std=c11", "-fvisibility=hidden"]
)


class BuildKernel(build_ext):
    """The command that builds the kernel, or goes on as if there never had been one."""

    def finalize_options(self) -> None:
        """Put the C files that Cython makes into build/: beside a Python module they would mislead."""
        super().finalize_options()
        self.cython_c_in_temp = True

    def run(self) -> None:
        """Build the kernel; Cython is needed from here on only."""
        is_inplace = self.inplace
        try:
            if sys.implementation.name != "cpython":
                raise RuntimeError("it is for CPython")
            # setuptools takes Cython if it is there, and else looks for a C file.
            import_module("Cython.Distutils")
            super().run()
        except Exception as failure:
            cause = " ".join(str(failure).split()) or repr(failure)
            if MODE == "require":
                raise SystemExit(
                    f"{VARIABLE} is require, but there is no compiled kernel: {cause}"
                ) from failure
            print(
                f"scrapy-simhash is built without its compiled kernel, and will run on pure Python: {cause}. "
                f"{VARIABLE}=require makes that an error.",
                file=sys.stderr,
            )
            if is_inplace:
                # What an earlier build has left would be loaded, with layouts that may be other ones by now.
                for ext in self.extensions:
                    Path(str(self.get_ext_filename(ext.name))).unlink(missing_ok=True)  # type: ignore[no-untyped-call]
            self.extensions = self.distribution.ext_modules = []

    def build_extension(self, ext: Extension) -> None:
        """Build one module; if anything that it is made of has changed, its C file is made anew.

        Cython would look for the types of a Python module beside it, where they are not.
        """
        source, *more = ext.sources
        if newer_group([source, *more, *ext.depends], self.get_ext_fullpath(ext.name)):
            Path(self.build_temp, source).with_suffix(".c").unlink(missing_ok=True)
        super().build_extension(ext)


class Wheel(bdist_wheel):
    """The command that makes a wheel: what became of the kernel decides for which machines it is."""

    def run(self) -> None:
        """Build the kernel before anything else."""
        if self.distribution.ext_modules:
            self.run_command("build_ext")
            self.root_is_pure = not self.distribution.ext_modules
        super().run()


def door(name: str, folder: str) -> Extension:
    """Return what is to be built of a door in Cython and the C files behind it in a *folder*."""
    return extension(
        f"kernel.{name}", [KERNEL / f"{name}.pyx", *sorted((KERNEL / folder).glob("*.c"))], folder
    )


def extension(name: str, sources: list[Path], folder: str) -> Extension:
    """Return the module *name*, made of *sources* by the headers of a *folder*."""
    depends = [
        *KERNEL.glob("*.px[di]"),
        *Path("scrapy_simhash", "page", "compiled").glob("*.pxd"),
        *(KERNEL / folder).glob("*.h"),
    ]
    return Extension(
        f"scrapy_simhash.{name}",
        sources=list(map(str, sources)),
        depends=sorted(map(str, depends)),
        include_dirs=[str(KERNEL / folder)],
        define_macros=[("Py_LIMITED_API", "0x{:02X}{:02X}0000".format(*LEAST))] if IS_STABLE else [],
        py_limited_api=IS_STABLE,
        extra_compile_args=FLAGS,
    )


if MODE not in MODES:
    raise SystemExit(f"{VARIABLE} must be one of {', '.join(MODES)}, got {MODE!r}")
EXTENSIONS = [
    door("_native", "c"),
    door("_hamming", "hamming"),
    *(
        extension(name, [Path("scrapy_simhash", file)], "hamming" if name.startswith("kernel") else "c")
        for name, file in COMPILED.items()
    ),
]
setup(
    ext_modules=[] if MODE == "pure" else EXTENSIONS,
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": Wheel},
    options={"bdist_wheel": {"py_limited_api": "cp{}{}".format(*LEAST)}} if IS_STABLE else {},
)
