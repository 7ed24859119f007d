# Classification at the top over processes: the results equal those of one process.
bats_require_minimum_version 1.5.0
load helper
load cluster

# rows N: prints N rows of five features in steps of 1/2, so that scores are often equal. A third of them is
# positive; these are last.
rows() {
    awk -v n="$1" 'BEGIN {
        srand(11)
        for (i = 1; i <= n; i++) {
            line = i <= 2 * n / 3 ? "-1" : "1"
            for (j = 1; j <= 5; j++) { line = line " " j ":" int(5 * rand() + (line > 0) * (j < 3)) / 2 }
            print line
        }
    }'
}

# same RANKS OPTIONS: checks that the interior-point method takes the same steps as in one process.
same() {
    local n=$1 name
    shift
    svm-top-train -q -j 1 --solver interior "$@" data.svm plain.model >plain
    ranks "$n" svm-top-train -q -j 1 --solver interior "$@" data.svm model >report || fail "$n ranks: $*"
    near "$(header primal report)" "$(header primal plain)" 1e-10
    for name in positives negatives iterations; do
        assert_equal "$(header "$name" report)" "$(header "$name" plain)"
    done
    # By strong convexity w is determined to the square root of the tolerance of the objective.
    near "$(header threshold model)" "$(header threshold plain.model)" 1e-5
    assert_equal "$(header labels model)" "$(header labels plain.model)"
    within "$(header gap report)" 0 1e-5
}

@test "cluster: top has the objective of one process, with each convex formulation and loss" {
    rows 90 >data.svm
    same 2 -s toppush -e 1e-6
    same 3 -s toppush -l 1 -c 10 -e 1e-6
    same 2 -s toppushk -k 7.5 -e 1e-6 --lambda .01
    same 3 -s tau-fpl --tau .2 -e 1e-6
    same 2 -s topmeank --tau .9 -l 1 -e 1e-6
    same 2 -s patmat -l 1 --theta .1 -e 1e-6
    same 3 -s patmat-np --theta 5 -e 1e-6
    same 3 -s svm -l 1 -B 1 -e 1e-6
}

# bats test_tags=slow
@test "cluster: cutting planes, the interior-point fallback, and coordinate descent in rounds" {
    rows 90 >data.svm
    bounds svm-top-train 2 -s toppushk --solver bundle
    bounds svm-top-train 3 -s patmat
    bounds svm-top-train 3 -s svm --solver cd -m 1e-6
    bounds svm-top-train 2 -s svm --solver cd -m 1e-6 -l 1 -B 1
}

@test "cluster: svm by coordinate descent runs on process 0 if several processes would be slower" {
    rows 90 >data.svm
    ranks 3 svm-top-train -s svm --solver cd -m 1e-6 data.svm model >report # no rank has room for all
    assert_equal "$(header ranks report)" 3
    whole 3 svm-top-train -s svm --solver cd -l 1 -B 1
    grep -q '^svm-top-train: note: process 0 made the fit' said
    ranks 2 svm-top-train -s svm data.svm model >report # dense rows may be for cutting planes
    assert_equal "$(header ranks report)" 2
    awk '{ print $1, $2, 10 + NR % 20 ":1" }' data.svm >sparse.svm
    mv sparse.svm data.svm
    whole 2 svm-top-train -s svm
}

# bats test_tags=slow
@test "cluster: classes and weights are those of all processes, some without rows" {
    rows 9 >data.svm
    same 4 -s toppushk -k 2 -w 1:2.5 -w -1:.7 -e 1e-6
    same 2 -s topmeank --tau 1 -e 1e-6 # beta has no inside
    same 3 --positive -1 -e 1e-6
    rows 3 >data.svm
    same 4 -s patmat -e 1e-6
    ranks 3 svm-top-train -q -s topmeank --tau .01 data.svm model >report
    svm-top-train -q -s topmeank --tau .01 data.svm plain.model >plain
    near "$(header primal report)" "$(header primal plain)" 1e-10
}

@test "cluster: starts of grill are assigned to idle processes, and the best equals that of one process" {
    rows 90 >data.svm
    whole 3 svm-top-train -s grill
    assert_equal "$(header iterations report) $(header ranks report)" "$(header iterations plain) 3"
    whole 2 svm-top-train -s grill-np --starts 4 -l 1 -w 1:2 --scale std
    whole 2 svm-top-train -s grill --max-iter 20 # of all starts together: of one process
    assert_equal "$(header ranks report)" ''
    rows 3 >data.svm
    whole 4 svm-top-train -s grill --starts 2
    rows 90 >data.svm
    svm-top-train -q -s grill data.svm plain.model
    split -n l/3 -d -a 1 --additional-suffix=.svm data.svm part.
    ranks 3 svm-top-train -q -s grill part.%d.svm model
    cmp plain.model model
    ranks 2 svm-top-train -q -s grill --calibrate .2 data.svm model
    svm-top-train -q -s grill --calibrate .2 data.svm plain.model
    cmp plain.model model
}

# bats test_tags=slow
@test "cluster: each process uses the weights of its own rows" {
    rows 90 >data.svm
    awk '{ print NR % 4 / 2 }' data.svm >weights
    same 3 -s tau-fpl --tau .2 --row-weights weights -e 1e-6
    same 2 -s svm -l 1 -w 1:2 --row-weights weights -e 1e-6
    whole 2 svm-top-train -s grill --row-weights weights
    head -89 weights >few
    on_ranks 3 refused svm-top-train --row-weights few data.svm model
    { cat few && echo -1; } >negative
    on_ranks 3 refused svm-top-train --row-weights negative data.svm model
    grep -q '^svm-top-train: negative:90:1: ' err || fail "$(<err)"
    on_ranks 2 misused svm-top-train --row-weights - data.svm model
}

@test "cluster: options of top that cannot be distributed are refused" {
    rows 9 >data.svm
    on_ranks 2 misused svm-top-train --solver smo data.svm model
    grep -q 'fits by --solver smo are not distributed over MPI processes' err
    on_ranks 2 misused svm-top-train -t 2 data.svm model
}

@test "cluster: an error that depends on all rows is reported once" {
    rows 9 >data.svm
    on_ranks 3 refused svm-top-train -s toppushk -k 7 data.svm model
    grep -q 'K is 7, but there are only 6 negatives' err || fail "$(<err)"
    head -6 data.svm >negatives.svm
    on_ranks 3 refused svm-top-train negatives.svm model
    grep -q 'no positive row' err || fail "$(<err)"
}

@test "cluster: top on real data, to a gap of 1e-6" {
    real top/ionosphere.svm.gz
    ln -s "$real" data.svm
    same 2 -s toppush -e 1e-6
    same 3 -s patmat-np -l 1 -e 1e-6
}
