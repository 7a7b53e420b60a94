#!/bin/bash
# tidy_test - the house's rules that neither compiler nor linter knows.
#
#   - includes point down only: each room includes the rooms below it and itself, and inside a large room
#     each folder those below it and itself; no files include each other in a circle
#   - CONTRIBUTING.md draws each folder
#   - no file has more than 400 lines, no function more than 70, no class stands in more than two .cpp files
#   - no TODO or FIXME; every header opens by saying what it owns
#   - an invariant is stated in one place, and what a check names is one
#   - a planted bug changes something, and there is the test that sees it; a manual tells how many there are
#   - a variable that is read is in a manual
#   - the steps of each call of the door are counted
#   - a test with threads says so
# usage: tidy_test.sh [DIRECTORY]. Prints each breach as file:line: rule, exit 1 when there is one.
set -u
cd "${1:-$(dirname "$0")/..}" || exit 2
breaches=$(mktemp)
trap 'rm -f "$breaches"' EXIT

# What a room may include, as a pattern of paths.
allowed_for() {
  case $1 in
    core/base/*) echo 'core/base/' ;;
    core/shm/*) echo 'core/(shm|base)/' ;;
    core/journal/*) echo 'core/(journal|base)/' ;;
    core/schedule/*) echo 'core/(schedule|base)/|core/journal/record\.h' ;;
    core/api/*) echo 'core/(api|base)/' ;;
    core/engine/*) echo 'core/(engine|api|base)/' ;;
    core/policy/*) echo 'core/(policy|engine|api|base)/' ;;
    core/simulate/*) echo 'core/(simulate|api|schedule|base)/|core/journal/record\.h' ;;
    core/local/*) echo 'core/(local|engine|api|journal|schedule|shm|base)/' ;;
    core/redis/*) echo 'core/(redis|engine|api|base)/' ;;
    core/worker/*) echo 'core/(worker|api|base)/' ;;
    cli/redis_engines.cpp | cli/redis_commands.cpp) echo 'cli/|core/(redis|engine|api|base)/' ;;  # which engines a program has
    cli/*) echo 'cli/|core/(worker|policy|simulate|api|base)/' ;;
  esac
}

# The floors inside the large rooms, the lowest first. "." are the headers at the top of a room's folder; the
# .cpp files there stand above all.
floors='
core/local     files files/jobs files/ended shared flush recover write read consume look policy push schedules steps exchange care .
core/schedule  memory order rings tree states plain . look check
core/base      text . time memory disk
core/redis     wire records signing shard catalog policy waits output guard leases views moves . sharded
core/worker    process jobs .
cli            words terminal policy session views/stats views views/top views/report requests commands .
'

check_includes() {
  local file allowed
  while read -r file; do
    allowed=$(allowed_for "$file")
    if [ -z "$allowed" ]; then
      echo "$file:1: lies in no room"
      continue
    fi
    grep -nE '^#include "' "$file" | grep -vE "^[0-9]+:#include \"($allowed)" \
      | sed "s|^\([0-9]*\):#include \(.*\)|$file:\1: may not include \2|"
  done < <(find core cli -name '*.h' -o -name '*.cpp' | sort)
}

check_floors() {
  find core cli -name '*.h' -o -name '*.cpp' | sort | xargs grep -nE '^#include "(core|cli)/' | awk -v floors="$floors" '
    BEGIN {
      for (n = split(floors, lines, "\n"); n > 0; --n) {
        count = split(lines[n], words, " ")
        for (i = 2; i <= count; ++i) floor[words[1], words[i]] = i
        if (count > 0) { rooms[words[1]]; highest[words[1]] = count + 1 }
      }
    }
    # The floor of a file in a room, 0 in none; sets `room`.
    function floor_of(path,   each, folder) {
      for (each in rooms) {
        if (index(path, each "/") != 1) continue
        room = each
        folder = substr(path, length(each) + 2)
        if (!sub(/\/[^\/]*$/, "", folder)) folder = "."
        if (folder == "." && path ~ /\.cpp$/) return highest[each]
        if (!((each, folder) in floor)) { print path ":1: lies on no floor"; return 0 }
        return floor[each, folder]
      }
      return 0
    }
    {
      split($0, part, ":")
      split($0, quoted, "\"")
      room = ""
      own = floor_of(part[1])
      own_room = room
      if (own == 0) next
      room = ""
      other = floor_of(quoted[2])
      if (room == own_room && other > own) print part[1] ":" part[2] ": lies below " quoted[2]
    }' | sort -u
}

# Two types of one name in one namespace, each whole in its own file, are one type to the linker.
check_type_names() {
  find core cli -name '*.h' | sort | xargs awk '
    FNR == 1 { space = "" }
    /^namespace [a-z]/ { space = $2 }
    /^(class|struct|enum class) [A-Z]/ && !/;$/ {
      name = $1 == "enum" ? $3 : $2
      sub(/[:{].*/, "", name)
      key = space "::" name
      if (key in seen) print FILENAME ":" FNR ": " key " is in " seen[key] " too"
      seen[key] = FILENAME
    }'
}

