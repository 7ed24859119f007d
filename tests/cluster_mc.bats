# mc and ml over processes: objectives agree with those of one process within their gaps, and reports cover all
# rows.
bats_require_minimum_version 1.5.0
load helper
load cluster

# classes N: prints rows of four classes in six features. The first class is rare, so that few processes have it.
classes() {
    awk -v n="$1" 'BEGIN {
        srand(3)
        for (i = 1; i <= n; i++) {
            y = i % 50 == 7 ? 1 : 2 + int(3 * rand())
            printf "%d", y
            for (j = 1; j <= 6; j++) printf " %d:%.4f", j, rand() + (j == y ? .6 : 0)
            print ""
        }
    }'
}

# sets N: prints rows with some of five labels in seven features; one row has none, one has all.
sets() {
    awk -v n="$1" 'BEGIN {
        srand(5)
        for (i = 1; i <= n; i++) {
            labels = i == 4 ? "1,2,3,4,5" : ""
            features = ""
            for (j = 1; j <= 7; j++) {
                x[j] = rand()
                features = features sprintf(" %d:%.4f", j, x[j])
            }
            for (k = 1; k <= 5 && i > 4; k++) if (x[k] + .4 * rand() > .8) labels = labels (labels == "" ? "" : ",") k
            print labels features
        }
    }'
}

# answers PROGRAM RANKS GAP OPTIONS: checks that fits on these numbers of processes to that gap, and the fit of one
# process, have intersecting intervals of bounds. Without memory for the rows of other processes, which mc would
# otherwise gather.
answers() {
    local program=$1 numbers=$2 gap=$3 n
    shift 3
    "$program" -q --force -j 1 -e "$gap" "$@" data.svm plain.model >plain
    for n in $numbers; do
        ranks "$n" "$program" -q --force -j 1 -m 1e-6 -e "$gap" "$@" data.svm "$n.model" >"$n.report" || fail "$n ranks: $*"
        awk -v p="$(header primal plain)" -v d="$(header dual plain)" -v gap="$gap" \
            -v q="$(header primal "$n.report")" -v e="$(header dual "$n.report")" \
            'BEGIN { exit !(p != "" && q != "" && d <= q && e <= p && p - d <= gap * p && q - e <= gap * q) }' ||
            fail "$n ranks, $*: $(cat plain "$n.report")"
    done
}

@test "cluster: mc, each formulation, with and without bias" {
    local s
    classes 300 >data.svm
    for s in ww llw atm mmr; do
        answers svm-mc-train 3 1e-4 -s $s
    done
    for s in cs adm ats ova; do
        answers svm-mc-train 2 1e-3 -s $s -B 1 -c 10
    done
}

@test "cluster: mc that processes would solve more slowly runs on process 0, with the model of one process" {
    classes 300 >data.svm
    whole 3 svm-mc-train -B 1 -w 1:3 --scale std
    assert_equal "$(header ranks report)" ''
    grep -q '^svm-mc-train: note: process 0 made the fit' said
    ranks 2 svm-mc-train --solver newton data.svm model >report # is worth it
    assert_equal "$(header ranks report)" 2
    # few of the columns occur
    awk 'NR < 40 { print $1, 1 + NR % 3 ":1", 90000 * (1 + NR % 20) ":" NR / 9 }' data.svm >wide.svm
    mv wide.svm data.svm
    whole 3 svm-mc-train
    printf '1 1:1\n2 2:1\n3 1:-1\n' >data.svm
    whole 5 svm-mc-train -s cs
}

# bats test_tags=slow
@test "cluster: mc with each solver, and with a small gap" {
    classes 300 >data.svm
    answers svm-mc-train 4 1e-7 -c 30
    answers svm-mc-train 2 1e-3 --solver bcd
    answers svm-mc-train 3 1e-6 --solver newton -s cs
    answers svm-mc-train 3 1e-4 -w 1:7 -B 1
}

# bats test_tags=slow
@test "cluster: mc with too many weights for a linear system, and many classes" {
    classes 400 | awk '{ printf "%s", $0; for (j = 0; j < 10; j++) printf " %d:%s", 10 + (NR * 31 + j * 97) % 200 + 200 * j, .3; print "" }' >data.svm
    answers svm-mc-train 3 1e-3 -s ww -B .5
    awk 'NR <= 250 { $1 = 1 + NR % 70; print }' data.svm >many.svm
    mv many.svm data.svm
    answers svm-mc-train 2 1e-2 -s ww
    answers svm-mc-train 3 1e-2 -s cs
}

