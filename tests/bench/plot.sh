#!/bin/bash
# plot - draws the sections "Peers" of a bench's output as bars (SVG).
#
# usage: tests/bench/run.sh | tee run.txt; tests/bench/plot.sh run.txt >tests/bench/speed.svg
# The bars are logarithmic: each vertical line is ten times the one before it.
set -eu
awk '
  function shown(rate) {
    if (rate >= 1e6) return sprintf("%.2f M/s", rate / 1e6)
    if (rate >= 1e3) return sprintf("%.1f k/s", rate / 1e3)
    return sprintf("%d /s", rate)
  }
  function text(x, y, size, anchor, words) {
    gsub(/&/, "\\&amp;", words); gsub(/</, "\\&lt;", words)
    body = body sprintf("<text x=\"%d\" y=\"%d\" font-size=\"%d\" text-anchor=\"%s\">%s</text>\n", x, y, size, anchor, words)
  }
  /^fq bench/ { run = $0 }
  /^[^ ]/ { peers = sub(/^Peers: /, ""); if (peers) { y += 34; text(0, y, 13, "start", $0) } next }
  peers && match($0, /[0-9.]+ \/s/) {
    rate = substr($0, RSTART, RLENGTH - 3) + 0
    name = substr($0, 3, 50); sub(/ +$/, "", name)
    y += 20
    width = 90 * (log(rate) / log(10) - 2)
    if (width < 2) width = 2
    text(250, y, 12, "end", name)
    body = body sprintf("<rect x=\"260\" y=\"%d\" width=\"%d\" height=\"13\" fill=\"%s\"/>\n", y - 11, width, name ~ /^fq/ ? "#2a7" : "#999")
    text(266 + width, y, 12, "start", shown(rate))
  }
  END {
    if (y == 0) { print "plot: no section Peers in the input" > "/dev/stderr"; exit 1 }
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"%d\" font-family=\"sans-serif\">\n", y + 40
    printf "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
    for (ten = 2; ten <= 6; ++ten) printf "<line x1=\"%d\" x2=\"%d\" y1=\"14\" y2=\"%d\" stroke=\"#ddd\"/>\n", 260 + 90 * (ten - 2), 260 + 90 * (ten - 2), y + 6
    text(0, y + 28, 10, "start", run)
    print body "</svg>"
  }' "$1"
