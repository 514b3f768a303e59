"""Megabytes of a process tree, read from the texts of /proc."""

import os
import subprocess
import sys

from tools.bench import memory

MAPS = """\
55d0-55d1 r-xp 00000000 08:01 12 /usr/bin/python3.11
Size:                  4 kB
Pss:                 100 kB
Pss_Dirty:            50 kB
7f00-7f01 rw-p 00000000 00:00 0
Pss:                  30 kB
7f02-7f03 rw-p 00000000 00:00 0 [heap]
Pss:                  20 kB
7f04-7f05 r-xp 00000000 08:01 13 /usr/lib/libssl.so.3
Pss:                   7 kB
7f06-7f07 rw-s 00000000 00:01 14 /dev/shm/PostgreSQL.1 (deleted)
Pss:                   5 kB
"""


def test_memory_by_kind() -> None:
    megabytes = memory.by_kind(MAPS)

    assert megabytes == {"objects": 50, "libraries": 107, "other": 5}


def test_the_sum_is_the_kernel_s() -> None:
    assert memory.pss("55d0-7f07 ---p 00000000 00:00 0 [rollup]\nRss: 9 kB\nPss: 162 kB\n") == 162


def test_children_are_counted_and_strangers_are_not() -> None:
    alone = memory.of_tree(os.getpid())
    child = subprocess.Popen(
        [sys.executable, "-c", "held = b'x' * 50_000_000; print('up', flush=True); input()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with child:
        child.stdout.readline()
        both, only = memory.of_tree(os.getpid()), memory.of_tree(child.pid)
        child.communicate(b"\n")

    assert both.processes == alone.processes + 1
    assert only.processes == 1
    assert both.parts["objects"] > alone.parts["objects"] + 40
    assert only.parts["objects"] > 40


def test_a_process_that_is_not_there_has_nothing() -> None:
    assert memory.of_tree(0).processes == 0
