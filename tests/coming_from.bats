# The conversions of doc/coming-from.md are correct: converted options give the same models.

load helper

setup() {
    cd "$tmp" || exit 1
}

# needed PROGRAM: skips the test unless it is installed.
needed() {
    command -v "$1" >/dev/null || skip "no $1"
}

# clouds K: rows of K overlapping classes with the labels 1..K.
clouds() {
    "$bin/datasets/generate" mc --rows 300 --features 6 --classes "$1" --values 0 | sed 's/^c//' >rows
}

# weights FILE: the weights of a LIBLINEAR model, one per line: class, feature, value.
weights() {
    awk '$1 == "label" { for (i = 2; i <= NF; i++) class[i - 1] = $i }
         on { n++; for (i = 1; i <= NF; i++) print class[i] + 0, n, $i }
         $1 == "w" { on = 1 }' "$1" | sort -k1,1n -k2,2n | awk '{ print $3 }'
}

@test "coming from LIBLINEAR: -s 4 is cs, at the same C" {
    needed liblinear-train
    clouds 4
    liblinear-train -q -s 4 -c 0.3 -e 1e-9 rows theirs
    svm-mc-train -q -s cs -c 0.3 -e 1e-9 --liblinear ours rows model
    weights theirs >a
    weights ours >b
    agree a b 1e-4
}

@test "coming from LIBLINEAR: -s 3 with more than two classes is ova, at the same C" {
    needed liblinear-train
    clouds 4
    liblinear-train -q -s 3 -c 0.05 -e 1e-9 rows theirs
    svm-mc-train -q -s ova -c 0.05 -e 1e-9 --liblinear ours rows model
    weights theirs >a
    weights ours >b
    agree a b 1e-4
}

@test "coming from LIBLINEAR: -s 2 and -s 3 with two classes are the two losses of svm, at the same C" {
    needed liblinear-train
    clouds 2
    awk '{ $1 = $1 == 1 ? "+1" : "-1"; print }' rows >pair
    for loss in 2:squared-hinge 3:hinge; do
        liblinear-train -q -s "${loss%:*}" -c 0.2 -e 1e-9 pair theirs
        svm-top-train -q -s svm -l "${loss#*:}" -c 0.2 -e 1e-10 --liblinear ours pair model
        weights theirs >a
        weights ours >b
        # the sign is that of the class that occurs first
        if [ "$(awk '$1 == "label" { print $2 }' theirs)" -lt 0 ]; then
            awk '{ print -$1 }' a >turned && mv turned a
        fi
        agree a b 1e-4
    done
}

@test "coming from LIBSVM: ww with two classes is the binary SVM at twice the C with half the scores" {
    clouds 2
    awk '{ $1 = $1 == 1 ? "+1" : "-1"; print }' rows >pair
    svm-mc-train -q -t rbf -g 0.1 -c 0.5 -e 1e-9 pair ww
    svm-top-train -q -s svm -t rbf -g 0.1 -c 1 -e 1e-9 pair svm
    svm-mc-predict -q --scores pair ww | awk '{ print -2 * $2 }' >a
    svm-top-predict -q pair svm | awk '{ print $2 }' >b
    agree a b 1e-5
}

@test "coming from SVM^rank and LIBLINEAR: costs of queries and pairs convert as the tables say" {
    # With the share of swapped pairs a pair costs C divided by the number of pairs of its query.
    "$bin/datasets/generate" rank --systems 2 --molecules 60 --features 20 >rows
    svm-rank-train -q -e 1e-8 --cost-per query -c 2 rows share
    local query weights=()
    for query in 1 2; do
        grep "qid:$query " rows | svm-rank-train -q - model
        weights+=(-w "$query:$(awk '$1 == "pairs" { printf "%.17g", 2 / $2 }' model)")
    done
    svm-rank-train -q -e 1e-8 -c 1 "${weights[@]}" rows pair
    near "$(header primal share)" "$(header primal pair)" 1e-5
}
