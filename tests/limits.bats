#!/usr/bin/env bats
# Limits: --max-time ends any run, with a model if there is one, and work that needs more memory than is
# available or than -m allows is refused in advance. Times are not measured here.

load helper

# nothing PRIMAL MODEL: checks that the model is the zero solution with its bounds, and that the report of `late`
# says so.
nothing() {
    assert_equal "$(header iterations "$2")" 0
    near "$1" "$(header primal "$2")" 1e-12
    assert_equal "$(header dual "$2")" 0
    assert_equal "$(header gap "$2")" 1
    assert_equal "$(header certified "$2")" yes
    grep -q '^note = all rows have the same score: the model tells nothing apart; the limit of time is reached$' out
}

# late FAMILY ROWS OPTION...: trains with an expired time limit, to `model`.
late() {
    local family=$1 rows=$2
    shift 2
    limited "svm-$family-train" -q --force --max-time 1e-9 "$@" "$rows" model >out 2>err
    assert_equal "$(grep -c 'warning: not converged: the limit of time is reached' err)" 1
}

# twelve rows of three classes
classes() {
    awk 'BEGIN { for (i = 0; i < 12; i++)
        printf "%s 1:%d 2:%d 3:1\n", substr("abc", i % 3 + 1, 1), i % 5, i * i % 7 }'
}

# bats test_tags=long
@test "limits: with an expired time limit every family writes the zero solution with its bounds" {
    cd "$tmp" || exit 1
    classes >mc
    sed 's/^[bc]/-1/; s/^a/1/' mc >top
    sed 's/^a/a,b/' mc >ml
    awk '{ $1 = NR % 3 " qid:1"; print }' mc >rank
    for kernel in linear rbf; do
        late mc mc -s ww -c 2 -t $kernel
        nothing 48 model # two other classes, with a loss of 1 each
        svm-mc-predict -q mc model scores
        late mc mc -s cs -c 2 -t $kernel
        nothing 24 model
        late top top -c 2 -t $kernel
        nothing 8 model
        svm-top-predict -q top model scores
        late ml ml -c 2 -t $kernel --free-bias
        nothing 24 model
        svm-ml-predict -q ml model scores
        late rank rank -c 2 -t $kernel
        nothing 96 model # 3 x 16 pairs
        svm-rank-predict -q rank model scores
        late rank rank -c 2 -t $kernel --pair-features exterior
        nothing 96 model
        svm-rank-predict -q --pairs rank model scores
    done
    for formulation in 'toppushk -k 2' 'tau-fpl --tau .5' 'topmeank --tau .5' patmat patmat-np svm 'svm -B 2' \
        grill grill-np; do
        late top top -s $formulation --calibrate .2
        svm-top-predict -q top model scores
    done
    # for grill it is the first start with the first primal scaling, 2^-20
    late top top -s grill
    awk '$1 == "w" { body = 1; next } $1 == "end" { exit !(square > 0 && square < 2 ^ -39) }
        body { square += $1 * $1 }' model || fail "$(<model)"
    for formulation in svm nuclear; do
        late smm top -s $formulation -c 2 --shape 1x3
        nothing 16 model # the four of the rarer label have margin 2, with the best bias
        svm-smm-predict -q top model scores
    done
}

@test "limits: with an expired time limit no bound is claimed for a kernel that may be indefinite" {
    cd "$tmp" || exit 1
    classes >mc
    late mc mc -t sigmoid
    assert_equal "$(header gap model)" none
    assert_equal "$(header certified model)" no
}

@test "limits: with an expired time limit --strict exits with 3, and there is no proof" {
    cd "$tmp" || exit 1
    classes >mc
    run --separate-stderr svm-mc-train -q --max-time 1e-9 --strict --proof proof mc model
    assert_failure 3
    [ -s model ]
    [ ! -e proof ]
    [[ $stderr == *'no proof is written: there was no time for a fit'* ]]
}

@test "limits: the time of a run is shared by the folds, the calibration and the fit" {
    cd "$tmp" || exit 1
    classes >mc
    limited svm-mc-train -q --max-time 1e-9 -v 3 mc >out 2>err
    grep -q 'not converged: 3 of 3 fits to folds' err
    grep -q 'Cross Validation Accuracy' out
    awk '{ $1 = NR % 3 " qid:1"; print }' mc >rank
    limited svm-rank-train -q --max-time 1e-9 -b 1 rank model >out 2>err
    grep -q 'not converged: 5 of 5 fits to folds' err
    nothing 48 model
    grep -q 'no calibration: there was no time' err # of a model of zeros
    run -1 grep '^probability-slope ' model
    # with enough time all fits converge
    limited svm-mc-train -q --max-time 500 -b 1 mc timed >out 2>err
    [ ! -s err ]
    svm-mc-train -q -b 1 mc untimed >out
    cmp timed untimed
}

# bats test_tags=long
@test "limits: a fit of many classes or to a kernel on all rows ends in time, with valid bounds" {
    cd "$tmp" || exit 1
    awk 'BEGIN { for (i = 0; i < 40000; i++)
        printf "%d 1:%d 2:%d\n", i % 20000, i % 11, i % 13 }' >many
    awk 'BEGIN { for (i = 0; i < 20000; i++)
        printf "%d 1:%d 2:%d\n", i % 50 ? 1 : -1, i % 11, i % 13 }' >rows
    limited svm-mc-train -q --max-time 1 many model >out 2>err
    awk '$1 == "primal" { P = $2 } $1 == "dual" { D = $2 }
        END { exit !(0 <= D && D <= P && 0 < P && P <= 40000 * 19999 * (1 + 1e-9)) }' model
    limited svm-top-train -q --force --max-time 1 -t laplacian -m 10 rows model >out 2>err
    awk '$1 == "primal" { P = $2 } $1 == "dual" { D = $2 }
        END { exit !(0 <= D && D <= P && 0 < P && P <= 19600 * (1 + 1e-9)) }' model
}

