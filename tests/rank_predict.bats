# Predictions of svm-rank: scores, orders, pairs, probabilities; measures; exports.

load helper
load rank_tools

setup() {
    cd "$tmp" || exit 1
    rows 40 3 4 1 5 >graded.svm # grades: many ties
    rows 30 2 4 2 >real.svm
    PATH=$bin/datasets:$PATH
}

# ---- units ----

# bats test_tags=long
@test "rank: the slope of probabilities minimises Platt's objective over both orders of each pair" {
    unit families/rank/frontend/sigmoid
}

# ---- prediction ----

@test "rank: scores are products of a linear model, and sums of a kernel model" {
    printf '2 1:1 2:0.5\n1 1:0.25 3:2\n' >two.svm
    train -c 1000 -l squared-hinge -e 1e-10 two.svm model
    predict two.svm model >scores
    # w = (x1 - x2) a with a = 1 / (|x1 - x2|^2 + 1 / (2 C)); x1 - x2 = (.75, .5, -2)
    awk 'BEGIN { norm = .5625 + .25 + 4; a = 1 / (norm + .0005)
        printf "%.12g\n%.12g\n", a * (.75 + .25), a * (.1875 - 4) }' >paper
    agree paper scores 1e-8
}

# bats test_tags=long
@test "rank: measures printed are those of the scores by definition, ties included" {
    # scores are multiples of the feature: some rows of a query have equal scores, in some queries all
    awk 'BEGIN { srand(5)
        for (q = 1; q <= 40; q++) {
            levels = 1 + int(5 * rand()); grades = 1 + int(5 * rand())
            for (i = 1 + int(7 * rand()); i > 0; i--) {
                print int(grades * rand()) - (q % 9 == 0) " qid:" q " 1:" int(levels * rand()) } } }' >ties.svm
    train ties.svm model
    for how in '' 'gain=linear' 'threshold=2 most=2' 'most=1 gain=linear' 'min=4'; do
        options=$(sed -E 's/(gain|threshold|most|min)=/--\1 /g; s/--threshold/--threshold-grade/; s/--most/--max-grade/
            s/--min/--min-group/' <<<"$how")
        for k in 1 3 8; do
            predict --metrics --min-group 1 --ndcg $k --precision $k --err $k $options ties.svm model \
                scores >metrics
            measures_of rank ties.svm scores $k min=1 $how
        done
    done
    # more rows, and a query below --min-group
    rows 80 6 4 12 3 | sed 's/[1-4]:0\.[0-9]*//; s/  */ /g' | awk '{ print $0 " 5:" NR * .0009765625 }' >test.svm
    rows 7 1 5 13 3 | sed 's/qid:1/qid:50/' >>test.svm
    rows 3 1 5 14 3 | sed 's/qid:1/qid:51/' >>test.svm
    train test.svm model
    for least in 5 2; do
        predict --metrics --min-group $least test.svm model scores >metrics
        measures_of rank test.svm scores min=$least
    done
    svm-rank-predict test.svm model scores 2>err >out # labels there: measures on stderr
    grep -q pairwise-accuracy err
    [ ! -s out ]
}

@test "rank: measures of many rows, and of a tie of many rows, take no time" {
    # scattered targets, scores reversed in the upper half: its pairs are in the wrong order
    printf '%s\n' '2 1:2' '1 1:1' >two.svm
    train two.svm model
    awk 'BEGIN { n = 2 ^ 17
        for (i = 0; i < n; i++) { x = (i * 40503 + 7) % n; print x " 1:" (x < n / 2 ? x : 3 * n / 2 - x) } }' >many.svm
    limited svm-rank-predict --metrics many.svm model >metrics
    near "$(metric pairwise-accuracy metrics)" .7500019073631848 1e-12
    near "$(metric kendall-tau metrics)" .5000038147263696 1e-12
    # positions are nearly independent, satisfied with probability 1/4: sum of (3/4)^(j-1) / (4 j)
    awk 'BEGIN { for (i = 0; i < 50000; i++) print i % 2 " 1:1" }' >tie.svm
    limited svm-rank-predict --metrics --max-grade 1 --err 1000 tie.svm model >metrics
    within "$(metric err@1000 metrics)" .46199 .46220
}

