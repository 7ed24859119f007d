# Multi-label Rank-SVM by the programs: optima and measures on the real sets, label sets of every
# kind, cross-validation against training and predicting by hand, and bad input.

load helper
family=ml

setup() {
    cd "$tmp" || exit 1
    PATH=$bin/datasets:$PATH
}

# measure ARGUMENTS: measures of predictions, into `measures`.
measure() {
    svm-ml-predict --metrics "$@" >measures 2>predict.err ||
        fail "svm-ml-predict --metrics $*: exit $?: $(cat predict.err)"
}

# measured NAME VALUE TOLERANCE: the measure is within the tolerance.
measured() {
    within "$(metric "$1" measures)" \
        "$(awk "BEGIN { printf \"%.12g\", $2 - $3 }")" "$(awk "BEGIN { printf \"%.12g\", $2 + $3 }")"
}

# anchored SET P OPTIONS: trains on a real set. Primal and dual enclose the known optimum P, up to
# the gap and the digits of P.
anchored() {
    local set=$1 optimum=$2
    shift 2
    real "ml/$set.train.svm.gz"
    train "$@" "$real" model
    within "$(header gap model)" 0 1e-3
    within "$(header primal model)" "$(awk "BEGIN { print .999 * $optimum }")" \
        "$(awk "BEGIN { print 1.001 * $optimum }")"
    real "ml/$set.test.svm.gz"
    measure "$real" model
}

# Six rows of three labels, one row without any and one with all.
few() {
    cat <<'END'
1 1:1 2:.5
2 2:1 3:.25
1,3 1:1 3:1
 1:.5 2:.5
1,2,3 3:1
3 1:-1 3:2
END
}

# ---- units ----

# bats test_tags=long
@test "ml: losses, vertices and blocks of single rows" {
    unit families/ml/solver/block
}

# bats test_tags=long,slow
@test "ml: both solvers reach the optima of every loss and bias" {
    unit families/ml/solver/ml
}

@test "ml: rounding-error bounds of certificates are large enough, and no larger" {
    unit families/ml/solver/certify
}

# bats test_tags=long
@test "ml: fits agree over costs, losses, folds and threads; degenerate rows and limits" {
    unit families/ml/solver/consistency
}

# bats test_tags=long,slow
@test "ml: ADMM reaches the optimum of both losses, with every bias" {
    unit families/ml/solver/admm
}

# bats test_tags=long,slow
@test "ml: kernel fits too large for the interior-point method reach their gap in few iterations" {
    generate ml --rows 450 --features 40 --labels 12 --values 15 --noise .5 --output set
    for options in '' '--free-bias' '-l 1 -B 1'; do
        quick && [ "$options" = '' ] && continue
        # shellcheck disable=SC2086
        svm-ml-train --max-iter 400 --strict -q -t rbf -c 1e4 -e 1e-4 $options --proof proof set model
        run -0 svm-check set model proof
        assert_line VERIFIED
    done
    # margins that rounding leaves short of 1 stop no fit
    svm-ml-train --max-iter 400 --strict -q -t tanimoto -c 1e6 -e 1e-6 set model
    svm-ml-train --strict -q -t tanimoto -c 1e6 -e 1e-6 --solver bcd set model
}

# Full second-order terms made the steps of the interior-point method alternate.
@test "ml: a run of the interior-point method that goes in circles is followed by one that does not" {
    printf '%s\n' 'a' 'b,c 1:200 3:200 4:400' 'a,c' 'c 2:400' 'b 2:40 3:400 4:4' 'a,c 2:40' \
        'a,b 2:200 3:140' >circle.svm
    train --strict -c 100000 -t laplacian -g 1.4e-5 circle.svm model
    [[ $(header solver model) == *interior-point* ]]
}

@test "ml: polynomial kernels of few features have few unknowns, however many rows" {
    generate ml --rows 1100 --features 3 --labels 6 --values 3 --noise .3 --output set
    for options in '-d 2 -r 1' '-d 3 -g .5' '-d 2 -r 1 -l 1 --free-bias'; do
        # shellcheck disable=SC2086 # options
        train --strict -t polynomial -c 100 --solver interior $options set model
        assert_equal "$(header solver model)" interior-point
        # shellcheck disable=SC2086
        train -t polynomial -c 100 -e .05 --solver bcd $options set descent
        overlap model descent
    done
}

