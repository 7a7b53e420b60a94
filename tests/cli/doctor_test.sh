#!/usr/bin/env bash
# doctor_test - what fq rests on, as rows: well here, warned of limits, and refused where fq cannot work.
. "$(dirname "$0")/lib.sh"

# health ABOUT: of that row.
health() { fq doctor --json | jq -r --arg about "$1" 'select(.about == $about) | .health'; }

gives 0 '' fq doctor
is 'a spool that is not there is no fault' 1 "$(grep -c 'there is none yet' "$work/out")"
is 'and is not made' no "$([ -e "$FQ_SPOOL" ] && echo yes || echo no)"
is 'the clock in the zone of who reads' 1 "$(TZ=Asia/Kolkata fq doctor | grep -c 'clock .*+05:30')"
is 'in JSON in UTC' 1 "$(TZ=Asia/Kolkata fq doctor --json | jq -r 'select(.about == "clock").found' | grep -c '^[^,]*Z')"
fq push x -q mail >/dev/null
gives 0 '' fq doctor
is 'every line of --json is an object with its keys' 'about found health advice' "$(fq doctor --json | jq -r 'keys_unsorted | join(" ")' | sort -u)"
for about in spool 'word size' 'robust locks' /proc formats fq 'queue mail'; do is "$about is well" ok "$(health "$about")"; done
is 'the file system is named' "$(stat -f -c %T "$work" | sed 's/ext2\/ext3/ext4/')" "$(fq doctor --json | jq -r 'select(.about == "file system") | .found' | cut -d' ' -f1)"
is 'nobody is attached' 'nobody is attached' "$(fq doctor --json | jq -r 'select(.about == "queue mail") | .found')"

# Somebody who is stopped.
"$FQ" pop -q mail --raw >/dev/null
"$FQ" pop -q mail --wait >/dev/null &
waiting=$!
until fq doctor | grep -q "attached: process $waiting"; do [ -d /proc/$waiting ] || { fail 'it did not wait'; break; }; done
kill -STOP $waiting
is 'a stopped process is named' "process $waiting is stopped; continue or end it" \
  "$(until fq doctor --json | jq -r 'select(.about == "queue mail") | .advice' | grep '^process'; do :; done)"
kill -CONT $waiting; kill $waiting; wait $waiting 2>/dev/null

# A policy that refuses every push.
is 'fq.toml is well' ok "$(health fq.toml)"
printf 'queue = [\n' >"$FQ_SPOOL/fq.toml"
gives 69 '' fq doctor
is 'what is wrong with it is told' 1 "$(grep -c "fault.*fq.toml:1: " "$work/out")"
gives 78 'fq.toml:1' fq push x -q new
is 'a push that it refuses makes no queue' no "$([ -e "$FQ_SPOOL/queues/new" ] && echo yes || echo no)"
rm "$FQ_SPOOL/fq.toml"

# Limits.
for limit in 'n 20 descriptors' 'v 2000000 address space' 'f 100 file size'; do
  read -r letter size about <<<"$limit"
  is "ulimit -$letter $size is warned of" warning "$(ulimit "-$letter" "$size"; health "$about")"
done
gives 0 '' bash -c 'ulimit -n 20; "$FQ" doctor'