# CONTRIBUTING.md draws every folder of a room, and none that is gone.
check_picture() {
  local drawn folder
  drawn=$(awk '
    /^## / { here = $2 == "Structure" }
    here && /^ *[a-z]+\// {
      match($0, /^ */)
      depth = RLENGTH / 2
      name = $1
      sub(/\/.*/, "", name)
      above[depth] = depth == 0 ? name : above[depth - 1] "/" name
      print above[depth]
    }' CONTRIBUTING.md | sort)
  comm -13 <(echo "$drawn") <(find core cli -name '*.h' -o -name '*.cpp' | sed 's|/[^/]*$||' | sort -u) |
    sed 's/^/CONTRIBUTING.md: its picture lacks /'
  while read -r folder; do
    [ -d "$folder" ] || echo "CONTRIBUTING.md: its picture has $folder, which is gone"
  done <<<"$drawn"
}

# A file and its header are one. Those in a circle of includes would be one too, only that no one says so.
check_cycles() {
  find core cli -name '*.h' -o -name '*.cpp' | sort | xargs grep -E '^#include "(core|cli)/' | awk '
    function stem(path) { sub(/\.(h|cpp)$/, "", path); return path }
    {
      split($0, part, ":")
      split($0, quoted, "\"")
      if (stem(part[1]) != stem(quoted[2])) print stem(part[1]), stem(quoted[2])
    }' | { tsort 2>&1 >/dev/null || true; } | sed -n 's|^tsort: \(.*/.*\)|\1.h:1: is in a circle of includes|p'
}

# An invariant has its letter and number from one header, and what a check says is broken is one of them.
check_invariants() {
  find core -name '*.h' -o -name '*.cpp' | sort | xargs awk '
    /^\/\/  ?[A-Z][0-9]+  / {
      if ($2 in stated) print FILENAME ":" FNR ": " $2 " is stated in " stated[$2] ", too"
      stated[$2] = FILENAME
    }
    match($0, /"[A-Z][0-9]+: /) { told[substr($0, RSTART + 1, RLENGTH - 3)] = FILENAME ":" FNR }
    END { for (each in told) if (!(each in stated)) print told[each] ": " each " is stated nowhere" }'
}

# A function begins at a line that ends with ") {" or ") const {" and the like (or at the first line of its
# signature) and ends at the next closing brace that stands no deeper.
check_functions() {
  find core cli tests -name '*.h' -o -name '*.cpp' | sort | xargs awk '
    function indent_of(s) { match(s, /^ */); return RLENGTH }
    FNR == 1 { inside = 0; balance = 0 }
    {
      code = $0
      sub(/\/\/.*/, "", code)
      if (balance == 0) { first_indent = indent_of($0); first_line = FNR }
      opened = code; closed = code
      balance += gsub(/\(/, "", opened) - gsub(/\)/, "", closed)
      if (balance < 0) balance = 0
    }
    !inside && balance == 0 && code ~ /\)[a-z A-Z_:&>-]*\{$/ && code !~ /^ *(if|for|while|switch|else|do|\}|struct|class)/ {
      inside = 1; start = first_line; indent = first_indent; next
    }
    inside && /^ *\}/ && indent_of($0) <= indent {
      if (FNR - start + 1 > 70) print FILENAME ":" start ": a function of " FNR - start + 1 " lines, 70 are the limit"
      inside = 0
    }'
}

# A class that is cut over files is as large as they are together.
check_classes() {
  find core cli -name '*.cpp' | sort | xargs awk '
    /^[^ \t\/#}]/ && !/;$/ && match($0, /[A-Z][A-Za-z]+(<[^<>]*>)?::~?[a-z_A-Z]+\(/) {
      name = substr($0, RSTART, RLENGTH)
      sub(/[<:].*/, "", name)
      if ((name, FILENAME) in seen) next
      seen[name, FILENAME]
      if (++count[name] == 3) print FILENAME ":" FNR ": " name " stands in a third file, two are the limit"
    }'
}

