# Sweeps: the table, --shard, --resume after a crash, folds by words, and the log of folds.

load helper

setup() {
    cd "$tmp" || exit 1
    awk 'BEGIN { seed = 5
        for (i = 0; i < 120; i++) {
            line = ""; sum = 0
            for (f = 1; f <= 4; f++) {
                seed = (seed * 16807) % 2147483647; v = int(seed / 2147483647 * 16) / 8
                sum += (f - 2) * v; line = line " " f ":" v }
            seed = (seed * 16807) % 2147483647
            print int(100 * (sum + 2 * seed / 2147483647)) / 100 " qid:" 1 + i % 6 line } }' >set.svm
    awk '{ print ($1 > 4 ? "+1" : "-1"), $3, $4, $5, $6 }' set.svm >two.svm
    awk '{ print 1 + NR % 3 (NR % 2 ? ",9" : ""), $3, $4, $5, $6 }' set.svm >sets.svm
    { echo '# matrix 2 2' && cat two.svm; } >matrices.svm
}

# without_seconds FILE: the table without its column of seconds.
without_seconds() {
    awk -F'\t' -v OFS='\t' '{ $(NF - 1) = ""; print }' "$1"
}

# same A B: asserts that two tables differ in seconds only.
same() {
    cmp <(without_seconds "$1") <(without_seconds "$2") || fail "$(diff "$1" "$2" | head -5)"
}

# bats test_tags=long
@test "sweep: every parameter of the formulation and the kernel is a column, in every family" {
    while IFS='|' read -r family options file columns; do
        svm-$family-train -v 3 $options $file >table 2>err
        [[ "$(head -1 table)" == "${columns//,/$'\t'}"$'\t'* ]] || fail "$family $options: $(head -1 table)"
        [[ "$(head -1 table)" == *$'\tgap\tseconds\trun' ]]
        assert_equal "$(awk -F'\t' '{ print NF }' table | sort -u | wc -l)" 1
        grep -q '^best: ' err
        ! grep -q '^best: ' table || fail "$(<table)"
    done <<'END'
rank|-c 1,2|set.svm|point,formulation,cost,loss,kernel,pairs,cost-per,pairwise-accuracy,pairwise-accuracy-sd
rank|-c 1:1:x2 -t polynomial|set.svm|point,formulation,cost,loss,kernel,degree,gamma,coef0,pairs,cost-per,pairwise-accuracy
top|-s tau-fpl --tau .1,.2|two.svm|point,formulation,cost,loss,kernel,tau
top|-s toppush --lambda .1,1|two.svm|point,formulation,loss,kernel,lambda
mc|-s ww,cs -B 1 -t rbf|two.svm|point,formulation,cost,kernel,gamma,bias,accuracy,accuracy-sd
ml|-c 1,2|sets.svm|point,formulation,cost,loss,kernel
smm|-s nuclear --tau 1,2|matrices.svm|point,formulation,cost,loss,tau,accuracy
END
    # the default of gamma is shown
    svm-rank-train -q -v 3 -t rbf -c 1,2 set.svm >table 2>/dev/null
    assert_equal "$(cell gamma point 1 table)" 0.25
}

@test "sweep: a list of one value gives a table, a single value LIBSVM's line" {
    svm-mc-train -q -v 3 -c 4 two.svm >plain
    grep -Eqx 'Cross Validation Accuracy = [0-9.]+%' plain
    for options in '-c 4,4' '-c 4:4:x2' '-c 4 --shard 1/1' '-c 4 --resume file'; do
        svm-mc-train -q -v 3 $options two.svm >table 2>err
        assert_equal "$(wc -l <table)" 2
        near "$(cell accuracy point 1 table)" "$(awk '/Accuracy/ { print $NF / 100 }' plain)" 1e-5
    done
    # a model is written for a table of one point
    svm-mc-train -q -v 3 -c 4,4 two.svm model >table 2>err
    [ "$(wc -l <table)" = 2 ]
    svm-mc-train -q -c 4 two.svm other >/dev/null
    cmp model other
}

