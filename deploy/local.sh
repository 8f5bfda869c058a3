#!/bin/sh
# A server, two workers and a planted mistake, without Docker:
#   deploy/local.sh [LOG]
# It needs `nats-server` 2.12.1 or later and `omen` with the feature `nats` in PATH, and port 4222, or another one in NATS_PORT. It ends
# after printing the findings, and leaves nothing behind.
set -eu
log=${1:-$(dirname "$0")/../schema/examples/invalid/e1-decision-before-belief.jsonl}
port=${NATS_PORT:-4222}
url=nats://127.0.0.1:$port

for command in nats-server omen; do
    command -v "$command" >/dev/null || { echo "$command is not in PATH" >&2; exit 2; }
done

folder=$(mktemp -d)
started=
stop() {
    # Workers stop first, so that they can commit their findings.
    for process in $started; do kill "$process" 2>/dev/null && wait "$process" 2>/dev/null || :; done
    rm -rf "$folder"
}
trap stop EXIT
trap 'exit 130' INT TERM

# Retries a command for 20 seconds.
try() {
    attempt=0
    until "$@" 2>"$folder/error"; do
        attempt=$((attempt + 1))
        if [ "$attempt" -ge 100 ]; then cat "$folder/error" >&2; exit 3; fi
        sleep 0.2
    done
}

nats-server -js -sd "$folder/store" -a 127.0.0.1 -p "$port" >"$folder/server.log" 2>&1 &
started=$!
try omen publish "$log" --end --nats "$url"
cat "$folder/error" >&2
for worker in 1 2; do
    omen worker --nats "$url" --name "worker-$worker" 2>"$folder/worker-$worker.log" &
    started="$! $started"
done

# Exit code 1 means that some findings are errors.
found() {
    code=0
    omen tail --no-follow --nats "$url" >"$folder/findings" || code=$?
    [ "$code" -eq 1 ]
}
try found
cat "$folder/findings"