# bats test_tags=long
@test "rank: labels that are not grades have no measures of grades without a threshold" {
    printf '%s\n' '2 1:2' '1 1:1' >two.svm
    train two.svm model
    for grade in -0.5 1.5 61; do
        printf '%s\n' "$grade 1:1" '2 1:2' '3 1:3' >test.svm
        predict --metrics --min-group 1 test.svm model >metrics
        run -1 grep -E '^(map|mrr|ndcg@10|err@10|precision@10) [0-9]' metrics
        grep -q '^pairwise-accuracy ' metrics
        predict --metrics --min-group 1 --threshold-grade 2 test.svm model >metrics
        run -1 grep -E '^(ndcg@10|err@10) [0-9]' metrics
        grep -q '^map [0-9]' metrics
    done
    sed -i 's/^61/60/' test.svm
    predict --metrics --min-group 1 test.svm model >metrics
    grep -q '^ndcg@10 [0-9]' metrics
    printf '0 1:%d\n' 1 2 3 >test.svm
    refused svm-rank-predict -q --metrics --min-group 1 test.svm model
    # --empty decides how a query without a relevant row counts
    printf '%s\n' '0 qid:1 1:1' '0 qid:1 1:2' '0 qid:2 1:1' '1 qid:2 1:2' >test.svm
    for case in 'skip 1' '0 .5' '1 1'; do
        predict --metrics --min-group 1 --empty ${case% *} test.svm model >metrics
        for name in map mrr ndcg@10; do
            near "$(metric $name metrics)" "${case#* }" 1e-12
        done
    done
}

