"""Memory on a machine with pages of 64 KiB, as on some arm64 systems; the test simulates the system calls."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

KERNEL = Path(__file__).resolve().parents[2] / "scrapy_simhash" / "kernel"
COMPILER = shutil.which("cc")
SYSTEM = """
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 64 << 10 };
static size_t mapped_pages;

static long large_sysconf(int name) { (void)name; return PAGE; }

static void *large_mmap(void *at, size_t size, int allowed, int how, int file, off_t from)
{
    char *more = mmap(at, size + PAGE, allowed, how & ~MAP_POPULATE, file, from);
    mapped_pages += (size + PAGE - 1) / PAGE;
    return more + (size_t)(-(uintptr_t)more % PAGE);
}

static int large_munmap(void *at, size_t size)
{
    if ((uintptr_t)at % PAGE != 0)
        return -1; /* like the system: an error */
    mapped_pages -= (size + PAGE - 1) / PAGE;
    return 0;
}

#define sysconf large_sysconf
#define mmap large_mmap
#define munmap large_munmap
#include "hamming/table.c"

int main(void)
{
    static const size_t SIZES[] = {1, 300000, 4194303, 4194304, 4198400, 5000000, 123456789};
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        size_t bytes = SIZES[i];
        char *block = pages_new(&bytes);
        if (block == NULL || bytes < SIZES[i] || (uintptr_t)block % 16 != 0)
            return 1;
        block[0] = block[SIZES[i] - 1] = 1;
        pages_free(block, bytes);
        printf("%zu ", mapped_pages);
    }
    return 0;
}
"""


@pytest.mark.skipif(
    COMPILER is None or not sys.platform.startswith("linux"), reason="it needs Linux and a compiler"
)
def test_all_memory_is_freed_for_pages_of_any_size(tmp_path: Path) -> None:
    assert COMPILER is not None
    (tmp_path / "pages_test.c").write_text(SYSTEM, "ascii")
    command = [COMPILER, "-std=c11", "-I", str(KERNEL), str(KERNEL / "hamming" / "scan.c"), "pages_test.c"]
    command += ["-o", "pages_test"]
    subprocess.run(command, cwd=tmp_path, check=True)
    done = subprocess.run([tmp_path / "pages_test"], capture_output=True, text=True)
    assert (done.stdout.split(), done.returncode) == (["0"] * 7, 0)
