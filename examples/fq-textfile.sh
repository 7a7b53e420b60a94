#!/bin/sh
# fq-textfile.sh - puts the counts of all queues where Prometheus' node_exporter reads them.
#
# usage: fq-textfile.sh DIR      DIR is what node_exporter has as --collector.textfile.directory
#
# Run it every 15 seconds or so as the user whose spool it is: by the timer beside it (fq-textfile.timer), or from
# cron, which can do so once a minute:
#   * * * * * FQ_SPOOL=/var/spool/fq /usr/local/bin/fq-textfile.sh /var/lib/prometheus/node-exporter
#
# The file takes its place in one step, so a scrape never reads half of it. Where fq fails, the old file is left as it
# is: node_textfile_mtime_seconds tells how old it is. With many tenants leave out the second command: each tenant
# costs some twenty series.
set -eu
directory=${1:?usage: fq-textfile.sh DIR}
new=$directory/fq.prom.$$
trap 'rm -f "$new"' EXIT
umask 022
"${FQ:-fq}" stats --format prometheus >"$new"
"${FQ:-fq}" stats --tenants --format prometheus >>"$new"
mv -f "$new" "$directory/fq.prom"