@test "rank: --order lists the rows of each query once, in ascending order of scores" {
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

@test "rank: --order best-first lists them in descending order, equal scores as in the file" {
    printf '%s\n' '1 qid:7 1:2' '3 qid:7 1:3' '2 qid:7 1:2' '0 qid:7 1:1' '0 qid:b 1:0' '1 qid:b 1:1' >few.svm
    train few.svm model
    printf '%s\n' 'qid:7 2 1 3 4' 'qid:b 6 5' >wanted
    predict --order best-first few.svm model | diff wanted -
    predict --ord=best-first few.svm model | diff wanted -
    predict few.svm --order model | diff <(printf '%s\n' 'qid:7 4 1 3 2' 'qid:b 5 6') -
    run -2 svm-rank-predict -q --order=worst-first few.svm model
    assert_output --partial 'option --order: takes no value but best-first'
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

@test "rank: margins of pair features are antisymmetric and equal those of explicit products" {
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
        END { if (!n) exit 1 }' pairs backwards || fail "$(head -3 pairs; head -3 backwards)"
}

@test "rank: probabilities are between 0 and 1, sum to 1 over both orders, and increase with the margin" {
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
        END { if (!n) exit 1 }' scores pairs backwards || fail "$(head -3 pairs)"
    sort -g -k1,1 curve | awk '$2 < last - 1e-12 { bad = 1 } { last = $2 } END { exit bad || !NR }' || fail 'not monotone'
    train -t 2 -g .3 medium.svm plain.model # and the scores are those of the model without
    predict test.svm plain.model | cmp - scores
}

# bats test_tags=long
@test "rank: a model read from a pipe predicts the same bits as the file" {
    for options in '-t 2 -g .37' '-l squared-hinge' '-t 1 -d 2 -r .1' '--scale std -t 2'; do
        { svm-rank-train -q $options real.svm - >piped.model
          train $options real.svm file.model; }
        cmp piped.model file.model
        predict real.svm file.model >one
        predict real.svm - <piped.model >two
        cmp one two
    done
}

# ---- exports ----

# bats test_tags=long
@test "rank: an exported LIBSVM model gives the same scores in svm-predict" {
    command -v svm-predict >/dev/null || skip 'svm-predict is not installed'
    for options in '-t 0' '-t 1 -d 2 -g .5 -r 1' '-t 2 -g .3' '-t 0 -l squared-hinge'; do
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

@test "rank: an exported LIBLINEAR model gives the same scores in its predict" {
    command -v liblinear-predict >/dev/null || skip 'liblinear-predict is not installed'
    for options in '' '-l squared-hinge -c 20'; do
        train $options --liblinear exported graded.svm model
        predict real.svm model >ours
        sed 's/qid:[0-9]* *//' real.svm >plain.svm
        liblinear-predict plain.svm exported theirs >/dev/null
        agree ours theirs 1e-5
    done
}

@test "rank: an export that the format cannot express is refused before training" {
    mkdir empty
    for options in '-t 6 --libsvm' '-t 5 --libsvm' '-t 7 --libsvm' '-t 2 --liblinear'; do
        misused svm-rank-train -q $options empty/exported missing.svm empty/model
        [[ "$(<err)" == *'that format does not have the '*' kernel: try --help' ]]
        holds empty
    done
}

# ---- learning to rank ----

# trec RUN QRELS K: map, recip_rank, P_K and ndcg_cut_K as trec_eval defines them, averaged over queries.
trec() {
    python3 - "$@" <<'END'
import math, sys
run, grades, k = {}, {}, int(sys.argv[3])
for line in open(sys.argv[1]):
    qid, _, doc, rank, score, tag = line.split()
    run.setdefault(qid, []).append((float(score), doc, int(rank)))
for line in open(sys.argv[2]):
    qid, _, doc, grade = line.split()
    grades.setdefault(qid, {})[doc] = int(grade)
sums = [0.0] * 4
for qid, rows in run.items():
    rows.sort(key=lambda row: (row[0], row[1]), reverse=True)
    assert [row[2] for row in rows] == list(range(1, len(rows) + 1)), qid
    order = [grades[qid][row[1]] for row in rows]
    assert len(order) == len(grades[qid])
    relevant, found, precisions, first = sum(g > 0 for g in order), 0, 0.0, 0.0
    for place, g in enumerate(order, 1):
        if g > 0:
            found += 1
            precisions += found / place
            first = first or 1 / place
    dcg = lambda gains: sum(max(0, g) / math.log2(i + 2) for i, g in enumerate(gains[:k]))
    best = dcg(sorted(order, reverse=True))
    for m, value in enumerate((precisions / relevant if relevant else 0, first,
                               sum(g > 0 for g in order[:k]) / k, dcg(order) / best if best else 0)):
        sums[m] += value / len(run)
print(*("%.12f" % value for value in sums))
END
}

# bats test_tags=long
@test "rank: --trec writes a run whose measures by trec_eval's definitions are the reported ones" {
    command -v python3 >/dev/null || skip 'python3 is not installed'
    # 60 rows of 6 queries, one without a relevant row; names of all kinds
    generate ltr --rows 60 --queries 6 --features 8 --output some.svm
    awk '{ if ($2 == "qid:3") $1 = 0; sub(/qid:/, "qid:topic-")
        print $0 (NR % 3 == 0 ? "" : NR % 3 == 1 ? " # d" NR " and more" : " #docid = D-" NR " inc = 1") }' \
        some.svm >ltr.svm
    awk '{ split($2, q, ":"); d = NR % 3 == 0 ? NR : NR % 3 == 1 ? "d" NR : "D-" NR
        print q[2], 0, d, $1 }' ltr.svm >wanted.qrels
    train ltr.svm m
    predict --trec run --qrels qrels ltr.svm m scores
    sort qrels | diff <(sort wanted.qrels) -
    gzip -c ltr.svm | predict --qrels alone - m scores
    cmp qrels alone
    [ "$(sort -g scores | uniq -d | wc -l)" = 0 ]
    assert_equal "$(wc -l <run)" 60
    assert_equal "$(awk 'NF != 6 || $2 != "Q0" || $6 != "dualsvm"' run)" ''
    for k in 1 5 20; do
        predict --metrics --min-group 1 --empty 0 --gain linear --ndcg $k --precision $k \
            --trec other ltr.svm m >metrics
        cmp run other
        read -r map first precision ndcg <<<"$(trec run qrels $k)"
        near "$(metric map metrics)" "$map" 1e-9
        near "$(metric mrr metrics)" "$first" 1e-9
        near "$(metric "precision@$k" metrics)" "$precision" 1e-9
        near "$(metric "ndcg@$k" metrics)" "$ndcg" 1e-9
        assert_equal "$(metric queries-relevant metrics)" 5
    done
    # equal scores are in the order of trec_eval, by descending name
    printf '1 qid:1 1:1 # %s\n' a c b bb >ties.svm
    predict --trec ties ties.svm m scores
    assert_equal "$(cut -d' ' -f3 ties | tr '\n' ' ')" 'c bb b a '
    # a duplicate name, and two outputs to one file
    printf '1 qid:1 1:1 # a x\n1 qid:1 1:2 # a y\n' >twice.svm
    run -1 svm-rank-predict -q --trec r twice.svm m scores
    assert_output "svm-rank-predict: --trec: query 1 has two rows named 'a': the first word of a row's comment is its name"
    [ ! -e r ]
    run -1 svm-rank-predict -q --qrels r twice.svm m scores
    assert_output --partial "--qrels: query 1 has two rows named 'a'"
    # rows without label are not judged; labels are whole numbers
    printf '%s\n' '2.0 qid:a 1:1 # x' 'qid:a 1:2 # y' '-1 qid:a 1:3 # z' '.5 qid:b 1:1' >labels.svm
    run -1 svm-rank-predict -q --qrels r labels.svm m scores
    assert_output 'svm-rank-predict: --qrels: row 4: a whole number is expected as label, not 0.5'
    [ ! -e r ]
    head -3 labels.svm | predict --qrels r - m scores
    printf '%s\n' 'a 0 x 2' 'a 0 z -1' | diff - r
    run -2 svm-rank-predict -q --trec scores ltr.svm m scores
    train -t rbf --pair-features exterior ltr.svm pairs.m
    run -1 svm-rank-predict -q --trec r --pairs ltr.svm pairs.m scores
    assert_output 'svm-rank-predict: the model has pair features, and no scores for --trec'
}

@test "rank: queries and queries-relevant count the queries that measures are averaged over" {
    printf '3 1:3\n2 1:2\n1 1:1\n' >rows.svm
    train rows.svm m
    # three queries of one row, one of them without a relevant one; one of two labels, one of equal ones
    printf '%s\n' '1 qid:1 1:3' '1 qid:2 1:2' '0 qid:3 1:1' '3 qid:4 1:3' '0 qid:4 1:1' '2 qid:5 1:1' \
        '2 qid:5 1:2' >queries.svm
    svm-rank-predict --metrics --min-group 1 --by-query table queries.svm m >metrics
    assert_equal "$(metric queries metrics)" 1
    assert_equal "$(metric queries-relevant metrics)" 4
    # the measures have as many queries
    column() {
        awk -F'\t' -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
            $c != "" && $c != "nan" { n++ } END { print n + 0 }' table
    }
    for name in pairwise-accuracy kendall-tau spearman; do
        assert_equal "$name $(column $name)" "$name 1"
    done
    for name in map mrr ndcg@10 precision@10 err@10; do
        assert_equal "$name $(column $name)" "$name 4"
    done
    svm-rank-predict --min-group 1 queries.svm m scores 2>said
    grep -qx 'queries = 1 (with labels that differ: what pairwise-accuracy, kendall-tau and spearman are averaged over)' said
    grep -qx 'queries-relevant = 4 (with a relevant row: what map, mrr, ndcg, precision and err are averaged over, without --empty)' said
}

@test "rank: --names writes comments, docids or numbers in place of numbers" {
    printf '%s\n' '1 qid:A 1:1 # acetic acid' '2 qid:A 1:2' '3 qid:b:c 1:3 #docid=X-1 inc = 2' \
        '4 qid:b:c 1:4 # ' '2 qid:A 1:4 # tab	s  ' >named.svm
    train named.svm m
    predict named.svm m >scores
    predict --names named.svm m >lines
    cut -f1 lines | cmp - scores
    printf '%s\n' 'acetic acid' 2 X-1 4 'tab s' | cmp - <(cut -f2 lines)
    predict --order --names named.svm m >order
    printf 'qid:A\tacetic acid\t2\ttab s\nqid:b:c\tX-1\t4\n' | cmp - order
    predict --pairs named.svm m >numbers
    predict --pairs --names named.svm m >pairs
    assert_equal "$(cut -f1,2 pairs | tr '\t\n' '|;')" 'acetic acid|2;acetic acid|tab s;2|tab s;X-1|4;'
    cut -f3 pairs | cmp - <(cut -d' ' -f3 numbers)
}

# bats test_tags=long
@test "rank: words as qids give the same queries as numbers" {
    rows 60 4 5 11 >numbers.svm
    awk '{ split($2, q, ":"); $2 = "qid:" substr("abcdefghij", q[2] % 10 + 1, 1) "-" q[2]; print }' \
        numbers.svm >words.svm
    weight=$(awk 'NR == 1 { sub(/qid:/, "", $2); print $2 }' words.svm)
    for file in numbers words; do
        q=$(awk 'NR == 1 { sub(/qid:/, "", $2); print $2 }' $file.svm)
        train -w "$q:3" --cost-per query $file.svm $file.m
        predict --metrics $file.svm $file.m scores.$file >metrics.$file
    done
    near "$(header primal words.m)" "$(header primal numbers.m)" 1e-6
    agree scores.numbers scores.words 1e-6
    # other blocks, other numbers: the same names
    cat words.svm words.svm | predict --metrics - words.m >metrics
    near "$(metric queries metrics)" "$(metric queries metrics.words)" 0
    train --validate words.svm --min-group 1 words.svm v.m
    run -2 svm-rank-train -q -w nosuch:2 words.svm m
    assert_output "svm-rank-train: option --weight: no training row has the qid 'nosuch': try --help"
    predict --by-query table words.svm words.m >/dev/null
    assert_equal "$(sed 1d table | cut -f2 | sort)" "$(awk '{ sub(/qid:/, "", $2); print $2 }' words.svm | sort -u)"
}

# ---- targets ----

# bats test_tags=long
@test "rank: --targets 1 turns scores into labels, query by query" {
    generate rank --systems 3 --molecules 150 --features 60 --output times.svm
    train -t minmax --targets 1 times.svm m
    predict times.svm m >lines
    assert_equal "$(awk 'NF != 4' lines)" ''
    # monotone within a query, within the range of its labels; intervals are symmetric, but for the cut at 0
    paste -d' ' <(cut -d' ' -f2 times.svm) <(cut -d' ' -f1 times.svm) lines | sort -k1,1 -k3,3g |
        awk '{ if ($1 == q && $4 < v) exit 1; q = $1; v = $4
               low = $4 - ($6 - $4); cut += low < 0; d = $5 - (low < 0 ? 0 : low)
               if (d > 1e-9 || d < -1e-9 || $6 <= $5) exit 1 }
             END { if (!cut) exit 1 }'
    awk 'NR == FNR { n = split($2, q, ":"); y[NR] = $1; of[NR] = $2
            if (!($2 in low) || $1 < low[$2]) low[$2] = $1
            if (!($2 in high) || $1 > high[$2]) high[$2] = $1; next }
         $2 < low[of[FNR]] - 1e-9 || $2 > high[of[FNR]] + 1e-9 { exit 1 }' times.svm lines
    # the map of the model, evaluated by hand, between and beyond its breakpoints
    { header targets m && header targets-widths m; } >maps
    awk 'NR == 1 { for (i = 2; i <= NF;) { q = $i; name[++m] = q; n[q] = $(i + 2); i += 3
             for (k = 1; k <= n[q]; k++) { s[q, k] = $i; v[q, k] = $(i + 1); i += 2 } } next }
         NR == 2 { i = 2; for (j = 1; j <= m; j++) for (k = 1; k <= n[name[j]]; k++) w[name[j], k] = $(i++); next }
         function differ(a, b) { return a - b > 1e-6 || b - a > 1e-6 }
         { q = $1; x = $2
           for (k = 1; k < n[q] && x > s[q, k + 1]; k++) { }
           if (x <= s[q, 1]) { y = v[q, 1]; width = w[q, 1] }
           else if (k >= n[q]) { y = v[q, k]; width = w[q, k] }
           else { part = (x - s[q, k]) / (s[q, k + 1] - s[q, k])
               y = v[q, k] + part * (v[q, k + 1] - v[q, k]); width = w[q, k] + part * (w[q, k + 1] - w[q, k]) }
           if (differ(y, $3) || differ($5 - $3, width)) { print "line " FNR ": " y " " width; exit 1 } }' \
        maps <(paste -d' ' <(sed 's/.*qid:\([^ ]*\) .*/\1/' times.svm) lines)
    # otherwise the same model and the same scores
    train -t minmax times.svm plain
    predict times.svm plain | cmp - <(cut -f1 lines)
    # a query that the model does not know
    { sed 's/qid:[0-9]*/qid:new/' times.svm | head -30 && head -5 times.svm; } >unknown.svm
    svm-rank-predict -q unknown.svm m >unknown 2>err
    assert_equal "$(head -30 unknown | cut -f2- | sort -u)" "$(printf 'nan\tnan\tnan')"
    assert_equal "$(<err)" "svm-rank-predict: warning: unknown.svm: 30 of 35 rows have no map from scores to \
labels, the first of query new: --standards FILE with labelled rows of the query makes one"
    sed 's/ qid:[0-9]*//' times.svm | svm-rank-predict -q - m 2>err >unknown
    [[ "$(<err)" == *' rows have no map from scores to labels, the first without qid: --standards '* ]] || fail "$(<err)"
    # models without widths, of earlier versions: intervals of one width, not cut
    grep -v '^targets-widths' m | changed_model >old
    predict times.svm old >one_width
    cut -f1,2 one_width | cmp - <(cut -f1,2 lines)
    [ "$(awk '{ printf "%.6f\n", $4 - $2 }' one_width | sort -u | wc -l)" = 3 ]
    awk '$3 < 0 { n++ } END { if (!n) exit 1 }' one_width
}