# bats test_tags=long
@test "ml: ADMM is the fallback where the interior-point method would have too many unknowns" {
    generate ml --rows 450 --features 40 --labels 12 --values 15 --noise .5 --output set
    for options in '--free-bias -c 1e-3' '-c 1e-4' '--free-bias -l 1 -c 1e-3'; do
        # shellcheck disable=SC2086
        train --strict --max-iter 400 -t rbf -e 1e-6 $options set model
        [ "$options" != '--free-bias -c 1e-3' ] || assert_equal "$(header solver model)" 'coordinate-descent admm'
    done
    refused svm-ml-train -q -t rbf -c 1e4 -e 1e-6 --solver interior set model
    grep -q 'too many features, rows or labels' "$tmp/err"
}

# bats test_tags=long
@test "ml: measures are those of the predictions by definition, rows of no and all labels and ties included" {
    svm-generate ml --rows 200 --features 30 --labels 6 --values 6 --noise .4 --seed 4 --test .5 --output set
    local names
    names=$(cut -d' ' -f1 set.train | tr , '\n' | grep . | sort -nu | paste -sd,)
    { cat set.test; printf '%s\n' ' 1:.5' "$names 1:1" '2,3' '1' ' 2:1'; } >held
    for threshold in ew global top:2 zero; do
        train -c .1 --threshold $threshold set.train model
        svm-ml-predict -q --metrics --scores held model scores >metrics
        measures_of ml held scores "names=$names"
    done
}

@test "ml: thresholds are optimal on the training rows" {
    unit families/ml/frontend/threshold
}

# ---- real sets ----

@test "ml: emotions, rbf" {
    anchored emotions 142.61 --scale std -t rbf -c 1
    measured hamming-loss .194 .003
    measured ranking-loss .158 .003
    anchored emotions 403.63 --scale std -t rbf -c 10
}

# bats test_tags=long
@test "ml: yeast and scene, rbf" {
    anchored yeast 1328.1 --scale std -t rbf -c 3
    measured ranking-loss .160 .003
    measured average-precision .770 .003
    anchored scene 566.34 --scale std -t rbf -c 10
}

@test "ml: enron, linear with bias, where a row of all labels adds one that no other row has" {
    real ml/enron.train.svm.gz
    { gzip -dc "$real"; seq -s, 1 53; } >enron.svm
    train -B 1 -c .1 enron.svm model
    assert_equal "$(header outputs model)" 53
    within "$(header primal model)" 19.815 19.855
    anchored enron 20.0 -B 1 -c .1
    assert_equal "$(header outputs model)" 52
}

# bats test_tags=long
@test "ml: the solvers agree on a real set; --solver fw is withdrawn, and interior keeps its number" {
    real ml/emotions.train.svm.gz
    train --scale std -t rbf -c 1 --solver bcd "$real" bcd.model
    train --scale std -t rbf -c 1 --solver 3 "$real" interior.model
    assert_equal "$(header solver interior.model)" interior-point
    within "$(header primal interior.model)" "$(header dual bcd.model)" \
        "$(awk -v p="$(header dual bcd.model)" 'BEGIN { print p * 1.002 }')"
    for solver in fw 2 ''; do
        run -2 --separate-stderr svm-ml-train --solver "$solver" "$real" m
        [[ $stderr == *"must be one of auto, bcd, interior: '$solver'"* ]]
    done
}

# ---- fits that reach their gap ----

# Sixty rows of five labels in mixed units: a count, an angle, an area, a population, a flag.
mixed_units() {
    awk 'BEGIN {
        srand(3)
        for (i = 0; i < 60; i++) {
            a = rand(); b = rand(); c = rand(); d = rand(); f = rand() < .4
            split("", set); n = 0; out = ""
            if (a + f + rand() > 1.5) set[n++] = 1
            if (b - c + rand() > .4) set[n++] = 2
            if (d * c + rand() > .9) set[n++] = 3
            if (a * d - b + rand() > .2) set[n++] = 4
            if (f + rand() > 1.2) set[n++] = 5
            for (k = 0; k < n; k++) out = out (k ? "," : "") set[k]
            printf "%s 1:%d 2:%.1f 3:%d 4:%d 5:%d\n", out, 9 * a, 180 * b, 5000 * c * c, \
                   4e7 * d * d * d, f
        }
    }'
}

