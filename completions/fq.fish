# fq.fish - completion of fq for fish.
#
# A test compares the options here with those of `fq help` (tests/cli/options_test.cpp), and others try them in
# a real fish. Queues, tenants, ids and receipts are asked of fq; fish quotes what it puts in.

# What fq says in the queue and the spool that were typed.
function __fq_ask
    set -l where
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case --spool --queue -q
                if set -q words[2]
                    set -a where $words[1] (string replace -r '^~/' "$HOME/" -- $words[2])
                    set -e words[2]
                end
            case '--spool=*' '--queue=*'
                set -a where $words[1]
        end
        set -e words[1]
    end
    command fq $where $argv 2>/dev/null
end

# The keys that `fq queue set` or `fq tenant set` takes, as its help has them, each with its =.
function __fq_keys
    __fq_ask help $argv[1] | sed -n '/^Keys:$/,/^$/{/^  /s/[a-z_][a-z_]*/&=/gp;}' | string split -n ' '
end

function __fq_queues
    __fq_ask queue list
end

# Names that turn the writing around or hide it would make a menu lie: they are left out, and where they only stand
# beside what is offered such characters are shown as ?.
set -g __fq_deceiving '\xd8\x9c|\xe2\x80[\x8b\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf|\xf3\xa0[\x80\x81][\x80-\xbf]'

function __fq_tenants
    __fq_ask tenant list --names | LC_ALL=C sed -E "/$__fq_deceiving/d"
end

function __fq_zones
    echo UTC
    sed -n 's/^[^#][^\t]*\t[^\t]*\t\([^\t]*\).*/\1/p' /usr/share/zoneinfo/zone1970.tab 2>/dev/null
end

# Of messages in these states, with the state and the tenant.
function __fq_ids
    for state in $argv
        __fq_ask peek --state $state -n 200 --json | LC_ALL=C sed -E "s/$__fq_deceiving/?/g" |
            string replace -f -r '^\{"id":(\d+),"queue":"[^"]*","tenant":"((?:[^"\\\\]|\\\\.)*)","state":"(\w+)".*' '$1\t$3 $2'
    end
end

# Of all that fq jobs tells of, ended ones too; with a pattern those in these states.
function __fq_known
    set -q argv[1]; or set argv '\w+'
    __fq_ask jobs -n 200 --json | LC_ALL=C sed -E "s/$__fq_deceiving/?/g" |
        string replace -f -r '^\{"id":(\d+),"queue":"[^"]*","tenant":(?:"((?:[^"\\\\]|\\\\.)*)"|null),"state":"('$argv[1]')".*' '$1\t$3 $2'
end

# A quote inside a text is escaped, so nothing that a message holds looks like the key.
function __fq_receipts
    __fq_ask peek --state leased -n 200 --json | string replace -f -r '.*,"receipt":"([^"]*)".*' '$1'
end

# No command yet; the value of an option before it is none.
function __fq_needs_command
    set -l value_follows no
    for word in (commandline -opc)[2..]
        if test $value_follows = yes
            set value_follows no
        else if contains -- $word --spool --queue -q
            set value_follows yes
        else if not string match -q -- '-*' $word
            return 1
        end
    end
end

complete -c fq -f
complete -c fq -n __fq_needs_command -l version -d 'the version of fq'
complete -c fq -l spool -x -a '(__fish_complete_directories)' -d 'the spool'
complete -c fq -s q -l queue -x -a '(__fq_queues)' -d 'the queue'
complete -c fq -s h -l help -d 'help'

