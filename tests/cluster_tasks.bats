# Fits that are assigned to processes, and the scripts that start programs on a cluster.

load helper
load cluster

@test "cluster: without mpirun the build with MPI behaves like the serial one" {
    svm-rank-train "$root/datasets/rank.train" model >out
    grep -q '^gap = ' out
    mpirun -n 1 svm-rank-train "$root/datasets/rank.train" model.1 >out.1
    cmp model model.1
    grep -q '^gap = ' out.1
    misused svm-rank-train --no-such-option
}

@test "cluster: a usage error is reported once, and ends all processes with its exit code" {
    on_ranks 3 refused svm-rank-train no-such-file
    on_ranks 3 misused svm-rank-train --no-such-option
    holds . out err mpirun.said
}

# unlike ARGUMENTS [: ARGUMENTS]: runs two processes of one job with different commands, and checks that the
# difference is reported once.
unlike() {
    on_ranks 1 misused "$@"
    assert_equal "$(<err)" 'svm-rank-train: processes were started with different options or file names: all but --threads and --cache must be the same: try --help'
}

# bats test_tags=slow
@test "cluster: processes with different commands are an error, reported once and before they wait" {
    svm-generate ltr --rows 200 --output data.svm
    local train=(svm-rank-train -q data.svm model)
    unlike "${train[@]}" -c 1 : -n 1 "${train[@]}" -c 10
    unlike "${train[@]}" : -n 1 "${train[@]}" -t rbf
    unlike "${train[@]}" : -n 1 "${train[@]}" -v 3
    unlike "${train[@]}" : -n 1 "${train[@]}" --max-iter 2
    unlike "${train[@]}" --weight 1:2 : -n 1 "${train[@]}" --weight 1:3
    unlike "${train[@]}" : -n 1 svm-rank-train --help
    unlike svm-rank-train --help : -n 1 "${train[@]}"
    unlike "${train[@]}" : -n 1 svm-mc-train -q data.svm model
    unlike "${train[@]}" : -n 1 svm-rank-train -q data.svm another
    unlike "${train[@]}" : -n 1 svm-rank-train -q
    on_ranks 1 misused "${train[@]}" : -n 1 svm-rank-predict data.svm model
    # options that may differ between machines
    ranks 1 "${train[@]}" -j 2 : -n 1 "${train[@]}" -j 1 -m 300
    assert_file_exists model
}

@test "cluster: processes whose files of the same name have different rows are an error, reported once" {
    mkdir other
    svm-generate ltr --rows 200 --features 9 --queries 5 --output data.svm
    svm-generate ltr --rows 200 --features 9 --queries 5 --seed 2 --output other/data.svm
    local options
    for options in '-t rbf' '-v 3' '-t rbf -v 3 -c 1,10'; do
        # shellcheck disable=SC2206 # words
        local train=(svm-rank-train -q $options data.svm)
        on_ranks 1 refused "${train[@]}" : -n 1 -wdir "$tmp/other" "${train[@]}"
        assert_equal "$(<err)" 'svm-rank-train: data.svm: processes have read different rows, folds or weights of rows'
    done
    cp data.svm other
    awk '{ print NR % 2 }' data.svm >folds
    awk '{ print NR % 3 % 2 }' data.svm >other/folds
    train=(svm-rank-train -q --fold-file folds data.svm)
    on_ranks 1 refused "${train[@]}" : -n 1 -wdir "$tmp/other" "${train[@]}"
    cp folds other
    ranks 1 "${train[@]}" : -n 1 -wdir "$tmp/other" "${train[@]}" >report
}

# bats test_tags=slow
@test "cluster: a pipe that all processes would read is refused before it is opened" {
    mkfifo pipe
    svm-generate ltr --rows 200 --output data.svm
    for command in 'pipe model' '-v 3 pipe' '-t rbf pipe model' '-v 3 --fold-file pipe data.svm'; do
        # shellcheck disable=SC2086 # words
        on_ranks 3 refused svm-rank-train -q $command
        assert_equal "$(<err)" 'svm-rank-train: pipe: a pipe: MPI processes read regular files'
    done
    # a single process would read this one, if it had a writer
    cp data.svm part.0
    mkfifo part.1
    on_ranks 2 refused svm-rank-train -q part.%d model
    assert_equal "$(<err)" 'svm-rank-train: part.1: a pipe: MPI processes read regular files'
}

# rows_of NAME SEED: prints a small training file of the family.
rows_of() {
    svm-generate "$1" --seed "$2" --rows 160 --output "$1.svm"
}

