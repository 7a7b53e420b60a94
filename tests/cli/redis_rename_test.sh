#!/usr/bin/env bash
# redis_rename_test - on a cluster a queue gets another name in parts: whoever is killed at any of them, a later call
# of either name brings it to its end, or takes it back where another has the new name by now; nothing is left of it.
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/cluster.sh"

start_cluster 127.0.0.1 --port
hosts=$(printf '127.0.0.1:%s,' "${ports[@]}")
export FQ_SPOOL="redis://${hosts%,}/?prefix=shop"
meta() { echo "fq1:shop:{$1}:meta"; }
keys() { for i in 1 2 3; do node $i --scan; done | grep '^fq1:' | grep -v ':lib$' | sort -u; }
listed() { fq queue list | xargs; }
texts_of() { fq -q "$1" peek --json | jq -r .payload | sort | xargs; }
# Whose keys lie with another server than those of the old one.
new=
for name in new later after another; do [ "$(node_of "$(meta $name)")" = "$(node_of "$(meta old)")" ] || new=$name; done

texts='m1 m2 m3 m4 m5 m6'
rename_killed() {  # at $point
  killed_at retitle.$point:1 fq queue rename old $new
}
filled() {  # a queue with messages in several of its shards
  fq queue create old --shards 4 --events 90s
  local text
  for text in $texts; do fq -q old push -t "t$text" "$text" >>"$work/ids"; done
}
is_renamed() {  # is_renamed STORY
  is "$1: it has one name" $new "$(listed)"
  gives 1 "queue 'old'" fq -q old peek
  gives 0 '' fq -q $new check
  is "$1: no word of it is left" '' "$(node "$(node_of "$(meta $new)")" hmget "$(meta $new)" to was | xargs)"
  is "$1: nothing has the old name" 0 "$(node "$(node_of "$(meta old)")" exists "$(meta old)")"
  is "$1: what was fixed of it stays" '4 90000' "$(fq queue list --json | jq -r '"\(.shards) \(.events_ms)"')"
  is "$1: and all of its messages" "$texts" "$(texts_of $new)"
  fq -q $new queue remove $new --yes
  is "$1: no key is left" '' "$(keys)"
}

deaths=0
killed_as_well() { [ $? != 137 ] || deaths=$((deaths + 1)); }
nexts=1
if [ -n "${FQ_ALL:-}" ]; then nexts=4; fi
# begun: `old` says what it gets; made: the other one is there; the rest takes the old one away.
for point in begun listed made unlisted dropped; do
  for story in old new json again other; do
    filled
    rename_killed
    case $story in
      old) gives 1 "queue 'old'" fq -q old peek ;;
      new)
        case $point in  # before it is there, whoever knows the new name alone finds nothing
          begun | listed) gives 1 "queue '$new'" fq -q $new peek; gives 1 "queue 'old'" fq -q old pop ;;
          *) gives 0 '' fq -q $new peek ;;
        esac ;;
      json) fq queue list --json >"$work/out" 2>&1 ;;
      again) gives 1 "queue 'old'" fq queue rename old $new ;;
      other) gives 1 "queue 'old'" fq queue rename old else ;;
    esac
    is_renamed "$point, then $story"
  done

  # Whoever finishes it is killed as well, and so is the next. A run tries one place of that, FQ_ALL each.
  for next in $(shuf -n $nexts -e listed made unlisted dropped); do
    filled
    rename_killed
    FQ_KILL_AT=retitle.$next:1 fq -q old peek >"$work/out" 2>&1; killed_as_well
    FQ_KILL_AT=retitle.$next:1 fq -q $new peek >"$work/out" 2>&1; killed_as_well
    gives 1 "queue 'old'" fq -q old peek
    is_renamed "$point, then $next"
  done

  # Another is made under the old name by who knows of nothing.
  filled
  rename_killed
  fq -q old push y >>"$work/ids"
  is "$point: a push makes another of the old name" "$new old" "$(listed)"
  is "$point: with what was pushed to it" y "$(texts_of old)"
  gives 0 '' fq -q old check
  fq queue remove old --yes
  is_renamed "$point, beside another"

  # It is removed, by the name that it has by now.
  filled
  rename_killed
  gives 1 "queue 'old'" fq queue remove old --yes
  gives 0 '' fq queue remove $new --yes
  is "$point, removed: no key is left" '' "$(keys)"
done

[ $deaths -gt 0 ] || fail 'who finishes it was never killed'

# Somebody else takes the new name while the rename stands: it is taken back.
for point in begun listed; do
  filled
  rename_killed
  fq -q $new push theirs >>"$work/ids"
  is "$point: it keeps its name" "$texts" "$(texts_of old)"
  is "$point: and the other its own" theirs "$(texts_of $new)"
  is "$point: both are there" "$new old" "$(listed)"
  is "$point: no word is left" '' "$(node "$(node_of "$(meta old)")" hmget "$(meta old)" to was | xargs)"
  for queue in old $new; do gives 0 '' fq -q "$queue" check; done
  gives 64 "queue '$new': exists" fq queue rename old $new
  fq queue remove old --yes
  fq queue remove $new --yes
  is "$point, taken back: no key is left" '' "$(keys)"
done
stop_cluster
finish