# bats test_tags=long,slow
@test "limits: a fit of thousands of labels ends in time: thresholds and biases check the clock" {
    quick && skip 'long: the plain build does it'
    cd "$tmp" || exit 1
    awk 'BEGIN { for (i = 0; i < 1000; i++) {
        for (k = 0; k < 7; k++) printf "%sL%dx%d", k ? "," : "", i, k
        printf " %d:%d\n", i % 50 + 1, i % 7 + 1 } }' >sets
    awk 'BEGIN { for (i = 0; i < 10000; i++) printf "L%d %d:%d\n", i, i % 50 + 1, i % 7 + 1 }' >matrices
    limited svm-ml-train -q --max-time 1 sets model >out 2>err
    [ -s model ]
    rm model
    limited svm-smm-train -q --shape 5x10 --max-time 1 matrices model >out 2>err
    [ -s model ]
    assert_equal "$(cat err)" 'svm-smm-train: warning: not converged: the limit of time is reached'
}

# bats test_tags=long
@test "limits: unfinished fits to folds are abandoned, and the results so far are written" {
    cd "$tmp" || exit 1
    awk 'BEGIN { for (i = 0; i < 40000; i++)
        printf "%d 1:%d 2:%d\n", i % 20000, i % 11, i % 13 }' >many
    limited svm-mc-train -q --max-time 1 -v 3 many >out 2>err
    grep -q 'warning: no time for [123] fits to folds, which measures leave out' err
    limited svm-mc-train -q --max-time 1 -v 3 -c 1,2 many model >out 2>err
    grep -q 'warning: no time for [1-6] fits to folds' err
    assert_equal "$(wc -l <out)" 3
    [ -s model ]
}

@test "limits: starts of smm that there is no time for do not lose the others" {
    cd "$tmp" || exit 1
    svm-generate smm --rows 400 --output rows.svm
    limited svm-smm-train -q --force --max-time 1 --restarts 200000 rows.svm model >out 2>err
    awk '$1 == "starts" && $3 > 200000 { exit 1 } $1 == "rank" && $3 > 0 { fitted = 1 }
        END { exit !fitted }' out || fail "$(<out)"
}

@test "limits: a solver that does not check the clock is abandoned" {
    unit driver/plain_fit
}

@test "limits: a run that waits for its input ends by the time limit, with one line" {
    cd "$tmp" || exit 1
    mkdir here && cd here || exit 1
    mkfifo pipe
    echo 'dualsvm mc 1' >model
    sleep 500 3>pipe & # opens it, and writes nothing
    sleeper=$!
    run --separate-stderr limited svm-mc-train -q --max-time 0.1 pipe model
    kill $sleeper
    assert_failure 1
    assert_equal "$stderr" 'svm-mc-train: the limit of time is passed, with nothing to write yet'
    assert_equal "$(cat model)" 'dualsvm mc 1'
    assert_equal "$(find . ! -name . -prune | sort | tr '\n' ' ')" './model ./pipe '
}

@test "limits: pair features respect -m, and the error states what they need" {
    cd "$tmp" || exit 1
    awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%d qid:1 1:%d\n", i % 3, i % 7 }' >rank
    refused svm-rank-train -q -m 1 --pair-features exterior rank model
    assert_equal "$(cat err)" \
        'svm-rank-train: pair features of these rows want 28 MB: the cache has 1'
    [ ! -e model ]
}

@test "limits: scores that exceed the address space are refused before the first fit" {
    cd "$tmp" || exit 1
    ! sanitized || skip 'a sanitizer wants addresses without a limit'
    awk 'BEGIN { for (i = 0; i < 40000; i++)
        printf "%d 1:%d 2:%d\n", i % 20000, i % 11, i % 13 }' >many
    ulimit -v 1500000
    refused svm-mc-train -q -v 2 many
    [[ $(<err) == 'svm-mc-train: out of memory: 3052 MB for scores of held-out rows, of '*' that are free' ]]
    refused svm-mc-train -q -b 1 many model
    [[ $(<err) == 'svm-mc-train: out of memory: 6104 MB for scores of held-out rows, of '*' that are free' ]]
    [ ! -e model ]
}

@test "limits: without time for the calibration the model has none, and a warning is printed" {
    cd "$tmp" || exit 1
    awk 'BEGIN { for (i = 0; i < 40000; i++)
        printf "%d 1:%d 2:%d\n", i % 5000, i % 11, i % 13 }' >many
    run --separate-stderr limited svm-mc-train -q --max-time 0.5 --strict -b 1 many model
    assert_failure 3
    [[ $stderr == *'not converged: '* ]]
    awk '$1 == "primal" { P = $2 } $1 == "dual" { D = $2 }
        END { exit !(0 <= D && D <= P && 0 < P && P <= 40000 * 4999 * (1 + 1e-9)) }' model
    if [[ $stderr == *'no calibration: there was no time for its fits to folds'* ]]; then
        run -1 grep '^probability' model
    else # a fast machine
        grep -q '^probability' model
    fi
}