# bats test_tags=long,slow
@test "ml: features in mixed units, large and small C, both losses and all biases reach their gap" {
    mixed_units >mixed
    for options in '' '-B 10' '--free-bias'; do
        for loss in hinge squared-hinge; do
            for cost in 1e-4 1 1e6; do
                # at 1e6 the rounding-error bound in such units may exceed this gap
                strict=$([ $cost = 1e6 ] || echo --strict)
                # shellcheck disable=SC2086 # lists of options
                train $strict -l $loss -c $cost $options -e 1e-6 mixed tight.model
                # shellcheck disable=SC2086
                train --strict -l $loss -c $cost $options --solver interior mixed model
                within "$(header dual model)" 0 "$(header primal tight.model)"
                within "$(header dual tight.model)" 0 "$(header primal model)"
            done
        done
    done
}

@test "ml: kernels at C = 1e6 reach their gap where features have units over ten decades" {
    ten_decades | sed 's/^+1/1,2/; s/^-1/3/' >decades
    train --strict -t rbf --free-bias -c 1e6 decades model
}

# bats test_tags=long
@test "ml: kernels at large C reach their gap" {
    mixed_units >mixed
    for kernel in '--scale minmax -t rbf -g .5' '--scale std -t polynomial -g 1 -r 1 -d 2' \
        '-t tanimoto' '-t minmax'; do
        for options in '' '-B 1' '--free-bias' '-l squared-hinge'; do
            # shellcheck disable=SC2086 # lists of options
            train --strict $kernel $options -c 1e4 -e 1e-6 mixed model
        done
    done
}

@test "ml: where a free bias alone separates the labels, the optimum of 0 is found" {
    printf '%s\n' 'a 1:1 2:1' 'a 1:1 3:1' 'a,b 2:1' 'a 3:2 4:1' >separable
    for options in '' '-t rbf -g .1' '-l squared-hinge' '-c 1e6 -e 1e-9' '--solver interior'; do
        # shellcheck disable=SC2086 # lists of options
        train --strict --free-bias $options separable model
        assert_equal "$(header dual model)" 0
        within "$(header primal model)" 0 1e-6
    done
}

# ---- labels ----

@test "ml: labels are words as written, sorted by bytes, or by value where all are integers" {
    printf '%s\n' 'b,B 1:1' 'a 2:1' '10 3:1' 'B,10 1:1 3:1' >words
    train words model
    assert_equal "$(header labels model)" '10 B a b'
    printf '%s\n' '10 1:1' '9,-2 2:1' '-10 3:1' '+3,10 1:1 3:1' '007 4:1' >integers
    train integers model
    assert_equal "$(header labels model)" '-10 -2 +3 007 9 10'
}

@test "ml: renaming labels renames predictions" {
    generate ml --rows 300 --features 100 --labels 8 --output set
    awk '{ if ($1 !~ /:/) { n = split($1, l, ","); $1 = ""; s = ""
           for (i = 1; i <= n; i++) s = s (i > 1 ? "," : "") sprintf("%c", 105 - l[i]); $0 = s $0 }
           print }' set >renamed
    train -e 1e-6 set model
    train -e 1e-6 renamed renamed.model
    svm-ml-predict -q set model | awk '{ n = split($1, l, ","); s = ""
        for (i = n; i >= 1; i--) s = s (i < n ? "," : "") sprintf("%c", 105 - l[i]); print s }' >expected
    svm-ml-predict -q renamed renamed.model >got
    header labels model |
        awk '{ for (i = NF; i >= 1; i--) printf "%c%s", 105 - $i, (i > 1 ? " " : "\n") }' >in_order
    header labels renamed.model | cmp - in_order
    within "$(diff expected got | grep -c '^<')" 0 1
}

@test "ml: rows without labels and with all are counted, and carry no loss" {
    few >few.svm
    train few.svm model
    assert grep -qx 'rows-without-labels = 1' train.out
    assert grep -qx 'rows-with-all-labels = 1' train.out
    grep -v '^ \|^1,2,3' few.svm >without
    train without other.model
    assert_equal "$(header primal model)" "$(header primal other.model)"
    printf ' 1:1\n 2:1\n' >none
    run -1 --separate-stderr svm-ml-train none model
    assert_equal "$stderr" 'svm-ml-train: no row has some of the labels and lacks others: there is nothing to learn'
    printf '1 1:1\n1 2:1\n' >one
    run -1 svm-ml-train one model
}

