#!/bin/bash
# planted_bugs - the mistakes of tests/crash/planted_bugs, planted one at a time: each must turn its test red.
#
# usage: planted_bugs.sh [NAME...]. A copy of the tree in build/planted is patched, built and tested; a test
# is run without the bug first, since one that is always red sees nothing.
. "$(dirname "$0")/lib.sh"
unset FQ_LONG  # what a test sees it must see in its short form, when all of that is tried
unset FQ_SEED  # of which it would run one history again, and no others

tree=$PWD
copy=$PWD/build/planted
if command -v ccache >/dev/null; then export CMAKE_CXX_COMPILER_LAUNCHER=ccache CCACHE_BASEDIR=$copy; fi

# Whatever differs, with a new time, so that it is built anew.
mkdir -p "$copy"
git ls-files --cached --others --exclude-standard | while read -r file; do
  if [ ! -e "$file" ] || cmp -s "$file" "$copy/$file"; then continue; fi
  mkdir -p "$copy/$(dirname "$file")"
  cp "$file" "$copy/$file"
done
cd "$copy" || exit 1
cmake --preset test >/dev/null
export FQ=$copy/build/test/fq

built() {  # program, or a script
  local targets=("$1")
  case $1 in
    test_crash | test_process) targets+=(fq) ;;
    *.sh) targets=(fq) ;;
  esac
  cmake --build --preset test --target "${targets[@]}" >build.log 2>&1
}
# Green, red, or endless: longer than any test takes.
run_test() {  # program, test case
  local ended=0
  case $1 in
    *.sh) timeout 900 "tests/$1" >test.log 2>&1 || ended=$? ;;
    *) timeout 900 "build/test/tests/$1" "${2//,/\\,}" >test.log 2>&1 || ended=$? ;;
  esac
  case $ended in 0) result=green ;; 124) result=endless ;; *) result=red ;; esac
}

declare -A was_green
planted=0 seen=0 result=""
plant() {  # name, file, expression, program, test case
  local verdict="NOT SEEN by $5"
  if [ -z "${was_green[$4/$5]:-}" ]; then
    if built "$4" && run_test "$4" "$5" && [ $result = green ] && ! grep -q "No test cases matched" test.log; then was_green[$4/$5]=yes; else was_green[$4/$5]=no; fi
  fi
  sed -i "$3" "$2"
  if [ "${was_green[$4/$5]}" = no ]; then
    verdict="NOT TRIED: without it $4 is not green: $5"
  elif cmp -s "$2" "$tree/$2"; then
    verdict="NOT PLANTED: the expression changes nothing in $2"
  elif ! built "$4"; then
    verdict="NOT PLANTED: does not build ($copy/build.log)"
  else
    run_test "$4" "$5"
    if [ $result != green ]; then verdict="caught by $5 ($result)" seen=$((seen + 1)); fi
  fi
  cp "$tree/$2" "$2"
  planted=$((planted + 1))
  printf '%s: %s\n' "$1" "$verdict"
}

while read -r -u 3 word rest; do
  case $word in
    bug) name=$rest ;;
    file) file=$rest ;;
    sed) expression=$rest ;;
    seen)
      program=${rest%% *}
      # The short form leaves out the programs that take minutes.
      if [ -n "${QUICK:-}" ] && [[ $program = test_crash || $program = test_process || $program = *.sh ]]; then continue; fi
      if [ $# = 0 ] || [[ " $* " = *" $name "* ]]; then plant "$name" "$file" "$expression" "$program" "${rest#* }"; fi ;;
  esac
done 3<"$tree/tests/crash/planted_bugs"

printf 'planted bugs: %d of %d seen\n' "$seen" "$planted"
[ "$seen" = "$planted" ]
