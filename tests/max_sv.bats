# Kernel models of limited size (--max-sv), seen through the programs. The helper `train` has svm-check verify the
# bounds that each fit claims.

load helper

setup() {
    cd "$tmp" || exit 1
    PATH=$bin/datasets:$PATH
}

# some_rows N: N rows of two labels, three features and two queries.
some_rows() {
    awk -v n="$1" 'function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            seed = 4321
            for (i = 0; i < n; i++) {
                y = i % 2 ? 1 : -1
                printf "%d qid:%d 1:%.4f 2:%.4f 3:%.4f\n", y, i % 4 / 2 + 1, y * .4 + uniform(), uniform(),
                    2 * uniform() - y * .2
            }
        }'
}

# ratio: the report's primal over the full fit's.
ratio() {
    header primal-ratio train.out
}

# With one landmark f = b k(x, .), and k between the two rows, the objectives have their minima at b = C (1 - k)
# (mc: each class +-b). Landmarks of kernels but rbf do not move.
@test "max-sv: one landmark of two rows has the optimum of its closed form" {
    printf '%s\n' '1 1:1' '-1 1:-1' >two # k = exp(-1)
    family=top
    train -s svm -t laplacian -g .5 -c 1 -e 1e-9 --max-sv 1 two model --strict
    near "$(header primal model)" "$(awk 'BEGIN { d = 1 - exp(-1); print 2 - d * d / 2 }')" 1e-6
    family=rank
    train -t laplacian -g .5 -c 1 -e 1e-9 --max-sv 1 two rank.model --strict
    near "$(header primal rank.model)" "$(awk 'BEGIN { d = 1 - exp(-1); print 1 - d * d / 2 }')" 1e-6
    family=mc
    train -t laplacian -g .5 -c .5 -e 1e-9 --max-sv 1 two mc.model --strict
    near "$(header primal mc.model)" "$(awk 'BEGIN { d = 1 - exp(-1); print 1 - .25 * d * d }')" 1e-6
    assert_equal "$(header max-sv mc.model)" 1
    assert_equal "$(header support-vectors train.out)" 1
}

# The kernel x'z on three features: three landmarks span all functions.
# bats test_tags=long
@test "max-sv: landmarks that span the features lose nothing, and no more are used" {
    some_rows 60 >rows
    for family in top rank mc; do
        case $family in
        top) formulations='tau-fpl patmat svm' ;;
        rank) formulations=rank ;;
        mc) formulations='ww cs ats' ;;
        esac
        for formulation in $formulations; do
            train -s "$formulation" -t poly -d 1 -g 1 -c 2 -e 1e-4 --max-sv 5 --force rows model --strict
            within "$(ratio)" 0.9998 1.0002
            within "$(header support-vectors train.out)" 1 3
        done
    done
}

@test "max-sv: losses, biases and weights of the full problem are those of the smaller one" {
    some_rows 60 >rows
    yes 2 | head -60 >weights
    family=top
    train -s svm -t poly -d 1 -g 1 -c 2 -e 1e-4 -B 3 -w 1:2 --row-weights weights --max-sv 4 rows top.model
    within "$(ratio)" 0.9998 1.0002
    train --force -s patmat -l squared-hinge -t poly -d 1 -g 1 -e 1e-4 --lambda .1 --max-sv 4 rows top.model
    within "$(ratio)" 0.9998 1.0002
    family=mc
    train -t poly -d 1 -g 1 -c 2 -e 1e-4 -B 3 -w 1:2 --max-sv 4 rows mc.model
    within "$(ratio)" 0.9998 1.0002
    family=rank
    train -l squared-hinge -t poly -d 1 -g 1 -e 1e-4 --cost-per query -w 1:3 --max-sv 4 rows rank.model
    within "$(ratio)" 0.9998 1.0002
}

@test "max-sv: a number outside the range is refused with the range and the default" {
    some_rows 8 >rows
    run -2 svm-top-train -t rbf --max-sv 0 rows model
    assert_output "svm-top-train: option --max-sv: must be at least 1 and at most 4294967295 (default no limit): '0': try --help"
}

@test "max-sv: a limit that is no limit leaves the model as it is" {
    some_rows 60 >rows
    for family in top rank mc; do
        train --force -t rbf -g 1 rows model
        train --force -t rbf -g 1 --max-sv "$(header support-vectors train.out)" rows same
        cmp model same
        refute grep -q max-sv train.out
    done
}