# bats test_tags=slow
@test "cluster: ml with both losses, each bias and each solver" {
    local l
    sets 150 >data.svm
    for l in 0 1; do
        answers svm-ml-train 4 1e-6 -l $l
        answers svm-ml-train 3 1e-4 -l $l -B 1 -c 5
        answers svm-ml-train 3 1e-5 -l $l --free-bias
        answers svm-ml-train 2 1e-2 -l $l -c .02 --solver bcd
    done
    answers svm-ml-train 2 1e-1 -c .02 --solver bcd --free-bias
    answers svm-ml-train 2 1e-5 --solver interior
}

@test "cluster: ml: thresholds and counts are those of the rows of all processes" {
    local t
    sets 90 >data.svm
    for t in ew global scut; do
        answers svm-ml-train 3 1e-9 -c .1 -l 1 --threshold $t
        assert_equal "$(header rows-without-labels 3.report) $(header rows-with-all-labels 3.report)" \
            "$(header rows-without-labels plain) $(header rows-with-all-labels plain)"
        svm-ml-predict -q data.svm plain.model plain.out
        svm-ml-predict -q data.svm 3.model 3.out
        # sums over rows may differ in the last digits, and so may sets at the threshold
        [ "$(cut -f1 plain.out | diff - <(cut -f1 3.out) | grep -c '^>')" -le 1 ] || fail "--threshold $t"
    done
}

# bats test_tags=slow
@test "cluster: mc and ml with more processes than rows, and processes without relevant rows" {
    printf '1 1:1\n2 2:1\n3 1:-1\n' >data.svm
    answers svm-mc-train 4 1e-6 -B 1
    answers svm-mc-train 5 1e-6 --solver newton
    printf '1 1:1\n 2:1\n2 1:-1\n1,2 2:1\n' >data.svm
    answers svm-ml-train 6 1e-6 -l 1
    answers svm-ml-train 6 1e-6 --free-bias
    answers svm-ml-train 6 1e-6 --solver interior
}

@test "cluster: mc and ml refuse to distribute kernels" {
    classes 20 >data.svm
    on_ranks 2 misused svm-mc-train -t 2 data.svm model
    grep -q 'fits of mc to kernels' err || fail "$(<err)"
    on_ranks 2 misused svm-ml-train -t 2 data.svm model
}

@test "cluster: mc and ml write no model if there is nothing to learn" {
    printf '1 1:1\n1 2:1\n1 1:1\n' >data.svm
    on_ranks 2 refused svm-mc-train -q data.svm model
    printf '1 1:1\n1 2:1\n1 1:1\n' >data.svm
    on_ranks 3 refused svm-ml-train -q data.svm model
    [ ! -e model ]
}

# in_time PROGRAM OPTIONS: checks that a fit of seconds ends by a far smaller time limit, on any machine.
in_time() {
    rm -f model
    ranks 2 "$@" -q -j 1 -c 1e4 -e 1e-9 --solver bcd --max-time .2 data.svm model >report 2>said ||
        fail "$(<said) $(<"$tmp/mpirun.said")"
    grep -q 'limit of time' said || fail "$(<said) $(<"$tmp/mpirun.said") $(<report)"
    awk -v p="$(header primal report)" -v d="$(header dual report)" 'BEGIN { exit !(p != "" && d >= 0 && d <= p) }'
}

@test "cluster: mc and ml stop at the time limit on all processes, with a true gap" {
    classes 20000 >data.svm
    in_time svm-mc-train -m 1e-6 -s ova
    sets 5000 >data.svm
    in_time svm-ml-train
}

# bats test_tags=slow
@test "cluster: mc and ml on real data" {
    real mc/letter.train.svm.gz
    zcat "$real" | sed -n 1,1500p >data.svm
    answers svm-mc-train 2 1e-3
    real ml/emotions.train.svm.gz
    zcat "$real" >data.svm
    answers svm-ml-train '2 4' 1e-6
}
