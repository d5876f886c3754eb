#!/usr/bin/env bash
# sandbox.sh WHEN: gets bubblewrap to work on a hosted runner, unless WHEN is "off": installs it, and gives it the AppArmor
# profile without which Ubuntu 24.04 lets no program make user namespaces. Where that is not possible nothing is changed;
# the gate then says what isolates its run, and refuses to run with `sandbox: on`.
set -euo pipefail
works() { bwrap --unshare-user --unshare-net --ro-bind / / true >/dev/null 2>&1; }
if [ "$1" = off ] || [ "$(uname -s)" != Linux ] || works; then exit 0; fi
if ! sudo -n true >/dev/null 2>&1 || ! command -v apt-get >/dev/null; then
  echo "bubblewrap does not work here, and installing it takes sudo and apt-get"
  exit 0
fi
if ! command -v bwrap >/dev/null; then
  sudo apt-get update -qq
  sudo apt-get install -y -qq bubblewrap >/dev/null
fi
if ! works && command -v apparmor_parser >/dev/null; then
  sudo tee /etc/apparmor.d/bwrap >/dev/null <<'PROFILE'
abi <abi/4.0>,
profile bwrap /usr/bin/bwrap flags=(unconfined) {
  userns,
}
PROFILE
  sudo apparmor_parser -r /etc/apparmor.d/bwrap
fi
if works; then echo "bubblewrap works"; else echo "bubblewrap is installed and does not work here"; fi