# What is kept of damage, and what cannot be.
touch "$FQ_SPOOL/queues/mail/damaged/1-2.bin"
is 'what is in damaged/ is told' 1 "$(fq doctor | grep -c '1 piece of damage in damaged/')"
chmod o+w "$FQ_SPOOL"
gives 0 '' fq doctor
is 'others may write to it, and its queues go on: a warning' warning "$(health spool)"
gives 0 '' fq push x -q mail
gives 77 'others may write to it' fq push x -q new
is 'and what mends just that' 'others may write to it|chmod go-w it; until then no queue can be made' "$(fq doctor --json | jq -r 'select(.about == "spool") | "\(.found | sub(".*: "; ""))|\(.advice)"')"
ln -s "$work/nowhere" "$work/dangling"
is 'a link to nothing too' 'make that, or set FQ_SPOOL to another place' "$(FQ_SPOOL=$work/dangling fq doctor --json | jq -r 'select(.about == "spool").advice')"
is 'which is said once of what' 0 "$(fq doctor | grep -c 'spool *spool ')"
chmod o-w "$FQ_SPOOL"
chmod o+w "$FQ_SPOOL/queues"
gives 0 '' fq doctor
is 'of its queues/ too' warning "$(health spool)"
gives 77 "queues': others may write to it" fq push x -q new
chmod o-w "$FQ_SPOOL/queues"
chmod o+w "$FQ_SPOOL/queues/mail"
gives 69 '' fq doctor
is 'others may write to a queue: it is used by nobody' 'fault|others may write to it|chmod go-w it' "$(fq doctor --json | jq -r 'select(.about == "queue mail") | "\(.health)|\(.found)|\(.advice)"')"
gives 77 'others may write to it' fq push x -q mail
chmod o-w "$FQ_SPOOL/queues/mail"
mkdir -m 777 "$work/bare"
FQ_SPOOL=$work/bare gives 69 '' fq doctor
is 'without a queue it is a fault, and no queue is made there' 'others may write to it|chmod go-w it' "$(FQ_SPOOL=$work/bare fq doctor --json | jq -r 'select(.about == "spool") | "\(.found | sub(".*: "; ""))|\(.advice)"')"
FQ_SPOOL=$work/bare gives 77 'others may write to it' fq push x

# Links: what they lead to counts.
mkdir -m 700 "$work/linked"; mkdir -m 777 "$work/all"; mkdir -m 700 "$work/all/queues" "$work/all/spool"
ln -s "$work/nowhere" "$work/linked/queues"
FQ_SPOOL=$work/linked gives 69 '' fq doctor
is 'queues/ that is a link to nothing' 'is a link to what is not there|make that, or remove the link' "$(FQ_SPOOL=$work/linked fq doctor --json | jq -r 'select(.about == "spool") | "\(.found | sub(".*: "; ""))|\(.advice)"')"
FQ_SPOOL=$work/linked gives 69 "queues': is a link to what is not there; make that" fq push x
ln -sfn "$work/all/queues" "$work/linked/queues"
FQ_SPOOL=$work/linked gives 69 '' fq doctor
is 'queues/ where others could replace it' 1 "$(grep -c "fault.*others may replace it: '$work/all' is writable by all" "$work/out")"
FQ_SPOOL=$work/linked gives 77 'others may replace it' fq push x
ln -s "$work/all/spool" "$work/spool-link"
FQ_SPOOL=$work/spool-link gives 69 '' fq doctor
is 'a spool where others could replace it' 1 "$(grep -c "fault.*others may replace it: '$work/all' is writable by all" "$work/out")"
FQ_SPOOL=$work/spool-link gives 77 'others may replace it' fq push x
echo >"$work/file"
is 'a file is no spool' fault "$(FQ_SPOOL=$work/file health spool)"
is 'names are escaped' 1 "$(FQ_SPOOL=$'/x\e[31m' "$FQ" doctor | grep -c '/x\\x1b\[31m')"

# A queue that is named, and one that is not there.
fq push x -q post >/dev/null
is 'all queues' 'queue mail queue post' "$(fq doctor --json | jq -r .about | grep '^queue' | sort -u | paste -sd' ')"
is 'the named one' 'queue post' "$(fq doctor -q post --json | jq -r .about | grep '^queue' | sort -u)"
gives 0 '' fq doctor -q post
gives 1 "fq: queue 'nosuch': there is none" fq doctor -q nosuch
is 'with what it found' 1 "$(grep -c 'ok .*robust locks' "$work/out")"
gives 1 "queue 'nosuch': there is none" env FQ_QUEUE=nosuch "$FQ" doctor
gives 1 "queue 'nosuch': there is none" env FQ_SPOOL="$work/none" "$FQ" doctor -q nosuch
gives 64 'queue' fq doctor -q ..

