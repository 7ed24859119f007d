# The command line and the output of the programs in detail.

load helper

setup() {
    cd "$tmp" || exit 1
    awk 'BEGIN { seed = 7
        for (i = 0; i < 90; i++) {
            line = ""; sum = 0
            for (f = 1; f <= 4; f++) {
                seed = (seed * 16807) % 2147483647; v = int(seed / 2147483647 * 16) / 8
                sum += (f - 2) * v; line = line " " f ":" v }
            seed = (seed * 16807) % 2147483647
            print int(100 * (sum + 2 * seed / 2147483647)) / 100 " qid:" 10 + i % 6 line } }' >set.svm
    head -60 set.svm >train.svm
    tail -30 set.svm >test.svm
}

# graded FILE: its rows with whole numbers as labels.
graded() {
    awk '{ $1 = int($1 / 2); print }' "$1"
}

@test "cli: options may stand anywhere, abbreviated, attached or with an equals sign" {
    svm-rank-train -q -c 4 -t 2 --gamma 0.5 train.svm a
    svm-rank-train train.svm -qc4 --kern=rbf b --gam=.5
    svm-rank-train --cost 2^2 -t rbf -g0.5 -q -- train.svm c
    cmp a b
    cmp a c
}

@test "cli: an error is one line that shows the offending text" {
    run svm-rank-train -e 1x train.svm
    assert_failure 2
    assert_output "svm-rank-train: option --epsilon: not a number: '1x': try --help"
    run svm-rank-train --co 1 train.svm
    assert_failure 2
    assert_output "svm-rank-train: option --co: could be --cost or --coef0: try --help"
    run svm-rank-train -c 1,2 train.svm
    assert_failure 2
    assert_output --partial 'want --folds, --fold-file or --validate'
    run svm-rank-predict test.svm
    assert_failure 2
    assert_output 'svm-rank-predict: no test file and model file: try --help'
}

@test "cli: --help shows options with values and defaults, but none that the family lacks" {
    run svm-rank-train --help
    assert_success
    assert_line --partial 'usage: svm-rank-train [options] training_file [model_file]'
    assert_line --regexp '^  -d, --degree N .*\(0 to 1000, default 3\)$'
    assert_line --regexp '^      --ndcg K,\.\.\. .*\(1 or more, default 10\)$'
    refute_output --partial shrinking
    run svm-rank-predict --help
    assert_success
    assert_line --regexp '^      --order '
}

@test "cli: the report has lines name = value, with seconds unless --quiet" {
    svm-rank-train -q -t rbf train.svm m >out
    assert_equal "$(cut -d= -f1 out | tr -d '\n')" \
        'groups pairs solver iterations primal dual gap support-vectors '
    svm-rank-train train.svm m 2>/dev/null >out
    assert_equal "$(cut -d= -f1 out | tr -d '\n')" \
        'groups pairs solver iterations primal dual gap read-seconds kernel-seconds solve-seconds certify-seconds '
    assert_equal "$(sed -n 's/^gap = //p' out)" "$(awk '$1 == "gap" { print $2 }' m)"
}

@test "cli: cross-validation prints every measure, the accuracy in LIBSVM's format" {
    graded train.svm >graded.svm
    svm-rank-train -q -v 3 --ndcg 1,3 graded.svm >out
    assert_equal "$(sed 's/ = .*//' out)" 'Cross Validation Accuracy
Cross Validation kendall-tau
Cross Validation spearman
Cross Validation map
Cross Validation mrr
Cross Validation ndcg@1
Cross Validation ndcg@3
Cross Validation precision@10
Cross Validation err@10'
    # undefined measures are left out: these labels are not grades
    svm-rank-train -q -v 3 train.svm >measures
    assert_equal "$(sed 's/.* \(.*\) = .*/\1/' measures | tr '\n' ' ')" 'Accuracy kendall-tau spearman '
    svm-rank-train -q -v 3 --threshold-grade 2 train.svm >measures
    assert_equal "$(sed 's/.* \(.*\) = .*/\1/' measures | tr '\n' ' ')" \
        'Accuracy kendall-tau spearman map mrr precision@10 '
    grep -Eqx 'Cross Validation Accuracy = [0-9.]+% \(pairwise-accuracy\)' out
}

