# Sourced: python3 without the script that a version manager puts in its place, which takes ten times as long to start.
python3=$(command -v python3) && [ "$(head -c 2 "$python3")" = '#!' ] && PATH=$(dirname "$(python3 -c 'import sys; print(sys.executable)')"):$PATH
export PATH
