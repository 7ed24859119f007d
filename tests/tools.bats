# The tools beside the programs.

load helper

setup() {
    cd "$tmp" || exit 1
    PATH=$root/tools:$PATH
}

@test "tools/compare: a table worked by hand" {
    printf 'data A B C\nd1 .9 .8 .7\nd2 .9 .9 .7\n# a comment\n\nd3 .6 .8 .7\nd4 .9 .7 .8\n' >table
    # ranks 1 2 3, 1.5 1.5 3, 3 1 2, 1 3 2; chi2 = 12*4/12 (1.625^2 + 1.875^2 + 2.5^2 - 12) = 1.625,
    # p = exp(-1.625/2); F = 3*1.625 / (4*2 - 1.625), p = (1 + 2F/6)^-3; CD = 2.3437 sqrt(1/2)
    compare table >out
    cat >expected <<'END'
rank A 1.6250
rank B 1.8750
rank C 2.5000
data-sets 4
methods 3
friedman-chi2 1.6250
friedman-p 0.4437
iman-davenport-f 0.7647
iman-davenport-p 0.506
alpha 0.05
critical-difference 1.6572
END
    diff expected out
    # the other way round
    compare lower=1 table | grep '^rank' >lower
    printf 'rank C 1.5000\nrank B 2.1250\nrank A 2.3750\n' | diff - lower
    # ten data sets that all rank alike: chi2 = n (k-1), CD = 2.3437 sqrt(1/5)
    awk 'BEGIN { print "d A B C"; for (i = 1; i <= 10; i++) print "s" i, 3, 2, 1 }' >alike
    compare alike >out
    grep -qx 'friedman-chi2 20.0000' out
    grep -qx 'iman-davenport-f inf' out
    grep -qx 'critical-difference 1.0481' out
    grep '^differs' out >differs
    echo 'differs A C' | cmp - differs
}

@test "tools/compare: q is the table's for two to ten methods (Demsar 2006, table 5)" {
    for row in '0.05 1.960 2.344 2.569 2.728 2.850 2.948 3.031 3.102 3.164' \
        '0.1 1.645 2.052 2.291 2.459 2.589 2.693 2.780 2.855 2.920'; do
        read -r -a q <<<"$row"
        for k in 2 3 4 5 6 7 8 9 10; do
            awk -v k=$k 'BEGIN { for (r = 0; r < 3; r++) { line = r ? "s" r : "d"
                for (i = 1; i <= k; i++) line = line " " (r ? i : "m" i); print line } }' >table
            compare alpha="${q[0]}" table | awk -v k=$k -v q="${q[k - 1]}" '
                $1 == "critical-difference" { d = $2 / sqrt(k * (k + 1) / 12) - q }
                END { exit !(d < .0012 && d > -.0012) }' || fail "q of $k at ${q[0]}"
        done
    done
}

@test "tools/compare: the diagram has each method and each group, and bad tables are refused" {
    awk 'BEGIN { print "d A B <C>"; for (i = 1; i <= 10; i++) print "s" i, 3, 2, 1 }' >alike
    compare svg=diagram.svg alike >out
    assert_equal "$(grep -c 'stroke-width="5"' diagram.svg)" 2 # A-B and B-C
    for text in 'A 1.00' 'B 2.00' '3.00 &lt;C&gt;' 'CD = 1.048'; do
        grep -qF ">$text<" diagram.svg || fail "no $text: $(cat diagram.svg)"
    done
    tail -n 1 diagram.svg | grep -qx '</svg>'
    printf 'd A B\ns 1 2 3\n' >long
    run -1 compare long
    assert_output 'compare: long:2: 3 values for 2 methods'
    printf 'd A B\ns 1 x\n' >word
    run -1 compare word
    assert_output "compare: word:2: not a number: 'x'"
    printf 'd A B\ns 1 2\n' >one
    run -1 compare one
    assert_output --partial 'at least two data sets'
}

@test "tools/roc: draws curves with a logarithmic axis" {
    command -v gnuplot >/dev/null || skip 'gnuplot is not installed'
    printf '%s\t%s\t%s\n' fpr tpr threshold 0 0 inf 0 .5 2 .01 .75 1 1 1 -1 >top.tsv
    roc picture.svg top.tsv
    grep -q '<svg' picture.svg
    grep -q 'false positive rate' picture.svg
    grep -q '>top<' picture.svg
    roc picture.png top.tsv
    [ "$(head -c 4 picture.png | tail -c 3)" = PNG ]
    run -1 roc picture.jpg top.tsv
    run -1 roc picture.svg picture.png
    assert_output --partial 'not a curve of svm-top-predict --roc'
}
