#!/bin/bash
# thumbnails - pictures that users upload are made small, two at a time, and no user waits for another's album.
#
# It shows: one message a picture, its path as payload and its owner as tenant; a worker that is ended by
# kill -9 on the way, and another one that goes on; a broken picture that costs itself only (exit 65: bury it).
# A killed job starts again from the beginning, so it writes beside its result and renames it at the end.
# awk makes and shrinks the pictures (text PPM), since every Debian has it; with ImageMagick the job's awk
# would be: convert "$picture" -resize 25% "$result.part"
. "$(dirname "$0")/story.sh"
mkdir "$work/pictures" "$work/thumbnails"

paint() {  # 64 x 64 of something
  awk -v seed="$1" 'BEGIN {
    print "P3 64 64 255"
    for (y = 0; y < 64; ++y) for (x = 0; x < 64; ++x) print (x * seed) % 256, (y * 4) % 256, (x * y) % 256
  }'
}

cat >"$work/bin/shrink" <<'JOB'
#!/bin/bash
# The job: a path on standard input.
set -eu
read -r picture || :
result=${THUMBNAILS:?}/$(basename "$picture")
[ "$(head -c 2 "$picture")" = P3 ] || { echo "$picture is no picture" >&2; exit 65; }
awk 'NR == 1 { print "P3", $2 / 4, $3 / 4, $4; width = $2; next }
     { at = NR - 2; if (at % width % 4 == 0 && int(at / width) % 4 == 0) print }' "$picture" >"$result.part.$$"
mv "$result.part.$$" "$result"
JOB
chmod +x "$work/bin/shrink"
export THUMBNAILS=$work/thumbnails

echo "1. bulk uploads 30 pictures, then anna 3, and ben 2 of which one is no picture."
upload() {  # owner, name, and the picture on standard input
  cat >"$work/pictures/$2.ppm"
  fq push -t "$1" "$work/pictures/$2.ppm" >>"$work/ids"
}
for n in $(seq 30); do paint "$n" | upload bulk "bulk-$n"; done
for n in 1 2 3; do paint "$n" | upload anna "anna-$n"; done
paint 7 | upload ben ben-1
echo 'this is a letter' | upload ben ben-2

echo "2. A worker is ended by kill -9 as soon as ten pictures are done:"
fq worker -j2 -- shrink 2>>"$work/said" &
doomed=$!
until [ "$(find "$work/thumbnails" -name '*.ppm' | wc -l)" -ge 10 ] || ! kill -0 $doomed; do sleep 0.01; done
kill -9 $doomed
{ wait $doomed; } 2>/dev/null || true
find "$work/thumbnails" -type f ! -name '*part*' -printf '%T@ %f\n' | sort -n | head -10 | sed 's/^[^ ]* /   /'
echo "   Another one does the rest."
fq worker -j2 --drain -- shrink 2>>"$work/said"

echo "3. The end."
made=$(find "$work/thumbnails" -name '*.ppm' | wc -l)
echo "   $made of $(wc -l <"$work/ids") have a thumbnail; this one was set aside:"
fq peek --state dead | sed 's/^/   /'
[ "$made" = 34 ] || wrong "$made thumbnails instead of 34"
[ "$(cat "$work"/thumbnails/*.ppm | grep -c '^P3 16 16 255')" = 34 ] || wrong "a thumbnail has a wrong size"
