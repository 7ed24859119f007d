# Labels, as every family reads, weighs and compares them.

load helper

setup() {
    cd "$tmp" || exit 1
    # three labels, of which the last is only in rows 1 to 4; so are its query and its features' signs
    awk 'BEGIN { seed = 5
        print "# matrix 2 2"
        for (i = 0; i < 40; i++) {
            y = i < 4 ? 7 : i % 2
            line = y " qid:" (i < 4 ? 70 : 10 + i % 3)
            for (f = 1; f <= 4; f++) {
                seed = (seed * 16807) % 2147483647
                line = line " " f ":" (f == 1 + y % 3) + seed / 2147483647 }
            print line } }' >all.svm
    sed '2,5d' all.svm >two.svm
    sed -n '2,5p' all.svm >held.svm
    awk '!/^#/ { print n < 4 ? 1 : 2 + int(n / 2) % 2; n++ }' all.svm >folds
}

@test "labels: a weight for one that no training row has is a usage error, in every family" {
    for family in mc smm top; do
        run -2 "svm-$family-train" -q -w 5:2 all.svm m
        assert_output "svm-$family-train: option --weight: no training row has the label '5': try --help"
        run -2 "svm-$family-train" -q -w 7:2 -w 5:2 -v 3 all.svm
        assert_output "svm-$family-train: option --weight: no training row has the label '5': try --help"
        # rows to validate on are no training rows
        run -2 "svm-$family-train" -q -w 7:2 --validate held.svm two.svm
        assert_output "svm-$family-train: option --weight: no training row has the label '7': try --help"
    done
    run -2 svm-rank-train -q -w 71:2 all.svm m
    assert_output "svm-rank-train: option --weight: no training row has the qid '71': try --help"
    run -2 svm-rank-train -q -w 70:2 -w 71:2 -v 3 all.svm
    assert_output "svm-rank-train: option --weight: no training row has the qid '71': try --help"
    run -2 svm-rank-train -q -w 70:2 --validate held.svm two.svm
    assert_output "svm-rank-train: option --weight: no training row has the qid '70': try --help"
    assert_not_exists m
}

@test "labels: a weight for one that only held-out rows have is no error in cross-validation" {
    for family in mc smm top rank; do
        [ "$family" = rank ] && key=70 || key=7
        for scale in none std; do # the folds share the rows, or have their own
            run -0 "svm-$family-train" -q -w "$key:3" --scale $scale --fold-file folds all.svm
            assert_output --partial 'Cross Validation'
        done
    done
}

@test "labels: the table of confusions counts rows, also of labels that the model does not know" {
    unit families/confusion
}