complete -c fq -n __fq_needs_command -a push -d 'add messages to a queue'
complete -c fq -n '__fish_seen_subcommand_from push' -s t -l tenant -x -a '(__fq_tenants)' -d 'whose it is (default: $FQ_TENANT, else default)'
complete -c fq -n '__fish_seen_subcommand_from push' -s p -l priority -x -d 'higher first (default: 0)'
complete -c fq -n '__fish_seen_subcommand_from push' -l key -x -d 'sort key where order is "key" (default: none)'
complete -c fq -n '__fish_seen_subcommand_from push' -l delay -x -d 'not before this long from now (default: none)'
complete -c fq -n '__fish_seen_subcommand_from push' -l at -x -d 'not before this time (default: none)'
complete -c fq -n '__fish_seen_subcommand_from push' -l ttl -x -d 'dead if not started this long after it is due'
complete -c fq -n '__fish_seen_subcommand_from push' -l attempts -x -d 'runs that count (default: attempts in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from push' -l tag -x -d 'a label; may be given again'
complete -c fq -n '__fish_seen_subcommand_from push' -l unique -x -d 'push nothing while KEY is held: print that id'
complete -c fq -n '__fish_seen_subcommand_from push' -l unique-for -x -d 'the key is held so long after the ack (default: 1h)'
complete -c fq -n '__fish_seen_subcommand_from push' -l unique-mode -x -a 'keep replace after' -d 'keep, replace or after (default: keep)'
complete -c fq -n '__fish_seen_subcommand_from push' -l debounce -x -d 'replaces the waiting message with this KEY'
complete -c fq -n '__fish_seen_subcommand_from push' -l quiet -x -d 'with --debounce: due so long after the last push'
complete -c fq -n '__fish_seen_subcommand_from push' -l max-wait -x -d 'and at the latest so long after the first'
complete -c fq -n '__fish_seen_subcommand_from push' -l after -x -a '(__fq_ids all)' -d 'held until all of these are acked'
complete -c fq -n '__fish_seen_subcommand_from push' -l after-any -x -a '(__fq_ids all)' -d 'held until all of these have ended'
complete -c fq -n '__fish_seen_subcommand_from push' -l lazy -d 'do not wait for the disk'
complete -c fq -n '__fish_seen_subcommand_from push' -l block -d 'where a limit is reached: until there is room'
complete -c fq -n '__fish_seen_subcommand_from push' -l timeout -x -d 'limit of a run (default: timeout in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from push' -l keep -x -d 'record and output kept after it (default: retention)'
complete -c fq -n '__fish_seen_subcommand_from push' -l wait -d 'until it ends; its output, its exit status'
complete -c fq -n '__fish_seen_subcommand_from push' -l cancel -d 'with --wait: where that is cut short, cancel it'
complete -c fq -n '__fish_seen_subcommand_from push' -l shell -x -d 'instead of -- CMD: TEXT for sh -c'
complete -c fq -n '__fish_seen_subcommand_from push' -l env-all -d 'all of ours but FQ_* for CMD'
complete -c fq -n '__fish_seen_subcommand_from push' -l env -x -a '(set -nx)' -d 'a variable for CMD; may be given again'
complete -c fq -n '__fish_seen_subcommand_from push' -l payload -x -d 'also when it begins with \'-\''
complete -c fq -n '__fish_seen_subcommand_from push' -l file -r -F -d 'read it from a file, \'-\' is stdin'
complete -c fq -n '__fish_seen_subcommand_from push' -l lines -d 'each line of stdin is a payload'
complete -c fq -n '__fish_seen_subcommand_from push' -s 0 -l null -d 'the same, each ended by NUL'
complete -c fq -n '__fish_seen_subcommand_from push' -l ndjson -d 'each line is a JSON object, a message'
complete -c fq -n '__fish_seen_subcommand_from push' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from push' -l json -d 'short for --format json'

complete -c fq -n __fq_needs_command -a pop -d 'take messages in fair order'
complete -c fq -n '__fish_seen_subcommand_from pop' -s t -l tenant -x -a '(__fq_tenants)' -d 'only of this one and below (default: any)'
complete -c fq -n '__fish_seen_subcommand_from pop' -s n -l count -x -d 'at most so many (default: 1)'
complete -c fq -n '__fish_seen_subcommand_from pop' -l wait -d 'until one can be served (default: do not wait)'
complete -c fq -n '__fish_seen_subcommand_from pop' -l grouped -d 'what has gathered: all of one tenant'
complete -c fq -n '__fish_seen_subcommand_from pop' -l max -x -d 'with --grouped: whole groups until there are N'
complete -c fq -n '__fish_seen_subcommand_from pop' -l lease -d 'lease for DUR instead of ack (DUR: lease in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from pop' -s 0 -l null -d 'exact payload bytes, each ended by NUL'
complete -c fq -n '__fish_seen_subcommand_from pop' -l format -x -a 'human json sh raw' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from pop' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from pop' -l raw -d 'exact payload bytes, nothing between'

