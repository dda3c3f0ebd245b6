import enum
import gzip
import json
import os
import time

if os.environ.get("FAKE_TORCH") == "noprofiler":
    raise ModuleNotFoundError("No module named 'torch._C._profiler'")


class ProfilerActivity(enum.Enum):
    CPU = 0
    CUDA = 2


def supported_activities():
    return {ProfilerActivity.CPU, ProfilerActivity.CUDA}


_active = None


class profile:
    def __init__(self, *, activities=None, schedule=None, on_trace_ready=None, record_shapes=False,
                 profile_memory=False, with_stack=False, with_flops=False, with_modules=False):
        assert activities and all(isinstance(a, ProfilerActivity) for a in activities)
        self.asked = {"activities": sorted(a.name for a in activities),
                      "record_shapes": record_shapes, "profile_memory": profile_memory,
                      "with_stack": with_stack}
        self.began = self.ended = None

    def start(self):
        global _active
        if _active is not None:
            raise RuntimeError("Profiler is already enabled on this thread")
        _active = self
        self.began = time.time_ns()

    def stop(self):
        global _active
        assert _active is self, "not started"
        _active = None
        self.ended = time.time_ns()

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *unused):
        self.stop()

    def export_chrome_trace(self, path):
        assert self.ended is not None, "export before stop"
        if os.environ.get("FAKE_TORCH") == "export":
            raise OSError("No space left on device")
        us = 0 if os.environ.get("FAKE_TORCH") == "fromzero" else self.began / 1000
        events = [
            {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": os.getpid(), "tid": 1,
             "ts": us, "dur": 100, "args": {"External id": 1, "asked": json.dumps(self.asked)}},
            {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": us + 50,
             "dur": 30, "args": {"device": 0, "stream": 7, "correlation": 1}},
        ]
        text = json.dumps({"schemaVersion": 1, "displayTimeUnit": "ms", "traceEvents": events})
        write = gzip.open if path.endswith(".gz") else open
        with write(path, "wt") as f:
            f.write(text)