# bats test_tags=long
@test "rank: --header, --digits and tabs make tables of predictions" {
    generate rank --systems 2 --molecules 60 --features 30 --output times.svm
    train -t minmax --targets 1 times.svm m
    predict times.svm m >lines
    predict --header --digits 3 --names times.svm m >table
    head -n 1 table | diff - <(printf 'score\tvalue\tlow\thigh\tname\n')
    sed 1d table | cut -f1-4 | diff - <(awk '{ printf "%.3g\t%.3g\t%.3g\t%.3g\n", $1, $2, $3, $4 }' lines)
    sed 1d table | cut -f5 | diff - <(sed 's/.*# //' times.svm)
    predict --digits 17 times.svm m | paste - lines | awk 'NF != 8 { exit 1 } { for (i = 1; i < 5; i++) if ($i + 0 != $(i + 4) + 0) exit 1 }'
    train -b 1 times.svm plain
    predict --header times.svm plain | head -n 1 | diff - <(echo score)
    predict --header --digits 2 --pairs times.svm plain >pairs
    head -n 1 pairs | diff - <(echo 'first second margin probability')
    sed 1d pairs | diff - <(predict --digits 17 --pairs times.svm plain | awk '{ printf "%s %s %.2g %.2g\n", $1, $2, $3, $4 }')
    predict --header --names --pairs times.svm plain | head -n 1 | diff - <(printf 'first\tsecond\tmargin\tprobability\n')
    # each file of --batch has its header
    cp times.svm other.svm
    predict --batch --header --output-dir out times.svm other.svm m
    assert_equal "$(head -qn 1 out/*.predict | sort -u)" "$(printf 'score\tvalue\tlow\thigh')"
    run -2 svm-rank-predict -q --order --header times.svm m
    assert_output 'svm-rank-predict: --order has no columns for --header and --digits: try --help'
    run -2 svm-rank-predict -q --digits 18 times.svm m
    run -2 svm-rank-predict -q --digits 0 times.svm m
}