# same NAME ARGUMENTS: checks that the trainer on 3 processes, or on the numbers in $counts, has the output of one
# process: the table except its last two columns, the model, and the log except its seconds and the order of fits. Lines of
# reports with seconds, and progress lines, are ignored.
same() {
    local n
    for n in 1 ${counts:-3}; do
        rm -f model log
        if [ $n = 1 ]; then
            "$@" >out.$n 2>err.$n || fail "$*: $(<err.$n)"
        else
            ranks $n "$@" >out.$n 2>err.$n || fail "$n ranks: $*: $(<err.$n)"
        fi
        for file in out err; do
            awk -F'\t' -v OFS='\t' 'NF > 4 { NF -= 2 }
                !/seconds = / && !/ fits, about / && !/: iteration [0-9]+, /' \
                $file.$n >$file.same.$n
            cmp $file.same.1 $file.same.$n
        done
        for file in model log; do
            [ ! -e $file ] || awk -F'\t' -v OFS='\t' 'NF > 5 { $4 = "" } 1' $file >$file.$n
            [ $file = model ] || [ ! -e log.$n ] || sort -s -n -k1,1 -k2,2 -o log.$n log.$n
            [ ! -e $file.1 ] || cmp $file.1 $file.$n
        done
    done
    rm -f model.? log.?
}

@test "cluster: tables of sweeps, their logs and models equal those of one process" {
    cp "$root/datasets/rank.train" rank.svm
    counts='2 3 4' same svm-rank-train -j 1 -c .01,.02,.05,.1,.2,.5,1,2,5,10,20 -v 3 --log log rank.svm model
    same svm-rank-train -j 1 -t 2 -g .01,1 -c .1,1,10 -v 3 --log log rank.svm model
    same svm-rank-train -j 2 -t 2 -g .01,1 -c .1,1,10 --scale minmax -v 3 rank.svm model
    rows_of mc 1
    same svm-mc-train -q -v 5 mc.svm
    same svm-mc-train -q -j 2 -t 2 -g .01,.1 -c 1,10 -v 4 mc.svm model
    rows_of top 1
    same svm-top-train -q -c 1,10 --log log -j 1 -v 4 top.svm model
    rows_of ml 1
    same svm-ml-train -q -c .1,1 -v 3 ml.svm model
}

@test "cluster: folds of a calibration are distributed, and the model equals that of one process" {
    cp "$root/datasets/rank.train" rank.svm
    same svm-rank-train -b 1 rank.svm model
    rows_of mc 2
    same svm-mc-train -b 1 mc.svm model
    same svm-mc-train -b 1 -t 2 -g .1 --scale minmax mc.svm model
    same svm-mc-train -b 1 -c 1,10 -v 3 mc.svm model
    same svm-mc-train -b 1 --proof proof mc.svm model
    svm-check mc.svm model proof
}

@test "cluster: --shard and --resume, started by one process and finished by several, and vice versa" {
    rows_of mc 3
    sweep() {
        "$@" -q -t 2 -g .01,.1,1 -c 1,10 -v 3 mc.svm
    }
    sweep svm-mc-train >whole
    sweep svm-mc-train --shard 1/3 --resume first >/dev/null
    sweep ranks 3 svm-mc-train --shard 2/3 --resume second >/dev/null
    cat first second >joined
    assert_equal "$(grep -c -v point joined)" 4
    sweep ranks 2 svm-mc-train --resume joined >table
    cmp <(timeless whole) <(timeless table)
    head -3 whole >begun
    sweep ranks 3 svm-mc-train --resume begun >table
    head -3 table | cmp - <(head -3 whole) # as they stand there, with their seconds
    cmp <(timeless whole) <(timeless table)
    assert_equal "$(sort begun | timeless)" "$(sort whole | timeless)"
    # a table of other rows is refused, once
    rows_of mc 4
    on_ranks 3 refused svm-mc-train -q -t 2 -g .01,.1,1 -c 1,10 -v 3 --resume begun mc.svm
    assert_file_contains err 'begun:2: a row of other data'
}

@test "cluster: a failure in the fit of a fold, or before it, is reported once and leaves no file" {
    rows_of mc 5
    on_ranks 3 misused svm-mc-train -v 3 - # each rank reads all rows
    on_ranks 3 refused svm-mc-train -v 500 mc.svm
    { head -100 mc.svm && echo '1 1:1e300 2:1e300'; } >huge.svm
    if svm-mc-train -q -c 1,2 -v 3 --log log huge.svm model >/dev/null 2>one; then
        fail 'the row is harmless'
    fi
    rm -f model log
    run -1 ranks 3 svm-mc-train -q -c 1,2 -v 3 --log log huge.svm model
    [ ! -e model ]
    [ ! -e log ]
}

@test "cluster: SIGTERM ends a sweep with one line, and --resume continues it" {
    svm-generate mc --seed 6 --rows 300 --output mc.svm
    sweep=(-q -j 1 -t 2 -g '.01,.03,.1,.3' -c '1,2,5,10' -v 4 --resume "$tmp/rows" mc.svm)
    ranks 3 svm-mc-train "${sweep[@]}" >out 2>err 3>&- &
    job=$!
    until [ -f rows ] && [ "$(wc -l <rows)" -gt 1 ]; do
        kill -0 $job || break
        sleep .05
    done
    kill -TERM $(pgrep -f "^svm-mc-train .* $tmp/rows ")
    status=0
    wait $job || status=$?
    assert_equal "$status" 1
    assert_equal "$(<err)" 'svm-mc-train: ended by a signal, before all fits to folds'
    cp rows before
    ranks 3 svm-mc-train "${sweep[@]}" >table
    head -n "$(wc -l <before)" rows | cmp - before
    assert_equal "$(wc -l <table)" 17
    assert_equal "$(sort rows)" "$(sort table)"
}

