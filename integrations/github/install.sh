#!/usr/bin/env bash
# install.sh PYTHON FOLDER: the gate of this very checkout in an environment of its own, dependencies by hash.
set -euo pipefail
python=$1 folder=$2
here=$(cd "$(dirname "$0")/../.." && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "linewitness needs Python 3.11 or later")'
"$python" -m venv "$folder"
for pins in build runtime; do
  "$folder/bin/python" -m pip install --quiet --require-hashes -r "$here/requirements/$pins.txt"
done
"$folder/bin/python" -m pip install --quiet --no-deps --no-build-isolation "$here"
"$folder/bin/linewitness" --version