# bats test_tags=long
@test "rank: intervals are wide where labels spread, hold nine of ten there, and are cut at 0 only then" {
    # scores 0 to 4: labels spread ten times as much around the upper half
    awk 'BEGIN { srand(7); for (i = 0; i < 1600; i++) { x = 4 * rand()
        r = (rand() + rand() + rand() - 1.5) * (x > 2 ? 2 : .2)
        printf "%.6f qid:1 1:%.6f\n", x + 3 + r, x } }' >all.svm
    head -n 800 all.svm >some.svm
    sed 1,800d all.svm >rest.svm
    train --targets 1 some.svm m
    predict rest.svm m | paste - rest.svm >found
    for half in '<' '>'; do
        awk "{ split(\$7, x, \":\"); if (x[2] $half 2) { n++; in_it += \$3 <= \$5 && \$5 <= \$4; w += \$4 - \$3 } }
            END { print in_it / n, w / n }" found >"half$half"
        within "$(cut -d' ' -f1 "half$half")" .86 .94
    done
    within "$(paste 'half<' 'half>' | awk '{ print $4 / $2 }')" 5 15
    # labels from -3 on are not cut
    awk '{ $1 -= 6; print }' some.svm >low.svm
    train --targets 1 low.svm low
    awk '{ $1 -= 6; print }' rest.svm | predict - low >below
    awk '$3 < 0 { n++ } END { if (!n) exit 1 }' below
    header targets-widths low | grep -q '^none '
    header targets-widths m | grep -q '^0 '
    # standards with a negative label: nothing is cut any more
    sed 's/qid:1/qid:2/' low.svm | head -n 5 >standards
    sed 's/qid:1/qid:2/' rest.svm | predict --standards standards - m | awk '$3 < 0 { n++ } END { if (!n) exit 1 }'
}