@test "cluster: a time limit ends all fits, and the best of the finished ones is chosen" {
    rows_of mc 7
    ranks 3 svm-mc-train -q -j 1 -t 2 -g .01,1 -c 1,1000 -e 1e-12 -v 4 --max-time 2 mc.svm model \
        >table 2>err || fail "$(<err)"
    assert_equal "$(grep -c -v point table)" 4
    assert_exists model
}

@test "cluster: tasks are assigned once, messages are received once, processors are shared" {
    unit common/distributed/cluster
    assert_output 'ok: 1 ranks, 0 threads'
    for n in 2 3 5; do
        ranks $n --bind-to none "$bin/tests/unit/common/distributed/cluster" >out || fail "$(<out)"
        processors=$(nproc)
        assert_equal "$(<out)" \
            "ok: $n ranks, $((processors / n > 0 ? processors / n : 1)) threads"
    done
}

# ---- doc/cluster.md ----

# scripts: extracts the scripts of doc/cluster.md, named by their second lines, and writes substitutes of Slurm's
# programs: sbatch runs a script at once, for each task of an array, and srun the requested number of processes.
scripts() {
    awk '/^    #!\/bin\/sh/ { inside = 1; name = "" }
        !/^    / && NF { inside = 0 }
        inside && /^    # / && name == "" { name = $2; sub(/:$/, "", name); print "    #!/bin/sh" >name }
        inside && name != "" { print >name }' "$root/doc/cluster.md"
    for script in sweep.sbatch join.sbatch submit parts tasks.sbatch fit.sbatch split.sbatch; do
        [ -f $script ] || fail "no $script in doc/cluster.md"
        sed -i 's/^    //' $script
    done
    mkdir slurm
    cat >slurm/sbatch <<'EOF'
#!/bin/bash
script=${*: -1}
of() { sed -n "s/^#SBATCH --$1=//p" "$script"; }
export SLURM_CPUS_PER_TASK=$(of cpus-per-task) SLURM_NTASKS=$(of ntasks) tasks=$(of array)
[[ " $* " != *" --parsable "* ]] || echo 17
[[ " $* " != *" --dependency="* || " $* " == *" --dependency=afterok:17 "* ]] || exit 1
[ -n "$tasks" ] || exec sh -e "$script"
export SLURM_ARRAY_TASK_COUNT=${tasks#1-} SLURM_ARRAY_TASK_ID
for SLURM_ARRAY_TASK_ID in $(seq "${tasks#1-}"); do
    sh -e "$script" || exit
done
EOF
    cat >slurm/srun <<'EOF'
#!/bin/bash
[ "$1 $2 $3" = "--mpi=pmix -c 1" ] || exit 2
exec timeout -s KILL 120 mpirun --oversubscribe -n "$SLURM_NTASKS" "${@:4}"
EOF
    chmod +x slurm/*
    PATH=$tmp/slurm:$PATH
}

@test "cluster: the scripts of doc/cluster.md work unchanged, and give one table and one model" {
    scripts
    svm-generate mc --seed 9 --rows 160 --output train.svm
    svm-mc-train -q -v 5 -t rbf -c 2^-1:2^3:x4 -g 2^-7:2^-1:x8 train.svm one >whole
    sh -e submit
    assert_equal "$(cat part.* | grep -c -v point)" 9
    cmp one model
    cmp <(timeless whole) <(timeless table.tsv)
    rm -f model table.tsv sweep.tsv part.*
    sbatch tasks.sbatch
    cmp one model
    cmp <(timeless whole) <(timeless table.tsv)
    cmp <(timeless whole | sort) <(timeless sweep.tsv | sort)
    cp "$root/datasets/rank.train" rank.svm
    sbatch fit.sbatch
    svm-rank-train -q -c 0.1 rank.svm rank.one >alone
    near "$(header primal report)" "$(header primal alone)" 1e-3
    sbatch split.sbatch
    svm-mc-train -q -c 0.1 train.svm one >alone
    near "$(header primal report)" "$(header primal alone)" 1e-3
}

@test "cluster: GNU parallel computes the parts of a table on the hosts of a list" {
    parallel --version 2>/dev/null | grep -q '^GNU parallel' || skip 'no GNU parallel'
    scripts
    svm-generate mc --seed 9 --rows 160 --output train.svm
    svm-mc-train -q -v 5 -t rbf -c 2^-1:2^3:x4 -g 2^-7:2^-1:x8 train.svm one >whole
    echo 2/: >hosts
    sh -e parts
    cmp one model
    cmp <(timeless whole) <(timeless table.tsv)
}
