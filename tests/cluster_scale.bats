# The communication between processes is counted and reported.

load helper
load cluster

# value NAME FILE: prints the value of a line of the report.
value() {
    sed -n "s/^$1 = //p" "$2"
}

@test "cluster: the report ends with the traffic between processes, unless quiet" {
    ranks 3 svm-rank-train -j 1 "$root/datasets/rank.train" model >out
    assert_equal "$(tail -n 6 out | cut -d= -f1 | tr -d '\n')" \
        'solve-seconds certify-seconds ranks exchanges exchanged-bytes exchange-seconds '
    assert_equal "$(value ranks out)" 3
    ranks 3 svm-rank-train -q -j 1 "$root/datasets/rank.train" model >out
    refute_line_of out ranks
    ranks 1 svm-rank-train -j 1 "$root/datasets/rank.train" model >out
    refute_line_of out ranks
}

refute_line_of() {
    run -0 cat "$1"
    refute_line --regexp "^$2 = "
}

@test "cluster: an iteration of Newton's method exchanges half a matrix and a few vectors" {
    svm-generate ltr --rows 600 --queries 6 >train
    for n in 2 4; do
        ranks "$n" svm-rank-train -j 1 -l squared-hinge train model >out
        least=$(($(value iterations out) * 8 * 136 * 137 / 2))
        bytes=$(value exchanged-bytes out)
        [ "$bytes" -ge "$least" ]
        [ "$bytes" -le $((least + ($(value iterations out) + 1) * 8 * 10 * 136)) ]
    done
}
