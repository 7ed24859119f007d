# RankSVM distributed over processes: the same fit as in one process, and failures of a process.
bats_require_minimum_version 1.5.0
load helper
load cluster

# queries N ROWS: N queries of about ROWS rows each, five features.
queries() {
    awk -v n="$1" -v rows="$2" 'BEGIN {
        srand(7)
        for (q = 1; q <= n; q++) {
            m = rows / 2 + int(rand() * rows)
            for (i = 0; i < m; i++) {
                line = ""
                t = 0
                for (j = 1; j <= 5; j++) { x = rand(); t += x * (j - 2); line = line " " j ":" x }
                print int(3 * t + 2 * rand()) " qid:" q line
            }
        }
    }'
}

# answers RANKS OPTIONS: for each number of processes, the objective of the program in one process, within
# `agreement`, by default 1e-10.
answers() {
    local numbers=$1 n
    shift
    svm-rank-train -q -j 1 "$@" data.svm plain.model >plain
    for n in $numbers; do
        ranks "$n" svm-rank-train -q -j 1 "$@" data.svm "$n.model" >"$n.report" 2>said || fail "$n ranks: $*"
        near "$(header primal "$n.report")" "$(header primal plain)" "${agreement:-1e-10}"
        [ ! -s said ] || fail "$n ranks: $(<said)" # that it has not converged
        assert_equal "$(header groups "$n.report") $(header pairs "$n.report")" \
            "$(header groups plain) $(header pairs plain)"
        assert_equal "$(header iterations "$n.report")" "$(header iterations plain)"
        svm-rank-predict -q data.svm "$n.model" scores
        assert_equal "$(wc -l <scores)" "$(wc -l <data.svm)"
    done
}

@test "cluster: the linear kernel has the objective of one process, with each method and loss" {
    queries 40 20 >data.svm
    answers '1 2 3 4' -l 0 -e 1e-6
    answers '2 4' -l 1 -e 1e-6
    answers 3 -l 0 --solver ocas
    answers 2 -l 1 --solver ocas
    answers 2 -l 0 --solver fw -e 1e-2
    answers 3 -l 1 -c 1e-3 --cost-per query --rank-gap 1:2
    answers 3 -l 0 --cost-per ndcg -e 1e-5
    answers 3 -l 1 --cost-per gain
}

# bats test_tags=slow
@test "cluster: conjugate gradients, with more features than a Hessian is formed for" {
    queries 20 12 | awk '{ printf "%s", $0; for (j = 0; j < 30; j++) printf " %d:%s", 10 + NR % 97 + 97 * j, (j + NR) % 3 - .5; print "" }' >data.svm
    # rounding of sums over processes may decide whether one more step of conjugate gradients is taken:
    # objectives agree within the target gap
    agreement=1e-6 answers 2 -l 1 -e 1e-6
    answers 3 -l 0
}

# bats test_tags=slow
@test "cluster: kernel matrices cached as a whole, in part and not at all" {
    queries 50 30 >data.svm
    answers '2 4' -t 2 -g .5
    answers 3 -t 1 -d 2 -l 1 -m 1 -e 1e-5 --solver newton # auto has features of the kernel in one process
    answers 2 -t 5 -m .01
}

@test "cluster: processes without rows and without pairs" {
    queries 3 6 >data.svm
    printf '1 qid:8 1:1\n1 qid:8 2:1\n' >>data.svm
    answers 4 -e 1e-6
    answers 3 -t 2
}

@test "cluster: all rows of one query are on one process" {
    queries 1 60 >data.svm
    answers 2 -l 1
}

@test "cluster: if no process has a pair, all fail" {
    printf '1 qid:1 1:1\n1 qid:1 1:2\n1 qid:2 1:3\n1 qid:2 1:4\n' >data.svm
    on_ranks 2 refused svm-rank-train data.svm model
    grep -q 'no preference pair' err || fail "$(<err)"
}

@test "cluster: options that cannot be distributed are refused" {
    queries 3 6 >data.svm
    on_ranks 2 misused svm-rank-train --pair-features exterior data.svm model
    on_ranks 2 misused svm-rank-train --pairs .5 data.svm model
    grep -q 'a share of --pairs is not distributed over MPI processes' err
    on_ranks 2 misused svm-rank-train --proof proof data.svm model
    grep -q -e '--proof is not available for a distributed fit' err
    svm-rank-train -q data.svm model >/dev/null
    on_ranks 2 misused svm-rank-predict data.svm model out
    grep -q 'this program runs as one process: start it once, without mpirun' err
    on_ranks 2 misused svm-check data.svm model proof
}

@test "cluster: an error is reported once, with its exit code, and the old model stays" {
    queries 20 10 >data.svm
    echo 'dualsvm rank 1' >model
    on_ranks 3 misused svm-rank-train -c x data.svm model
    on_ranks 3 refused svm-rank-train none.svm model
    on_ranks 3 refused svm-rank-train data.svm none/model
    sed '$s/$/ 9:x/' data.svm >bad.svm
    on_ranks 3 refused svm-rank-train bad.svm model
    grep -q "bad.svm:$(wc -l <bad.svm):" err || fail "$(<err)"
    assert_equal "$(<model)" 'dualsvm rank 1'
}

# Starts a run that takes minutes, in the background, as $job.
long_run() {
    queries 60 120 >data.svm
    echo 'dualsvm rank 1' >model
    timeout -s KILL 120 mpirun --oversubscribe -n 2 svm-rank-train -j 1 --solver fw --step diminishing \
        -e 1e-12 data.svm model >out 2>err &
    job=$!
    local i
    for i in $(seq 100); do
        grep -q 'iteration' err && return
        sleep .1
    done
    fail 'no iteration in ten seconds'
}

# The process ids of the run.
rank_processes() {
    ps -e -o pid=,args= | awk -v bin="$bin" '$2 ~ /svm-rank-train$/ && /--step diminishing/ && !/mpirun/ { print $1 }'
}

@test "cluster: SIGTERM to any process ends all, with the best iterate and its gap" {
    long_run
    kill -TERM "$(rank_processes | tail -1)"
    wait "$job"
    grep -q 'warning: not converged: ended by a signal: gap' err || fail "$(<err)"
    assert_equal "$(head -1 model)" 'dualsvm rank 1'
    grep -q '^gap = ' out
}

@test "cluster: a killed process ends the job, and the old model stays" {
    long_run
    local status=0
    kill -KILL "$(rank_processes | tail -1)"
    wait "$job" || status=$?
    [ "$status" != 0 ] || fail 'exit 0'
    assert_equal "$(<model)" 'dualsvm rank 1'
    assert_equal "$(rank_processes)" ''
    run ls -A
    refute_output --partial '.tmp'
}

@test "cluster: --max-time ends all processes with a model" {
    queries 60 120 >data.svm
    ranks 2 svm-rank-train -j 1 -q --solver fw --step diminishing -e 1e-12 --max-time 1 data.svm model \
        >out 2>err
    grep -q 'warning: not converged: the limit of time is reached' err || fail "$(<err)"
    assert_equal "$(head -1 model)" 'dualsvm rank 1'
}
