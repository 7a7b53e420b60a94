#!/usr/bin/env bash
# receipts_test - a receipt is of one queue: that of another is refused and never applied, and what is no receipt is
# refused before anything is done.
. "$(dirname "$0")/lib.sh"

leased() { fq pop -q "$1" --lease 1h | cut -f1; }
state() { fq show -q "$1" "$2" --json | jq -r .state; }

# The same ids and serials in two queues.
for queue in one two; do fq push -q $queue x >/dev/null; fq push -q $queue y >/dev/null; done
one=$(leased one) two=$(leased two)
is 'they differ by the mark of their queue only' "${one%.*}" "${two%.*}"
is 'which has four characters' 'yes' "$([[ ${one##*.} =~ ^[a-zA-Z0-9]{4}$ && ${one##*.} != "${two##*.}" ]] && echo yes)"
for verdict in ack retry release bury; do
  gives 1 "receipt '$two': is of queue 'two' and not of 'one'; write -q two" fq $verdict -q one "$two"
done
gives 1 "is of queue 'two' and not of 'one'" fq extend -q one "$two" 5m
is 'nothing was done in either' 'leased leased' "$(state one 1) $(state two 1)"
gives 1 "is of queue 'two'" fq ack -q one "$two" "$one"
is 'of several each is done by itself' 'acked leased' "$(state one 1) $(state two 1)"
gives 1 'has ended' fq ack -q one "$one"
gives 0 '' env FQ_QUEUE=two FQ_RECEIPT="$two" "$FQ" ack
one=$(leased one)
FQ_SPOOL=$work/elsewhere "$FQ" push -q one z >/dev/null
there=$(FQ_SPOOL=$work/elsewhere "$FQ" pop -q one --lease 1h | cut -f1)
gives 1 "is not of queue 'one', nor of another one in this spool" fq ack -q one "$there"

# One with a character too many has the mark of its own queue.
gives 1 "receipt '${one}x': no longer valid, or mistyped" fq ack -q one "${one}x"
gives 1 "receipt '${one}x': no longer valid, or mistyped" fq extend -q one "${one}x" 5m
is 'and is not applied' leased "$(state one 2)"

# Of an older fq.
gives 1 "receipt '${one%.*}': is of an older fq" fq ack -q one "${one%.*}"
is 'and not applied' leased "$(state one 2)"

# What is no receipt is refused before anything is done.
for bad in '' hello 1 1. .1 1.x 1.2. 1.2.abc 1.2.ab_d 1.2.abcd.e 99999999999999999999999.1.abcd; do
  gives 64 'is not a receipt' fq ack -q one "$one" "$bad"
  gives 64 'is not a receipt' fq extend -q one "$bad" 5m
done
gives 64 'is not a receipt' bash -c 'printf "%s\nhello\n" "$1" | "$FQ" ack -q one -' _ "$one"
gives 64 "FQ_RECEIPT: 'hello' is not a receipt" env FQ_RECEIPT=hello "$FQ" ack -q one
is 'the good one was not acked' leased "$(state one 2)"
gives 0 '' fq extend -q one -- "$one" 5m
gives 64 "'-q' is not a receipt" fq ack -- -q
gives 64 "'17' is not a receipt; that is a message's id; fq kick 17 brings" fq retry 17
gives 64 'fq kick 17' fq release 17
gives 64 'fq cancel 17' fq ack 17
gives 64 'fq cancel 17' fq bury 17
gives 64 'fq show 17' fq extend 17 5m
gives 64 'receipts look like 17.3.k7qd' fq ack seventeen

# The mark stays with the queue, also through a rebuild, and is new with a new queue and in a copy.
fq push -q three x >/dev/null; three=$(leased three)
rm "$FQ_SPOOL/queues/three/segment"
gives 0 '' fq ack -q three "$three"
fq push -q three x >/dev/null
is 'a rebuilt queue keeps it' "${three##*.}" "$(leased three | sed 's/.*\.//')"
fq push -q three x >/dev/null; three=$(leased three)
mv "$FQ_SPOOL/queues/three" "$FQ_SPOOL/queues/renamed"
gives 0 '' fq ack -q renamed "$three"
fq push -q renamed x >/dev/null; renamed=$(leased renamed)
cp -a "$FQ_SPOOL/queues/renamed" "$FQ_SPOOL/queues/copied"
gives 1 "is of queue 'renamed' and not of 'copied'" fq ack -q copied "$renamed"
cp -a "$FQ_SPOOL" "$work/copy"
gives 1 'is not of queue' env FQ_SPOOL="$work/copy" "$FQ" ack -q renamed "$renamed"
gives 0 '' fq ack -q renamed "$renamed"
fq push -q made x >/dev/null; made=$(leased made)
fq queue remove made --yes; fq push -q made x >/dev/null
leased made >/dev/null
gives 1 'is not of queue' fq ack -q made "$made"

# In a worker's job and in a stream they are whole.
fq push -q jobs x >/dev/null
is 'a job has it' acked "$(timeout 20 "$FQ" worker -q jobs --once -- sh -c '"$FQ" ack'; state jobs 1)"
is 'marks of many queues differ' 40 "$(for n in $(seq 40); do fq push -q many$n x >/dev/null; leased many$n; done | sed 's/.*\.//' | sort -u | wc -l)"
finish
