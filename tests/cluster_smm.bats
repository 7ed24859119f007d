# Support matrix machines over processes give the result of one process.
bats_require_minimum_version 1.5.0
load helper
load cluster

# rows N FEATURES: N rows of three labels in turn.
rows() {
    awk -v n="$1" -v d="$2" 'BEGIN {
        srand(5)
        for (i = 0; i < n; i++) {
            class = int(3 * i / n)
            line = substr("abc", class + 1, 1)
            for (j = 1; j <= d; j++) { line = line " " j ":" 2 * rand() - 1 + (j % 3 == class) }
            print line
        }
    }'
}

# same PROCESSES OPTIONS: the steps over processes are those of one process, up to rounding.
same() {
    local n=$1
    shift
    svm-smm-train -q -j 1 "$@" data.svm plain.model >plain
    ranks "$n" svm-smm-train -j 1 "$@" data.svm model >report 2>said || fail "$n ranks: $*"
    near "$(header primal report)" "$(header primal plain)" 1e-8
    near "$(header dual report)" "$(header dual plain)" 1e-8
    assert_equal "$(header rank report)" "$(header rank plain)"
    assert_equal "$(header labels model)" "$(header labels plain.model)"
}

@test "cluster: smm of each formulation, one label per process" {
    rows 90 12 >data.svm
    same 3 --shape 3x4 -s svm -l 1 -e 1e-6
    same 2 --shape 3x4 -s svm -l 1 -e 1e-6 -w b:3
    same 2 --shape 3x4 -s lowrank -k 1 -l 1
    bounds svm-smm-train 3 --shape 3x4 -s nuclear --tau 3 -l 1
}

# bats test_tags=slow
@test "cluster: smm with the hinge and many values, which stay distributed" {
    rows 2250 90 | grep -v ^c >data.svm
    same 2 --shape 9x10 -s lowrank -k 1 -c .01
    assert_equal "$(header ranks report)" 2
    same 3 --shape 9x10 -s svm -e 1e-6 -c .01
    same 2 --shape 9x10 -s nuclear -c .01
}

@test "cluster: smm with the hinge and few values equals one process" {
    rows 60 6 >data.svm
    whole 3 svm-smm-train --shape 2x3 -s svm -e 1e-6
    assert_equal "$(header ranks report)" ''
    whole 2 svm-smm-train --shape 2x3 -s nuclear -w b:3
}

# bats test_tags=slow
@test "cluster: random starts of smm are distributed, and the best is that of one process" {
    rows 60 6 >data.svm
    whole 3 svm-smm-train --shape 2x3 -s lowrank -k 1 --restarts 4
    assert_equal "$(header starts report) $(header ranks report)" '5 3'
    assert_equal "$(sed '/^ranks/d; /seconds/d; /^exch/d' report)" "$(sed '/seconds/d' plain)"
    whole 2 svm-smm-train --shape 2x3 -s lowrank -k 2 --restarts 3 --scale minmax
    whole 4 svm-smm-train --shape 2x3 -s lowrank --solver alternate --restarts 2 -l 1
    rows 3 12 >data.svm
    whole 5 svm-smm-train --shape 3x4 -s lowrank --restarts 1
    # after a sweep, too
    rows 90 6 >data.svm
    svm-smm-train -q -v 3 -c 1,10 --restarts 2 --shape 2x3 data.svm plain.model >plain
    ranks 3 svm-smm-train -q -v 3 -c 1,10 --restarts 2 --shape 2x3 data.svm model >report
    cmp plain.model model
    cmp <(timeless plain) <(timeless report)
}

@test "cluster: random starts stop in time on all processes" {
    rows 900 60 >data.svm
    ranks 2 svm-smm-train -q -j 1 --shape 6x10 -k 2 -c 1e3 -e 1e-9 --restarts 90 --max-time .3 data.svm model >report 2>said
    grep -q 'limit of time' said
    [ -s model ]
}

# bats test_tags=slow
@test "cluster: smm with fewer rows than features, and fewer than processes" {
    rows 12 30 >data.svm
    same 3 --shape 5x6 -s svm -l 1 -e 1e-6
    bounds svm-smm-train 2 --shape 5x6 -s nuclear -l 1 -e 1e-4
    rows 3 12 >data.svm
    same 4 --shape 3x4 -s svm -l 1 -e 1e-6
    same 5 --shape 3x4 -s lowrank -k 2 -l 1
}

@test "cluster: smm with one label on all processes is refused" {
    rows 9 4 | head -3 >data.svm
    on_ranks 3 refused svm-smm-train --shape 2x2 data.svm model
    grep -q 'all rows have one label' err || fail "$(<err)"
}
