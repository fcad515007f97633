#!/usr/bin/env bash
# Sample of the agentic launcher: only the variables a recipe may set for it.
set -euo pipefail

: "${CONC:?how many sessions run at once}"
warmup=${AGENTIC_WARMUP_GRACE_PERIOD:-1800}
prefix=${AIPERF_REQUIRED_SERVER_METRIC_PREFIX:-}
offloading=${KV_OFFLOADING:-none}
printf 'concurrency %s, warm-up %s s, metrics "%s", KV offloading %s\n' "$CONC" "$warmup" "$prefix" "$offloading"
