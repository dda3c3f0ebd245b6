"""A torch that has a profiler and nothing else: the shape of the real one's API, checked as it is
used. FAKE_TORCH=broken: its import fails; noprofiler: there is none; export: writing fails."""

import os

if os.environ.get("FAKE_TORCH") == "broken":
    raise ImportError("libtorch_cpu.so: cannot open shared object file")
__version__ = "2.4.0"
LOADED = True
