# What models of svm-rank predict: scores, orders, pairs, probabilities; measures; exports.

load helper
load rank_tools

setup() {
    cd "$tmp" || exit 1
    rows 40 3 4 1 5 >graded.svm # grades: many ties
    rows 30 2 4 2 >real.svm
}

# ---- units ----

@test "rank: measures agree with their definitions, and with values worked by hand" {
    unit families/rank/metrics
}

@test "rank: the slope of probabilities is the minimum of Platt's objective over both orders of each pair" {
    unit families/rank/sigmoid
}

# ---- prediction ----

@test "rank: scores are the linear model's products, and the kernel model's sums" {
    printf '2 1:1 2:0.5\n1 1:0.25 3:2\n' >two.svm
    train -c 1000 -l squared-hinge -e 1e-10 two.svm model
    predict two.svm model >scores
    # w = (x1 - x2) a with a = 1 / (|x1 - x2|^2 + 1 / (2 C)); x1 - x2 = (.75, .5, -2)
    awk 'BEGIN { norm = .5625 + .25 + 4; a = 1 / (norm + .0005)
        printf "%.12g\n%.12g\n", a * (.75 + .25), a * (.1875 - 4) }' >paper
    agree paper scores 1e-8
}

@test "rank: measures printed are those of the scores by definition, ties included" {
    rows 80 6 4 12 3 | sed 's/[1-4]:0\.[0-9]*//; s/  */ /g' >test.svm
    rows 7 1 4 13 3 | sed 's/qid:1/qid:50/' >>test.svm
    rows 3 1 4 14 | sed 's/qid:1/qid:51/' >>test.svm # below --min-group
    train graded.svm model
    predict --metrics test.svm model scores >metrics
    "$bin/tests/unit/solvers/rank/oracle" --metrics test.svm scores >expected
    for name in pairwise-accuracy kendall-tau spearman; do
        within "$(metric $name metrics)" "$(awk -v n=$name '$1 == n { print $2 - 1e-6 }' expected)" \
            "$(awk -v n=$name '$1 == n { print $2 + 1e-6 }' expected)"
    done
    predict --metrics --min-group 2 test.svm model scores >metrics
    "$bin/tests/unit/solvers/rank/oracle" --metrics test.svm scores --min-group 2 >expected
    within "$(metric pairwise-accuracy metrics)" \
        "$(awk '/^pairwise/ { print $2 - 1e-6 }' expected)" \
        "$(awk '/^pairwise/ { print $2 + 1e-6 }' expected)"
    svm-rank-predict test.svm model scores 2>err >out # labels there: measures on stderr
    grep -q pairwise-accuracy err
    [ ! -s out ]
}

@test "rank: ndcg, map and mrr are those by definition where no two scores are equal" {
    rows 90 5 4 21 5 | awk '{ print $0 " 5:" NR * .0009765625 }' >test.svm
    train test.svm model
    predict --metrics test.svm model scores >metrics
    [ "$(sort -g scores | uniq -d | wc -l)" = 0 ]
    "$bin/tests/unit/solvers/rank/oracle" --metrics test.svm scores --at 10 >expected
    predict --metrics --ndcg 1,3,5 test.svm model scores >few
    for k in 1 3 5; do
        "$bin/tests/unit/solvers/rank/oracle" --metrics test.svm scores --at $k | grep ndcg >>expected
        grep "ndcg@$k " few >>metrics
    done
    for name in map mrr ndcg@10 ndcg@1 ndcg@3 ndcg@5; do
        within "$(metric $name metrics)" "$(awk -v n=$name '$1 == n { print $2 - 1e-6 }' expected)" \
            "$(awk -v n=$name '$1 == n { print $2 + 1e-6 }' expected)"
    done
}

@test "rank: --order lists, for each query, each of its rows once, from the lowest score up" {
    train graded.svm model
    predict graded.svm model >scores
    predict --order graded.svm model >order
    assert_equal "$(wc -l <order)" 3
    awk 'FILENAME == "scores" { score[FNR] = $1; next }
        FILENAME == "graded.svm" { query[FNR] = $2; next }
        { for (i = 2; i <= NF; i++) {
              if (query[$i] != $1 || seen[$i]++ || (i > 2 && score[$i] < score[$(i - 1)])) {
                  print "row " $i " in: " $0; exit 1 }
              n++ } }
        END { if (n != 40) { print n " rows"; exit 1 } }' scores graded.svm order ||
        fail "$(head -3 order)"
    sed 's/qid:[0-9]* *//' graded.svm >none.svm # without queries just the rows
    predict --order none.svm model >order
    assert_equal "$(tr -s ' ' '\n' <order | sort -n | uniq | wc -l)" 40
}

@test "rank: --pairs gives the margins, which are differences of the scores" {
    train -t 2 -g .5 graded.svm model
    head -12 graded.svm >test.svm
    predict test.svm model >scores
    predict --pairs test.svm model >pairs
    [ -s pairs ]
    awk 'FILENAME == "scores" { score[FNR] = $1; next }
        FILENAME == "test.svm" { query[FNR] = $2; next }
        { i = $1; j = $2; d = $3 - (score[i] - score[j]); d = d < 0 ? -d : d
          if (d > 1e-12 || query[i] != query[j] || i == j) { print; exit 1 }
          seen[i < j ? i " " j : j " " i] = 1 }
        END { for (p in seen) n++
              for (i = 1; i <= 12; i++) for (j = 1; j < i; j++) m += query[i] == query[j]
              if (n != m) { print n " pairs, not " m; exit 1 } }' scores test.svm pairs ||
        fail "$(head -3 pairs)"
}