@test "cli: a sweep prints a table, with cost ascending and varying fastest, and reports the best point" {
    svm-rank-train -v 3 -t rbf -g 1,.1 -c 4,1 train.svm >out 2>err
    assert_equal "$(cut -f1-8 out)" 'point	formulation	cost	loss	kernel	gamma	pairs	cost-per
1	rank	1	hinge	rbf	1	1	pair
2	rank	4	hinge	rbf	1	1	pair
3	rank	1	hinge	rbf	0.1	1	pair
4	rank	4	hinge	rbf	0.1	1	pair'
    head -1 out | grep -q '	pairwise-accuracy	pairwise-accuracy-sd	kendall-tau	.*	gap	seconds	run$'
    best=$(sed 1d out | sort -t "$(printf '\t')" -k9,9 -gr | head -1 | cut -f9)
    grep -Eqx "best: point=[1-4] cost=[14] gamma=[0.1]+ pairwise-accuracy=$best" err
    ! grep note err || fail 'a note about two values'
    svm-rank-train -v 3 -c 1e-9,1,1e-8 -l hinge,squared-hinge train.svm >out 2>err # 1 is the largest
    grep -qx 'note: cost=1 is the largest that was tried' err
    svm-rank-train -q -v 3 -c 1e-9,1,1e-8 train.svm 2>&1 >out | wc -c | diff - <(echo 0)
}

@test "cli: a sweep notes that no point is better than a single label, or than equal scores" {
    try='; try a larger cost, another kernel (-t), formulation (-s) or --scale'
    printf '%s\n' 'a 1:1' 'a 1:2' 'a 1:1' 'a 1:2' 'a 1:1' 'a 1:2' 'b 1:1' 'b 1:2' >same
    svm-mc-train -v 2 -c 1,2 same 2>&1 >out | grep -xF "note: accuracy=0.75 at all points is that of a single label$try"
    printf 'a 1:1\nb 1:2\nb 1:1\n' >held # the share is that of the validation rows
    svm-mc-train --validate held -c 1,2 --select macro-f1 same >/dev/null 2>err
    run -1 grep accuracy err
    sed 's/^a/-1/; s/^b/1/' same >signs
    svm-top-train -v 2 -c 1,2 --select auc signs 2>&1 >out | grep -xF "note: auc=0.5 at all points is that of equal scores$try"
}

@test "cli: tables have no columns that are always empty" {
    local without='pairwise-accuracy pairwise-accuracy-sd kendall-tau kendall-tau-sd spearman spearman-sd gap'
    columns() { # names of the columns after the parameters, of the table `out`
        head -n 1 out | tr '\t' ' ' | sed 's/.* cost-per //; s/ seconds run$//'
    }
    # labels that are not grades
    svm-rank-train -q -v 3 -c 1,2 train.svm >out
    assert_equal "$(columns)" "$without"
    svm-rank-train -q -v 3 -c 1,2 --threshold-grade 2 train.svm >out
    assert_equal "$(columns)" "${without% gap} map map-sd mrr mrr-sd precision@10 precision@10-sd gap"
    graded train.svm >graded.svm
    svm-rank-train -q -v 3 -c 1,2 graded.svm >out
    [[ $(columns) == *' ndcg@10 ndcg@10-sd '* ]]
    # a shard and a resumed sweep have the columns of the whole one
    svm-rank-train -q -v 3 -c 1,2 train.svm >out
    for shard in 1 2; do
        svm-rank-train -q -v 3 -c 1,2 --shard $shard/2 train.svm >part.$shard
        head -n 1 out | diff - <(head -n 1 part.$shard)
    done
    sort -un part.1 part.2 >joined
    svm-rank-train -q -v 3 -c 1,2 --resume joined train.svm | cmp - <(cat part.1 <(sed 1d part.2))
    # the measure that selects stays, and says that it has no value
    run -1 svm-rank-train -q -v 3 -c 1,2 --select ndcg@10 train.svm
    assert_output --partial 'nothing to measure ndcg@10 by'
    svm-rank-train -q train.svm m
    svm-rank-predict -q --by-query out train.svm m scores
    assert_equal "$(head -n 1 out | tr '\t' ' ')" 'file query rows pairs pairwise-accuracy kendall-tau spearman queries'
}

# bats test_tags=long
@test "cli: lists and ranges have the stated values, costs ascending, each once" {
    local option list column expected
    while read -r option list column expected; do
        svm-rank-train -q -v 3 -t rbf "$option" "$list" train.svm 2>/dev/null >out
        assert_equal "$list: $(sed 1d out | cut -f "$column" | tr '\n' ' ')" "$list: $expected "
    done <<'END'
-c 2^2:2^-2:x.25 3 0.25 1 4
-c .001:1:x10,7,1 3 0.001 0.01 0.1 1 7
-c 1:5:x2 3 1 2 4
-g 0:1:+.25 6 0 0.25 0.5 0.75 1
-g 3,1 6 3 1
END
    refused_as() { # WORDS ARGUMENTS
        misused svm-rank-train -v 3 "${@:2}" train.svm
        grep -q -e "$1" err || fail "$(<err)"
    }
    refused_as 'a sweep of more than' -t rbf -c 1:1000:+1 -g 1:100:+1
    refused_as 'too many values' -c 1:1e300:+1e-300
    refused_as "must be greater than 0: '0:1:+1'" -c 0:1:+1
    refused_as "must be at least 0 and at most 1000: '1001'" -d 1001
    # the last value counts, and a value may be attached
    svm-rank-train -q -c 2 -c4 train.svm m >/dev/null
    grep -qx 'cost 4' m
}