complete -c fq -n __fq_needs_command -a ack -d 'end leased messages as done'
complete -c fq -n '__fish_seen_subcommand_from ack' -a '(__fq_receipts)'

complete -c fq -n __fq_needs_command -a retry -d 'give messages back as failed'
complete -c fq -n '__fish_seen_subcommand_from retry' -l delay -x -d 'not before this long from now (default: none)'
complete -c fq -n '__fish_seen_subcommand_from retry' -l reason -x -d 'why, kept as its last error'
complete -c fq -n '__fish_seen_subcommand_from retry' -a '(__fq_receipts)'

complete -c fq -n __fq_needs_command -a release -d 'return leased messages; no attempt is counted'
complete -c fq -n '__fish_seen_subcommand_from release' -l delay -x -d 'not before this long from now (default: none)'
complete -c fq -n '__fish_seen_subcommand_from release' -a '(__fq_receipts)'

complete -c fq -n __fq_needs_command -a bury -d 'send messages to the dead letters'
complete -c fq -n '__fish_seen_subcommand_from bury' -l reason -x -d 'why, kept as its last error'
complete -c fq -n '__fish_seen_subcommand_from bury' -a '(__fq_receipts)'

complete -c fq -n __fq_needs_command -a extend -d 'let a lease end later'
complete -c fq -n '__fish_seen_subcommand_from extend' -a '(__fq_receipts)'

complete -c fq -n __fq_needs_command -a kick -d 'bring dead or delayed messages back'
complete -c fq -n '__fish_seen_subcommand_from kick' -s t -l tenant -x -a '(__fq_tenants)' -d 'those of this one and below'
complete -c fq -n '__fish_seen_subcommand_from kick' -l tag -x -d 'those with this tag'
complete -c fq -n '__fish_seen_subcommand_from kick' -l reason -x -d 'those that failed for a reason with this in it'
complete -c fq -n '__fish_seen_subcommand_from kick' -l all -d 'those of every tenant'
complete -c fq -n '__fish_seen_subcommand_from kick' -l state -x -a 'dead delayed' -d 'dead or delayed (default: dead)'
complete -c fq -n '__fish_seen_subcommand_from kick' -l fresh -d 'their steps are forgotten: see fq-step(1)'
complete -c fq -n '__fish_seen_subcommand_from kick' -s n -l count -x -d 'at most so many (default: unlimited)'
complete -c fq -n '__fish_seen_subcommand_from kick' -a '(__fq_ids dead delayed)'

complete -c fq -n __fq_needs_command -a cancel -d 'take messages out for good'
complete -c fq -n '__fish_seen_subcommand_from cancel' -s t -l tenant -x -a '(__fq_tenants)' -d 'those of this one and below'
complete -c fq -n '__fish_seen_subcommand_from cancel' -l tag -x -d 'those with this tag'
complete -c fq -n '__fish_seen_subcommand_from cancel' -l all -d 'those of every tenant; asks first'
complete -c fq -n '__fish_seen_subcommand_from cancel' -l state -x -a 'ready delayed leased held dead all' -d 'only those in it (default: all but dead)'
complete -c fq -n '__fish_seen_subcommand_from cancel' -s n -l count -x -d 'at most so many (default: unlimited)'
complete -c fq -n '__fish_seen_subcommand_from cancel' -l yes -d 'do not ask; --all needs it without a terminal'
complete -c fq -n '__fish_seen_subcommand_from cancel' -a '(__fq_ids all)'

