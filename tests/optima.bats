# What the programs claim of their fits, against the truth: trials by seed, and files of those that once
# failed, solved by a plain interior point that shares nothing with them (optima/adversary.c).

load helper

# adversary PROGRAMS WORDS: the trials, on the programs of a folder, by the judge of $judge.
judge=adversary
adversary() {
    limited "$bin/tests/optima/$judge" "$1" "$tmp" "${@:2}"
}

# wide: the judge in 640 bits, of trials whose numbers span many decades.
wide() {
    judge=wide/adversary
    [ -x "$bin/tests/optima/$judge" ] ||
        skip 'bounds of wide trials are judged with MPFR, which is missing (Debian: libmpfr-dev)'
}

# liar COMMAND: programs that run the real ones, and then the command on the model ($model) and the
# report ($report); left in $tmp/liars.
liar() {
    mkdir -p "$tmp/liars"
    for family in rank top mc ml smm; do
        cat >"$tmp/liars/svm-$family-train" <<END
#!/bin/sh
for model; do :; done
report=$tmp/report
"$bin/svm-$family-train" "\$@" >"\$report" 2>"$tmp/told"
status=\$?
$1
cat "\$report"
cat "$tmp/told" >&2
exit \$status
END
        chmod +x "$tmp/liars/svm-$family-train"
    done
}

# caught WHAT: ten trials of such programs, of which some are found out as what.
caught() {
    run adversary "$tmp/liars" seeds 0 10
    assert_failure
    assert_output --partial "$1"
}

# bats test_tags=long
@test "optima: trials that once failed" {
    run adversary "$bin" replay "$root"/tests/golden/optima/*-*
    assert_success
    assert_output --partial 'ok: '
}

# bats test_tags=long
@test "optima: dual <= optimum <= primal, and gaps are reached or told of, for problems by seed" {
    count=200
    if quick; then
        count=80
    fi
    run adversary "$bin" seeds 1 "$count"
    assert_success
    assert_output --partial 'ok: '
}

# bats test_tags=long,slow
@test "optima: numbers over many decades: bounds hold in 640 bits, and no proof is refuted" {
    quick && skip 'long: the plain build does it'
    wide
    for family in rank top mc ml smm; do
        first=300
        [ $family != top ] || first=700
        run adversary "$bin" seeds $first 250 $family
        assert_success
        assert_output --partial 'ok: 50 trials'
        [ $family != smm ] || assert_output --partial ' 0 neither proven nor refuted'
    done
    shopt -s nullglob
    for file in "$root"/tests/golden/optima/wide/*-*; do
        run adversary "$bin" replay "$file"
        assert_success
    done
}

# bats test_tags=long,slow
@test "optima: programs that lie of wide trials are found out" {
    wide
    # shellcheck disable=SC2016 # expanded by the liar
    {
        liar 'sed -i "s/^dual .*/dual 1e200/; s/^gap .*/gap 0/" "$model"'
        caught 'wrong gap'
        liar 'sed -i "s/^dual .*/dual $(sed -n "s/^primal //p" "$model")/; s/^gap .*/gap 0/" "$model"'
        caught 'dual too high'
        liar 'sed -i "s/^primal .*/primal 1e-320/" "$model"; sed -i "s/^primal .*/primal = 1e-320/" "$report"'
        caught 'primal too low'
        liar "kill -9 \$\$"
        caught 'crashed'
        liar "echo nothing; exit 2"
        caught 'failed'
        ln -sf "$bin/svm-check" "$tmp/liars/svm-check"
        liar "sed -i 's/^model .*/model 00000000/' '$tmp/proof'"
        caught 'not verified'
    }
}

# bats test_tags=long,slow
@test "optima: programs that lie are found out" {
    # shellcheck disable=SC2016 # expanded by the liar
    {
        liar 'sed -i "s/^dual .*/dual 1e9/" "$model"'
        caught 'dual too high'
        liar 'sed -i "s/^primal .*/primal 1e-30/" "$model"; sed -i "s/^primal .*/primal = 1e-30/" "$report"'
        caught 'primal too low'
        liar 'sed -i "s/^certified .*/certified no/; s/^gap .*/gap none/" "$model"'
        caught 'wrongly certified'
        liar 'sed -i "s/^gap .*/gap 1/" "$model"'
        caught 'wrong gap'
        liar "kill -9 \$\$"
        caught 'crashed'
        liar "echo 'x: warning: not converged: rounding errors prevent further progress: gap 1' >'$tmp/told'"
        caught 'untrue'
        ln -sf "$bin/svm-check" "$tmp/liars/svm-check"
        liar "sed -i 's/^model .*/model 00000000/' '$tmp/proof'"
        caught 'not verified'
    }
}
