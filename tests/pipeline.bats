# The programs in a pipeline: streams, folds, sweeps, exit codes.

load helper
load rank_tools

setup() {
    cd "$tmp" || exit 1
    rows 60 6 5 3 >small.svm
}

# ---- streams ----

# bats test_tags=long
@test "pipeline: a file, a gzip file, a pipe and a gzip pipe give the same model, byte for byte" {
    gzip <small.svm >small.gz
    for options in '-c 2' '-t 6 -c 2' '-l squared-hinge --scale std' '-t 2 -b 1'; do
        {
            train $options small.svm file.model
            train $options small.gz gz.model
            train $options - pipe.model < <(cat small.svm)
            train $options - gzpipe.model < <(cat small.gz)
            train $options - stdin.model <small.svm
            mkfifo fifo && { cat small.svm >fifo & } && train $options fifo fifo.model
            rm fifo
        }
        for other in gz pipe gzpipe stdin fifo; do
            cmp file.model $other.model || fail "$options: $other"
        done
    done
}

@test "pipeline: test rows and model may come through pipes, and predictions may go anywhere" {
    train -t 2 small.svm model
    predict small.svm model scores
    [ "$(wc -l <scores)" = 60 ]
    predict small.svm model >stdout.scores
    predict small.svm model - >dash.scores
    predict - model >pipe.scores < <(cat small.svm)
    gzip <small.svm | predict - model >gz.scores
    predict small.svm - >model.scores < <(cat model)
    for other in stdout dash pipe gz model; do
        cmp scores $other.scores || fail "$other"
    done
}

@test "pipeline: a model on stdout is alone there" {
    train -t 5 small.svm model
    svm-rank-train -q -t 5 small.svm - >stdout.model
    cmp model stdout.model
    svm-rank-train -t 5 small.svm - 2>/dev/null >loud.model
    cmp model loud.model
    svm-rank-train -q -t 5 small.svm - | predict small.svm - >piped.scores
    predict small.svm model | cmp - piped.scores
}

@test "pipeline: the default name of the model is that of the training file, in this folder" {
    mkdir far && cp small.svm far/set.svm
    train far/set.svm
    [ -s set.svm.model ]
    [ ! -e far/set.svm.model ]
}

@test "pipeline: /dev/null accepts models and predictions, and stays a device" {
    train small.svm model
    train small.svm /dev/null
    predict small.svm model /dev/null
    [ -c /dev/null ]
}

@test "pipeline: a model or output that is a symbolic link is written through it" {
    mkdir far && echo 'dualsvm rank 1' >far/target && ln -s far/target link
    train small.svm link
    [ -L link ]
    train small.svm model
    cmp model far/target
    predict --force small.svm model link
    [ -L link ]
    predict small.svm model | cmp - far/target
}

# bats test_tags=long
@test "pipeline: one and two threads give the same bytes" {
    rows 400 4 8 5 >medium.svm
    for options in '' '-l squared-hinge' '-t 2 -g .2' '-t 6 -l squared-hinge' '-b 1 -t 2'; do
        { train -j 1 $options medium.svm one.model
          train -j 2 $options medium.svm two.model
          train $options medium.svm all.model; }
        cmp one.model two.model || fail "$options"
        cmp one.model all.model || fail "$options, all cores"
        predict -j 1 medium.svm one.model one.scores
        predict -j 2 medium.svm one.model two.scores
        cmp one.scores two.scores || fail "$options: scores"
    done
    svm-rank-train -q -j 1 -v 4 -c .1,1,10 medium.svm >one.tsv
    svm-rank-train -q -j 2 -v 4 -c .1,1,10 medium.svm >two.tsv
    cmp <(timeless one.tsv) <(timeless two.tsv)
}

# bats test_tags=long
@test "pipeline: the memory for the kernel matrix does not change the model" {
    rows 700 4 8 5 >medium.svm
    train -t 2 -g .2 -e 1e-4 medium.svm roomy.model
    train -t 2 -g .2 -e 1e-4 -m 1 medium.svm tight.model
    predict medium.svm roomy.model >roomy
    predict medium.svm tight.model >tight
    agree roomy tight .05
    within "$(header gap tight.model)" 0 1e-4
}