complete -c fq -n __fq_needs_command -a edit -d 'change a message that waits or is dead'
complete -c fq -n '__fish_seen_subcommand_from edit' -s p -l priority -x -d 'higher first'
complete -c fq -n '__fish_seen_subcommand_from edit' -l key -x -d 'sort key where order is "key"; --key= is none'
complete -c fq -n '__fish_seen_subcommand_from edit' -l delay -x -d 'not before this long from now, or none'
complete -c fq -n '__fish_seen_subcommand_from edit' -l at -x -d 'not before this time'
complete -c fq -n '__fish_seen_subcommand_from edit' -l ttl -x -d 'dead if not started this long after it is due, or none'
complete -c fq -n '__fish_seen_subcommand_from edit' -l attempts -x -d 'runs that count'
complete -c fq -n '__fish_seen_subcommand_from edit' -l tag -x -d 'a label; K= takes it away; may be given again'
complete -c fq -n '__fish_seen_subcommand_from edit' -l timeout -x -d 'limit of a run, or none: timeout in fq.toml'
complete -c fq -n '__fish_seen_subcommand_from edit' -l shell -x -d 'instead of -- CMD: TEXT for sh -c'
complete -c fq -n '__fish_seen_subcommand_from edit' -l payload -x -d 'the new payload'
complete -c fq -n '__fish_seen_subcommand_from edit' -l file -r -F -d 'read it from a file, \'-\' is stdin'
complete -c fq -n '__fish_seen_subcommand_from edit' -a '(__fq_ids ready delayed held dead)'

complete -c fq -n __fq_needs_command -a move -d 'move messages to another queue'
complete -c fq -n '__fish_seen_subcommand_from move' -l to -x -a '(__fq_queues)' -d 'the other queue, which has to be there'
complete -c fq -n '__fish_seen_subcommand_from move' -l tenant -x -a '(__fq_tenants)' -d 'whose they are there (default: as here)'
complete -c fq -n '__fish_seen_subcommand_from move' -s t -l of -x -a '(__fq_tenants)' -d 'those of this one and below'
complete -c fq -n '__fish_seen_subcommand_from move' -l tag -x -d 'those with this tag'
complete -c fq -n '__fish_seen_subcommand_from move' -l all -d 'those of every tenant; asks first'
complete -c fq -n '__fish_seen_subcommand_from move' -l state -x -a 'ready delayed held dead all' -d 'only those in it (default: all but dead)'
complete -c fq -n '__fish_seen_subcommand_from move' -s n -l count -x -d 'at most so many (default: unlimited)'
complete -c fq -n '__fish_seen_subcommand_from move' -l yes -d 'do not ask; --all needs it without a terminal'
complete -c fq -n '__fish_seen_subcommand_from move' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from move' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from move' -a '(__fq_ids ready delayed dead)'

complete -c fq -n __fq_needs_command -a jobs -d 'show what runs, what waits and what has ended'
complete -c fq -n '__fish_seen_subcommand_from jobs' -s t -l tenant -x -a '(__fq_tenants)' -d 'only of this one and below (default: any)'
complete -c fq -n '__fish_seen_subcommand_from jobs' -l tag -x -d 'only those with this tag'
complete -c fq -n '__fish_seen_subcommand_from jobs' -l state -x -a 'running ready delayed held dead acked cancelled failed all' -d 'only those: running, ready, delayed, held, dead, acked, cancelled, failed or all (default: all)'
complete -c fq -n '__fish_seen_subcommand_from jobs' -s n -l count -x -d 'at most N that wait and N that have ended (default: 200 and 20)'
complete -c fq -n '__fish_seen_subcommand_from jobs' -l watch -d 'again every DUR (default: once; 2s without DUR)'
complete -c fq -n '__fish_seen_subcommand_from jobs' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from jobs' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from jobs' -a '(__fq_known)'