# bats test_tags=long
@test "max-sv: fewer support vectors, a larger primal, a gap of the full problem, and exit 0" {
    some_rows 80 >rows
    for family in top rank mc; do
        objective=$([ $family = top ] && echo '-s svm' || true)
        train --force $objective -t rbf -g 1 -c 10 rows full.model
        before=$(header support-vectors train.out)
        for n in 1 12; do
            [ "$n" -lt "$before" ] || continue
            train $objective -t rbf -g 1 -c 10 --max-sv $n rows model --force --strict
            assert_equal "$(header support-vectors train.out)" $n
            assert_equal "$(header max-sv train.out)" $n
            assert_equal "$(header full-support-vectors train.out)" "$before"
            assert_equal "$(header full-primal train.out)" "$(header primal full.model)"
            near "$(header dual model)" "$(header dual full.model)" 1e-9
            within "$(header gap model)" "$(header gap full.model)" 1
            within "$(ratio)" 1 1e9
            [ ! -s said ]
        done
    done
}

# bats test_tags=long
@test "max-sv: threads change no byte, the seed chooses the landmarks" {
    some_rows 80 >rows
    for family in top rank mc; do
        train --force -t rbf -g 1 -c 10 --max-sv 9 -j 1 rows one
        train --force -t rbf -g 1 -c 10 --max-sv 9 -j 3 rows three
        train --force -t rbf -g 1 -c 10 --max-sv 9 --seed 2 rows other
        cmp one three
        ! cmp -s one other || fail 'another seed, the same landmarks'
    done
}

# verified: svm-check has verified the last training, and its primal is the claimed one, not only below it.
verified() {
    near "$(header primal model)" "$(header primal "$BATS_FILE_TMPDIR/proof.verdict" | awk '{ print $1 }')" 1e-9
}

# matrix ROWS POWER: the rows with the values exp(-sum |x_i - x_j|^POWER) of a precomputed kernel.
matrix() {
    awk -v power="$2" '{ for (f = 1; f <= 3; f++) { split($(f + 2), p, ":"); x[NR, f] = p[2] } y[NR] = $1 " " $2 }
        END { for (i = 1; i <= NR; i++) { line = y[i] " 0:" i
            for (j = 1; j <= NR; j++) { s = 0
                for (f = 1; f <= 3; f++) { d = x[i, f] - x[j, f]; s += (d < 0 ? -d : d) ^ power }
                line = line " " j ":" sprintf("%.17g", exp(-s)) }
            print line } }' "$1"
}

# bats test_tags=long
@test "max-sv: a precomputed matrix gives the scores of the kernel" {
    some_rows 30 >rows
    matrix rows 1 >values
    for family in top rank mc; do
        what=$([ $family = mc ] && echo --scores || true)
        train --force -t laplacian -g 1 -c 10 -e 1e-6 --max-sv 8 rows model
        predict $what rows model >scores
        train --force -t precomputed -c 10 -e 1e-6 --max-sv 8 values matrix.model
        within "$(header support-vectors train.out)" 1 8
        predict $what values matrix.model >of_matrix
        agree <(awk '{ print $NF }' scores) <(awk '{ print $NF }' of_matrix) 1e-3
    done
}

@test "max-sv: with the rbf kernel points that are no rows lose less than rows" {
    some_rows 200 >rows
    matrix rows 2 >values
    for family in top rank mc; do
        train --force -t precomputed -c 10 -e 1e-6 --max-sv 6 values landmarks
        train --force -t rbf -g 1 -c 10 -e 1e-6 --max-sv 6 rows model
        verified
        within "$(header support-vectors train.out)" 6 6
        within "$(header primal model)" "$(header full-primal train.out)" \
            "$(awk -v x="$(header primal landmarks)" 'BEGIN { print .9 * x }')"
    done
    family=top
    train --force -s svm -B 1 -t rbf -g 1 -c 10 --max-sv 6 rows model
    verified
    within "$(ratio)" 1 1.5
    family=mc
    train --force -B 1 -t rbf -g 1 -c 10 --max-sv 6 rows model
    verified
    within "$(ratio)" 1 1.5
}