@test "pipeline: the same command gives the same bytes twice" {
    for options in '-b 1 -t 2' '--pairs .3' '-v 3' '--solver fw --max-iter 50'; do
        { svm-rank-train -q $options small.svm one.model >one.out 2>/dev/null
          svm-rank-train -q $options small.svm two.model >two.out 2>/dev/null; }
        cmp one.out two.out || fail "$options"
        [ ! -e one.model ] || cmp one.model two.model || fail "$options"
        rm -f one.model two.model
    done
}

# bats test_tags=long
@test "pipeline: a locale with decimal commas changes nothing" {
    command -v localedef >/dev/null || skip 'localedef is not installed'
    localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" 2>/dev/null ||
        skip 'no sources of locale de_DE'
    train -t 2 -g .5 -c 1.5 small.svm c.model
    predict --metrics small.svm c.model c.scores >c.metrics
    export LOCPATH=$tmp LC_ALL=de_DE.UTF-8
    [ "$(/usr/bin/printf '%.1f' 1)" = 1,0 ] || skip 'the locale does not take effect'
    train -t 2 -g .5 -c 1.5 small.svm de.model
    predict --metrics small.svm de.model de.scores >de.metrics
    cmp c.model de.model
    cmp c.scores de.scores
    cmp c.metrics de.metrics
}

# ---- exit codes and messages ----

@test "pipeline: exit 0 on success, 1 for input, 2 for usage, 3 for a limit under --strict" {
    run svm-rank-train -q small.svm model
    assert_success
    run svm-rank-train -q missing.svm model
    assert_failure 1
    run svm-rank-train -q -c x small.svm model
    assert_failure 2
    run svm-rank-train -q -e 1e-9 --max-iter 1 --strict -c 100 small.svm strict.model
    assert_failure 3
    within "$(header gap strict.model)" 1e-9 1 # the model is there, with its true gap
}