@test "rank: intervals of --targets contain nine of ten new rows" {
    generate rank --systems 4 --molecules 500 --features 80 --test 0.4 --output set
    train -c .1 --targets 1 set.train m
    predict set.test m | paste -d' ' - <(cut -d' ' -f1 set.test) |
        awk '{ n++; in_it += $3 <= $5 && $5 <= $4 } END { print in_it / n }' >share
    within "$(<share)" .87 .93
}

@test "rank: intervals contain nine of ten retention times of new molecules" {
    quick && skip 'long'
    real rank/eccb2018.fold1.train.svm.gz
    for fold in 1 2 3 4 5; do
        real rank/eccb2018.fold$fold.train.svm.gz
        svm-rank-train -q -t minmax --targets 1 "$real" m >/dev/null
        real rank/eccb2018.fold$fold.test.svm.gz
        predict "$real" m | paste -d' ' - <(gzip -dc "$real" | cut -d' ' -f1) >>all
    done
    within "$(awk '{ n++; in_it += $3 <= $5 && $5 <= $4 } END { print in_it / n }' all)" .88 .92
}

# bats test_tags=long
@test "rank: --standards fits a map to a query that the model does not know" {
    generate rank --systems 4 --molecules 300 --features 60 --output all.svm
    grep -v ' qid:4 ' all.svm >known.svm
    grep ' qid:4 ' all.svm | sed 's/qid:4/qid:New/' >new.svm
    train -t minmax --targets 1 known.svm m
    for n in 5 30; do
        head -n $n new.svm >standards
        sed "1,${n}d" new.svm >rest
        predict --standards standards rest m | paste -d' ' - <(cut -d' ' -f1 rest) |
            awk '{ n++; in_it += $3 <= $5 && $5 <= $4 } END { print in_it / n }' >share
        within "$(<share)" .7 1
    done
    # from four standards on the map is no constant
    for n in 4 5 6; do
        head -n $n new.svm >few
        predict --standards few rest m | cut -f3 | sort -u >values
        within "$(wc -l <values)" 10 10000
    done
    # the map of a single query of standards is that of rows without qids
    predict --standards standards rest m >with_qid
    sed 's/ qid:[^ ]*//' rest >bare
    predict --standards standards bare m | cmp - with_qid
    sed 's/ qid:[^ ]*//' standards >bare_standards
    predict --standards bare_standards bare m | cmp - with_qid
    head -40 known.svm | cat standards - >several
    svm-rank-predict -q --standards several bare m 2>err | cut -f2 | sort -u | diff - <(echo nan)
    grep -q 'the first without qid' err
    # scores do not change, nor do predictions of known queries
    predict --standards standards all.svm m >with
    predict all.svm m | cmp - with
    # standards of a known query replace its map
    sed -n 's/qid:New/qid:1/p' standards | predict --standards - all.svm m >replaced
    run -1 cmp -s replaced with
    # intervals that are infinite are told: too few rows
    for row in 1 2 3 4 5 6; do echo "$row qid:a 1:$row.5"; done >small.svm
    train --targets 1 small.svm small.model
    svm-rank-predict -q small.svm small.model 2>err | cut -f4 | sort -u | diff - <(echo inf)
    assert_equal "$(<err)" "svm-rank-predict: warning: small.svm: the intervals of 6 of 6 rows are unbounded: too few \
labelled rows of their query tell how they scatter"
    # refused combinations
    train -t minmax known.svm plain
    run -1 svm-rank-predict -q --standards standards rest plain
    assert_output 'svm-rank-predict: --standards is for models that were trained with --targets 1'
    head -1 standards >one
    run -1 svm-rank-predict -q --standards one rest m
    assert_output 'svm-rank-predict: one: query New has no two rows with different scores'
    sed 's/^[^ ]* //' standards >none
    run -1 svm-rank-predict -q --standards none rest m
    assert_output 'svm-rank-predict: none: no row has a label'
    run -1 svm-rank-predict -q --standards nosuch rest m
    run -2 svm-rank-train -q --targets 1 -t rbf --pair-features exterior known.svm m
    assert_output 'svm-rank-train: no --targets with --pair-features exterior: try --help'
    run -1 svm-rank-train -q --targets 1 <(head -n 3 known.svm) m
    assert_output --partial 'different rows cannot make 5 folds'
}