# bats test_tags=long
@test "sweep: the mean and the standard deviation are those of the folds" {
    awk '{ print NR % 4 }' two.svm >folds
    svm-mc-train -q --fold-file folds -c 1:1:x2 two.svm >table 2>/dev/null
    for fold in 0 1 2 3; do
        paste folds two.svm | awk -F'\t' -v fold=$fold '$1 == fold { print $2 }' >held
        paste folds two.svm | awk -F'\t' -v fold=$fold '$1 != fold { print $2 }' >kept
        svm-mc-train -q -c 1 kept model >/dev/null
        svm-mc-predict -q --metrics held model
    done | awk '$1 == "accuracy" { x[++n] = $2; sum += $2 }
        END { for (i in x) squares += (x[i] - sum / n) ^ 2; print sum / n, sqrt(squares / (n - 1)) }' >expected
    near "$(cell accuracy point 1 table)" "$(cut -d' ' -f1 expected)" 1e-5
    near "$(cell accuracy-sd point 1 table)" "$(cut -d' ' -f2 expected)" 1e-3
    # one fold has no deviation, and an undefined measure is an empty cell
    svm-mc-train -q --validate two.svm -c 1:1:x2 two.svm >table 2>/dev/null
    assert_equal "$(cell accuracy-sd point 1 table)" ''
    assert_not_equal "$(cell accuracy point 1 table)" ''
    run -1 --separate-stderr svm-rank-train -q -v 3 -c 1,2 --min-group 100 set.svm
    [[ "${lines[1]}" == $'1\trank\t1\thinge\tlinear\t1\tpair\t\t\t\t\t\t'* ]] || fail "${lines[1]}"
    assert_equal "$stderr" 'svm-rank-train: the held-out rows have nothing to measure pairwise-accuracy by (queries of fewer rows than --min-group are left out)'
}

@test "sweep: rows are written in the order of the points, as soon as they are known" {
    # the last point takes very long: the other rows must be written before it is done
    mkfifo rows
    svm-rank-train -q -v 3 -j 2 -e 1e-14 -c 1e-3,1e-2,1e-1 -t rbf -g 1 --solver fw set.svm >rows 2>/dev/null &
    local pid=$!
    exec 5<rows
    read -r -t 60 line <&5 && [[ "$line" == point* ]]
    kill -9 $pid
    wait $pid || true
    exec 5<&-
    svm-rank-train -q -v 3 -j 2 -c 2^-9:2^0:x2 -t rbf -g .1,1 set.svm >table 2>/dev/null
    assert_equal "$(cut -f1 table | tr '\n' ' ')" "point $(seq 20 | tr '\n' ' ')"
}

# bats test_tags=long
@test "sweep: the number of threads does not change the table" {
    for options in '-c 2^-5:2^5:x2' '-t rbf -g .1,1 -c 2^-5:2^5:x2' '-t rbf -g 1 -c 1,2 --scale std'; do
        svm-rank-train -q -v 4 -j 1 $options set.svm one.model >one 2>/dev/null
        svm-rank-train -q -v 4 -j 7 $options set.svm seven.model >seven 2>/dev/null
        same one seven
        cmp one.model seven.model
    done
}

