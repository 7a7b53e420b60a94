#!/bin/bash
# companion_test - fq goes on as fq-redis for a spool on a server: as which file, with which words, and what is
# said when it is not there.
. "$(dirname "$0")/lib.sh"

mkdir -p "$work/bin" "$work/libexec/fq" "$work/path"
cp "$FQ" "$work/bin/fq"
on_a_server=redis+unix://$work/nobody.sock

# What stands in PATH is never run: whoever is asked for is beside fq or nowhere.
printf '#!/bin/sh\necho hijacked\n' >"$work/path/fq-redis"
chmod +x "$work/path/fq-redis"
for scheme in redis://host rediss://host "$on_a_server"; do
  gives 69 "spool '${scheme%%:*}://...': is kept by fq-redis, which is not there; install fairq-redis" \
    env PATH="$work/path:$PATH" "$work/bin/fq" --spool "$scheme" push x
  gives 69 "install fairq-redis" env PATH="$work/path:$PATH" FQ_SPOOL="$scheme" "$work/bin/fq" push x
done

# One that would go on as itself says the same and does not spin.
ln -s fq "$work/bin/fq-redis"
gives 69 "install fairq-redis" timeout 10 "$work/bin/fq" --spool redis://host push x
rm "$work/bin/fq-redis"
cp "$FQ" "$work/bin/fq-redis"
gives 69 "install fairq-redis" timeout 10 "$work/bin/fq" --spool redis://host push x
rm "$work/bin/fq-redis"

# The companion has the same words, environment, signals and file mode as fq had.
cat >"$work/companion" <<'SCRIPT'
#!/bin/sh
printf '%s|' "$@"
echo "$FQ_TENANT $(umask) $(grep -h SigBlk /proc/self/status | tr -d '\t') $(grep -h SigIgn /proc/self/status | tr -d '\t')"
SCRIPT
chmod +x "$work/companion"
cp "$work/companion" "$work/libexec/fq/fq-redis"
is "found in ../libexec/fq" "$(FQ_TENANT=t sh "$work/companion" push --spool redis://host "a b" "")" \
  "$(FQ_TENANT=t "$work/bin/fq" push --spool redis://host "a b" "")"
cat >"$work/libexec/fq/fq-redis" <<'SCRIPT'
#!/bin/sh
for fd in 0 1 2; do [ -e "/proc/$$/fd/$fd" ] || closed="$closed $fd"; done
echo "closed:$closed" >"$SAID"
SCRIPT
for closed in '0<&-' '1>&-' '2>&-' '0<&- 2>&-' ''; do
  SAID="$work/closed" eval "\"\$work/bin/fq\" push - --spool redis://host $closed"
  is "descriptors that were closed are closed: $closed" "closed:$(tr -cd '012' <<<"${closed//&/ }" | sed 's/./ &/g')" "$(cat "$work/closed")"
done
printf '#!/bin/sh\necho beside\n' >"$work/bin/fq-redis"
chmod +x "$work/bin/fq-redis"
is "what lies beside comes first" beside "$(cd / && "$work/bin/fq" --spool redis://host push x)"
is "also where fq is called by a link" beside \
  "$(ln -s "$work/bin/fq" "$work/path/fq" && PATH="$work/path:/bin:/usr/bin" bash -c 'fq push --spool redis://host x')"
chmod -x "$work/bin/fq-redis"
if [ "$(id -u)" != 0 ]; then gives 77 "fq-redis: run: Permission denied" "$work/bin/fq" --spool redis://host push x; fi
printf 'no program\n' >"$work/bin/fq-redis"
chmod +x "$work/bin/fq-redis"
gives 74 "fq-redis: run: Exec format error" "$work/bin/fq" --spool redis://host push x

# A directory is never handed on, and costs not one look for a companion.
is "a directory is fq's own" 1 "$("$work/bin/fq" push x)"
if command -v strace >/dev/null; then
  strace -f -o "$work/trace" "$work/bin/fq" push x >/dev/null
  is "a push looks for no companion" 0 "$(grep -c 'proc/self/exe\|fq-redis' "$work/trace")"
else
  left_out "strace is not installed"
fi

finish
