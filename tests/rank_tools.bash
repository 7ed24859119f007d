# For the Bats files about svm-rank: load after helper.

family=rank

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

# oracle FILE ARGUMENTS: the optimum over explicit pairs, by the tests own solver, into $pairs,
# $optimum_low and $optimum_high.
oracle() {
    local out
    out=$("$bin/tests/unit/families/rank/solver/oracle" "$@" -e 1e-9) || fail "oracle $*: $out"
    pairs=$(awk '$1 == "pairs" { print $2 }' <<<"$out")
    optimum_high=$(awk '$1 == "primal" { print $2 }' <<<"$out")
    optimum_low=$(awk '$1 == "dual" { print $2 }' <<<"$out")
}

# brackets MODEL EPSILON: asserts dual <= optimum <= primal, gap = (primal - dual) / primal, and
# gap <= EPSILON.
brackets() {
    local primal dual gap
    primal=$(header primal "$1")
    dual=$(header dual "$1")
    gap=$(header gap "$1")
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

# precomputed FILE: the same rows with 0:serial and the values of the linear kernel, exact in float.
precomputed() {
    awk '{ label[NR] = $1 " " $2; for (f = 3; f <= NF; f++) { split($f, v, ":"); x[NR, v[1]] = v[2] }
           n = NR }
         END { for (i = 1; i <= n; i++) { line = label[i] " 0:" i
               for (j = 1; j <= n; j++) { sum = 0
                   for (f = 1; f <= 4; f++) sum += x[i, f] * x[j, f]
                   line = line sprintf(" %d:%.17g", j, sum) }
               print line } }' "$1"
}

# changed_model: a model from standard input, whose last line gets the right checksum.
changed_model() {
    cat >given
    sed '$d' given >body
    cat body
    sed -n '$p' given | sed "s/[0-9a-f]*\$/$(gzip -c body | tail -c 8 | od -A n -t x4 -N 4 | tr -d ' ')/"
}