# bats test_tags=long
@test "pipeline: reaching a limit prints a warning, and the model has its true gap" {
    for options in '' '-l squared-hinge' '-t 2' '-t 2 -l squared-hinge' '--solver fw'; do
        rm -f limited.model
        local status=0
        svm-rank-train -q -e 1e-9 --max-iter 1 -c 100 $options small.svm limited.model \
            >out 2>err || status=$?
        assert_equal "$status" 0
        [ -s err ] || fail "no warning: $options"
        awk -v gap="$(header gap limited.model)" 'BEGIN { exit !(gap > 1e-9) }' ||
            fail "$options: gap $(header gap limited.model) after one iteration"
        predict small.svm limited.model >scores
        oracle small.svm -c 100 ${options#--solver fw}
        brackets limited.model 1
    done
}

@test "pipeline: --max-time ends a long run with a warning and a model" {
    rows 2000 5 20 9 >long.svm
    start=$EPOCHREALTIME
    limited svm-rank-train -q --solver fw --step diminishing -e 1e-12 -c 100 --max-time 1 \
        --log log long.svm long.model >out 2>err
    awk -v start="$start" -v end="$EPOCHREALTIME" 'BEGIN { exit !(end - start >= 1) }' ||
        fail 'it ended too early'
    [ "$(wc -l <log)" -gt 1 ] || fail 'nothing is logged'
    assert_equal "$(grep -c 'warning: not converged: the limit of time is reached: gap ' err)" 1
    within "$(header gap long.model)" 1e-12 1e9 # what it had come to
    predict long.svm long.model >scores
}

@test "pipeline: --help and --version print to stdout only, with exit 0" {
    for program in svm-rank-train svm-rank-predict; do
        for option in --help --version; do
            $program $option >out 2>err
            [ -s out ] && [ ! -s err ] || fail "$program $option"
        done
    done
    svm-rank-train --help >out
    for option in --formulation --loss --kernel --degree --gamma --coef0 --cost --scale \
        --epsilon --cache --threads --folds --fold-file --max-iter --max-time --strict \
        --seed --solver --log --help --version --rank-gap --pairs --cost-per --pair-features \
        --step --stop --libsvm --liblinear --validate; do
        grep -qe "$option" out || fail "$option is not in the help"
    done
}

@test "pipeline: -q keeps stderr empty" {
    svm-rank-train -q small.svm model 2>err >out
    [ ! -s err ]
    svm-rank-predict -q small.svm model scores 2>err >out
    [ ! -s err ]
}

@test "pipeline: the report has the primal, dual and gap of the model" {
    svm-rank-train small.svm model >out 2>err
    cat out err >report
    for key in primal dual gap; do
        grep -qi "$key" report || fail "no $key in the report"
        header $key model >/dev/null
    done
    for key in formulation loss cost kernel rows features iterations; do
        grep -q "^$key" model || fail "no $key in the model"
    done
    assert_equal "$(header rows model)" 60
    assert_equal "$(header features model)" 5
    head -1 model | grep -q rank
    tail -1 model | grep -Eqx 'end 5 [0-9a-f]{8}' || fail "last line: $(tail -1 model)"
}

@test "pipeline: --log has a row per check, with primal above dual" {
    train -e 1e-6 -c 10 --log log.tsv small.svm model
    awk -F'\t' 'NF != 6 { print "fields: " $0; exit 1 }
        NR > 1 && !($3 >= $4 - 1e-9 * $3) { print "crossed: " $0; exit 1 }
        END { exit NR < 2 }' log.tsv || fail "$(head -3 log.tsv)"
}

# ---- cross-validation ----

# bats test_tags=long
@test "pipeline: -v with a fold file gives the result of separate fits to the folds" {
    awk '{ split($2, q, ":"); print q[2] % 3 + 1 }' small.svm >folds
    for options in '-t 2 -g .3 -c 4' '-c 1 -l squared-hinge'; do
        : >values
        for fold in 1 2 3; do
            paste -d' ' folds small.svm |
                awk -v f=$fold '{ g = $1; sub(/^[0-9]+ /, ""); print > (g == f ? "out" : "in") }'
            mv in in.svm && mv out out.svm
            train -e 1e-6 $options in.svm hand.model
            predict --metrics out.svm hand.model scores >metrics
            metric pairwise-accuracy metrics >>values
        done
        local hand
        hand=$(awk '{ sum += $1 } END { print sum / NR }' values)
        svm-rank-train -q -e 1e-6 $options --fold-file folds small.svm >out
        accuracy_of out
        within "$accuracy" "$(awk -v x="$hand" 'BEGIN { print x - 2e-4 }')" \
            "$(awk -v x="$hand" 'BEGIN { print x + 2e-4 }')"
    done
}

# accuracy_of FILE: the pairwise accuracy, from 0 to 1, in the output of a cross-validation.
accuracy_of() {
    accuracy=$(awk 'match($0, /[0-9.]+%/) { print substr($0, RSTART, RLENGTH - 1) / 100; exit }
                    /accuracy/ { print $NF; exit }' "$1")
    [ -n "$accuracy" ] || fail "no accuracy in: $(<"$1")"
}

@test "pipeline: -v keeps each query in one fold, whatever the order of the rows" {
    # Within a query the target is the feature; between queries that feature means the opposite.
    # A fold that split a query could learn it: held-out whole queries are predicted at chance level.
    awk 'BEGIN { for (q = 1; q <= 8; q++) for (i = 1; i <= 12; i++)
        printf "%d qid:%d %d:%d\n", i, q, q, i }' >own.svm
    svm-rank-train -q -v 4 -c 1 own.svm >out
    accuracy_of out
    within "$accuracy" .5 .5
    awk '{ print NR % 7 "\t" $0 }' own.svm | sort -n | cut -f2 >mixed.svm
    svm-rank-train -q -v 4 -c 1 mixed.svm >out
    accuracy_of out
    within "$accuracy" .5 .5
}

@test "pipeline: -v writes no model, and more folds than queries are an error" {
    svm-rank-train -q -v 3 small.svm >out
    [ ! -e small.svm.model ] || fail 'cross-validation left a model'
    run svm-rank-train -q -v 61 small.svm
    assert_failure
    printf '1\n2\n' >short.folds
    refused svm-rank-train -q --fold-file short.folds small.svm
    yes x | head -60 >bad.folds
    refused svm-rank-train -q --fold-file bad.folds small.svm
    refused svm-rank-train -q --fold-file missing.folds small.svm
}

# ---- sweeps ----

@test "pipeline: a point of a sweep equals a single run up to the gap" {
    svm-rank-train -v 3 -e 1e-6 -t 2 -g .1,.5 -c 2^-2:2^2:x4 small.svm >sweep.tsv 2>err
    [ "$(grep -c "$(printf '\t')" sweep.tsv)" = 7 ] || fail "$(<sweep.tsv)"
    grep -q '^best: ' err || fail "the best point is not named: $(<err)"
    for c in 0.25 1 4; do
        for g in .1 .5; do
            svm-rank-train -q -v 3 -e 1e-6 -t 2 -g $g -c $c small.svm >single
            accuracy_of single
            point_of sweep.tsv $c $g
            within "$point" "$(awk -v x="$accuracy" 'BEGIN { print x - 2e-3 }')" \
                "$(awk -v x="$accuracy" 'BEGIN { print x + 2e-3 }')"
        done
    done
}

# point_of TSV C GAMMA: the accuracy of that point, found by the names of the columns.
point_of() {
    point=$(awk -F'\t' -v c="$2" -v g="$3" '
        /gamma/ && !header { for (i = 1; i <= NF; i++) { sub(/^# */, "", $i); column[$i] = i }
                             header = 1; next }
        header && $column["cost"] + 0 == c + 0 && $column["gamma"] + 0 == g + 0 {
            print $column["pairwise-accuracy"]; exit }' "$1")
    [ -n "$point" ] || fail "no point C $2 gamma $3 in: $(<"$1")"
}

# bats test_tags=long
@test "pipeline: a sweep with a model file trains its best point" {
    rows 40 4 5 3 >valid.svm # the same weights: the seed is the same
    svm-rank-train -q --validate valid.svm -e 1e-6 -c .01,.1,1,10 small.svm best.model >out 2>err
    local c
    c=$(header cost best.model)
    train -e 1e-6 -c "$c" small.svm single.model
    predict small.svm best.model >best
    predict small.svm single.model >single
    agree best single .01
    oracle small.svm -c "$c"
    brackets best.model 1e-6
    predict --metrics valid.svm best.model scores >metrics
    for other in .01 .1 1 10; do # no other point does better
        train -e 1e-6 -c $other small.svm other.model
        predict --metrics valid.svm other.model scores >other.metrics
        awk -v best="$(metric pairwise-accuracy metrics)" \
            -v x="$(metric pairwise-accuracy other.metrics)" 'BEGIN { exit !(x <= best + 2e-3) }' ||
            fail "C $other is better than $c"
    done
}

@test "pipeline: lists, geometric and arithmetic ranges denote the same points" {
    svm-rank-train -q -v 3 -c .5,1,2 small.svm >list.tsv
    svm-rank-train -q -v 3 -c 2^-1:2^1:x2 small.svm >geometric.tsv
    cmp <(timeless list.tsv) <(timeless geometric.tsv)
    svm-rank-train -q -v 3 -c 1,1.5,2 small.svm >list.tsv
    svm-rank-train -q -v 3 -c 1:2:+.5 small.svm >arithmetic.tsv
    cmp <(timeless list.tsv) <(timeless arithmetic.tsv)
}

@test "pipeline: the memory of predict does not grow with the test file" {
    sanitized && skip 'the sanitizer keeps what is freed'
    [ -x /usr/bin/time ] || skip 'no /usr/bin/time'
    rows 10000 50 20 9 >piece.svm
    train small.svm model
    for ((i = 0; i < 10; i++)); do cat piece.svm; done >short.svm
    for ((i = 0; i < 20; i++)); do cat short.svm; done | head -c 50000000 | sed '$d' >tall.svm
    /usr/bin/time -f %M svm-rank-predict -q short.svm model /dev/null 2>short.rss
    /usr/bin/time -f %M svm-rank-predict -q tall.svm model /dev/null 2>tall.rss
    [ $(($(tail -1 tall.rss) - $(tail -1 short.rss))) -lt 12000 ] ||
        fail "$(tail -1 short.rss) KB for $(wc -c <short.svm) bytes, $(tail -1 tall.rss) KB for $(wc -c <tall.svm)"
}
