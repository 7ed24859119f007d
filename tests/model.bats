# Model files as text: what stands in them, and that it is stable.

load helper

setup() {
    cd "$tmp" || exit 1
    printf '2 qid:1 1:1 2:.5\n1 qid:1 2:1.5\n3 qid:2 1:2\n1 qid:2 1:-1 3:1e-3\n' >tiny.svm
}

@test "model: it reads back to the same bits, of every kind" {
    TMPDIR=$tmp unit common/model/model
}

@test "model: a kernel model is the header, the support vectors and the checksum" {
    svm-rank-train -q -t polynomial -d 2 -g .5 -r 1 -c 2 tiny.svm m >out
    run awk '{ print $1 } $1 == "SV" { exit }' m
    assert_output "dualsvm
formulation
loss
cost
kernel
degree
gamma
coef0
bias
rows
features
primal
dual
gap
iterations
groups
pairs
SV"
    assert_equal "$(tail -1 m | cut -d' ' -f1,2)" "end $(grep -c : m)"
    assert_equal "$(tail -1 m | wc -w)" 3
    assert_equal "$(grep -Ec '^-?[0-9.e-]+( [1-3]:[0-9.e-]+)+$' m)" "$(grep -c : m)"
}

@test "model: a linear model has a weight for each feature, a scaled one its scaling" {
    svm-rank-train -q tiny.svm m
    assert_equal "$(sed -n '/^w$/,$p' m | wc -l)" 5
    assert_equal "$(tail -1 m | cut -d' ' -f2)" 3
    svm-rank-train -q --scale minmax tiny.svm m
    grep -qx 'scale minmax' m
    assert_equal "$(sed -n '/^scaling$/,/^w$/p' m | wc -l)" 5
    assert_equal "$(tail -1 m | cut -d' ' -f2)" 6
}

@test "model: a name that ends in .gz makes it a gzip file, which predicts the same" {
    svm-rank-train -q -t rbf tiny.svm m
    svm-rank-train -q -t rbf tiny.svm m.gz
    zcat m.gz | cmp m
    cmp <(svm-rank-predict -q tiny.svm m) <(svm-rank-predict -q tiny.svm m.gz)
}

@test "model: of another family, or with a key that nobody knows, it is refused" {
    svm-rank-train -q tiny.svm m
    sed 's/^dualsvm rank/dualsvm mc/' m >other
    run svm-rank-predict tiny.svm other
    assert_failure 1
    assert_output --partial "other:1: not a model for this program"
    sed 's/^groups/colour/' m >other
    run svm-rank-predict tiny.svm other
    assert_failure 1
    assert_output --partial "an unknown key: colour"
    for line in 'rows -1' 'rows 1e300' 'rows 1.5' 'features 4294967296' 'iterations 1e17'; do
        sed "s/^${line%% *} .*/$line/" m >other
        run svm-rank-predict tiny.svm other
        assert_failure 1
        assert_output --partial "not a whole number in range: ${line#* }"
    done
    sed 's/^bias 0/bias 1/' m >other
    run svm-rank-predict tiny.svm other
    assert_failure 1
}
