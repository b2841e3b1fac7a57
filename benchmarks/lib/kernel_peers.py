"""Other libraries on the same texts in the same run: the part of ``kernel`` behind ``--peers``.

Each makes of a text what it compares texts by, in the way its own users would: a simhash, or a MinHash of 128 values.
What a library wants as features is made in Python by ``str.split``, and that time is its own. gaoya gives its
fingerprint to nobody: it is asked to look a text up in an empty index. None of them looks at the language, parts the
words of a script without spaces, or makes a sketch: each does less than ``PageFingerprinter.from_text``.

Three distributions bring a module ``simhash`` and overwrite each other: ``simhash``, ``python-simhash``,
``simhash-pybind``. The one that was installed last is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType
from typing import TypeAlias

Fingerprinter: TypeAlias = Callable[[str], object]

VALUES = 128
_MASK = 2**64 - 1


def load() -> tuple[dict[str, Fingerprinter], dict[str, str]]:
    """Return the ways from text to fingerprint by name, and why each of the others is missing."""
    found: dict[str, Fingerprinter] = {}
    missing: dict[str, str] = {}
    makers: dict[str, Callable[[], dict[str, Fingerprinter]]] = {
        "gaoya": _gaoya,
        "python-simhash": lambda: _python_simhash(_simhash_having("simhash")),
        "rensa": _rensa,
        "simhash-pybind": lambda: _simhash_pybind(_simhash_having("c_compute")),
        "trafilatura": _trafilatura,
        "simhash": lambda: _simhash(_simhash_having("Simhash")),
        "datasketch": _datasketch,
        "text-dedup": _text_dedup,
    }
    for distribution, make in makers.items():
        try:
            found |= make()
        except Exception as error:  # other people's code: whatever it raises, the rest is measured
            missing[distribution] = f"{type(error).__name__}: {error}"
    return found, missing


def _shingles(text: str, size: int = 3) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + size]) for i in range(len(words) - size + 1)]


def _gaoya() -> dict[str, Fingerprinter]:
    index = import_module("gaoya").simhash.SimHashStringIndex

    def query(analyzer: str, size: int) -> Fingerprinter:
        look_up: Fingerprinter = index(64, 6, 4, analyzer, True, (size, size)).query
        return look_up

    return {
        "gaoya, words": query("word", 1),
        "gaoya, shingles of 3 words": query("word", 3),
        "gaoya, shingles of 4 characters": query("char", 4),
    }


def _python_simhash(module: ModuleType) -> dict[str, Fingerprinter]:
    return {
        "python-simhash, words": lambda text: module.simhash(text.split()),
        "python-simhash, shingles of 3 words": lambda text: module.simhash(_shingles(text)),
    }


def _rensa() -> dict[str, Fingerprinter]:
    rensa = import_module("rensa")

    def minhash(text: str) -> object:
        made = rensa.RMinHash(num_perm=VALUES, seed=42)
        made.update(_shingles(text))
        return made.digest()

    return {"rensa RMinHash, shingles of 3 words": minhash}


def _simhash_pybind(module: ModuleType) -> dict[str, Fingerprinter]:
    def readme(text: str) -> object:
        shingles = (" ".join(words).encode() for words in module.shingle(text.split()))
        return module.compute(map(module.unsigned_hash, shingles))

    return {
        "simhash-pybind, hash() of shingles of 3 words": lambda text: module.compute(
            [hash(shingle) & _MASK for shingle in _shingles(text)]
        ),
        "simhash-pybind, as its README has it": readme,
    }


def _trafilatura() -> dict[str, Fingerprinter]:
    simhash = import_module("trafilatura.deduplication").Simhash
    return {"trafilatura Simhash": lambda text: simhash(text).hash}


def _simhash(module: ModuleType) -> dict[str, Fingerprinter]:
    return {
        "simhash, shingles of 3 words": lambda text: module.Simhash(_shingles(text)).value,
        "simhash, as it comes": lambda text: module.Simhash(text).value,
    }


def _datasketch() -> dict[str, Fingerprinter]:
    minhash = import_module("datasketch").MinHash

    def values(text: str) -> object:
        made = minhash(num_perm=VALUES)
        made.update_batch([shingle.encode() for shingle in _shingles(text)])
        return made.hashvalues

    return {"datasketch MinHash, shingles of 3 words": values}


def _text_dedup() -> dict[str, Fingerprinter]:
    module = import_module("text_dedup.simhash")
    embed, digest = module.embed_func, module.xxh3_64_digest
    return {"text-dedup": lambda text: embed(text, 0, ngram=3, permutations=None, hash_func=digest)}


def _simhash_having(name: str) -> ModuleType:
    """Return the module ``simhash`` if it has *name*: what tells the three distributions apart."""
    module = import_module("simhash")
    if not hasattr(module, name):
        raise ImportError(f"the module simhash that is installed has no {name}")
    return module