@test "ml: labels unseen in training count as never predicted" {
    few >few.svm
    train few.svm model
    measure few.svm model
    cp measures before
    sed 's/^1 /1,new /' few.svm >unseen
    measure unseen model
    for name in ranking-loss one-error coverage average-precision; do
        assert_equal "$(metric $name measures)" "$(metric $name before)"
    done
    # now six rows of four labels, with one more wrong
    measured hamming-loss "($(metric hamming-loss before) * 18 + 1) / 24" 1e-6
}

@test "ml: a thousand labels" {
    generate ml --rows 400 --labels 1000 --output set
    train set model
    within "$(header outputs model)" 500 1000
    within "$(header gap model)" 0 1e-3
    svm-ml-predict set model out
    assert_equal "$(wc -l <out)" 400
}

# ---- thresholds ----

# sets MODEL: label sets computed from `predict --scores` by the threshold of the model.
sets() {
    awk -v line="$(header threshold "$1")" -v labels="$(header labels "$1")" '
        BEGIN { split(line, t, " "); q = split(labels, name, " "); kind = t[1] }
        { for (k = 1; k <= q; k++) s[k] = $(NF - q + k)
          common = kind == "ew" ? t[q + 2] : kind == "global" ? t[2] : 0
          for (k = 1; kind == "ew" && k <= q; k++) common += t[k + 1] * s[k]
          set = ""
          for (k = 1; k <= q; k++) {
              above = 0 # labels that come before this one
              for (l = 1; l <= q; l++) above += s[l] > s[k] || (s[l] == s[k] && l < k)
              if (kind == "top" ? above < t[2] : s[k] > (kind == "scut" ? t[k + 1] : common))
                  set = set (set == "" ? "" : ",") name[k]
          }
          print set }'
}

# bats test_tags=long
@test "ml: every threshold is stored in the model and gives its label sets" {
    generate ml --rows 500 --features 200 --labels 10 --test 0.4 --output set
    for threshold in ew global scut zero top:3; do
        train --threshold $threshold set.train model
        assert_equal "$(header threshold model | cut -d' ' -f1)" "${threshold%:*}"
        predict --scores set.test model | sets model >by_hand
        predict set.test model | cmp - by_hand
        sort -u by_hand >"$threshold.sets"
    done
    assert_equal "$(header threshold model)" 'top 3'
    [ "$(md5sum -- *.sets | cut -d' ' -f1 | sort -u | wc -l)" = 5 ] # they differ
}

@test "ml: --at-least-one fills empty sets only" {
    generate ml --rows 400 --features 200 --labels 10 --output set
    train -c 1e-4 --threshold zero set model
    svm-ml-predict -q set model without
    train -c 1e-4 --threshold zero --at-least-one set model
    svm-ml-predict -q set model with
    refute grep -qx '' with
    run -0 awk 'NR == FNR { a[FNR] = $0; next } a[FNR] != "" && a[FNR] != $0 { exit 1 }' without with
    assert_equal "$(header at-least-one model)" 1
    train --threshold global set model
    run -1 header at-least-one model
}

# ---- the highest labels ----