# bats test_tags=long
@test "sweep: the tables of --shard are joined by cat or sort to the table of the sweep" {
    local options='-q -v 3 -t rbf -g .1,1,10 -c 2^-3:2^3:x4'
    svm-rank-train $options set.svm model >whole 2>/dev/null
    for n in 1 2 3 5 12 40; do
        rm -f part.* joined
        for ((i = 1; i <= n; i++)); do
            svm-rank-train $options -j 1 --shard $i/$n set.svm >part.$i 2>err
            assert_equal "$(<err)" ''
        done
        sort -un part.* >sorted
        same sorted whole
        assert_equal "$(cat part.* | grep -vc '^point')" 12 # none twice
        # --resume fits the best point of the joined table
        cat part.* >joined
        svm-rank-train $options --resume joined set.svm joined.model >table 2>/dev/null
        cmp table <(sort -un joined)
        cmp joined.model model
    done
    cat part.* | sort -u >joined # the header is somewhere
    svm-rank-train ${options#-q} --resume joined --select kendall-tau set.svm joined.model 2>err >/dev/null
    grep -q ' kendall-tau=' err
}

# bats test_tags=long
@test "sweep: --resume after a crash gives the table of an uninterrupted run" {
    local options='-q -v 3 -t rbf -g .1,1,10 -c 2^-9:2^9:x2'
    svm-rank-train $options set.svm model >whole 2>/dev/null
    # killed by SIGKILL, as soon as there are rows
    svm-rank-train $options -j 1 --resume table set.svm >out 2>/dev/null &
    local pid=$!
    until [ "$(wc -l <table 2>/dev/null || echo 0)" -gt 3 ]; do :; done
    kill -9 $pid || true
    wait $pid || true
    svm-rank-train $options --resume table set.svm resumed.model >resumed 2>/dev/null
    same resumed whole
    cmp resumed.model model
    same <(sort -un table) whole
    # and truncated at any byte
    for bytes in 0 1 5 30 "$(head -1 whole | wc -c)" 400 1000 3000 7000; do
        head -c "$bytes" whole >table
        svm-rank-train $options --resume table set.svm >resumed 2>/dev/null
        same resumed whole
        [ "$(wc -l <table)" = 58 ]
    done
    # existing rows are copied with their seconds
    awk -F'\t' -v OFS='\t' 'NR > 1 { $(NF - 1) = "7.000" } { print }' whole >table
    svm-rank-train $options --resume table set.svm | cmp - table
    # two runs at once cannot mix their rows
    exec 5<>table
    flock 5
    refused svm-rank-train $options --resume table set.svm
    assert_equal "$(<err)" 'svm-rank-train: table: another run has it open'
    exec 5<&-
}

# bats test_tags=long
@test "sweep: --resume refuses a table of other data, folds or options, and leaves it unchanged" {
    local options='-q -v 3 -c 1,2,4'
    svm-rank-train $options --resume table set.svm >whole 2>/dev/null
    cp table kept
    sed '7s/:1/:2/' set.svm >other.svm
    while IFS='|' read -r arguments text; do
        refused svm-rank-train -q --resume table $arguments
        assert_equal "$(<err)" "svm-rank-train: table:$text"
        cmp table kept
    done <<'END'
-v 3 -c 1,2,4 other.svm|2: a row of other data, folds or options than this sweep's
-v 2 -c 1,2,4 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 1,2,4 --seed 2 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 1,2,4 -e 1e-4 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 1,2,4 -w 1:2 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 1,2,4 --rank-gap 1:2 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 1,2,4,8 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 1,3,4 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 2,4 set.svm|2: not a row of this sweep
-v 3 -c 1,2,4 -t rbf set.svm|1: other columns than this sweep's
-v 3 -c 1,2,4 --ndcg 3 set.svm|2: a row of other data, folds or options than this sweep's
-v 3 -c 1,2,4 --threshold-grade 2 set.svm|1: other columns than this sweep's
END
    # options without effect on the measures may differ
    svm-rank-train -v 3 -c 1,2,4 -j 1 -m 5 --strict --select spearman --resume table set.svm 2>/dev/null | cmp - whole
    for damage in '3s/\t/ /' '3s/\t[^\t]*$//' '3s/^/x/' '3s/^2/9/' '3s/^2/0/' '3s/hinge\tlinear\t1\tpair\t[^\t]*/hinge\tlinear\t1\tpair\tx/' \
        '3s/$/\t/'; do
        sed "$damage" kept >table
        cp table damaged
        refused svm-rank-train $options --resume table set.svm
        [[ "$(<err)" == 'svm-rank-train: table:3: '* ]] || fail "$(<err)"
        cmp table damaged
    done
    for file in two.svm /dev/null . none/table; do
        refused svm-rank-train $options --resume $file set.svm
    done
    run -2 svm-rank-train $options --resume set.svm set.svm
    assert_output "svm-rank-train: 'set.svm' is read and written: try --help"
    printf 'no table' >table # one line that was not ended, and is no header
    refused svm-rank-train $options --resume table set.svm
    assert_equal "$(<table)" 'no table'
    cp kept table
    run -2 bash -c "svm-rank-train $options --resume table set.svm >>table"
    assert_output "svm-rank-train: two outputs to one file: 'table': try --help"
    cmp table kept
    : >empty
    svm-rank-train $options --resume empty set.svm 2>/dev/null >out
    same out whole
    same empty whole
}

# bats test_tags=long
@test "sweep: options without effect on some formulations are ignored there, with a note" {
    run -0 --separate-stderr svm-top-train -v 3 -s toppush,tau-fpl,svm --tau .1,.2 -c 1,2 two.svm
    grep -qx 'svm-top-train: note: --tau is not for formulation toppush, svm: it is ignored there' <<<"$stderr"
    assert_equal "$(cut -f2,3,7 <<<"$output" | tr '\t\n' ', ')" 'formulation,cost,tau toppush,1, toppush,2, '`
        `'tau-fpl,1,0.1 tau-fpl,2,0.1 svm,1, svm,2, tau-fpl,1,0.2 tau-fpl,2,0.2 '
    run -2 svm-top-train -v 3 -s toppush,svm --tau .1,.2 two.svm # none has it
    run -0 --separate-stderr svm-mc-train -v 3 -s ww,cs --margin-scale .5 -c 4,8 two.svm
    grep -q 'note: --margin-scale is not for formulation cs: it is ignored there' <<<"$stderr"
    svm-mc-train -q -v 3 -s cs -c 4,8 two.svm 2>/dev/null >alone
    assert_equal "$(grep cs <<<"$output" | cut -f2-5)" "$(grep cs alone | cut -f2-5)"
    run -0 --separate-stderr svm-smm-train -v 3 -s lowrank,nuclear,svm --rank 1,2 --tau 1,2 matrices.svm
    assert_equal "$(wc -l <<<"$output")" 6
    [ "$(grep -c note: <<<"$stderr")" = 2 ]
    run -0 --separate-stderr svm-rank-train -v 3 -g .1,1 set.svm
    assert_equal "$(wc -l <<<"$output")" 2
    grep -q 'note: --gamma is not for kernel linear: it is ignored there' <<<"$stderr"
    # without a list no table and no note, as in LIBSVM
    run -0 --separate-stderr svm-rank-train -q -v 3 -g 1 set.svm
    assert_equal "$stderr" ''
}

@test "sweep: --select accepts any number after @" {
    awk '{ $1 = int($1 + 50) % 4; print }' set.svm >grades.svm
    for k in 1 5 7; do
        svm-rank-train -v 3 -c .01,1 --select ndcg@$k grades.svm model >table 2>err
        grep -q "^best: .* ndcg@$k=" err
        head -1 table | grep -q "	ndcg@$k	ndcg@$k-sd	"
    done
    svm-top-train -v 3 -c .01,1 --select tpr@0.123 two.svm >table 2>err
    grep -q '^best: .* tpr@0.123=' err
}

@test "sweep: --log has the point and the fold of each check" {
    svm-rank-train -q -v 3 -c .1,1 --log log set.svm model >/dev/null 2>&1
    assert_equal "$(head -1 log)" $'point\tfold\titeration\tseconds\tprimal\tdual\tgap\tsolver'
    assert_equal "$(sed 1d log | cut -f1,2 | sort -u | grep -v $'\t$' | tr '\t\n' ', ')" '1,1 1,2 1,3 2,1 2,2 2,3 '
    assert_equal "$(sed 1d log | cut -f1,2 | grep -c $'\t$')" "$(header iterations model)" # the fit of all rows
    assert_equal "$(awk -F'\t' '{ print NF }' log | sort -u)" 8
    svm-rank-train -q -v 3 --log log set.svm >/dev/null
    assert_equal "$(sed 1d log | cut -f1,2 | sort -u | tr '\t\n' ', ')" '1,1 1,2 1,3 '
    svm-rank-train -q --log log set.svm model >/dev/null
    assert_equal "$(head -1 log)" $'iteration\tseconds\tprimal\tdual\tgap\tsolver'
}

@test "sweep: a fold file may contain any words, and -v assigns them to folds" {
    awk '{ print NR % 3 }' set.svm >numbers
    sed 's/0/Eawag/; s/1/RIKEN-2/; s/2/µ/' numbers >words
    svm-rank-train -q --fold-file numbers -c 1,2 set.svm 2>/dev/null >by.numbers
    svm-rank-train -q --fold-file words -c 1,2 set.svm 2>/dev/null >by.words
    cmp <(timeless by.numbers) <(timeless by.words)
    # words in any order of lines, some of them numbers
    sed 's/Eawag/7/' words >mixed
    svm-rank-train -q --fold-file mixed -c 1,2 set.svm 2>/dev/null >by.mixed
    cmp <(timeless by.numbers) <(timeless by.mixed)
    # a key across queries: forty molecules, in four folds of ten each
    awk '{ print "molecule-" int(NR / 6) % 20 }' set.svm >keys
    svm-rank-train -q -v 4 --fold-file keys --log log set.svm >out
    assert_equal "$(sed 1d log | cut -f2 | sort -u | tr '\n' ' ')" '1 2 3 4 '
    svm-mc-train -q --fold-file keys --log log two.svm >out
    assert_equal "$(sed 1d log | cut -f2 | sort -u | wc -l)" 20
    refused svm-rank-train -q -v 21 --fold-file keys set.svm
    assert_equal "$(<err)" 'svm-rank-train: keys: 20 words cannot make 21 folds'
    yes x | head -120 >one
    refused svm-rank-train -q --fold-file one set.svm
    assert_equal "$(<err)" 'svm-rank-train: one: all rows are in one fold'
}

@test "sweep: a model on standard output is alone there" {
    svm-rank-train -q -v 3 -c 1,2 set.svm - >model 2>table
    head -1 model | grep -qx 'dualsvm rank 1'
    grep -q '^point' table
    svm-rank-train -v 3 -c 1,2 set.svm model.2 >table 2>said
    cmp model model.2
    assert_equal "$(grep -vc $'\t' table)" 0 # the report is not on it
    header primal said
    run -0 --separate-stderr svm-rank-train -q -v 3 -c 1,2 set.svm model.3
    assert_equal "$stderr" ''
}

@test "sweep: a full disk is an error for the table and for --resume" {
    run -1 bash -c 'svm-rank-train -q -v 3 -c 1,2 set.svm >/dev/full'
    assert_output --partial '<stdout>: cannot write: No space left on device'
    : >table
    run -1 bash -c 'ulimit -f 0; trap "" XFSZ; svm-rank-train -q -v 3 -c 1,2 --resume table set.svm >/dev/null'
    assert_output --partial 'table: cannot write: File too large'
}

# bats test_tags=long
@test "sweep: unconverged points of --resume count as in the run that made them" {
    local options='-v 3 -c .01,100 -e 1e-6 --max-iter 3 --strict'
    run -3 --separate-stderr svm-rank-train -q $options --resume table set.svm
    [[ "$stderr" == *'not converged: '*' fits to folds'* ]]
    run -3 --separate-stderr svm-rank-train -q $options --resume table set.svm
    assert_equal "$stderr" 'svm-rank-train: warning: not converged: 2 of 2 points taken over from table'
    # points of another shard do not count
    run -3 --separate-stderr svm-rank-train -q $options --resume table --shard 1/2 set.svm
    assert_equal "$stderr" 'svm-rank-train: warning: not converged: 1 of 1 points taken over from table'
    rm table
    # an empty gap is not converged
    run -3 svm-rank-train -q -v 3 -c 1,2 -t sigmoid --strict --resume table set.svm
    assert_equal "$(cell gap point 1 table)" ''
    run -3 --separate-stderr svm-rank-train -q -v 3 -c 1,2 -t sigmoid --strict --resume table set.svm
    [[ "$stderr" == *'2 of 2 points taken over from table' ]] || fail "$stderr"
    # but it is if the formulation converges by another measure than the gap
    while read -r family options; do
        rm -f table
        for pass in 1 2; do
            run -0 --separate-stderr svm-$family-train -q -v 3 --strict --resume table $options
            assert_equal "$stderr" ''
        done
    done <<'END'
rank -c 1,2 set.svm
top -s grill --tau .1,.2 two.svm
smm -s lowrank -c .1,1 matrices.svm
END
}

# bats test_tags=long
@test "sweep: a table for --resume may have CRLF, blank lines, and an incomplete row before a header" {
    local options='-q -v 3 -c 1,2,4,8'
    svm-rank-train $options --resume table set.svm >whole 2>/dev/null
    { sed 's/$/\r/' table; printf '\n\r\n'; } >crlf
    svm-rank-train $options --resume crlf set.svm | cmp - whole
    printf '\n\n' >blank
    svm-rank-train $options --resume blank set.svm >resumed
    same <(sed '/^$/d' blank | sort -un) whole
    same resumed whole
    for bytes in 3 60 200 300 400; do
        { head -c "$bytes" table; cat whole; } >joined
        svm-rank-train $options --resume joined set.svm | cmp - whole
        { head -c "$bytes" table; head -2 whole; } >joined
        svm-rank-train $options --resume joined set.svm >resumed
        same resumed whole
    done
    # a row may occur twice with different seconds, but not with different measures
    { cat whole; awk -F'\t' -v OFS='\t' 'NR > 1 { $(NF - 1) = "7.000"; print }' whole; } >twice
    svm-rank-train $options --resume twice set.svm | cmp - whole
    { cat whole; sed -n '3s/\(pair\t[^\t]*\t\)[^\t]*/\10.123/p' whole; } >twice
    cp twice kept
    refused svm-rank-train $options --resume twice set.svm
    assert_equal "$(<err)" 'svm-rank-train: twice:6: another row of this point has other measures'
    cmp twice kept
    sed '3s/\t[^\t]*\t[^\t]*$//' whole >torn
    refused svm-rank-train $options --resume torn set.svm
    assert_equal "$(<err)" 'svm-rank-train: torn:3: a row with cells missing: torn off?'
}

@test "sweep: points without time for a fit are neither chosen nor saved for --resume" {
    # the limit is over before the first fit
    run -0 --separate-stderr svm-mc-train -q -v 3 -c 1,2 --max-time 1e-9 --resume table two.svm
    [[ "$stderr" == *'svm-mc-train: warning: no time for an iteration at 2 of 2 points'* ]] || fail "$stderr"
    assert_equal "$(wc -l <<<"$output")" 3
    assert_equal "$(wc -l <table)" 1
    # nor is a model calibrated that there was no time for
    printf '%s 1:1\n' +1 -1 +1 -1 +1 -1 +1 -1 +1 -1 >pair
    run -0 --separate-stderr svm-top-train -q -s svm --calibrate 0.5 --max-time 1e-9 pair model
    [[ "$stderr" == *'warning: no calibration: there was no time for '* ]] || fail "$stderr"
    run -1 grep calibrated model
}