@test "cli: --select chooses another measure, and an error lists their names" {
    svm-rank-train -v 3 -c .01,100 --select kendall-tau train.svm 2>err >out
    grep -q '^best: .* kendall-tau=' err
    graded train.svm >graded.svm
    svm-rank-train -v 3 -c .01,100 --ndcg 5 --select ndcg@3 graded.svm 2>err >out
    head -1 out | grep -q '	ndcg@5	.*	ndcg@3	ndcg@3-sd	gap	'
    grep -q '^best: .* ndcg@3=' err
    svm-rank-train -v 3 -c .01,100 --select err@2 --gain linear --empty 0 graded.svm 2>err >out
    grep -q '^best: .* err@2=' err
    run svm-rank-train -q -v 3 --select auc train.svm
    assert_failure 2
    assert_output --partial 'must be one of pairwise-accuracy, kendall-tau'
    for measure in ndcg ndcg@ ndcg@0 ndcg@x ndcg@1.5 map@1 ndcg@1e ndcg@1e30; do
        misused svm-rank-train -q -v 3 --select $measure graded.svm
    done
}

@test "cli: --validate gives the measures of predict on that file" {
    for options in '-c 1' '-t rbf -g .3' '--scale std-center' '-t minmax --scale l2'; do
        {
            svm-rank-train -q $options --validate test.svm train.svm >out
            svm-rank-train -q $options train.svm m >/dev/null
        }
        svm-rank-predict --metrics test.svm m >metrics
        assert_equal "$(sed -n 's/^Validation spearman = //p' out | cut -c1-6)" \
            "$(metric spearman metrics | cut -c1-6)"
    done
}

@test "cli: equal rows are ties in the measures of held-out rows, wherever they are, for all kernels" {
    printf '%s\n' '1 1:.3 2:.1' '2 1:.7 2:.4' '3 1:.2 2:.9' '4 1:1.1 2:.5' '5 1:.6 2:1.3' >train.svm
    seq 1 5 | sed 's/$/ 1:.55 2:.35/' >up.svm
    tac up.svm >down.svm
    for kernel in linear polynomial rbf laplacian minmax rational; do
        for test in up down; do
            run -0 svm-rank-train -q -t $kernel --validate $test.svm train.svm
            assert_line 'Validation Accuracy = 50% (pairwise-accuracy)'
        done
    done
}

# bats test_tags=long
@test "cli: predictions with kernels depend neither on threads nor on a row's place, and equal rows are ties" {
    dense() { # ROWS SEED
        awk -v n="$1" -v seed="$2" 'BEGIN {
            srand(seed)
            for (i = 0; i < n; i++) {
                printf "%d", i % 3 ? -1 : 1
                for (j = 1; j <= 150; j++) printf " %d:%.6f", j, rand()
                print ""
            }
        }'
    }
    dense 300 9 >train.svm
    dense 1003 19 >test.svm
    row=$(head -1 test.svm)
    for i in {1..500}; do echo "$row"; done >equal.svm
    for kernel in rbf polynomial sigmoid; do
        svm-top-train -q --force -t $kernel train.svm model >report
        svm-top-predict -q -j 1 test.svm model one
        svm-top-predict -q -j 3 test.svm model three
        cmp one three
        for first in 1 2 18 230 700; do
            tail -n +$first test.svm | head -97 | svm-top-predict -q - model >part
            diff part <(tail -n +$first one | head -97)
        done
        assert_equal "$(svm-top-predict -q equal.svm model 2>warning | sort -u | wc -l)" 1
    done
}

@test "cli: a sweep with --validate trains its model on the training rows only" {
    svm-rank-train -q -c 1 -t rbf train.svm alone >/dev/null
    svm-rank-train -q -c 1e-9,1 -t rbf --select spearman --validate train.svm train.svm m >out
    cmp alone m
    sed 's/$/ 9:1/' test.svm >wide.svm
    for options in '-t linear' '-t linear --scale std' '-t minmax'; do
        svm-rank-train -q -c 1,1e-9 $options --validate wide.svm train.svm m >out
        cost=$(awk '$1 == "cost" { print $2 }' m)
        svm-rank-train -q -c "$cost" $options train.svm alone >/dev/null
        cmp alone m
    done
}

@test "cli: errors in a fold file are reported with their line" {
    awk '{ print NR % 3 }' train.svm >folds
    svm-rank-train -q --fold-file folds train.svm >/dev/null
    sed '5s/.*/a b/' folds >bad
    run svm-rank-train -q --fold-file bad train.svm
    assert_failure 1
    assert_output "svm-rank-train: bad:5:1: not one word: 'a b'"
    sed '5s/.*/ /' folds >bad
    run svm-rank-train -q --fold-file bad train.svm
    assert_failure 1
    assert_output "svm-rank-train: bad:5:1: no word to tell the fold by"
    head -59 folds >bad
    run svm-rank-train -q --fold-file bad train.svm
    assert_failure 1
    assert_output --partial '59 lines for 60 training rows'
    { cat folds; echo 1; } >bad
    run svm-rank-train -q --fold-file bad train.svm
    assert_failure 1
    assert_output --partial 'bad:61: more lines than the 60 training rows'
    sed '5s/.*/a\x00/' folds >bad
    run svm-rank-train -q --fold-file bad train.svm
    assert_failure 1
    assert_output "svm-rank-train: bad:5:1: a NUL byte"
}

