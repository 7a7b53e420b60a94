# cuts.sh - ways to a server of which each is cut once, at another place, and stories of commands that go by them.
#
# Sourced behind lib.sh. A run tells a third of the stories and tries every fourth place; FQ_ALL: all of both. FQ_SEED
# tells the same ones again.
# shellcheck shell=bash

: "${FQ_SEED:=$((RANDOM * 32768 + RANDOM))}"
RANDOM=$FQ_SEED
start_server "$work/s"
server="redis+unix://$work/s"
export FQ_SPOOL=$server
fq queue create default
by() { FQ_SPOOL="redis+unix://$ways/c.$1" timeout 60 "$FQ" "${@:2}" >"$work/out" 2>"$work/err"; }
# Whose last word was cut off is taken for there until it was not heard of for 15 s, and 8 s more where nobody was.
removed() { fq queue remove "$1" --yes >"$work/out"; }

# each_cut RUN LEAST: RUN N by ways of which the next is cut a place later, or four, until one is not cut at all. In
# `went_on`: how often RUN said that it went on all the same. There have to be more places than LEAST.
apart=4
if [ -n "${FQ_ALL:-}" ]; then apart=1; fi
each_cut() {
  local most=400
  ways=$work/$1.ways
  mkdir "$ways"
  setpriv --pdeathsig KILL python3 "$(dirname "$0")/cutting_proxy.py" "$work/s" "$ways" $most & local proxy=$!
  disown
  await test -e "$ways/ready"
  went_on=0
  for ((places = RANDOM % apart; places < most; places += apart)); do
    "$1" "$places"
    [ -e "$ways/c.$places.cut" ] || break
  done
  kill $proxy
  [ "$places" -lt $most ] || fail "$1: is cut without end"
  [ "$went_on" -gt 1 ] || fail "$1: a cut ended it always"
  [ "$places" -gt "${2-0}" ] || fail "$1: is cut at $places places only"
}

# tell STORY...: in that order. Each begins with an empty queue, whichever were drawn before it.
tell() {
  local story drawn="" most=$((($# + 2) / 3))
  [ -z "${FQ_ALL:-}" ] || most=$#
  for story; do drawn+="$RANDOM $story"$'\n'; done
  drawn=" $(sort -n <<<"${drawn%$'\n'}" | head -n $most | cut -d' ' -f2 | paste -sd' ') "
  echo "cuts: FQ_SEED=$FQ_SEED,$drawn"
  for story; do
    [[ $drawn == *" $story "* ]] || continue
    "story_of_$story"
    fq cancel --all --yes >"$work/out"
  done
}
