# story - what the stories share: an fq to call and a spool of their own. Sourced, not run.
#
# FQ=PATH names the binary; else it is the one that ./examples/quickstart.sh has built, else the installed one.
# Leaves $work, an empty directory that is removed at the end, and `fq` in PATH, for the jobs too.
# shellcheck shell=bash

set -euo pipefail
FQ=${FQ:-$(cd "$(dirname "$0")/.." && pwd)/build/release/fq}
[ -x "$FQ" ] || FQ=$(command -v fq) || {
  echo "$(basename "$0"): no fq here; ./examples/quickstart.sh builds it, or FQ=PATH names one" >&2
  exit 1
}
unset FQ_QUEUE FQ_TENANT FQ_RECEIPT
work=$(mktemp -d "${TMPDIR:-/tmp}/fq-story.XXXXXX")
trap 'rm -rf "$work"' EXIT
export FQ_SPOOL=$work/spool
mkdir "$work/bin"
ln -s "$(realpath "$FQ")" "$work/bin/fq"
export PATH=$work/bin:$PATH

# wrong TEXT: the story did not end as it must.
wrong() {
  echo "$(basename "$0" .sh): $1; this must not happen" >&2
  exit 1
}