check_files() {
  find core cli tests \( -name '*.h' -o -name '*.cpp' -o -name '*.sh' \) | sort | xargs awk '
    FNR == 401 { print FILENAME ":401: a file has 400 lines at most" }
    FNR == 1 && FILENAME ~ /\.h$/ && !/^\/\/ / { print FILENAME ":1: a header opens with what it owns" }
    heads && !/^#include/ { print FILENAME ":" FNR - 1 ": a heading of includes with none below" }
    { heads = /^\/\/ (System|fq, below us|fq, this room|Tests)\.$/ }
    FILENAME !~ /tidy_test/ && /TODO|FIXME|XXX[^X]/ && !/XXXXXX/ { print FILENAME ":" FNR ": an open end: write an issue instead" }'
}

# A planted bug that no longer finds its place would be a mistake that nothing looks for.
check_planted_bugs() {
  local list=tests/crash/planted_bugs kind rest name file program said
  local planted cases
  planted=$(mktemp) cases=$(mktemp -d)
  while read -r kind rest; do
    case $kind in
      bug) name=$rest ;;
      file) file=$rest ;;
      sed)
        if ! sed "$rest" "$file" >"$planted" 2>&1; then
          echo "$list: $name cannot be planted"
        elif cmp -s "$planted" "$file"; then
          echo "$list: $name changes nothing"
        fi ;;
      seen)
        program=${rest%% *} said=${rest#* }
        case $program in
          *.sh) grep -qsF -- "${said#*: }" "tests/$program" ;;  # a variable may stand before the colon
          *)  # the names of its cases, each in one piece
            [ -e "$cases/$program" ] || cat "tests/${program#test_}"/*.cpp | tr '\n' ' ' | sed 's/" *"//g' >"$cases/$program"
            grep -qF -- "\"$said\"" "$cases/$program" ;;
        esac || echo "$list: $name is seen by no test of $program that is called: $said" ;;
    esac
  done <"$list"
  rm -rf "$planted" "$cases"
}

# What a manual tells of their number is so.
check_counts() {
  local planted
  planted=$(grep -c '^bug ' tests/crash/planted_bugs)
  grep -q "^lists $planted mistakes, " man/fq-spool.7 || echo "man/fq-spool.7: tests/crash/planted_bugs lists $planted mistakes"
}

# Each variable that is read is in the manual; what only a test build reads is not.
check_environment() {
  local name
  grep -rhoE '(environment|getenv)\("[A-Z_]+"|"FQ_REDIS_[A-Z_]+"' cli core --include='*.cpp' --include='*.h' |
    grep -oE '[A-Z][A-Z_]+' | grep -v '^FQ_\(KILL\|STOP\)_AT$' | sort -u | while read -r name; do
    sed -n '/^\.Sh ENVIRONMENT/,/^\.Sh EXIT/p' man/fq.1 | grep -qw "$name" || echo "man/fq.1: ENVIRONMENT lacks $name"
  done
}

# Each call of the door is made in a row of the tables of steps, but for those to which a queue in files knows one answer.
check_steps() {
  local call
  grep -hoE '^  virtual Result<.*> [a-z_]+\(' core/api/queue.h core/api/schedules.h core/api/steps.h |
    grep -oE '[a-z_]+\($' | sort -u | while read -r call; do
    case $call in 'policy_check(' | 'policy_version(') continue ;; esac
    grep -qE "(door\(\)|schedules\(s\)|\)|other)(\.|->)${call%(}\(" tests/process/steps_*.cpp tests/process/steps_*.h ||
      echo "core/api: $call) has no row in tests/process/steps_test.cpp or steps_beside_test.cpp"
  done
}

# The thread sanitizer runs the tests that say [threads], and no others.
check_threads() {
  find tests/local tests/api tests/worker tests/redis -name '*_test.cpp' | sort | xargs awk '
    FNR == 1 { tagged = 1 }  # what stands before the first test
    /^TEST_CASE/ { tagged = 0; head = 1 }
    head && /\[threads\]/ { tagged = 1 }
    /\{$/ { head = 0 }
    /std::(thread[ >]|async\()/ && !tagged { print FILENAME ":" FNR ": a test with threads is tagged [threads]" }'
}

{
  check_includes
  check_floors
  check_picture
  check_type_names
  check_cycles
  check_invariants
  check_classes
  check_functions
  check_files
  check_planted_bugs
  check_counts
  check_environment
  check_steps
  check_threads
} >"$breaches"
if [ -s "$breaches" ]; then
  cat "$breaches"
  exit 1
fi
echo "tidy"
