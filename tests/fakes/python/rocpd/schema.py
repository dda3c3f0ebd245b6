"""Stands for rocmProfileData's: python3 -m rocpd.schema --create FILE"""

import sys

if __name__ == "__main__":
    assert sys.argv[1] == "--create"
    with open(sys.argv[2], "w") as f:
        f.write("tables\n")
