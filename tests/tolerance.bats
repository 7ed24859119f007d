# A smaller target gap never gives a larger primal.

load helper

setup() {
    cd "$tmp" || exit 1
}

# scattered FAMILY SEED: prints 8 to 19 random rows of two or three features, one of them large, with labels of
# the family.
scattered() {
    awk -v family="$1" -v seed="$2" '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            seed += 1000
            for (i = 0; i < 20; i++) uniform()
            n = 8 + int(12 * uniform())
            d = 2 + int(2 * uniform())
            for (f = 1; f <= d; f++) size[f] = exp(log(10) * (f == 1 ? 5 * uniform() : 1 - 4 * uniform()))
            for (i = 0; i < n; i++) {
                k = int(3 * uniform())
                line = family == "rank" ? k " qid:" int(1 + 3 * uniform()) : family == "top" ? (i == 0 || i > 1 && k == 0) : family == "ml" && k < 2 ? k ",2" : k
                for (f = 1; f <= d; f++) line = line sprintf(" %d:%.9g", f, (uniform() - .5) * size[f])
                print line
            }
        }'
}

# descends FAMILY ARGUMENTS: checks that the primal of fits of `rows` does not increase from one target gap to the
# next smaller one, up to the rounding of its evaluation.
descends() {
    local family=$1 e now last=
    shift
    for e in 1 .5 .1 1e-2 1e-3 1e-4 1e-5 1e-6 1e-7 1e-8 1e-9; do
        limited "svm-$family-train" -q --force -j 1 -e $e "$@" rows model >report 2>/dev/null ||
            fail "svm-$family-train -e $e $*: exit $?"
        now=$(awk '$1 == "primal" { print $3 }' report)
        [ -n "$now" ] || fail "svm-$family-train -e $e $*: no primal"
        [ -z "$last" ] || awk -v p="$now" -v q="$last" 'BEGIN { exit !(p <= q * (1 + 1e-12)) }' ||
            fail "svm-$family-train -e $e $*: primal $now, and $last at a larger gap"
        last=$now
    done
}

# bats test_tags=long,slow
@test "tolerance: rank: a smaller gap never gives a larger primal" {
    for seed in 1 2; do
        scattered rank $seed >rows
        for loss in hinge squared-hinge; do
            descends rank -l $loss -c 10
            descends rank -l $loss -t rbf -g .1 -c 100
            descends rank -l $loss -t polynomial -d 3 -r 1 -c 1e-6
            descends rank -l $loss -t polynomial -d 4 -g .1 -c 1e3 --solver "$([ $loss = hinge ] && echo ocas || echo newton)"
            descends rank -l $loss -t polynomial -d 2 -c 1 --pair-features exterior
        done
        descends rank -t sigmoid -c 1
    done
}

# bats test_tags=long,slow
@test "tolerance: mc, linear: a smaller gap never gives a larger primal" {
    for seed in 1 2 3; do
        scattered mc $seed >rows
        for formulation in ww cs llw adm atm ats mmr ova; do
            descends mc -s $formulation -c 10
        done
        descends mc -s cs -c .1 -B 1
    done
}

# bats test_tags=long,slow
@test "tolerance: mc, with kernels: a smaller gap never gives a larger primal" {
    scattered mc 1 >rows
    for formulation in ww cs llw adm atm ats mmr ova; do
        descends mc -s $formulation -t polynomial -d 3 -r 10 -c 1e-3
    done
    descends mc -s cs -t rbf -g .1 -c 100 -B 1
}

# bats test_tags=long,slow
@test "tolerance: top: a smaller gap never gives a larger primal" {
    scattered top 1 >rows
    for formulation in toppush 'toppushk -k 2' tau-fpl topmeank patmat patmat-np svm; do
        # shellcheck disable=SC2086 # options
        descends top -s $formulation -t polynomial -d 2 -r 1 -c 100
    done
    descends top -l squared-hinge -c 10
}

# bats test_tags=long,slow
@test "tolerance: ml: a smaller gap never gives a larger primal" {
    for seed in 1 2 3; do
        scattered ml $seed >rows
        for loss in hinge squared-hinge; do
            descends ml -l $loss -c 10 -B 1
            descends ml -l $loss -c 1 -t rbf -g .1
            descends ml -l $loss -c 10 -t tanimoto --free-bias
        done
    done
}

# bats test_tags=long,slow
@test "tolerance: smm: a smaller gap never gives a larger primal" {
    for seed in 1 2 3; do
        scattered smm $seed >rows
        descends smm --shape 3x1 -s svm -c 1
        descends smm --shape 1x3 -s nuclear -c 10
    done
}