complete -c fq -n __fq_needs_command -a peek -d 'look at messages without taking them'
complete -c fq -n '__fish_seen_subcommand_from peek' -s t -l tenant -x -a '(__fq_tenants)' -d 'only of this one and below (default: any)'
complete -c fq -n '__fish_seen_subcommand_from peek' -l tag -x -d 'only those with this tag'
complete -c fq -n '__fish_seen_subcommand_from peek' -s n -l count -x -d 'at most so many (default: 10)'
complete -c fq -n '__fish_seen_subcommand_from peek' -l state -x -a 'ready delayed leased held dead all' -d 'ready, delayed, leased, held, dead or all (default: ready)'
complete -c fq -n '__fish_seen_subcommand_from peek' -l format -x -a 'human json raw' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from peek' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from peek' -l raw -d 'exact payload bytes, nothing between'

complete -c fq -n __fq_needs_command -a show -d 'show everything about one message'
complete -c fq -n '__fish_seen_subcommand_from show' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from show' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from show' -a '(__fq_known)'

complete -c fq -n __fq_needs_command -a explain -d 'tell what comes next, or why something waits'
complete -c fq -n '__fish_seen_subcommand_from explain' -s t -l tenant -x -a '(__fq_tenants)' -d 'of this one and below'
complete -c fq -n '__fish_seen_subcommand_from explain' -l next -x -d 'the next N that would be served (default: 10)'
complete -c fq -n '__fish_seen_subcommand_from explain' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from explain' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from explain' -a '(__fq_ids all)'

complete -c fq -n __fq_needs_command -a log -d 'tell what happened to messages'
complete -c fq -n '__fish_seen_subcommand_from log' -s t -l tenant -x -a '(__fq_tenants)' -d 'only of this one and below (default: any)'
complete -c fq -n '__fish_seen_subcommand_from log' -l tag -x -d 'only those with this tag'
complete -c fq -n '__fish_seen_subcommand_from log' -l since -x -d 'from then on, or from so long ago (default: all)'
complete -c fq -n '__fish_seen_subcommand_from log' -s n -l count -x -d 'the last N (default: unlimited; with -f 10)'
complete -c fq -n '__fish_seen_subcommand_from log' -s f -l follow -d 'go on with what happens from now on'
complete -c fq -n '__fish_seen_subcommand_from log' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from log' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from log' -a '(__fq_known)'

complete -c fq -n __fq_needs_command -a top -d 'show queues and tenants live'

complete -c fq -n __fq_needs_command -a stats -d 'show the counts of queues and tenants'
complete -c fq -n '__fish_seen_subcommand_from stats' -l tenants -d 'a row a tenant instead of a row a queue'
complete -c fq -n '__fish_seen_subcommand_from stats' -l watch -d 'again every DUR (default: once; 2s without DUR)'
complete -c fq -n '__fish_seen_subcommand_from stats' -l format -x -a 'human json prometheus' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from stats' -l json -d 'short for --format json'

complete -c fq -n __fq_needs_command -a wait -d 'wait until messages have ended'
complete -c fq -n '__fish_seen_subcommand_from wait' -s t -l tenant -x -a '(__fq_tenants)' -d 'only of this one and below (default: any)'
complete -c fq -n '__fish_seen_subcommand_from wait' -l tag -x -d 'only those with this tag'
complete -c fq -n '__fish_seen_subcommand_from wait' -l for -x -d 'at most so long (default: unlimited)'
complete -c fq -n '__fish_seen_subcommand_from wait' -l all -d 'until the queue is idle'
complete -c fq -n '__fish_seen_subcommand_from wait' -a '(__fq_known)'

complete -c fq -n __fq_needs_command -a result -d 'write what a job wrote'
complete -c fq -n '__fish_seen_subcommand_from result' -s f -l follow -d 'until it has ended, as it is written'
complete -c fq -n '__fish_seen_subcommand_from result' -a '(__fq_known "leased|acked|dead|cancelled")'

