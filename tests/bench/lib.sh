# Sourced by the rows of the benchmark, each a script:
#
#     . "$(dirname "$0")/lib.sh"
#     need_data rank/eccb2018.fold1.train       # sets $file, or skips the row
#     compare 'what is done' ours.model OURS... ::: PEER...
#
# BENCH_RUNS is the number of paired runs (3); medians are printed. DUALSVM_DATA is the folder of the real
# data sets; a row without its data or its peer says so.
# shellcheck shell=sh
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
bin=${DUALSVM_BIN:-build}
case $bin in /*) ;; *) bin=$root/$bin ;; esac
data=${DUALSVM_DATA:-$root/../shared/data}
runs=${BENCH_RUNS:-3}
work=$bin/bench
mkdir -p "$work"
PATH=$bin:$bin/datasets:$PATH
cd "$work"

say() {
    printf '%-46s %s\n' "$1" "$2"
}

# need_data NAME: $file is the real data set NAME, unpacked (peers do not read gzip).
need_data() {
    file=$work/$(basename "$1").svm
    [ -f "$file" ] && return
    if [ ! -f "$data/$1.svm.gz" ]; then
        say "$1" 'skipped: no such real data (set DUALSVM_DATA)'
        exit 0
    fi
    gzip -dc "$data/$1.svm.gz" >"$file.part"
    mv "$file.part" "$file"
}

# need_generated NAME OPTIONS: $file is a generated data set, generated once.
need_generated() {
    file=$work/$1.svm
    shift
    [ -f "$file" ] || generate "$@" --output "$file.part"
    [ -f "$file" ] || mv "$file.part" "$file"
}

# gap_of MODEL: its certified relative gap, or - if there is none.
gap_of() {
    [ -f "$1" ] && awk '$1 == "gap" { print $2; found = 1; exit } END { if (!found) print "-" }' \
        "$1" || echo -
}

# compare WHAT MODEL OURS... [::: PEER...]: runs both alternately and prints the line of the table.
# MODEL is the output of OURS (- for none). A peer with an empty name is left out. With BENCH_AGAINST, a
# folder of another build of the programs, the peer is the same command there.
compare() {
    what=$1
    model=$2
    shift 2
    if [ -n "${BENCH_AGAINST-}" ]; then
        total=$# n=0 i=0
        for word in "$@"; do
            [ "$word" != ::: ] || break
            set -- "$@" "$word"
            n=$((n + 1))
        done
        shift "$total"
        set -- "$@" ::: env "PATH=$BENCH_AGAINST:$BENCH_AGAINST/datasets:$PATH"
        for word in "$@"; do
            [ $i -lt $n ] || break
            [ "$word" != "$model" ] || word=old.$model
            set -- "$@" "$word"
            i=$((i + 1))
        done
    fi
    name=-
    previous=
    for word in "$@"; do
        [ "$previous" != ::: ] || name=$(basename "$word")
        previous=$word
    done
    [ -z "${BENCH_AGAINST-}" ] || name=old
    rm -f "$model" "old.$model"
    measure_lines=$("$root/tests/bench/measure" "$runs" "$work" "$@")
    echo "$measure_lines" | awk -v what="$what" -v gap="$(gap_of "$model")" -v peer="$name" \
        -v against="${BENCH_AGAINST-}" '
        function ratio(ours, theirs) { return ours > 0 ? theirs / ours : 0 }
        { wall[NR] = $1; user[NR] = $2; peak[NR] = $3; status[NR] = $4 }
        END {
            if (gap != "-") gap = sprintf("%.1e", gap)
            printf "%-46s %8.2f %8.2f %8.0f %9s  ", what, wall[1], user[1], peak[1], gap
            if (NR < 2) printf "-\n"
            else if (status[2] != 0) printf "%s failed (status %d)\n", peer, status[2]
            else printf "%-16s %8.2f %8.2f %8.0f %7.2f x\n", peer, wall[2], user[2], peak[2], \
                ratio(against ? user[1] : wall[1], against ? user[2] : wall[2])
            exit status[1] != 0
        }' || {
        echo "$what: our run failed:" >&2
        tail -n 5 "$work/1.out" >&2
        exit 1
    }
}

# peer_named VARIABLE: $peer is the program that an environment variable names, or empty: then
# compare shows ours only.
peer_named() {
    peer=$(printenv "$1" || true)
    [ -n "$peer" ] || echo "# no peer for the next lines: set $1 to its program"
}