@test "rank: margins by exterior features are antisymmetric, and those of explicit products" {
    rows 20 2 3 4 >small.svm
    train --pair-features exterior -t 0 -c .5 -e 1e-3 small.svm linear.model
    train --pair-features exterior -t 1 -d 1 -g 1 -c .5 -e 1e-3 small.svm model
    predict --pairs small.svm model >pairs
    predict --pairs small.svm linear.model >linear.pairs
    cut -d' ' -f3 pairs >margins
    cut -d' ' -f3 linear.pairs >linear.margins
    agree margins linear.margins 1e-6
    awk '{ print 21 - NR "\t" $0 }' small.svm | sort -n | cut -f2 >reversed.svm
    predict --pairs reversed.svm model >backwards
    awk 'NR == FNR { m[$1, $2] = $3; n++; next }
        { i = 21 - $1; j = 21 - $2
          if ((i, j) in m) d = $3 - m[i, j]; else d = $3 + m[j, i]
          if (!(((i, j) in m) || ((j, i) in m)) || d > 1e-9 || d < -1e-9) { print; exit 1 } }
        END { exit !n }' pairs backwards || fail "$(head -3 pairs; head -3 backwards)"
}

@test "rank: probabilities lie between 0 and 1, add up to 1 in both orders, and grow with the margin" {
    rows 120 5 4 33 >medium.svm
    train -b 1 -t 2 -g .3 medium.svm model
    head -20 graded.svm >test.svm
    predict test.svm model >scores
    predict --pairs test.svm model >pairs
    awk '{ print 21 - NR "\t" $0 }' test.svm | sort -n | cut -f2 >reversed.svm
    predict --pairs reversed.svm model >backwards
    awk 'FILENAME == "scores" { score[FNR] = $1; next }
        FILENAME == "pairs" { p[$1, $2] = $4; n++
            if (NF != 4 || !($4 > 0 && $4 < 1)) { print "not a probability: " $0; exit 1 }
            if ((score[$1] > score[$2]) != ($4 > .5) && score[$1] != score[$2]) {
                print "not with the margin: " $0; exit 1 }
            print $3, $4 >"curve"; next }
        { i = 21 - $1; j = 21 - $2; q = $4
          d = (i, j) in p ? q - p[i, j] : q + p[j, i] - 1
          if (d > 1e-9 || d < -1e-9) { print "not 1 in both orders: " $0; exit 1 } }
        END { exit !n }' scores pairs backwards || fail "$(head -3 pairs)"
    sort -g -k1,1 curve | awk '$2 < last - 1e-12 { exit 1 } { last = $2 }' || fail 'not monotone'
    train -t 2 -g .3 medium.svm plain.model # and the scores are those of the model without
    predict test.svm plain.model | cmp - scores
}

@test "rank: saving and loading keeps every bit of a prediction" {
    for options in '-t 2 -g .37' '-l squared-hinge' '-t 1 -d 2 -r .1' '--scale std -t 2'; do
        # shellcheck disable=SC2086
        { svm-rank-train -q $options real.svm - >piped.model
          train $options real.svm file.model; }
        cmp piped.model file.model
        predict real.svm file.model >one
        predict real.svm - <piped.model >two
        cmp one two
    done
}

# ---- exports ----

@test "rank: an exported LIBSVM model scores as ours does, with svm-predict" {
    command -v svm-predict >/dev/null || skip 'svm-predict is not installed'
    for options in '-t 0' '-t 1 -d 2 -g .5 -r 1' '-t 2 -g .3' '-t 0 -l squared-hinge'; do
        # shellcheck disable=SC2086
        train $options --libsvm exported graded.svm model
        predict real.svm model >ours
        sed 's/qid:[0-9]* *//' real.svm >plain.svm
        svm-predict plain.svm exported theirs >/dev/null || fail "svm-predict refuses: $(head -3 exported)"
        agree ours theirs 1e-5 # svm-predict prints six digits
    done
    precomputed graded.svm >kernel.svm
    train -t 4 --libsvm exported kernel.svm model
    predict kernel.svm model >ours
    sed 's/qid:[0-9]* *//' kernel.svm >plain.svm
    svm-predict plain.svm exported theirs >/dev/null
    agree ours theirs 1e-5
}

@test "rank: an exported LIBLINEAR model scores as ours does, with its predict" {
    command -v liblinear-predict >/dev/null || skip 'liblinear-predict is not installed'
    for options in '' '-l squared-hinge -c 20'; do
        # shellcheck disable=SC2086
        train $options --liblinear exported graded.svm model
        predict real.svm model >ours
        sed 's/qid:[0-9]* *//' real.svm >plain.svm
        liblinear-predict plain.svm exported theirs >/dev/null
        agree ours theirs 1e-5
    done
}

@test "rank: an export that the other format cannot express is refused before training" {
    mkdir empty
    for options in '-t 6 --libsvm' '-t 5 --libsvm' '-t 7 --libsvm' '-t 2 --liblinear'; do
        local status=0
        # shellcheck disable=SC2086
        svm-rank-train -q $options empty/exported graded.svm empty/model >out 2>err || status=$?
        [[ $status =~ ^[12]$ ]] || fail "exit $status: $options"
        assert_equal "$(wc -l <err)" 1
        holds empty
    done
}
