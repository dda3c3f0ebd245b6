"""Profiles a Python program from the moment it has imported torch until it ends.

Python loads this file when it starts, because its folder comes first in PYTHONPATH. Programs that
never import torch are left alone. One Kineto trace is written for each process, as
<host>.<pid>.pt.trace.json.gz in $PROFRIG_TORCH_OUT. Whatever goes wrong here is a line on stderr
and never the program's problem.

A forked child has a copy of a profiler that does not work there: it is dropped. A program that
starts a profiler of its own ends this one, since torch has room for one.
"""

import atexit
import importlib
import importlib.machinery
import importlib.util
import os
import socket
import sys
import time

_HERE = os.path.dirname(os.path.abspath(__file__))


def _say(words):
    try:
        sys.stderr.write("profrig: torch_profiler: %s\n" % words)
    except Exception:
        pass


def _asked(name):
    return os.environ.get(name, "").lower() in ("1", "true", "yes")


def _clocks():
    return (
        time.clock_gettime_ns(time.CLOCK_MONOTONIC),
        time.clock_gettime_ns(time.CLOCK_REALTIME),
    )


class _Session:
    def __init__(self, folder):
        self.folder = folder
        self.pid = os.getpid()
        self.profile = None
        self.began = None

    def start(self):
        profiler = importlib.import_module("torch.profiler")
        wanted = os.environ.get("PROFRIG_TORCH_ACTIVITIES", "all")
        activities = set(profiler.supported_activities())
        cpu = profiler.ProfilerActivity.CPU
        if wanted == "cpu":
            activities = {cpu}
        elif wanted == "gpu":
            activities -= {cpu}
        if not activities:
            _say("this torch records no GPU: nothing is traced")
            return
        self.profile = profiler.profile(
            activities=activities,
            record_shapes=_asked("PROFRIG_TORCH_SHAPES"),
            profile_memory=_asked("PROFRIG_TORCH_MEMORY"),
            with_stack=_asked("PROFRIG_TORCH_STACKS"),
        )
        self.give_way(profiler.profile)
        before = _clocks()
        self.profile.start()
        self.began = [(a + b) // 2 for a, b in zip(before, _clocks())]
        atexit.register(self.stop)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self.forget)

    def give_way(self, kind):
        """A profile that the program starts itself ends ours."""
        ours, start = self, kind.start

        def first_stop_ours(other, *args, **kwargs):
            if ours.profile is not None and other is not ours.profile:
                _say("the program starts a profiler of its own: the trace ends here")
                ours.stop()
            return start(other, *args, **kwargs)

        kind.start = first_stop_ours

    def forget(self):
        self.profile = None

    def stop(self):
        profile, self.profile = self.profile, None
        if profile is None or os.getpid() != self.pid:
            return
        name = "%s.%d.pt.trace.json.gz" % (socket.gethostname(), self.pid)
        path = os.path.join(self.folder, name)
        try:
            profile.stop()
            # Half a trace must not look like one.
            profile.export_chrome_trace(path + ".part.gz")
            self.leave_clock(path)
            os.replace(path + ".part.gz", path)
        except Exception as e:
            _say("no trace was written: %s: %s" % (type(e).__name__, e))

    def leave_clock(self, path):
        """Times of a torch without Kineto count from the start of its profiler; others are dates,
        and need no such file."""
        with open(path + ".clock", "w") as f:
            f.write('{"own_ns": 0, "monotonic_ns": %d, "realtime_ns": %d}\n' % tuple(self.began))


class _Watcher:
    """Waits for the import of torch, lets it happen, and starts."""

    def __init__(self, session):
        self.session = session

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        try:
            spec = importlib.util.find_spec(name)
        except Exception:
            return None
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return None
        load, session = spec.loader.exec_module, self.session

        def then_start(module):
            load(module)
            try:
                session.start()
            except Exception as e:
                session.forget()
                _say("not started: %s: %s" % (type(e).__name__, e))

        try:
            spec.loader.exec_module = then_start
        except Exception as e:
            _say("not started: %s: %s" % (type(e).__name__, e))
        return spec


def _the_other():
    """The sitecustomize that Python would have loaded without this one."""
    rest = [p for p in sys.path if os.path.abspath(p or os.curdir) != _HERE]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", rest)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_out = os.environ.get("PROFRIG_TORCH_OUT")
if _out and os.path.isdir(_out):
    sys.meta_path.insert(0, _Watcher(_Session(_out)))
_the_other()