# bats test_tags=long
@test "cli: a fold file may be gzip, a pipe or standard input, and have long words" {
    awk '{ print NR % 3 }' train.svm >folds
    gzip -k folds
    svm-rank-train -q --fold-file folds train.svm >plain
    svm-rank-train -q --fold-file folds.gz train.svm | cmp - plain
    svm-rank-train -q --fold-file - train.svm <folds | cmp - plain
    svm-rank-train -q --fold-file - train.svm <folds.gz | cmp - plain
    svm-rank-train -q --fold-file <(cat folds.gz) train.svm | cmp - plain
    sed 's/$/\r/' folds | svm-rank-train -q --fold-file - train.svm | cmp - plain
    # longer than one read, and without a final line end
    awk '{ word = NR % 3 }
        word == 1 { while (length(word) < 200000) word = word word }
        { print word }' train.svm >words
    sed 's/^1/one/' folds | svm-rank-train -q --fold-file - train.svm >by.words
    head -c -1 words | svm-rank-train -q --fold-file - train.svm | cmp - by.words
    sed '5s/.*/a b/' folds >bad
    run svm-rank-train -q --fold-file - train.svm <bad
    assert_failure 1
    assert_output "svm-rank-train: <stdin>:5:1: not one word: 'a b'"
    head -c 20 folds.gz >bad
    run svm-rank-train -q --fold-file bad train.svm
    assert_failure 1
    assert_output --partial 'svm-rank-train: bad: '
}

@test "cli: the error about too few queries for the folds suggests --fold-file" {
    run svm-rank-train -q -v 7 train.svm
    assert_failure 1
    assert_output --partial '6 queries cannot make 7 folds'
    assert_output --partial '--fold-file'
}

@test "cli: --order and --pairs print rows by their number in the file" {
    svm-rank-train -q -b 1 train.svm m >/dev/null
    svm-rank-predict -q test.svm m scores
    svm-rank-predict -q --order test.svm m order
    assert_equal "$(cut -d' ' -f1 order | tr '\n' ' ')" 'qid:10 qid:11 qid:12 qid:13 qid:14 qid:15 '
    first=$(paste -d' ' scores test.svm | awk '$3 == "qid:10" { print $1, NR }' | sort -g |
        cut -d' ' -f2 | tr '\n' ' ')
    assert_equal "$(head -1 order | cut -d' ' -f2-) " "$first"
    svm-rank-predict -q --pairs test.svm m pairs
    assert_equal "$(wc -l <pairs)" 60 # 6 queries of 5 rows
    assert_equal "$(head -1 pairs | cut -d' ' -f1,2)" '1 7'
    awk 'NR == FNR { s[NR] = $1; next }
         { d = s[$1] - s[$2] - $3; if (d > 1e-12 || d < -1e-12 || NF != 4) exit 1 }' scores pairs
    sed 's/ qid:[0-9]*//' test.svm | svm-rank-predict -q --order - m >order
    assert_equal "$(wc -w <order) $(wc -l <order)" '30 1'
}

@test "cli: a model of pair features predicts pairs only" {
    svm-rank-train -q -t rbf --pair-features exterior train.svm m >/dev/null
    run svm-rank-predict test.svm m
    assert_failure 1
    assert_output 'svm-rank-predict: the model has pair features: it only predicts --pairs'
    svm-rank-predict -q --pairs test.svm m >pairs
    svm-rank-predict --metrics test.svm m >metrics
    awk 'NR == FNR { t[NR] = $1; next } t[$1] != t[$2] { n++; right += ($3 > 0) == (t[$1] > t[$2]) }
         END { print right / n }' test.svm pairs >share # all queries have the same size
    within "$(metric pairwise-accuracy metrics)" "$(awk '{ print $1 - .02 }' share)" \
        "$(awk '{ print $1 + .02 }' share)"
    assert_equal "$(cut -d' ' -f1 metrics | tr '\n' ' ')" 'pairwise-accuracy queries '
    assert_equal "$(metric queries metrics)" 6
}