# bats test_tags=long
@test "rank: malformed lines of targets in a model are refused" {
    generate rank --systems 2 --molecules 60 --features 30 --output times.svm
    svm-rank-train -q --targets 1 times.svm m >/dev/null
    for change in 's/^targets .*/targets 1 a 1 9999999999 1 2/' 's/^targets .*/targets 2 a 1 1 1 2/' \
        's/^targets .*/targets 1 a -1 1 1 2/' 's/^targets .*/targets 1 a 1 2 1 2 1 3/' \
        's/^targets .*/targets x/' 's/^targets .*/targets 2 a 1 1 1 2 a 1 1 1 2/' \
        's/^targets .*/targets 1 a 1 1 1 2 3/' 's/^targets-few .*/targets-few 1 2 3/' \
        's/^targets-widths .*/targets-widths 0 1/' 's/^targets-widths [^ ]*/targets-widths 1/' \
        's/^targets-widths \([^ ]*\) [^ ]*/targets-widths \1 none/' 's/^targets-widths .*/& 1/' \
        's/^targets-widths \([^ ]*\) [^ ]*/targets-widths \1 -1/'; do
        sed "$change" m | changed_model >changed
        run -1 svm-rank-predict -q times.svm changed
        assert_output --partial "the model's targets"
    done
}