# Measures at K, computed from all labels of each row by score (--top-k) and the two files of rows,
# with ties counted against the prediction.
highest() {
    cat <<'END_OF_PYTHON'
import math, sys
train, test, scored, a, b, numbers = sys.argv[1:]
a, b = float(a), float(b)
def sets(path):
    with open(path) as lines:
        for line in lines:
            first = line.split(' ', 1)[0].strip()
            yield set() if ':' in first or not first else set(first.split(','))
count, n = {}, 0
for labels in sets(train):
    n += 1
    for label in labels:
        count[label] = count.get(label, 0) + 1
c = max(0, math.log(n) - 1) * (b + 1) ** a
def weight(label):
    return 1 + c * math.exp(-a * math.log(count.get(label, 0) + b))
rows = list(sets(test))
with open(scored) as lines:
    order = [[part.rsplit(':', 1) for part in line.split()] for line in lines]
assert len(order) == len(rows)
for k in map(int, numbers.split(',')):
    precision = ndcg = got = most = 0
    for labels, scores in zip(rows, order):
        worst = sorted(scores, key=lambda x: (-float(x[1]), x[0] in labels, weight(x[0])))[:k]
        hits = [label in labels for label, _ in worst]
        precision += sum(hits) / k / len(rows)
        ideal = sum(1 / math.log2(2 + i) for i in range(min(k, len(labels))))
        if ideal:
            ndcg += sum(h / math.log2(2 + i) for i, h in enumerate(hits)) / ideal / len(rows)
        got += sum(weight(label) for label, _ in worst if label in labels)
        most += sum(sorted(map(weight, labels), reverse=True)[:k])
    print('precision@%d %.12g\nndcg@%d %.12g\npsp@%d %.12g' % (k, precision, k, ndcg, k, got / most))
END_OF_PYTHON
}

@test "ml: precision@K, ndcg@K and psp@K, with ties, unknown labels, no labels and K above their number" {
    svm-generate ml --rows 300 --features 60 --labels 25 --values 8 --seed 4 --test .3 --output set
    { cat set.test; printf '2,4,new,newer\n 1:.5\nnew 1:1\n1,2,3 61:1\n7\n'; } >held
    train -c .1 set.train model
    svm-ml-predict -q --top-k 99 held model all
    assert_equal "$(awk '{ print NF }' all | sort -u)" "$(header outputs model)"
    highest >reference.py
    for propensities in '.55 1.5' '.6 2.6'; do
        read -r a b <<<"$propensities"
        python3 reference.py set.train held all "$a" "$b" 1,3,5,40 | sort >expected
        measure --precision 1,3,5,40 --ndcg 1,3,5,40 --psp 1,3,5,40 --propensity-a "$a" \
            --propensity-b "$b" held model
        assert_equal "$(grep -c @ measures)" 12
        grep @ measures | sort | join expected - |
            awk '{ if (($2 - $3) ^ 2 > 1e-20) { print; wrong = 1 } } END { exit wrong }'
    done
    # the K highest labels are the first K of all labels
    svm-ml-predict -q --top-k 4 held model four
    cut -d' ' -f1-4 all | diff - four
    # in the order of `--scores`, equal ones in the order of the model
    header labels model >names
    svm-ml-predict -q --scores held model scores
    awk 'NR == FNR { n = split($0, label, " "); next }
         { sub(/^[^ ]* /, ""); split($0, s, " "); split("", used)
           for (k = 1; k <= n; k++) {
               best = 0
               for (j = 1; j <= n; j++) if (!(j in used) && (!best || s[j] + 0 > s[best] + 0)) best = j
               used[best] = 1; printf "%s%s:%s", (k > 1 ? " " : ""), label[best], s[best]
           }
           print "" }' names scores | diff - all
}

@test "ml: psp@K is 1 where the K highest labels are the best possible, and never above 1" {
    for seed in 1 2 3; do
        # labels of many frequencies, each with its own feature: one to four per row
        awk -v seed=$seed 'BEGIN {
            srand(seed)
            for (i = 0; i < 200; i++) {
                split("", has); labels = values = ""
                for (k = 1 + int(4 * rand()); k > 0; k--) has[1 + int(24 * rand() ^ 3)] = 1
                for (l = 1; l <= 24; l++) if (l in has) {
                    labels = labels (labels == "" ? "" : ",") l
                    values = values " " l ":1"
                }
                print labels values
            }
        }' >rows
        train -c 100 rows model
        measure --psp 4,5,9 rows model
        assert_equal "$(metric ranking-loss measures)" 0
        for k in 4 5 9; do
            assert_equal "$(metric psp@$k measures)" 1
        done
    done
}

# ---- sweeps and folds ----