@test "cli: measures go to stderr, or with --metrics to stdout, and need labels" {
    svm-rank-train -q train.svm m >/dev/null
    svm-rank-predict test.svm m >scores 2>measures
    grep -Eqx 'pairwise-accuracy = [0-9.]+' measures
    svm-rank-predict --metrics test.svm m named >stdout 2>stderr
    cmp named scores
    [ ! -s stderr ]
    grep -Eqx 'pairwise-accuracy [0-9.]+' stdout
    cut -d' ' -f2- test.svm >unlabelled
    svm-rank-predict unlabelled m >other 2>stderr
    cmp other scores
    [ ! -s stderr ]
    run svm-rank-predict --metrics unlabelled m
    assert_failure 1
    assert_output 'svm-rank-predict: unlabelled: its rows have nothing to measure by'
}

@test "cli: --batch writes a file for each test file into the current folder" {
    svm-rank-train -q train.svm m >/dev/null
    mkdir far here && cp test.svm far/one && cp train.svm far/two
    cd here
    svm-rank-predict -q --batch ../m ../far/one ../far/two
    holds . one.predict two.predict
    cmp one.predict <(svm-rank-predict -q ../test.svm ../m)
    cmp two.predict <(svm-rank-predict -q ../train.svm ../m)
    svm-rank-predict --batch --metrics ../m ../far/one ../far/two >../out
    assert_equal "$(cut -f1,2 ../out)" $'file\trows\n../far/one\t30\n../far/two\t60'
    refused svm-rank-predict -q --batch ../m missing.svm
}

@test "cli: a precomputed kernel can be cross-validated and validated" {
    kernel() { # the linear kernel of every row of $1 with the 60 training rows
        awk 'NR == FNR { for (f = 3; f <= NF; f++) { split($f, p, ":"); x[NR, p[1]] = p[2] }; n = NR
                         next }
             { for (f = 3; f <= NF; f++) { split($f, p, ":"); z[p[1]] = p[2] }
               line = $1 " " $2 " 0:" FNR
               for (i = 1; i <= n; i++) { s = 0; for (f = 1; f <= 4; f++) s += x[i, f] * z[f]
                                          line = line " " i ":" s }
               print line }' train.svm "$1"
    }
    kernel train.svm >train.pre
    kernel test.svm >test.pre
    agree_with() { # the accuracies that two commands print differ by a pair at most
        head -qn 1 "$1" "$2" | sed 's/.* = \(.*\)%.*/\1/' | paste - - |
            awk '{ d = $1 - $2; exit !($1 + 0 > 0 && d < .7 && d > -.7) }' || fail "$(head -1 "$1" "$2")"
    }
    svm-rank-train -q -e 1e-5 -v 3 train.svm >linear
    svm-rank-train -q -e 1e-5 -v 3 -t 4 train.pre >precomputed
    agree_with linear precomputed
    svm-rank-train -q -e 1e-5 --validate test.svm train.svm | sed 's/^/with /' >linear
    svm-rank-train -q -e 1e-5 --validate test.pre -t 4 train.pre >precomputed
    agree_with linear precomputed
}

@test "cli: two outputs must not go to one file" {
    for outputs in 'm --log m' '- --log -' 'm --libsvm x --log x'; do
        set -- $outputs
        run svm-rank-train -q train.svm "$@"
        assert_failure 2
        assert_output --partial 'two outputs to one file'
    done
    assert_not_exists m
    svm-rank-train -q train.svm m >/dev/null
    mkdir one two
    cp test.svm one/set
    cp test.svm two/set
    run svm-rank-predict --batch m one/set two/set
    assert_failure 2
    assert_output --partial "'one/set' and 'two/set' would be predicted to one file"
    assert_not_exists set.predict
}

@test "cli: unconverged fits to folds are counted, and --strict returns 3" {
    run svm-rank-train -q -v 3 --max-iter 1 -e 1e-6 -c 1,10 --strict train.svm
    assert_failure 3
    assert_output --partial 'svm-rank-train: warning: not converged: 6 of 6 fits to folds'
    run svm-rank-train -q -b 1 --max-iter 1 -e 1e-6 train.svm m
    assert_success
    assert_output --partial 'not converged: 5 of 5 fits to folds'
    run svm-rank-train -q -v 3 --strict train.svm
    assert_success
    refute_output --partial warning
}

@test "cli: --max-iter counts the iterations of all algorithms and outer iterations" {
    for limit in 3 10 30; do
        svm-rank-train -q -t rbf --solver newton -c 1e9 -e 1e-12 --max-iter $limit --log log \
            train.svm m >out 2>err
        assert_equal "$(sed -n 's/^iterations = //p' out)" $limit
        cut -f1 log | tail -n +2 >numbers
        seq $limit | cmp - numbers
    done
}

# ---- usage errors ----