# Above it others may write: nothing can be put there, and nothing is.
mkdir -m 777 "$work/open"
FQ_SPOOL=$work/open/new/spool gives 69 '' fq doctor
is 'a spool that others could replace is a fault before it is there' 1 "$(grep -c "fault *spool .*'$work/open' is writable by all" "$work/out")"
FQ_SPOOL=$work/open/new/spool gives 77 "others may replace it: '$work/open' is writable by all" fq push x
is 'nothing was made there' '' "$(ls "$work/open")"
is 'no mount option is told twice' '' "$(fq doctor --json | jq -r 'select(.about == "mount options") | .found' | tr ',' '\n' | sort | uniq -d)"

# Where no spool can be.
for place in /proc/fq /proc/self/fq /sys/fq; do
  [ -d "${place%/*}" ] || continue
  FQ_SPOOL=$place gives 69 '' fq doctor
  is "$place: its file system is a fault" 1 "$(grep -c 'fault  *file system' "$work/out")"
  code=$(FQ_SPOOL=$place "$FQ" push x >/dev/null 2>&1; echo $?)
  [ "$code" != 0 ] || fail "$place: a push that does more than doctor says"
done
FQ_SPOOL=$work/file/fq gives 69 '' fq doctor
is 'below a file' 1 "$(grep -c 'cannot be made, .*/file is not a directory' "$work/out")"
if [ "$(id -u)" != 0 ]; then
  mkdir "$work/closed"; chmod 500 "$work/closed"
  FQ_SPOOL=$work/closed/fq gives 69 '' fq doctor
  is 'where one may not write' 1 "$(grep -c 'you may not write to' "$work/out")"
fi

# What its owner may not write. To root all is open, so another user looks.
if [ "$(id -u)" != 0 ] || command -v setpriv >/dev/null; then
  mkdir "$work/own"; cp "$FQ" "$work/own/fq"; chmod 755 "$work" "$work/own/fq"
  as() { "$@"; }
  [ "$(id -u)" != 0 ] || { chown 65534:65534 "$work/own"; as() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }; }
  export FQ_SPOOL=$work/own/spool
  as "$work/own/fq" push x >/dev/null
  gives 0 '' as "$work/own/fq" doctor
  for part in queues queues/default queues/default/journal queues/default/lock queues/default/segment .; do
    as chmod a-w "$FQ_SPOOL/$part"
    # Without the right to what lies above queues they go on.
    case $part in queues | .) code=0 ;; *) code=69 ;; esac
    [ $code = 69 ] || gives 0 '' as "$work/own/fq" push x
    gives $code '' as "$work/own/fq" doctor
    is "$part is closed" 1 "$(grep -c "you may not read and write $FQ_SPOOL\(/$part\)\?$" "$work/out")"
    as chmod u+w "$FQ_SPOOL/$part"
  done
  gives 0 '' as "$work/own/fq" doctor
  # To anybody but its owner it is closed, and fq.toml with it.
  as chmod 0 "$FQ_SPOOL"
  gives 69 '' as "$work/own/fq" doctor
  is 'nobody has to mend what they cannot see' 'a spool belongs to one user' "$(as "$work/own/fq" doctor --json | jq -r 'select(.about == "fq.toml").advice' | cut -d, -f1)"
  gives 77 'open: Permission denied; a spool belongs to one user, who alone can use it; set FQ_SPOOL' as "$work/own/fq" push x
  gives 77 'mkdir: Permission denied; set FQ_SPOOL to a place of your own' as env FQ_SPOOL=/nobodys "$work/own/fq" push x
  as chmod 700 "$FQ_SPOOL"
else
  left_out "becoming somebody else needs setpriv"
fi

gives 64 'takes no operand' fq doctor here
gives 64 'unknown option' fq doctor --fix
gives 64 'not a format' fq doctor --format sh
gives 74 'standard output' bash -c '"$FQ" doctor >/dev/full'
finish