# bats test_tags=long,slow
@test "ml: cross-validation gives what training and predicting by hand give, scaling included" {
    generate ml --rows 300 --features 60 --labels 12 --output set
    awk '{ print NR % 3 }' set >folds
    awk 'NR % 3 == 0' set >held
    awk 'NR % 3 != 0' set >kept
    awk '{ print NR % 3 == 0 ? 0 : 1 }' set >two
    for options in '' '-t rbf -g .1' '--scale minmax -t rbf -g .01' '-B 1' '--free-bias'; do
        svm-ml-train -q $options --validate held kept >validated
        train $options kept model
        measure held model
        while read -r _ name _ value; do
            within "$value" "$(awk -v x="$(metric "$name" measures)" 'BEGIN { print x - 2e-3 }')" \
                "$(awk -v x="$(metric "$name" measures)" 'BEGIN { print x + 2e-3 }')"
        done <validated
        assert_equal "$(wc -l <validated)" 18
    done
    svm-ml-train -q --fold-file folds set >crossed
    assert_equal "$(wc -l <crossed)" 18
}

# bats test_tags=long
@test "ml: a row of weight 2 is equivalent to two equal rows, also in thresholds and folds" {
    awk 'BEGIN { for (i = 1; i <= 90; i++) { a = sin(37 * i * i); b = sin(11 * i * i + 1); c = sin(5 * i * i + 2)
        set = (a > .2 ? ",1" : "") (b > 0 ? ",2" : "") (a + b + c > 0 ? ",3" : "") (c > .4 ? ",4" : "")
        print substr(set, 2), "1:" a + .5 * sin(i), "2:" b + .5 * sin(2 * i), "3:" c + .5 * sin(3 * i) } }' >rows
    awk '{ print NR % 3 + 1 }' rows >weights
    awk '{ for (k = 0; k <= NR % 3; k++) print }' rows >repeated
    for options in '-B 1' '-l squared-hinge --free-bias --threshold global' '-t rbf -g .1 --threshold scut' \
        '--solver interior'; do
        train -e 1e-10 $options --row-weights weights rows weighted
        train -e 1e-10 $options repeated plain
        near "$(header primal weighted)" "$(header primal plain)" 1e-7
        read -ra a <<<"$(header threshold weighted)"
        read -ra b <<<"$(header threshold plain)"
        for ((k = 1; k < ${#b[@]}; k++)); do
            within "${a[k]}" "$(awk -v x="${b[k]}" 'BEGIN { print x - 1e-3 }')" \
                "$(awk -v x="${b[k]}" 'BEGIN { print x + 1e-3 }')"
        done
    done
    train rows once # propensities count the points that were annotated
    assert_equal "$(header label-rows weighted)" "$(header label-rows once)"
    awk '{ print NR % 2 }' rows >folds
    svm-ml-train -q --row-weights weights --fold-file folds rows >crossed
    for k in 0 1; do
        awk -v k=$k 'NR % 2 == k' rows >held
        awk -v k=$k 'NR % 2 != k' rows >kept
        awk -v k=$k 'NR % 2 != k' weights >own
        train --row-weights own kept model
        measure held model
        metric hamming-loss measures
    done | awk '{ sum += $1 } END { print sum / 2 }' >mean
    near "$(awk '/hamming-loss/ { print $NF }' crossed)" "$(cat mean)" 1e-4
    sed -i '4s/.*/0/' weights
    run -1 svm-ml-train -q --row-weights weights rows model
    assert_output 'svm-ml-train: a row has the weight 0: ml wants weights above 0, leave it out'
}

# bats test_tags=long
@test "ml: a sweep chooses by any measure, in its direction" {
    generate ml --rows 300 --features 60 --labels 12 --output set
    for name in hamming-loss ranking-loss one-error coverage average-precision subset-accuracy \
        micro-f1 macro-f1 example-f1; do
        svm-ml-train -v 3 -c 1e-3,1e-1,10 --select $name set best.model >table 2>said
        best=$(awk -F'\t' -v name=$name '
            NR == 1 { for (k = 1; k <= NF; k++) { if ($k == name) column = k; if ($k == "cost") cost = k }
                      sign = name ~ /loss|error|coverage/ ? -1 : 1; next }
            best == "" || sign * $column > best { best = sign * $column; best_at = $cost }
            END { print best_at }' table)
        grep -q "^best: .* cost=$best $name=" said || fail "$name: $(cat table said)"
        assert_equal "$(header cost best.model)" "$best"
    done
    run -2 --separate-stderr svm-ml-train -v 3 --select accuracy set
    assert_equal "${stderr%%:*}" svm-ml-train
}

@test "ml: margins that rounding leaves short of 1 cost little at any C" {
    far_rows 1,2 2 1,3 3 2,3 1 >far.svm
    for c in 1e4 1e5 1e6; do
        train -t polynomial -c $c -e 1e-4 far.svm m
        within "$(header gap m)" 0 1e-4
    done
}

# bats test_tags=long
@test "ml: results do not depend on threads" {
    generate ml --rows 700 --features 60 --labels 12 --output set
    for options in '' '-t rbf -g .1' '--free-bias' '--solver interior'; do
        train $options -j1 set one.model
        train $options -j3 set three.model
        cmp one.model three.model
    done
}

# ---- bad input ----

@test "ml: conflicting options are refused before any file is read" {
    local options
    while read -r options; do
        run -2 --separate-stderr svm-ml-train $options no_such_file
        assert_equal "${#stderr_lines[@]}" 1
    done <<'END'
--solver fw
--free-bias -B 1
--threshold median
--threshold top:0
--threshold top:
-B -1
-h 2
-l absolute
END
}

@test "ml: malformed rows are reported with line and column" {
    while IFS='|' read -r row place; do
        printf '1 1:1\n%s\n' "$row" >bad
        run -1 --separate-stderr svm-ml-train bad model
        [[ $stderr == "svm-ml-train: bad:2:$place"* ]] || fail "$row: $stderr"
        assert_equal "${#stderr_lines[@]}" 1
    done <<'END'
1,,2 1:1|3: label is empty
1, 1:1|3: label is empty
1,1 1:1|3: label is given twice
END
}

# bats test_tags=long,slow
@test "ml: a model cut or changed anywhere is refused" {
    few >few.svm
    train --at-least-one few.svm model
    local size bytes
    size=$(wc -c <model)
    for ((bytes = 0; bytes < size; bytes += 7)); do
        head -c "$bytes" model >part
        run -1 svm-ml-predict few.svm part
    done
    for line in 'labels 1 2' 'labels 1 2 2' 'labels 1  2' 'threshold ew 1 2' 'threshold up' 'at-least-one 2'; do
        awk -v line="$line" -v key="${line%% *}" '$1 == key { $0 = line } { print }' model >changed
        run -1 svm-ml-predict few.svm changed
    done
}

@test "ml: limits stop a fit with a warning, and its bounds enclose the optimum" {
    generate ml --rows 300 --features 60 --labels 12 --output set
    for options in '' '--free-bias'; do
        train $options -e 1e-6 set best
        run -3 --separate-stderr svm-ml-train -q $options -e 1e-9 --max-iter 2 --strict set model
        [[ $stderr == 'svm-ml-train: warning: not converged: '* ]]
        assert_equal "$(header iterations model)" 2
        within "$(header gap model)" 1e-9 1
        within "$(header primal model)" "$(header dual best)" 1e9
        within "$(header dual model)" -1e9 "$(header primal best)"
        near "$(header gap model)" "$(awk '$1 == "primal" { p = $2 } $1 == "dual" { d = $2 }
            END { printf "%.17g", (p - d) / p }' model)" 1e-12
    done
}

@test "ml: an optimum far below the loss of f = 0 is bounded, and its gap is reached" {
    printf '%s 1:%s 2:%s 3:%s\n' 1 5 3.5 1.5 1 4.75 3 1.25 2 7 3.25 4.75 2 6.5 3.25 4.5 1,3 6.25 3.25 6 \
        3 5.75 2.75 5 1 5.5 4 1.5 2 5.5 2.25 4 3 7 3 6 >nine.svm
    for gamma in 1e5 1e9; do
        train -t polynomial -d 7 -g $gamma nine.svm m
        within "$(header gap m)" 0 1e-3
        within "$(header dual m)" 0 1e-20
    done
}

@test "ml: a free bias at large C, where sums that are not 0 matter, reaches its gap" {
    printf '1 1:2\n2,3 1:2\n2,3\n' >large.svm
    train --free-bias -t sigmoid -c 1e6 -l squared-hinge large.svm m
    within "$(header gap m)" 0 1e-3
    within "$(header primal m)" 2e6 2.001e6
}

@test "ml: sums that rounding leaves cost what scores are, not what the longest row could have" {
    printf '1\n2\n1 1:100\n2 1:-600\n' >long.svm
    train --free-bias -t polynomial -d 4 -c 80 long.svm m
    within "$(header gap m)" 0 1e-3
    within "$(header dual m)" 159.9 160.2
}

@test "ml: a free bias with a kernel that is not positive semidefinite ends without a certificate" {
    printf '%s\n' '1,3,4 0:1 1:-.5 2:-.3 3:-.2 4:-.7' '3,5 0:2 1:-.3 2:-.2 3:-.4 4:-.9' \
        '1,2,3,5 0:3 1:-.2 2:-.4 3:.7 4:.2' '3,4 0:4 1:-.7 2:-.9 3:.2 4:-.2' >four.svm
    for epsilon in .02 1e-4 1e-9; do
        for options in '-c 1' '-c 10000'; do
            limited svm-ml-train -q -t precomputed --free-bias -e $epsilon $options four.svm m 2>said
            grep -q 'the kernel is not positive semidefinite$' said
            assert_equal "$(header certified m) $(header gap m)" 'no none'
        done
    done
}

# bats test_tags=long
@test "ml: costs so small that 1 / (2 lambda) overflows" {
    printf '%s 1:%s\n' 1,2 1 2 -1 3 .5 >tiny.svm
    for options in '' '-t rbf' '-B 1' '--solver interior'; do
        for cost in 5e-309 1e-310; do
            # shellcheck disable=SC2086 # words of options
            train -l squared-hinge -c $cost $options tiny.svm m # svm-check verifies it
            within "$(header gap m)" 0 1e-10
        done
    done
    printf '%s 1:%s\n' a 1 b 2 c 3 >three.svm # lambda, half of the smallest number, is 0
    train -l squared-hinge -c 5e-324 three.svm m
    within "$(header primal m)" 0 1e-320
}

@test "ml: thirty thousand labels do not need a matrix of labels by labels" {
    ! sanitized || skip 'address space is limited'
    awk 'BEGIN { for (i = 0; i < 60; i++) {
        for (k = 1; k <= 500; k++) printf "%s%d", (k > 1 ? "," : ""), 500 * i + k
        print " 1:" i % 7 " 2:" i % 5 } }' >labels.svm
    (ulimit -v 6000000 && train -j 1 -l squared-hinge -e .1 labels.svm m)
}

@test "ml: weights in float reach the optimum of those in double" {
    svm-generate ml --rows 400 --features 900 --labels 500 >many.svm # 308,700 weights
    for options in '-c 1' '-c 1 -B 1' '-c 1 -l squared-hinge' '-c 100'; do
        # shellcheck disable=SC2086 # words of options
        train $options -e 9e-5 many.svm double # too small a gap for float
        # shellcheck disable=SC2086
        train $options -e 1e-4 many.svm float
        within "$(header gap float)" 0 1e-4
        near "$(header primal float)" "$(header primal double)" 1e-4
        near "$(header dual float)" "$(header dual double)" 1e-4
        # without another run, which would be in double
        within "$(header iterations float)" 1 "$(header iterations double)"
    done
}

@test "ml: thresholds see that equal rows have equal scores" {
    { yes ' 1:.8 2:-1.1' | head -3 && yes 'l0 1:.8 2:-1.1' | head -2 && yes 'l1 1:.8 2:-1.1' | head -2 &&
        yes ' 1:-.5 2:1.1' | head -2 && yes 'l1 1:-.5 2:1.1' | head -2 && echo 'l0,l1 1:-.5 2:1.1' &&
        yes 'l0 1:1.1 2:.7' | head -4 && echo 'l0,l1 1:1.1 2:.7' && yes ' 1:1.1 2:.7' | head -2; } |
        shuf --random-source=<(yes) >rows.svm
    for kernel in rbf laplacian; do
        svm-ml-train -q --threshold scut -t $kernel rows.svm $kernel.model >report
        svm-ml-predict -q --scores rows.svm $kernel.model | cut -d' ' -f2 >scores
        read -r _ _ level _ <<<"$(grep '^threshold ' $kernel.model)"
        # no level is that of a row: it is in the middle between two, or beyond all
        awk -v level="$level" '{ off = $1 - level; if (off * off < 1e-18) { print $1, level; exit 1 } }' scores
    done
}
