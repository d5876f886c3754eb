#!/usr/bin/env bash
# install.sh PYTHON FOLDER [LANGUAGES]: the gate of this very checkout in an environment of its own, dependencies by hash.
set -euo pipefail
python=$1 folder=$2 languages=${3:-}
here=$(cd "$(dirname "$0")/../.." && pwd)
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11) and "linewitness needs Python 3.11 or later")'
"$python" -m venv "$folder"
"$python" "$here/integrations/github/grammars.py" "$languages" >"$folder/grammars.txt"
for pins in "$here/requirements/build.txt" "$here/requirements/runtime.txt" "$folder/grammars.txt"; do
  if [ -s "$pins" ]; then
    "$folder/bin/python" -m pip install --quiet --no-deps --require-hashes -r "$pins"
  fi
done
"$folder/bin/python" -m pip install --quiet --no-deps --no-build-isolation "$here"
"$folder/bin/linewitness" --version
