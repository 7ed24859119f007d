# Support matrix machines over ranks: the answer of one process.
bats_require_minimum_version 1.5.0
load helper
load cluster

# rows N FEATURES: that many of three labels, which come one after the other.
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

# same RANKS OPTIONS: the same steps on ranks as in one process, but for rounding.
same() {
    local n=$1
    shift
    svm-smm-train -q -j 1 "$@" data.svm plain.model >plain
    ranks "$n" svm-smm-train -q -j 1 "$@" data.svm model >report || fail "$n ranks: $*"
    near "$(header primal report)" "$(header primal plain)" 1e-8
    near "$(header dual report)" "$(header dual plain)" 1e-8
    assert_equal "$(header rank report)" "$(header rank plain)"
    assert_equal "$(header labels model)" "$(header labels plain.model)"
}

@test "cluster: machines of each formulation, one label to a rank" {
    rows 90 12 >data.svm
    same 3 --shape 3x4 -s svm -e 1e-6
    same 2 --shape 3x4 -s svm -l 1 -e 1e-6 -w b:3
    same 2 --shape 3x4 -s lowrank -k 1 -l 1
    bounds svm-smm-train 3 --shape 3x4 -s nuclear --tau 3 -l 1
}

@test "cluster: machines of the hinge at low rank, and from random starts" {
    rows 60 6 | grep -v ^c >data.svm
    same 2 --shape 2x3 -s lowrank -k 1
    same 2 --shape 2x3 -s lowrank -k 1 --restarts 2 -l 1
    assert_equal "$(header starts report)" 3
}

@test "cluster: machines of fewer rows than features, and of fewer than ranks" {
    rows 12 30 >data.svm
    same 3 --shape 5x6 -s svm -e 1e-6
    bounds svm-smm-train 2 --shape 5x6 -s nuclear -e 1e-4
    rows 3 12 >data.svm
    same 4 --shape 3x4 -s svm -l 1 -e 1e-6
    same 5 --shape 3x4 -s lowrank -k 2
}

@test "cluster: one label on all ranks tells nothing apart" {
    rows 9 4 | head -3 >data.svm
    on_ranks 3 refused svm-smm-train --shape 2x2 data.svm model
    grep -q 'all rows have one label' err || fail "$(<err)"
}
