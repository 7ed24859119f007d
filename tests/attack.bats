# Extreme input and options that once caused errors, one test for each.

load helper
load rank_tools

setup() {
    cd "$tmp" || exit 1
}

@test "attack: mc: kernel values of 1e90 converge, and the bounds are valid" {
    printf 'a 1:1e15 2:-1e12\nb 1:3e10 2:1e15\nc 1:1 2:1e15\na 1:-1e12 2:1\nb 1:1e15 2:1\n' >big
    run -0 limited svm-mc-train -q -t 1 --proof proof big model
    refute_output --partial 'not converged'
    run -0 svm-check big model proof
    assert_output --partial VERIFIED
}

@test "attack: smm: the square of a tiny alpha does not underflow in the dual" {
    printf '1 1:1\n-1 2:1\n1 1:.5 3:1\n-1 4:1\n-1 1:-1\n' >rows
    svm-smm-train -q --shape 2x2 -s svm -l squared-hinge -c 1e-300 rows model
    awk '$1 == "primal" { P = $2 } $1 == "dual" { D = $2 }
        END { exit !(P > 0 && D <= P * (1 + 1e-9)) }' model
}

@test "attack: a precomputed-kernel model without support vectors predicts" {
    printf '%s\n' 'a 0:1 2:-1' 'b 0:2 1:-1' >rows
    svm-mc-train -q -t 4 rows model
    grep -x 'end 0 .*' model
    svm-mc-predict -q rows model out
    [ "$(wc -l <out)" = 2 ]
}

@test "attack: rank: a model without pairs predicts pairs" {
    printf '%s qid:1 1:0\n' 3 1 2 >rows
    svm-rank-train -q --pair-features exterior rows model
    svm-rank-predict --pairs rows model out
    [ "$(wc -l <out)" -ge 1 ]
}

@test "attack: labels of 5,000 letters are written as they were read" {
    local long
    long=$(printf 'x%.0s' {1..5000})
    printf '%s 1:1\nb 1:-1\n' "$long" >rows
    for family in mc ml; do
        svm-$family-train -q --force rows model
        svm-$family-predict -q rows model out
        [ "$(head -1 out)" = "$long" ]
    done
}

@test "attack: an error during cross-validation is reported in one line" {
    printf '1 1:1\n-1 1:2\n' >rows
    for family in top mc ml; do
        run --separate-stderr svm-$family-train -q -v 100 rows model
        assert_failure 1
        assert_equal "${#stderr_lines[@]}" 1
    done
}

@test "attack: mc: with a tiny cost the dual of the kernel solver stays below the primal" {
    printf '%s 1:0\n' a b c a b c >rows
    for formulation in cs adm atm ats; do
        svm-mc-train -q -c 1e-10 -t 2 -g 1 -s $formulation --max-time 2 rows model
        awk '$1 == "cost" { C = $2 } $1 == "primal" { P = $2 } $1 == "dual" { D = $2 }
            END { exit !(P > 0 && D <= P * (1 + 1e-9)) }' model || fail "$formulation: D above P"
    done
}

@test "attack: rank: an empty test file has empty predictions" {
    printf '%s\n' '2 1:1' '1 1:0' >rows
    : >none
    train rows model
    for how in --pairs --order; do
        predict $how none model out
        [ ! -s out ]
    done
    predict --header --names none model out
    assert_equal "$(<out)" $'score\tname'
}