complete -c fq -n __fq_needs_command -a worker -d 'run a command for every message'
complete -c fq -n '__fish_seen_subcommand_from worker' -s j -l jobs -x -d 'jobs at once (default: 1)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l min -x -d 'with --max: at least so many (default: 0)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l max -x -d 'as many as the backlog asks for, up to N'
complete -c fq -n '__fish_seen_subcommand_from worker' -l once -d 'one message or batch, then leave'
complete -c fq -n '__fish_seen_subcommand_from worker' -l drain -d 'until the queue is idle'
complete -c fq -n '__fish_seen_subcommand_from worker' -l strict -d 'with --drain: exit 1 if a job was not acked'
complete -c fq -n '__fish_seen_subcommand_from worker' -l grace -x -d 'from TERM to KILL (default: 10s)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l attempts -x -d 'runs that count (default: attempts in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l timeout -x -d 'run limit (default: timeout in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l backoff -x -d 'wait before the next try (default: fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l shell -d 'CMD is one text for sh -c'
complete -c fq -n '__fish_seen_subcommand_from worker' -l nice -x -d 'its niceness (default: ours)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l rlimit -x -d 'a limit, as nofile=256; may be given again'
complete -c fq -n '__fish_seen_subcommand_from worker' -l batch -x -d 'up to N messages of one tenant a job'
complete -c fq -n '__fish_seen_subcommand_from worker' -l linger -x -d 'wait so long for N (default: none)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l batch-format -x -a 'ndjson lines null' -d 'ndjson, lines or null (default: ndjson)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l stream -d 'CMD stays up: JSON in, verdicts out'
complete -c fq -n '__fish_seen_subcommand_from worker' -l prefetch -x -d 'open messages a process (default: 64)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l output -x -a 'inherit keep fail discard' -d 'inherit, keep, fail or discard (default: inherit)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l output-max -x -d 'kept of each output (default: 16MiB)'
complete -c fq -n '__fish_seen_subcommand_from worker' -l tag-output -d 'lines begin with id and tenant'
complete -c fq -n '__fish_seen_subcommand_from worker' -s v -l verbose -d 'a line a message on stderr'

complete -c fq -n __fq_needs_command -a workers -d 'show who works on the queues'
complete -c fq -n '__fish_seen_subcommand_from workers' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from workers' -l json -d 'short for --format json'

complete -c fq -n __fq_needs_command -a queue -d 'list, make, pause, set and remove queues'
complete -c fq -n '__fish_seen_subcommand_from queue' -l yes -d 'do not ask; needed without a terminal'
complete -c fq -n '__fish_seen_subcommand_from queue' -l shards -x -d 'create: on a server, cut into N parts'
complete -c fq -n '__fish_seen_subcommand_from queue' -l events -x -d 'create: on a server, keep events so long'
complete -c fq -n '__fish_seen_subcommand_from queue' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from queue' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from queue; and not __fish_seen_subcommand_from list create pause resume drain set rename purge remove' -a 'list create pause resume drain set rename purge remove'
complete -c fq -n '__fish_seen_subcommand_from queue; and __fish_seen_subcommand_from pause resume drain set rename purge remove' -a '(__fq_queues)'
complete -c fq -n '__fish_seen_subcommand_from queue; and __fish_seen_subcommand_from set' -a '(__fq_keys queue)'

complete -c fq -n __fq_needs_command -a schedule -d 'make messages at times'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l tz -x -a '(__fq_zones)' -d 'of SPEC\'s clock (default: $TZ, else the system\'s)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l missed -x -a 'one all skip' -d 'of missed times: one, all, skip (default: one)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l overlap -x -a 'skip queue cancel' -d 'skip, queue or cancel (default: skip)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -s t -l tenant -x -a '(__fq_tenants)' -d 'whose it is (default: $FQ_TENANT, else default)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -s p -l priority -x -d 'higher first (default: 0)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l key -x -d 'sort key where order is "key" (default: none)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l ttl -x -d 'dead if not started this long after it is due'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l attempts -x -d 'runs that count (default: attempts in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l tag -x -d 'a label; may be given again'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l payload -x -d 'also when it begins with \'-\''
complete -c fq -n '__fish_seen_subcommand_from schedule' -l file -r -F -d 'read it from a file, \'-\' is stdin'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l timeout -x -d 'limit of a run (default: timeout in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l keep -x -d 'told of so long after its end (default: retention)'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l shell -x -d 'instead of -- CMD: TEXT for sh -c'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l env -x -a '(set -nx)' -d 'a variable for CMD; may be given again'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l env-all -d 'all of ours but FQ_* for CMD'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l names -d 'list: only the names, one a line'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from schedule' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from schedule; and not __fish_seen_subcommand_from set list show pause resume remove run' -a 'set list show pause resume remove run'
complete -c fq -n '__fish_seen_subcommand_from schedule; and __fish_seen_subcommand_from set show pause resume remove run' -a '(__fq_ask schedule list --names)'

complete -c fq -n __fq_needs_command -a step -d 'do something once for a job'
complete -c fq -n '__fish_seen_subcommand_from step' -l shell -x -d 'instead of -- CMD: TEXT for sh -c'
complete -c fq -n '__fish_seen_subcommand_from step' -l sleep -x -d 'gives the message back for so long, once'
complete -c fq -n '__fish_seen_subcommand_from step' -l until -x -d 'likewise until then'
complete -c fq -n '__fish_seen_subcommand_from step' -l wait -d 'until these messages have ended, once'
complete -c fq -n '__fish_seen_subcommand_from step' -l wait-all -d 'until all that steps have pushed has ended'
complete -c fq -n '__fish_seen_subcommand_from step' -l push -d 'pushes a message once and prints its id each time'
complete -c fq -n '__fish_seen_subcommand_from step' -s t -l tenant -x -a '(__fq_tenants)' -d 'whose it is (default: $FQ_TENANT, else default)'
complete -c fq -n '__fish_seen_subcommand_from step' -s p -l priority -x -d 'higher first (default: 0)'
complete -c fq -n '__fish_seen_subcommand_from step' -l key -x -d 'sort key where order is "key" (default: none)'
complete -c fq -n '__fish_seen_subcommand_from step' -l delay -x -d 'not before this long from now (default: none)'
complete -c fq -n '__fish_seen_subcommand_from step' -l at -x -d 'not before this time (default: none)'
complete -c fq -n '__fish_seen_subcommand_from step' -l ttl -x -d 'dead if not started this long after it is due'
complete -c fq -n '__fish_seen_subcommand_from step' -l attempts -x -d 'runs that count (default: attempts in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from step' -l tag -x -d 'a label; may be given again'
complete -c fq -n '__fish_seen_subcommand_from step' -l payload -x -d 'also when it begins with \'-\''
complete -c fq -n '__fish_seen_subcommand_from step' -l file -r -F -d 'read it from a file, \'-\' is stdin'
complete -c fq -n '__fish_seen_subcommand_from step' -l timeout -x -d 'limit of a run (default: timeout in fq.toml)'
complete -c fq -n '__fish_seen_subcommand_from step' -l keep -x -d 'told of so long after its end (default: retention)'
complete -c fq -n '__fish_seen_subcommand_from step' -l env -x -a '(set -nx)' -d 'a variable for CMD; may be given again'
complete -c fq -n '__fish_seen_subcommand_from step' -l env-all -d 'all of ours but FQ_* for CMD'
complete -c fq -n '__fish_seen_subcommand_from step' -l list -d 'the steps of message ID, else of this job\'s'
complete -c fq -n '__fish_seen_subcommand_from step' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from step' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from step; and __fish_contains_opt list' -a '(__fq_ids all)'

complete -c fq -n __fq_needs_command -a tenant -d 'show, set, pause and limit tenants'
complete -c fq -n '__fish_seen_subcommand_from tenant' -s t -l tenant -x -a '(__fq_tenants)' -d 'this one and all below it (list: default: all)'
complete -c fq -n '__fish_seen_subcommand_from tenant' -l for -x -d 'limit: nothing starts for so long; none: at once'
complete -c fq -n '__fish_seen_subcommand_from tenant' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from tenant' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from tenant' -l names -d 'list: only the names, one a line, as they are'
complete -c fq -n '__fish_seen_subcommand_from tenant; and not __fish_seen_subcommand_from list set pause resume limit' -a 'list set pause resume limit'
complete -c fq -n '__fish_seen_subcommand_from tenant; and __fish_seen_subcommand_from set pause resume limit' -a '(__fq_tenants)'
complete -c fq -n '__fish_seen_subcommand_from tenant; and __fish_seen_subcommand_from set' -a '(__fq_keys tenant)'

complete -c fq -n __fq_needs_command -a config -d 'show what holds and why; edit and check fq.toml'
complete -c fq -n '__fish_seen_subcommand_from config' -s t -l tenant -x -a '(__fq_tenants)' -d 'show: of this tenant (default: of the queue)'
complete -c fq -n '__fish_seen_subcommand_from config' -l if-version -x -d 'load: only over this one (default: any)'
complete -c fq -n '__fish_seen_subcommand_from config' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from config' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from config; and not __fish_seen_subcommand_from show edit check path load get' -a 'show edit check path load get'
complete -c fq -n '__fish_seen_subcommand_from config; and __fish_seen_subcommand_from load' -F

complete -c fq -n __fq_needs_command -a check -d 'read everything and compare'
complete -c fq -n '__fish_seen_subcommand_from check' -l repair -d 'set damaged bytes aside and go on without them'
complete -c fq -n '__fish_seen_subcommand_from check' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from check' -l json -d 'short for --format json'

complete -c fq -n __fq_needs_command -a compact -d 'give back what of the journal is not needed'
complete -c fq -n '__fish_seen_subcommand_from compact' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from compact' -l json -d 'short for --format json'

complete -c fq -n __fq_needs_command -a report -d 'write a page on what happened and what is stuck'
complete -c fq -n '__fish_seen_subcommand_from report' -l since -x -d 'from then on, or from so long ago (default: all)'
complete -c fq -n '__fish_seen_subcommand_from report' -s o -l output -r -F -d 'write it there (default: standard output)'

complete -c fq -n __fq_needs_command -a simulate -d 'replay what happened, or a load, under another policy'
complete -c fq -n '__fish_seen_subcommand_from simulate' -l policy -r -F -d 'under this fq.toml (default: the spool\'s own)'
complete -c fq -n '__fish_seen_subcommand_from simulate' -s j -l jobs -x -d 'N slots (default: as many as ran at once; --load: 1)'
complete -c fq -n '__fish_seen_subcommand_from simulate' -l since -x -d 'from then on, or from so long ago (default: all)'
complete -c fq -n '__fish_seen_subcommand_from simulate' -l load -x -d 'a load instead: TENANT:RATE,run=DUR[,weight=W]'
complete -c fq -n '__fish_seen_subcommand_from simulate' -l for -x -d 'how long that load comes (default: 1h)'
complete -c fq -n '__fish_seen_subcommand_from simulate' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from simulate' -l json -d 'short for --format json'

complete -c fq -n __fq_needs_command -a backup -d 'copy a spool while it is in use'
complete -c fq -n '__fish_seen_subcommand_from backup' -x -a '(__fish_complete_directories)' -d directory

complete -c fq -n __fq_needs_command -a export -d 'write a queue as lines of JSON'
complete -c fq -n '__fish_seen_subcommand_from export' -l live -d 'do not pause the queue; what changes later is missed'

complete -c fq -n __fq_needs_command -a import -d 'take in what export wrote'
complete -c fq -n '__fish_seen_subcommand_from import' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from import' -l json -d 'short for --format json'
complete -c fq -n '__fish_seen_subcommand_from import' -F

complete -c fq -n __fq_needs_command -a doctor -d 'look at what fq rests on'
complete -c fq -n '__fish_seen_subcommand_from doctor' -l format -x -a 'human json' -d 'how to show it'
complete -c fq -n '__fish_seen_subcommand_from doctor' -l json -d 'short for --format json'

complete -c fq -n __fq_needs_command -a help -d 'explain fq or a command'
complete -c fq -n '__fish_seen_subcommand_from help' -l version -d 'the version of fq'
complete -c fq -n '__fish_seen_subcommand_from help' -a 'push pop ack retry release bury extend kick cancel edit move jobs peek show explain log stats top report simulate wait result worker workers queue schedule step tenant config check compact backup export import doctor help'