# bats test_tags=long
@test "cli: an error about a mistyped option or choice suggests the closest name" {
    # says ERROR PROGRAM ARGUMENTS: runs it and compares the error
    says() {
        local text=$1
        shift
        misused "$@"
        [[ "$(<err)" == *"$text: try --help" ]] || fail "$(<err)"
    }
    # one letter less, more, different, and two letters swapped
    for word in --kernl --kernell --kermel --kenrel --KERNEL --kernl=rbf; do
        says "unknown option: '${word%=*}' (did you mean '--kernel'?)" svm-rank-train $word train.svm
    done
    says "'--metricks' (did you mean '--metrics'?)" svm-mc-predict --metricks train.svm m
    says "'--thread-s' (did you mean '--threads'?)" svm-check --thread-s 1 a b c
    # a long option with a single dash
    for word in '-kernel rbf' -kernel=rbf -kernal; do
        # shellcheck disable=SC2086 # an option and its value
        says "unknown option: '-k' (did you mean '--kernel'?)" svm-rank-train $word train.svm
    done
    says "unknown option: '-Z'" svm-rank-train -Z train.svm
    for word in --nosuch --k3 --zz "--$(printf '%060d' 1)"; do
        says "unknown option: '$word'" svm-rank-train "$word" train.svm
    done
    for family in rank top mc ml smm; do
        says "'newtn' (did you mean 'newton'?)" svm-rank-train --solver newtn train.svm
        says "'minmxa' (did you mean 'minmax'?)" svm-$family-train --scale minmxa train.svm
    done
    says "'squard-hinge' (did you mean 'squared-hinge'?)" svm-rank-train -l squard-hinge train.svm
    says "'patmta' (did you mean 'patmat'?)" svm-top-train -s patmta train.svm
    says "'polynomail' (did you mean 'polynomial'?)" svm-rank-train -t polynomail train.svm
    says "'ndgc@10' (did you mean 'ndcg@10'?)" svm-rank-train -v 3 --select ndgc@10 train.svm
    says "'spearmen' (did you mean 'spearman'?)" svm-rank-train -v 3 --select spearmen train.svm
    says "'xyz'" svm-rank-train -t xyz train.svm
}

# bats test_tags=long
@test "cli: names of choices are accepted in any case, or as an unambiguous prefix" {
    svm-rank-train -q -t polynomial -d 2 train.svm whole >/dev/null
    for word in poly POLY Polynomial polynom 1; do
        svm-rank-train -q -t $word -d 2 train.svm m >/dev/null
        cmp m whole
    done
    svm-rank-train -q -l hinge,squared-hinge -v 2 train.svm | cut -f1-9 >expected
    svm-rank-train -q -l Hinge,SQUARED -v 2 train.svm | cut -f1-9 | diff - expected
    svm-rank-train -q --scale std train.svm whole >/dev/null # though std-center begins so too
    svm-rank-train -q --scale STD train.svm m >/dev/null
    cmp m whole
    # prefixes of two letters, and ambiguous ones, are refused
    for word in po ra r st; do
        misused svm-rank-train -t $word train.svm
    done
    misused svm-rank-train --scale st train.svm
    misused svm-top-train -s toppus train.svm
}

# bats test_tags=long
@test "cli: a program without arguments prints its usage before the error" {
    for program in svm-{rank,top,mc,ml,smm}-{train,predict} svm-check svm-rank-candidates; do
        run -2 --separate-stderr "$program"
        assert_output ''
        [[ "${stderr_lines[0]}" == "usage: $program "* ]] || fail "$stderr"
        [[ "${stderr_lines[-1]}" == "$program: "*': try --help' ]] || fail "$stderr"
        [ "${#stderr_lines[@]}" -le 8 ]
        [[ "$stderr" == *"example: $program "* ]]
        [ -z "$(awk 'length($0) > 80' <<<"${stderr%$'\n'*}")" ]
    done
}

# bats test_tags=long
@test "cli: --names writes the comments of rows last, and tabs between fields, in all predictors" {
    printf '%s\n' '1 1:1 2:2 # first one' $'2 1:2 2:1 #\tdocid = X7 foo' '3 1:0 2:-1' $'1 1:1 2:3 # a\tb' >named
    printf 'first one\nX7\n3\na b\n' >names
    local how
    for family in rank top mc ml smm; do
        how=
        [ $family != smm ] || how='--shape 1x2'
        [ $family != top ] || how='--positive 2'
        "svm-$family-train" -q $how named $family.m
        "svm-$family-predict" -q named $family.m plain
        "svm-$family-predict" -q --names named $family.m out
        awk -F'\t' '{ print $NF }' out | diff names -
        sed 's/\t[^\t]*$//' out | tr '\t' ' ' | diff plain -
    done
    svm-mc-predict -q --scores named mc.m plain
    svm-mc-predict -q --scores --header named mc.m out
    diff out - < <(echo 'labels 1 2 3' && cat plain)
    svm-mc-predict -q --scores --header --names named mc.m out
    assert_equal "$(head -n 1 out)" $'labels\t1\t2\t3\tname'
    svm-ml-predict -q --scores named ml.m plain
    svm-ml-predict -q --scores --header named ml.m out
    diff out - < <(echo 'labels 1 2 3' && cat plain)
    misused svm-ml-predict --header named ml.m
    svm-top-predict -q named top.m plain
    svm-top-predict -q --header named top.m out
    diff out - < <(echo 'label score' && cat plain)
    svm-top-predict -q --header --names named top.m out
    assert_equal "$(head -n 1 out)" $'label\tscore\tname'
    svm-smm-predict -q named smm.m plain
    svm-smm-predict -q --header named smm.m out
    diff out - < <(echo 'labels 1 2 3' && cat plain)
    sed 's/^3/1/' named >pair
    svm-smm-train -q --shape 1x2 pair smm.m
    svm-smm-predict -q --header --names pair smm.m out
    assert_equal "$(head -n 1 out)" $'label\tscore\tname'
}

