#!/bin/bash
# builds - a queue of builds on one machine: listed, followed, put in another order, and one of them run again.
#
# It shows command messages as one types them: fq push -- CMD, fq jobs, fq result -f, fq edit, fq kick, fq wait. One
# directory has blanks and a quote in its name, and one argument looks like a shell command: neither is a problem.
. "$(dirname "$0")/story.sh"
for name in lib "Eve's app" docs; do mkdir "$work/$name"; done
cat >"$work/bin/build" <<'JOB'
#!/bin/bash
# The build: of the directory that it is started in. Without a Makefile there is nothing to build.
echo "building ${PWD##*/}: $*"
[ -e Makefile ] || { echo 'no Makefile here' >&2; exit 2; }
echo 'done'
JOB
chmod +x "$work/bin/build"
touch "$work/lib/Makefile" "$work/docs/Makefile"

echo '1. Three builds, each in its own directory; the last one is in a hurry.'
lib=$(cd "$work/lib" && fq push --tag what=lib -- build -j2 all)
app=$(cd "$work/Eve's app" && fq push --tag what=app -- build 'all; rm -rf *')
docs=$(cd "$work/docs" && fq push --tag what=docs -- build html)
fq edit "$docs" -p 10
[ "$(fq jobs --json | jq -r .tags.what | xargs)" = 'docs lib app' ] || wrong 'the order is another'
fq jobs | sed 's/^/   /'

echo '2. A worker builds them; one follows the first.'
fq worker -j1 --output keep 2>/dev/null &
worker=$!
fq result -f "$docs" | sed 's/^/   /'
fq wait "$lib" "$docs"

echo '3. What failed, and why.'
fq wait "$app" && wrong 'the app was built of nothing'
fq jobs --state failed --json | jq -r '"\(.tags.what): \(.last_error.reason), \(.last_error.stderr)"' | sed '/^$/d; s/^/   /'

echo '4. Mended, it is run again, with other words.'
touch "$work/Eve's app/Makefile"
(cd "$work/Eve's app" && fq edit "$app" -- build release)
fq kick "$app"
fq wait "$app"
[ "$(fq result "$app")" = $'building Eve\'s app: release\ndone' ] || wrong 'it was built of something else'
fq result "$app" | sed 's/^/   /'
kill $worker
wait $worker
echo "5. All are built: $(fq jobs --state acked --json | jq -r .tags.what | sort | xargs)."
