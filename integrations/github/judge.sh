#!/usr/bin/env bash
# judge.sh FOLDER: turns the action's inputs (INPUT_*) into one call of the gate that install.sh put into FOLDER.
set -euo pipefail
arguments=(--sandbox "${INPUT_SANDBOX:-auto}" --root "${INPUT_ROOT:-.}")
if [ -n "${INPUT_BASE:-}" ]; then
  arguments+=(--base "$INPUT_BASE")
fi
while IFS= read -r line; do
  if [ -n "$line" ]; then arguments+=(--cov "$line"); fi
done <<<"${INPUT_COV:-}"
while IFS= read -r line; do
  if [ -n "$line" ]; then arguments+=(--report "$line"); fi
done <<<"${INPUT_REPORTS:-}"
exec "$1/bin/linewitness" ci github "${arguments[@]}"