# json EXPRESSION FILE...: the value of a Python expression of `run`, the JSON object in each line.
json() {
    python3 -c 'import json, sys
for path in sys.argv[2:]:
    for line in open(path, encoding="utf-8"):
        run = json.loads(line, parse_constant=lambda word: sys.exit("not JSON: " + word))
        print(eval(sys.argv[1]))' "$@"
}

# bats test_tags=long
@test "cli: --json has the lines of the report, the measures and the rows of a table" {
    svm-rank-train --json j train.svm m >out 2>/dev/null
    sed 's/^\(.*\) = .*/\1/' out | diff - <(json '"\n".join(list(run)[4:])' j)
    assert_equal "$(json 'run["gap"] == float("'"$(header gap m)"'")' j)" True
    assert_equal "$(json 'run["program"], run["files"], run["options"]' j)" \
        "('svm-rank-train', ['train.svm', 'm'], {'json': 'j'})"
    svm-rank-train -q -v 3 --json - train.svm >j 2>out
    json '"Cross Validation kendall-tau = {:.6g}".format(run["measures"]["kendall-tau"])' j | grep -qxFf - out
    svm-rank-train -q -v 3 -t rbf -g 1,.1 -c 4,1 -w 10:2 --json j train.svm m >table
    awk -F'\t' 'NR > 1 { print $1, $3, $6, $9 + 0, $(NF - 1) + 0 }' table |
        diff - <(json '"\n".join("{point} {cost} {gamma} {pairwise-accuracy:g} {seconds:g}".format(**p) for p in run["points"])' j)
    assert_equal "$(json 'run["options"]["weight"], run["options"]["cost"], len(run["points"][0]) + 1' j)" \
        "({'10': 2}, '4,1', $(head -n 1 table | wc -w))"
    [[ "$(json 'run["best"]' j)" == [1-4] ]]
    # measures in full, as of --metrics; null if undefined
    svm-rank-predict -q --metrics test.svm m >metrics
    svm-rank-predict -q --json j test.svm m out
    json '"\n".join(f"{k} {v}" for k, v in run["measures"].items() if v is not None)' j | diff - metrics
    [[ "$(json 'run["rows"], run["measures"]["map"]' j)" == '(30, None)' ]]
    printf '1 1:1\n1 1:nan\n' >bad
    run -1 svm-rank-predict -q --batch --keep-going --json j m train.svm bad
    assert_equal "$(json 'run["files"][0], run.get("error", run.get("rows"))' j)" \
        $'(\'train.svm\', 60)\n(\'bad\', "bad:2:5: value is not finite: \'nan\'")'
    svm-rank-train -q --proof proof train.svm m
    svm-check train.svm m proof >out
    svm-check --json - train.svm m proof >j
    sed -n 's/ = \(.*\) \.\. \(.*\)/ \1 \2/p' out |
        diff - <(json '"\n".join(f"{k} {v[0]} {v[1]}" for k, v in run.items() if type(v) is list and k != "files")' j)
    assert_equal "$(json 'run["verdict"]' j)" VERIFIED
    misused svm-rank-train --json m train.svm m
    misused svm-rank-predict --json - --metrics test.svm m
    misused svm-rank-predict --json j --batch --skip-existing test.svm m
    [[ "$(<err)" == *'--json and --skip-existing exclude each other'* ]] || fail "$(<err)"
}

@test "cli: --json escapes every byte, and its notes and warnings are arrays" {
    printf '1 1:1\n-1 1:1\n' >$'q"\\\t\xff\xc3\xa9\xed\xa0\x80'
    svm-top-train -q -s toppush --json j $'q"\\\t\xff\xc3\xa9\xed\xa0\x80' m >out
    python3 -c 'import json, os
run = json.load(open("j", encoding="utf-8"))
assert os.fsencode(run["files"][0]) == b"q\"\\\t\xff\xc3\xa9\xed\xa0\x80", run
assert "note" not in run and len(run["notes"]) >= 1, run'
    sed -n 's/^note = //p' out | diff - <(json '"\n".join(run["notes"])' j)
    svm-rank-train -q --max-iter 1 -e 1e-9 --json j train.svm limited 2>told >/dev/null
    sed -n 's/^svm-rank-train: warning: //p' told | diff - <(json '"\n".join(run["warnings"])' j)
    grep -q 'not converged' told
    svm-rank-train -q --json j --force train.svm limited >/dev/null
    assert_equal "$(json '"warnings" in run' j)" False
}

