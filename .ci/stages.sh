# Stages with their times, and the sum of their tests as the last line.

reports="$(mktemp -d)"
current=''

# Arguments by which vitest also writes a report that is counted at the end.
report() { echo "--reporter=default --reporter=json --outputFile.json=$reports/$1.json"; }

# stage NAME COMMAND...: runs it and says how long it took; a failure ends everything.
stage() {
  local began=$SECONDS
  current="$1"
  shift
  printf '\n=== %s\n' "$current"
  "$@"
  printf '=== %s: %d s\n' "$current" $((SECONDS - began))
  current=''
}

finish() {
  local code=$?
  printf '\n=== all: %d s\n' "$SECONDS"
  if [ -n "$current" ]; then echo "=== failed: $current"; fi
  node .ci/sum.js "$reports" || code=1
  rm -rf "$reports"
  exit "$code"
}
trap finish EXIT
