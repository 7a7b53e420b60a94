#!/bin/bash
# nightly_batch - a night's work in steps that come after each other: followed, one failing, and gone on with from
# there.
#
# It shows --after and --after-any, what becomes of what waits for a step that failed, and fq kick, which holds it
# behind that step again. A step that came to its end is not done twice.
. "$(dirname "$0")/story.sh"
export NIGHT=$work/night
mkdir "$NIGHT"
cat >"$work/bin/step" <<'JOB'
#!/bin/bash
# step NAME: notes that it was done; check fails as long as there is nothing to check against.
echo "$1"
[ "$1" != check ] || [ -e "$NIGHT/sums" ] || { echo 'sums: no such file' >&2; exit 3; }
echo "$1" >>"$NIGHT/done"
JOB
chmod +x "$work/bin/step"

echo '1. A dump, its check, an upload of what is checked; and the lock goes away, however it ends.'
dump=$(fq push -- step dump)
check=$(fq push --after "$dump" -- step check)
upload=$(fq push --after "$check" -- step upload)
unlock=$(fq push --after-any "$upload" -- step unlock)
fq jobs --json | jq -r '"   \(.state) \(.argv[1])"'

echo '2. The night. One follows the check, and sees it fail: status 3, as the check says.'
fq worker -j4 --output keep 2>/dev/null &
worker=$!
status=0
fq result -f "$check" 2>&1 | sed 's/^/   /' || status=$?
[ "$status" = 3 ] || wrong "the check ended with $status"
fq wait "$unlock"

echo '3. In the morning: what was not done, and because of what.'
fq jobs --state failed --json | jq -r '"   \(.argv[1]): \(.last_error.reason)"' | sort

echo '4. The sums are there now. The check is kicked; the upload waits for it again, and the dump is not made twice.'
touch "$NIGHT/sums"
fq kick "$check"
fq wait "$check" "$upload"
kill $worker
wait $worker
[ "$(xargs <"$NIGHT/done")" = 'dump unlock check upload' ] || wrong "done were $(xargs <"$NIGHT/done")"
echo "5. Done, in this order: $(xargs <"$NIGHT/done")"
