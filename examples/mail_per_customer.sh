#!/bin/bash
# mail_per_customer - mail goes out at the pace that the mail server allows each customer, and no customer's
# flood holds up another's mail.
#
# It shows: one tenant a customer, so that turns are theirs; a job that meets "429 too many" gives its message
# back for a moment with `fq release --delay`, which costs no attempt, and leaves with 0: what a job decides
# itself stands. The mail server is a script that takes one mail a customer in 100 ms.
. "$(dirname "$0")/story.sh"
mkdir "$work/server"
export SERVER=$work/server

cat >"$work/bin/send_mail" <<'SERVER'
#!/bin/bash
# The mail server: send_mail CUSTOMER TEXT. Leaves with 29 when it is too many for now.
set -eu
exec 9>>"$SERVER/lock-$1"
flock 9
now=$(date +%s%3N)
next=$(cat "$SERVER/next-$1" 2>/dev/null || echo 0)
[ "$now" -ge "$next" ] || exit 29
echo $((now + 100)) >"$SERVER/next-$1"
echo "$1: $2" >>"$SERVER/sent"
SERVER
cat >"$work/bin/mail_job" <<'JOB'
#!/bin/bash
# The job: the text on standard input, the customer in the environment.
text=$(cat)
send_mail "$FQ_TENANT" "$text" && exit 0
[ $? = 29 ] || exit 75 # another trouble: try again with backoff
echo "$FQ_TENANT" >>"$SERVER/refused"
fq release --delay 120ms
JOB
chmod +x "$work/bin/send_mail" "$work/bin/mail_job"

echo "1. shop writes to 25 of its readers, then anna sends 2 mails and ben 1."
for n in $(seq 25); do echo "newsletter $n"; done | fq push -t shop --lines >/dev/null
fq push -t anna 'your invoice' >/dev/null
fq push -t anna 'your parcel' >/dev/null
fq push -t ben 'welcome' >/dev/null

echo "2. A worker sends until nothing is left."
fq worker -j2 --drain -- mail_job
touch "$SERVER/refused"

echo "3. The first mails that left, of $(wc -l <"$SERVER/sent"); the server refused $(wc -l <"$SERVER/refused") tries:"
head -6 "$SERVER/sent" | sed 's/^/   /'
[ "$(sort -u "$SERVER/sent" | wc -l)" = 28 ] || wrong 'a mail is missing'
[ "$(wc -l <"$SERVER/sent")" = 28 ] || wrong 'a mail was sent twice'
# How many of shop's mails left before this one.
flood_before() { sed "/$1/q" "$SERVER/sent" | grep -c '^shop' || :; }
[ "$(flood_before 'ben: welcome')" -le 5 ] || wrong 'the flood held up ben'
# anna's second mail waits for her own 100 ms, which the flood may use.
[ "$(flood_before 'anna: your parcel')" -le 10 ] || wrong 'the flood held up anna'
[ -z "$(fq peek --state all)" ] || wrong 'a message is left'
echo '4. All were sent, each once.'
