# For the Bats files about svm-rank: load after helper.

# rows N GROUPS FEATURES SEED [GRADES]: N rows of svmlight text, the same on every machine. Values
# are eighths, so that float holds them exactly; targets are grades 0..GRADES-1, or real numbers.
rows() {
    awk -v n="$1" -v groups="$2" -v features="$3" -v seed="$4" -v grades="${5-0}" '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            for (i = 0; i < 20; i++) uniform()
            for (f = 1; f <= features; f++) w[f] = uniform() - .5
            for (i = 0; i < n; i++) {
                line = ""; sum = 0
                for (f = 1; f <= features; f++) if (uniform() < .7) {
                    v = int(uniform() * 16) / 8
                    if (v > 0) { sum += w[f] * v; line = line " " f ":" v }
                }
                sum += (uniform() - .5) * .6
                t = int(sum * 1000) / 1000
                if (grades) {
                    t = int(sum * 3 + grades / 2)
                    t = t < 0 ? 0 : t > grades - 1 ? grades - 1 : t
                }
                printf "%s qid:%d%s\n", t, i % groups + 1, line
            }
        }'
}

# train ARGUMENTS: svm-rank-train, quiet; shows what it said when it fails.
train() {
    local status=0
    svm-rank-train -q "$@" >"$tmp/train.out" 2>"$tmp/train.err" || status=$?
    if [ "$status" != 0 ]; then
        fail "svm-rank-train -q $*: exit $status: $(cat "$tmp/train.err")"
    fi
}

# predict ARGUMENTS: svm-rank-predict, in the same way; prints what it printed.
predict() {
    local status=0
    svm-rank-predict -q "$@" 2>"$tmp/predict.err" || status=$?
    if [ "$status" != 0 ]; then
        fail "svm-rank-predict -q $*: exit $status: $(cat "$tmp/predict.err")"
    fi
}

# header KEY MODEL: the value of a header line.
header() {
    awk -v key="$1" '$1 == key { print $2; found = 1; exit } END { exit !found }' "$2"
}

# oracle FILE ARGUMENTS: the optimum over explicit pairs, by the tests own solver, into $pairs,
# $optimum_low and $optimum_high.
oracle() {
    local out
    out=$("$bin/tests/unit/solvers/rank/oracle" "$@" -e 1e-9) || fail "oracle $*: $out"
    # shellcheck disable=SC2034 # for the tests
    pairs=$(awk '$1 == "pairs" { print $2 }' <<<"$out")
    optimum_high=$(awk '$1 == "primal" { print $2 }' <<<"$out")
    optimum_low=$(awk '$1 == "dual" { print $2 }' <<<"$out")
}

# brackets MODEL EPSILON: asserts dual <= optimum <= primal, gap = (primal - dual) / primal, and
# gap <= EPSILON.
brackets() {
    local primal dual gap
    primal=$(header primal "$1") && dual=$(header dual "$1") && gap=$(header gap "$1") ||
        fail "no primal, dual and gap in $1"
    awk -v P="$primal" -v D="$dual" -v G="$gap" -v low="$optimum_low" -v high="$optimum_high" \
        -v epsilon="$2" 'BEGIN {
            P += 0; D += 0; G += 0; low += 0; high += 0; slack = 2e-9 * high
            if (P < low - slack) { print "primal " P " below the optimum " low; exit 1 }
            if (D > high + slack) { print "dual " D " above the optimum " high; exit 1 }
            if (G > epsilon + 0) { print "gap " G " over " epsilon; exit 1 }
            true_gap = (P - D) / P
            if (true_gap < 0) true_gap = 0
            if (G - true_gap > 1e-12 || true_gap - G > 1e-12) {
                print "gap " G " of primal " P " and dual " D; exit 1 }
        }' || fail "$1: primal $primal dual $dual gap $gap, optimum [$optimum_low, $optimum_high]"
}

# agree A B TOLERANCE: asserts that two files of numbers have the same count of lines, and that no
# number differs by more than TOLERANCE times the spread of A.
agree() {
    paste "$1" "$2" | awk -v tolerance="$3" '
        NF != 2 { print "line " NR ": " $0; bad = 1; exit 1 }
        { low = NR == 1 || $1 < low ? $1 + 0 : low; high = NR == 1 || $1 > high ? $1 + 0 : high
          d = $1 - $2; d = d < 0 ? -d : d; most = d > most ? d : most }
        END { if (!NR || bad || most > tolerance * (high - low)) {
            print "numbers differ by " most ", spread " high - low; exit 1 } }' ||
        fail "$1 and $2 do not agree"
}

# refused PROGRAM ARGUMENTS: asserts exit 1, one line on stderr that begins with the program's name,
# nothing on stdout. The line is left in $tmp/err.
refused() {
    ended_with 1 "$@"
}

# misused PROGRAM ARGUMENTS: the same with exit 2.
misused() {
    ended_with 2 "$@"
}

ended_with() {
    local expected=$1 status=0
    shift
    timeout 60 "$@" >"$tmp/out" 2>"$tmp/err" </dev/null || status=$?
    [ "$status" = "$expected" ] ||
        fail "exit $status, not $expected: $*: $(head -c 400 "$tmp/err" | head -3)"
    [ ! -s "$tmp/out" ] || fail "printed on stdout: $*: $(head -c 400 "$tmp/out" | head -3)"
    [ "$(wc -l <"$tmp/err")" = 1 ] ||
        fail "not one line of diagnosis: $*: $(head -c 800 "$tmp/err" | head -5)"
    [[ "$(<"$tmp/err")" == "$1: "* ]] ||
        fail "diagnosis without the program's name: $*: $(<"$tmp/err")"
}

# holds FOLDER NAMES: asserts that the folder holds exactly these names, temporary files included.
holds() {
    local folder=$1
    shift
    assert_equal "$(ls -A "$folder" | tr '\n' ' ')" \
        "$([ $# -eq 0 ] || printf '%s\n' "$@" | sort | tr '\n' ' ')"
}
