# Sourced by quickstart and test: packages of the system, a virtual environment, the project in it.
# shellcheck shell=bash

ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
VENV=${CUVIL_VENV:-$ROOT/.venv}
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore

say() { printf '\n==> %s\n' "$*"; }
note() { printf '    %s\n' "$*"; }
fail() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# as_root COMMAND...: with sudo where needed; without either, the command says itself what it may not do.
as_root() {
  if [ "$(id -u)" -ne 0 ] && command -v sudo >/dev/null; then
    sudo "$@"
  else
    "$@"
  fi
}

# need_packages PACKAGE...: install those that are missing, quietly.
need_packages() {
  local missing=() package
  for package in "$@"; do
    if ! dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed'; then
      missing+=("$package")
    fi
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  note "installing ${missing[*]}"
  command -v apt-get >/dev/null || fail "needs ${missing[*]}, and there is no apt-get to install them with"
  local log
  log=$(mktemp)
  if ! { as_root apt-get update -qq && as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >"$log" 2>&1 </dev/null; then
    tail -n 15 "$log" >&2
    rm -f "$log"
    fail "could not install ${missing[*]} (root or sudo is needed, and Debian's or Ubuntu's package server)"
  fi
  rm -f "$log"
}

is_new_enough() {
  "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

# find_python: prints a Python of at least 3.11 that can make virtual environments and build against its headers.
find_python() {
  local name check='import ensurepip, os, sysconfig
sys_h = os.path.join(sysconfig.get_path("include"), "Python.h")
raise SystemExit(not os.path.exists(sys_h))'
  for name in python3.14 python3.13 python3.12 python3.11 python3; do
    if command -v "$name" >/dev/null && is_new_enough "$name" && "$name" -c "$check" >/dev/null 2>&1; then
      command -v "$name"
      return 0
    fi
  done
  return 1
}

# make_venv: $VENV with a Python of at least 3.11.
make_venv() {
  if [ -x "$VENV/bin/python" ] && is_new_enough "$VENV/bin/python"; then
    return 0
  fi
  local python
  if ! python=$(find_python); then
    need_packages python3 python3-dev python3-venv
    python=$(find_python) || fail "needs Python 3.11 or newer; this system's python3 is older or cannot make virtual environments"
  fi
  note "making a virtual environment in $VENV"
  "$python" -m venv --clear "$VENV"
  "$VENV/bin/python" -m pip install -q --upgrade pip
}

# stamp FILE-OR-FOLDER...: a hash of their contents.
stamp() {
  (cd "$ROOT" && find "$@" -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum | cut -c1-64)
}

# install_project [EXTRA]: the project, editable, unless it is installed as it is now.
install_project() {
  local extra=${1:-} file="$VENV/.cuvil-${1:-plain}" now
  now=$(stamp pyproject.toml CMakeLists.txt csrc/abi csrc/base csrc/python csrc/runtime)
  if [ "$(cat "$file" 2>/dev/null)" = "$now" ]; then
    note "the project is installed already"
    return 0
  fi
  command -v c++ >/dev/null || need_packages g++
  note "installing the project and what it needs (one to two minutes)"
  "$VENV/bin/python" -m pip install -q -e "$ROOT${extra:+[$extra]}" </dev/null
  echo "$now" >"$file"
}
