#!/usr/bin/env bash
# completion_shells_test - the completions in real shells on a terminal: what Tab puts into the line reaches fq as
# exactly the name that was meant, whatever is in it.
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
completions=$here/../../completions
for needed in bash zsh fish expect; do
  command -v "$needed" >/dev/null || { fail "$needed is not installed; tests/packages.sh names what the tests need"; finish; }
done

# A typed command writes its words down instead of being run; completions ask the real one, through a pipe.
mkdir "$work/bin" "$work/home"
cat >"$work/bin/fq" <<EOT
#!/bin/sh
[ -t 1 ] || exec "$FQ" "\$@"
{ printf '[%s]' "\$@"; echo; } >>"$work/words"
echo ran
EOT
chmod +x "$work/bin/fq"
ln -s fq "$work/bin/fq-redis"

# One queue a name, so that each is offered alone: what is to be typed for it is nothing.
names=('a b' "it's" 'say "hi"' '$HOME' '`id`' '$(id)' '-dash' '--help' 'back\slash' 'semi;colon' 'star*[x]?' '~tilde'
  'col:on' '测试' 'bang!' '#hash' '(paren)' 'a=b' 'acme/reports' 'x&y|z' '<in>out' '%p{a,b}' '^hat' '@at' "'\"" ' space ')
typed=() wanted=()
types() {  # LINE WORDS: what is typed, and what fq is to get of it
  typed+=("$1")
  wanted+=("$2")
}
for at in "${!names[@]}"; do
  fq push -q "q$at" -t "${names[at]}" x >/dev/null
  types "fq peek -q q$at -t <TAB>" "[peek][-q][q$at][-t][${names[at]}]"
done
for at in 0 1 2 3 12 17; do types "fq peek -q q$at --tenant=<TAB>" "[peek][-q][q$at][--tenant=${names[at]}]"; done
for at in 0 1 2 3 12 17; do types "fq tenant pause -q q$at <TAB>" "[tenant][pause][-q][q$at][${names[at]}]"; done
fq push -q many -t 'we one' x >/dev/null
fq push -q many -t 'we $two' x >/dev/null
fq push -q many -t 'other' x >/dev/null
types 'fq peek -q many -t we\ o<TAB>' '[peek][-q][many][-t][we one]'
types "fq peek -q many -t 'we o<TAB>" '[peek][-q][many][-t][we one]'
types "fq peek -q many -t 'we \$<TAB>" '[peek][-q][many][-t][we $two]'
for name in $'well\u202eird' $'well\u2067' $'well\u200b' $'well\ufeff' $'well\u061c' $'well\U000e0041' 'wellmeant'; do
  fq push -q deceiving -t "$name" x >/dev/null
done
types 'fq peek -q deceiving -t we<TAB>' '[peek][-q][deceiving][-t][wellmeant]'  # the others would show as what they are not
types 'fq tenant pause -q many oth<TAB>' '[tenant][pause][-q][many][other]'
types 'fq tenant set -q many other wei<TAB>3' '[tenant][set][-q][many][other][weight=3]'
types 'fq queue set many command_<TAB>1h' '[queue][set][many][command_age=1h]'
types 'fq -q man<TAB>peek' '[-q][many][peek]'
types 'fq pop -q q7 --gro<TAB>' '[pop][-q][q7][--grouped]'
types 'fq queue pau<TAB>man<TAB>' '[queue][pause][many]'
types 'fq sho<TAB>-q q1 <TAB>' '[show][-q][q1][1]'
types 'fq peek --state del<TAB>' '[peek][--state][delayed]'
types 'fq stats --format js<TAB>' '[stats][--format][json]'
fq push -q taken x >/dev/null
receipt=$(fq pop -q taken --lease 1h | cut -f1)
types 'fq extend -q taken <TAB>5m' "[extend][-q][taken][$receipt][5m]"
fq push -q half x >/dev/null; fq pop -q half --lease 1h >/dev/null; fq push -q half y >/dev/null
types 'fq edit -q half <TAB>-p 3' '[edit][-q][half][2][-p][3]'  # the other one runs
types 'fq edit -p 3 -q half <TAB>' '[edit][-p][3][-q][half][2]'
types 'fq move -q half <TAB>--to man<TAB>' '[move][-q][half][2][--to][many]'
fq push -q ended --keep 1h x >/dev/null; fq worker -q ended --once --output keep -- true; fq push -q ended y >/dev/null
types 'fq result -q ended <TAB>' '[result][-q][ended][1]'
fq push -q held x >/dev/null; fq push -q held --after 1 y >/dev/null
types 'fq move -q held <TAB>--to man<TAB>' '[move][-q][held][1][--to][many]'
types 'fq-redis acl<TAB>redis://host' '[acl][redis://host]'
types 'fq-redis loa<TAB>redis://host' '[load][redis://host]'
types 'fq-redis pee<TAB>-q many -t oth<TAB>' '[peek][-q][many][-t][other]'
types 'fq loa<TAB>' '[loa]'
other=$work/other
fq --spool "$other" push -t elsewhere x >/dev/null
types "fq peek --spool $other -t <TAB>" "[peek][--spool][$other][-t][elsewhere]"
types "fq --spool $other peek -t <TAB>" "[--spool][$other][peek][-t][elsewhere]"

cd "$work" || exit 1
touch 'my $file'
types 'fq config load my<TAB>' '[config][load][my $file]'
types 'fq push --file my<TAB>' '[push][--file][my $file]'
types 'fq push --file=my<TAB>' '[push][--file=my $file]'
types 'fq push --file "my<TAB>' '[push][--file][my $file]'

# tries SHELL: types all of it there.
tries() {
  local at
  rm -f "$work/words"
  said=$(HOME=$work/home PATH=$work/bin:$PATH ZDOTDIR=$work/home timeout 120 \
    expect "$here/completion.exp" "$1" "$completions" "$work/typed") || fail "$1: $said"
  mapfile -t got <"$work/words"
  for at in "${!typed[@]}"; do is "$1: ${typed[at]}" "${wanted[at]}" "${got[at]-}"; done
}
printf '%s\n' "${typed[@]}" >"$work/typed"
for shell in bash zsh fish; do tries "$shell"; done
finish