@test "max-sv: points have the indices of few features of many, and move in any unit" {
    some_rows 200 | sed 's/ 1:/ 10:/; s/ 2:/ 5000:/; s/ 3:/ 9999999:/' >indices
    some_rows 200 | awk '{ for (f = 3; f <= 5; f++) { split($f, p, ":"); $f = p[1] ":" p[2] * 1e-6 }; print }' >units
    some_rows 200 >rows
    for family in top rank mc; do
        train --force -t rbf -g 1 -c 10 -e 1e-6 --max-sv 6 rows model
        primal=$(header primal model)
        train --force -t rbf -g 1 -c 10 -e 1e-6 --max-sv 6 indices model
        verified
        near "$(header primal model)" "$primal" 1e-6
        grep -q '9999999:' model
        train --force -t rbf -g 1e12 -c 10 -e 1e-6 --max-sv 6 units model
        near "$(header primal model)" "$primal" .02
    done
}

@test "max-sv: cross-validation and sweeps measure the smaller models" {
    some_rows 80 >rows
    svm-mc-train -q -t rbf -g 1 -c 1,10 --max-sv 1,1000 -v 4 rows best.model >table
    svm-mc-train -q -t rbf -g 1 -c 1,10 -v 4 rows >full
    for c in 1 10; do
        awk -F'\t' -v OFS='\t' -v c=$c '$3 == c && $7 == 1000 { $7 = ""; print $3, $8, $9, $10 }' table >of_table
        awk -F'\t' -v OFS='\t' -v c=$c '$3 == c { print $3, $7, $8, $9 }' full >of_full
        [ -s of_full ]
        diff of_full of_table
    done
    within "$(cell gap max-sv 1 table)" .1 1
    svm-mc-train -q -t rbf -g 1 -c 1,10 --max-sv 1,1000 -v 4 --resume kept rows >first
    run -0 --separate-stderr svm-mc-train -q --strict -t rbf -g 1 -c 1,10 --max-sv 1,1000 -v 4 --resume kept rows
    assert_equal "$stderr" ''
    printf "%s\n" "$output" >again
    diff <(timeless table) <(timeless again)
}

# bats test_tags=long
@test "max-sv: thresholds, probabilities and targets are those of the smaller model" {
    some_rows 80 >rows
    family=top
    train -s toppush -t rbf -g 1 -c 10 --max-sv 6 rows top.model
    predict rows top.model >scores
    paste rows scores | awk '$1 == -1 && (!n++ || $NF > high) { high = $NF } END { printf "%.17g\n", high }' >highest
    near "$(header threshold top.model)" "$(<highest)" 1e-9
    train -t rbf -g 1 -c 10 --calibrate .2 --max-sv 6 rows top.model
    header calibrated-threshold top.model
    family=mc
    train -t rbf -g 1 -c 10 -b 1 --max-sv 6 rows mc.model
    predict -b 1 rows mc.model | awk 'NR > 1 { d = $2 + $3 - 1 } d * d > 1e-18 { exit 1 }'
    family=rank
    train -t rbf -g 1 -b 1 --targets 1 --max-sv 6 rows rank.model
    predict rows rank.model | awk 'NF != 4 { exit 1 }'
}

@test "max-sv: limits of the run are those of the full fit, and told" {
    some_rows 80 >rows
    family=mc
    train -t rbf -g 1 -c 1e5 -e 1e-9 --max-iter 4 --max-sv 6 rows model
    assert [ "$(header support-vectors train.out)" -le 6 ]
    grep -q 'not converged: the limit of iterations is reached' said
    run svm-mc-train -q -t rbf -g 1 -c 1e5 -e 1e-9 --max-iter 4 --max-sv 6 --strict rows model
    assert_failure 3
}

@test "max-sv: refusals" {
    some_rows 20 >rows
    misused svm-mc-train --max-sv 3 rows model
    grep -q 'kernels other than the linear one' err
    misused svm-mc-train -t rbf --max-sv 0 rows model
    misused svm-mc-train -t rbf --max-sv 2.5 rows model
    misused svm-mc-train -t rbf --max-sv none rows model
    misused svm-rank-train -t rbf --pair-features exterior --max-sv 3 rows model
    misused svm-ml-train -t rbf --max-sv 3 rows model
    # (x'z - 1)^2 is indefinite
    refused svm-rank-train -q -t poly -d 2 -g 1 -r -1 -c .01 --max-sv 2 rows model
    grep -q 'positive semidefinite' err
    refute [ -e model ]
}
