"""Processes below a task, as they are seen from outside."""

from __future__ import annotations

import os
import subprocess
import threading

import psutil
import pytest

from hashbench.execution import process_tree


@pytest.mark.parametrize("listed", [True, False])
def test_all_descendants_are_found_whichever_thread_started_them(monkeypatch, listed):
    if listed and not process_tree._LISTED:
        pytest.skip("this system does not list the children of a process")
    monkeypatch.setattr(process_tree, "_LISTED", listed)
    before = process_tree.below(os.getpid())
    started = []

    def start():
        # says so when it has a child of its own
        command = ["sh", "-c", "sleep 60 & echo $!; wait"]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        over.wait()

    over = threading.Event()
    thread = threading.Thread(target=start)
    thread.start()
    try:
        while not started:
            pass
        grandchild = psutil.Process(int(started[0].stdout.readline()))
        found = process_tree.below(os.getpid()) - before
        assert found == {psutil.Process(started[0].pid), grandchild}
        assert process_tree.resident(found) > 0
    finally:
        over.set()
        thread.join()
        for process in psutil.Process(started[0].pid).children():
            process.kill()
        started[0].stdout.close()
        started[0].wait()
    assert process_tree.below(started[0].pid) == set()