# bats test_tags=long
@test "cli: a row that arrives through a pipe is predicted before the next one is sent" {
    svm-rank-train -q train.svm m
    mkfifo rows lines
    for options in '1 cat' '3 cat' '1 gzip' '3 gzip'; do
        read -r threads pack <<<"$options"
        limited svm-rank-predict -q -j "$threads" rows m >lines &
        exec 9<lines 8>rows # in the order in which the program opens them
        head -n 3 test.svm | while IFS= read -r row; do
            printf '%s\n' "$row" | $pack >&8
            IFS= read -r -t 20 line <&9 || fail "no line for $row"
            printf '%s\n' "$line"
        done >live
        exec 8>&- 9<&-
        wait $!
        head -n 3 test.svm | svm-rank-predict -q - m | diff live -
    done
}

@test "cli: a model and a test file in the wrong order are suspected" {
    svm-rank-train -q train.svm m
    refused svm-rank-predict m test.svm
    [[ "$(<err)" == *' (are the two files swapped?)' ]] || fail "$(<err)"
    refused svm-rank-predict test.svm train.svm
    [[ "$(<err)" != *swapped* ]] || fail "$(<err)"
}

# bats test_tags=long
@test "cli: unknown options and missing arguments are usage errors" {
    for options in '--nosuch' '-Z' '--cost' '-c' '-e' '--kernel=' '-c=' '--quiet=3' '-qZ' '--' \
        '-t' '--pairs' '--log' 'train.svm m extra' 'train.svm m extra more'; do
        misused svm-rank-train $options
    done
    misused svm-rank-train -q
    misused svm-rank-predict -q
    misused svm-rank-predict train.svm
    misused svm-rank-predict train.svm m a b
    misused svm-rank-predict - - # one standard input for two files
    misused svm-rank-predict --nosuch train.svm m
    misused svm-rank-predict -Z train.svm m
    for option in -h '-?'; do
        misused svm-mc-train $option 1 train.svm
        [[ "$(<err)" == *"(did you mean '--help'?)"* ]] || fail "$(<err)"
    done
    holds . err out set.svm test.svm train.svm
}

# bats test_tags=long
@test "cli: values are parsed completely and checked against their bounds" {
    mkdir empty
    while read -r options; do
        misused svm-rank-train $options train.svm empty/model
        holds empty
    done <<'END'
-e 1x
-e x
-e -1
-e nan
-e inf
-e 1e400
-e 0x1p-3
-e ,
-c 0
-c -1
-c 1x
-c nan
-c inf
-c 1e999
-c 1:2
-c 1:2:0
-c 1:2:x0
-c 1:2:x1
-c 1:2:x-2
-c 1:2:+0
-c 1:2:+-1
-c 2:1:x2
-c 1:1e300:+1e-300
-c 1,
-c ,1
-c 1,,2
-c 2^
-c ^2
-c 2^x
-c 2^1^1
-t 9
-t -1
-t 2x
-t nosuch
-t 1.5
-s nosuch
-s 9
-l nosuch
-l 2
-d -1
-d 1.5
-d 1x
-g -1
-g x
-r x
-r inf
-m 0
-m -1
-m x
-j -1
-j x
-j 1.5
-v 1
-v 0
-v -3
-v 2.5
-v x
-h 2
-b 2
-b x
--scale nosuch
--seed -1
--seed x
--seed 1.5
--seed 18446744073709551616
--max-iter -1
--max-iter x
--max-time -1
--max-time x
--solver nosuch
--step nosuch
--stop nosuch
--rank-gap 3:2
--rank-gap 2
--rank-gap 0:0
--rank-gap x:2
--rank-gap 1:x
--rank-gap -1:2
--pairs 0
--pairs -1
--pairs 1.5
--pairs nosuch
--cost-per nosuch
--pair-features nosuch
-w 1
-w 1:
-w :1
-w 1:x
-w 1:-1
-w x:1
END
}

# bats test_tags=long
@test "cli: inconsistent combinations of options are usage errors" {
    mkdir empty
    while read -r options; do
        misused svm-rank-train $options train.svm empty/model
        holds empty
    done <<'END'
--solver fw -l squared-hinge
--pair-features exterior --solver newton
-v 3 --validate train.svm
--validate train.svm --fold-file train.svm
-c 1,2
--resume table
--shard 1/2
-v 3 --shard 1/2
-v 3 -c 1,2 --shard 0/2
-v 3 -c 1,2 --shard 3/2
-v 3 -c 1,2 --shard 1
-v 3 -c 1,2 --shard /2
-v 3 -c 1,2 --resume empty/model
-v 3 -c 1,2 --resume -
-v 3 -c 1,2 --log -
END
}
