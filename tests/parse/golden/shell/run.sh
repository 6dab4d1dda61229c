#!/bin/sh
# Runs it.
LIMIT=3
export name="x"
readonly DIR=/tmp

# Says hello.
# To all.
hello() {
  local who=$1
  inner() { echo "$who"; }
  cat <<EOF
fake() { }
EOF
}

function bye { echo bye; }
hello world
