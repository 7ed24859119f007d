# Model files as text: what stands in them, and that it is stable.

load helper
load rank_tools

setup() {
    cd "$tmp" || exit 1
    mkdir empty
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
certified
iterations
solver
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

@test "model: of another family, or with an unknown key, it is refused" {
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

# ---- what is no model ----

@test "model: files of every kind that are not models are refused" {
    for text in '' '\n' 'junk\n' 'svm_type c_svc\n' '\0\0\0\0' "$(<tiny.svm)"; do
        # shellcheck disable=SC2059
        printf "$text" >bad.model
        refused svm-rank-predict -q tiny.svm bad.model empty/scores
        [[ "$(<err)" == *bad.model* ]] || fail "does not name the model: $(<err)"
    done
    refused svm-rank-predict -q tiny.svm tiny.svm empty/scores
    head -c 3000000 /dev/zero | tr '\0' x >bad.model
    refused svm-rank-predict -q tiny.svm bad.model empty/scores
    refused svm-rank-predict -q tiny.svm /dev/null empty/scores
    holds empty
}

# bats test_tags=long,slow
@test "model: truncated at any byte, or with any byte changed, it is refused; a wrong count does no harm" {
    printf '%s\n' '2 1:1 3:.5' '1 2:.25 3:2' >two.svm
    printf '%s\n' '2 1:1 3000000000:.5' '1 2:.25 3000000000:2' >wide.svm
    for options in 'two -t 0' 'two -t 2 -g .5' 'two --pair-features exterior -t 2' 'wide -t 0 --scale std'; do
        train ${options#* } "${options%% *}.svm" tampered.model
        unit common/model/tamper tampered.model copy
    done
}

# bats test_tags=long
@test "model: truncated, it is refused by the program" {
    train -t 2 -g .5 tiny.svm tiny.model
    local size n
    size=$(wc -c <tiny.model)
    for ((n = 0; n < size - 1; n += 1 + size / 60)); do
        head -c "$n" tiny.model >bad.model
        refused svm-rank-predict -q tiny.svm bad.model empty/scores
    done
    for n in 2 3 5 9 11; do
        head -c $((size - n)) tiny.model >bad.model
        refused svm-rank-predict -q tiny.svm bad.model empty/scores
    done
    holds empty
}

# bats test_tags=long
@test "model: with a byte changed, added or taken out, it is refused by the program" {
    train -t 2 -g .5 tiny.svm tiny.model
    local text n next
    text=$(<tiny.model)$'\n'
    for ((n = 0; n < ${#text} - 1; n += 1 + ${#text} / 40)); do
        printf -v next %o $(($(printf %d "'${text:n:1}") + 1))
        printf "%s\\$next%s" "${text:0:n}" "${text:n+1}" >bad.model
        refused svm-rank-predict -q tiny.svm bad.model empty/scores
        printf '%s1%s' "${text:0:n}" "${text:n}" >bad.model
        cmp -s bad.model tiny.model || refused svm-rank-predict -q tiny.svm bad.model empty/scores
        printf '%s%s' "${text:0:n}" "${text:n+1}" >bad.model
        refused svm-rank-predict -q tiny.svm bad.model empty/scores
    done
    { cat tiny.model; echo more; } >bad.model
    refused svm-rank-predict -q tiny.svm bad.model empty/scores
    cat tiny.model tiny.model >bad.model
    refused svm-rank-predict -q tiny.svm bad.model empty/scores
    holds empty
}

@test "model: as gzip it is read, and truncated it is refused" {
    train -t 2 -g .5 tiny.svm tiny.model
    predict tiny.svm tiny.model >plain.scores
    gzip <tiny.model >zipped.model
    predict tiny.svm zipped.model >zipped.scores
    cmp plain.scores zipped.scores
    head -c -6 zipped.model >bad.model
    refused svm-rank-predict -q tiny.svm bad.model empty/scores
    holds empty
}

# bats test_tags=long
@test "model: predictors report how many values are of features that no training row had" {
    # tells TEXT ARGUMENTS: of the predictions of test.svm, of a pipe and with --batch, in one line.
    tells() {
        local text=$1
        shift
        svm-$family-train -q --force "$@" train.svm model >/dev/null
        for threads in 1 3; do
            svm-$family-predict -q -j $threads test.svm model labels 2>err
            grep -v 'the same score' err | diff - <(echo "svm-$family-predict: warning: test.svm: $text")
        done
        svm-$family-predict -q - model labels 2>err <test.svm
        grep -qx "svm-$family-predict: warning: -: $text" err || fail "$(<err)"
        svm-$family-predict -q --batch model test.svm train.svm 2>err
        [ "$(grep -c 'never seen' err)" = 1 ] || fail "$(<err)"
        grep -qx "svm-$family-predict: warning: test.svm: $text" err || fail "$(<err)"
    }
    # zeros do not count, nor do features within those of training that it never had
    printf '%s\n' '1 1:1 3:2' '-1 1:-1 4:1' '1 1:2' '-1 1:-2 4:3' >train.svm
    printf '%s\n' '1 1:1 2:5 5:2 7:0' '-1 1:-1' '1 4:1 4294967295:7' >test.svm
    local seen='2 of 6 values are of features that the model has never seen (indices above 4)'
    for family in rank top mc ml; do
        tells "$seen"
        tells "$seen" --scale std
        tells "$seen" -t rbf
        tells "$seen" -t rbf -g .1 --scale minmax
    done
    family=rank
    sed -i 's/ / qid:1 /; s/4294967295/9/' train.svm test.svm
    tells "$seen" -t rbf --query-features mean
    printf '%s\n' '1 1:1 2:5 3:0 4:0 5:7' '-1 1:-1 2:3 3:0 4:1 5:0' >test.svm # dense
    tells '1 of 6 values are of features that the model has never seen (indices above 4)'
    # hashed features: a scaling lists those that there are
    printf '%s\n' '1 1:1 900000:2' '-1 1:-1 80000:1' '1 1:2' '-1 1:-2 80000:3' >train.svm
    printf '%s\n' '1 1:1 2:5 900001:2' '-1 1:-1' '1 80000:1' >test.svm
    tells '1 of 5 values are of features that the model has never seen (indices above 900000)'
    tells '2 of 5 values are of features that the model has never seen (no training row has their indices)' \
        --scale std
    # kernels that are given have rows in place of features; files with nothing new have no line
    printf '%s\n' '1 0:1 1:2 2:1' '-1 0:2 1:1 2:2' >train.svm
    svm-top-train -q --force -t precomputed train.svm model >/dev/null
    printf '1 0:1 1:2 2:1 3:4\n' | svm-top-predict -q - model labels 2>err
    assert_equal "$(<err)" ''
}

@test "model: features without a weight count in the norm of a row, whatever the largest index is" {
    for top in 90 9000000; do
        sed "s/TOP/$top/" <<'END' >train.svm
3 qid:1 1:3 TOP:1
1 qid:1 1:1 TOP:3
5 qid:2 1:1 77:10
END
        svm-rank-train -q --scale l2 train.svm $top.model >report
        svm-rank-predict -q train.svm $top.model >$top.out
        echo '0 1:1 5:10' | svm-rank-predict -q - $top.model >>$top.out
    done
    diff 90.out 9000000.out
    # 77 and 5 have no weight, and rows of norm sqrt(101)
    assert_equal "$(tail -1 90.out)" "$(sed -n 3p 90.out)"
}
