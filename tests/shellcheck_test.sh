#!/usr/bin/env bash
# Of every script of the tree: shellcheck warns of nothing. tests/shellcheck_test.sh ROOT
set -eu
cd "$1"
# Without history, as in an archive, the tree itself is what there is.
{ git ls-files 2>/dev/null || find . -path ./build -prune -o -type f -print; } \
  | grep -E '\.(sh|bash)$|^(\./)?\.ci/run$' | while read -r script; do
  [ ! -f "$script" ] || printf '%s\0' "$script"
done | xargs -0 shellcheck --severity=warning
echo "clean"
