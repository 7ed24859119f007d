# Kernels seen through the programs: what a row of their table brings to every family.

# shellcheck disable=SC2154 # tmp, root are helper's
load helper

setup() {
    cd "$tmp" || exit 1
}

# rows FAMILY N SEED: N rows of that family's labels, four features of both signs, many of them 0.
rows() {
    awk -v family="$1" -v n="$2" -v seed="$3" '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            for (i = 0; i < 20; i++) uniform()
            for (i = 0; i < n; i++) {
                line = ""; first = 0
                for (f = 1; f <= 4; f++) {
                    v = uniform() < .4 ? 0 : int((uniform() - .5) * 32) / 4
                    first = f == 1 ? v : first
                    if (v != 0 || f == 4) line = line " " f ":" (v == 0 ? 1 : v)
                }
                y = first > 0 ? 1 : first < 0 ? 2 : 3
                if (family == "rank") y = int(first) " qid:" i % 3 + 1
                if (family == "top") y = y == 1 ? 1 : -1
                if (family == "ml") y = y == 1 ? "a" : y == 2 ? "a,b" : "c"
                print y line
            }
        }'
}

# precomputed KERNEL GAMMA TRAINING [FILE]: the rows of FILE (default: of TRAINING) with 0:serial and
# exp(-gamma |x-z|_1), or 1 / (1 + gamma |x-z|_1), with every row of TRAINING, summed up as it stands.
precomputed() {
    awk -v kernel="$1" -v gamma="$2" '
        { row = FNR; label[FILENAME, row] = $1; from = 2
          if ($2 ~ /^qid:/) { label[FILENAME, row] = $1 " " $2; from = 3 }
          for (f = from; f <= NF; f++) { split($f, v, ":"); x[FILENAME, row, v[1]] = v[2] }
          count[FILENAME] = row }
        END { training = ARGV[1]; last = ARGV[ARGC - 1]
            for (i = 1; i <= count[last]; i++) {
                line = label[last, i] " 0:" i
                for (j = 1; j <= count[training]; j++) {
                    sum = 0
                    for (f = 1; f <= 4; f++) { d = x[last, i, f] - x[training, j, f]; sum += d < 0 ? -d : d }
                    line = line sprintf(" %d:%.9g", j, kernel == "laplacian" ? exp(-gamma * sum) : 1 / (1 + gamma * sum))
                }
                print line
            } }' "$3" ${4+"$4"}
}

# bats test_tags=long,slow
@test "kernel table: laplacian and rational equal their precomputed matrix in every family, dense and sparse, with signs" {
    for pair in rank:laplacian mc:laplacian top:laplacian ml:laplacian rank:rational mc:rational top:rational ml:rational; do
        family=${pair%:*} kernel=${pair#*:}
        rows $family 60 3 >train.svm
        rows $family 25 4 >test.svm
        precomputed $kernel .3 train.svm >matrix.svm
        precomputed $kernel .3 train.svm test.svm >matrix.test
        # behind ten thousand features that no row has, the rows are sparse
        sed 's/ 4:/ 10004:/' train.svm >sparse.svm
        sed 's/ 4:/ 10004:/' test.svm >sparse.test
        cp train.svm dense.svm
        cp test.svm dense.test
        # values in a file are rounded: its bounds cannot meet
        svm-$family-train -q --force -c 2 -e 1e-4 -t precomputed matrix.svm matrix >out
        svm-$family-predict -q matrix.test matrix >matrix.out
        for form in dense sparse; do
            svm-$family-train -q --force -c 2 -e 1e-6 -t $kernel -g .3 $form.svm model >out
            grep -qx "kernel $kernel" model
            grep -qx 'gamma 0.3' model
            run grep -E '^(degree|coef0) ' model
            assert_output ''
            primal=$(header primal matrix)
            within "$(header primal model)" "$(awk -v p="$primal" 'BEGIN { print p * (1 - 2e-4) }')" \
                "$(awk -v p="$primal" 'BEGIN { print p * (1 + 2e-4) }')"
            within "$(header gap model)" 0 1e-6
            svm-$family-predict -q $form.test model >model.out
            paste matrix.out model.out | awk '
                { n = NF / 2; for (f = 1; f <= n; f++) if ($f != $(f + n)) {
                    d = $f - $(f + n); if ($f ~ /[a-z]/ || d > .05 || d < -.05) bad++ } }
                END { exit !(NR == 25 && bad <= 1) }' || # a row may lie on a threshold
                fail "$family, $kernel, $form: $(paste matrix.out model.out)"
        done
    done
}

@test "kernel table: gamma is 1 / features where it is not given" {
    rows mc 40 5 >train.svm
    for kernel in rbf laplacian rational; do
        svm-mc-train -q -t $kernel train.svm default.model >default.out
        svm-mc-train -q -t $kernel -g .25 train.svm given.model >given.out
        cmp default.model given.model
    done
}

@test "kernel table: --libsvm has the kernels of LIBSVM, and names those that it has not" {
    rows rank 30 6 >train.svm
    for kernel in linear polynomial rbf sigmoid; do
        svm-rank-train -q -c .01 -t $kernel -g .01 --libsvm exported train.svm model >out
        grep -qx "kernel_type $kernel" exported
    done
    for kernel in tanimoto minmax laplacian rational; do
        run -2 svm-rank-train -q -t $kernel --libsvm none train.svm model2
        assert_output --partial "--libsvm: that format does not have the $kernel kernel"
        [ ! -e none ]
        [ ! -e model2 ]
    done
}

# bats test_tags=long
@test "kernel table: doc/mathematics has the formula of each, --help its name with each of its parameters" {
    rows rank 20 7 | sed 's/:-/:/g' >train.svm
    mapfile -t names < <(svm-rank-train --help | awk '/--kernel K/ { on = 1; next }
        on && /--/ { exit } on && $1 ~ /^[0-9]+$/ { print $2 }')
    [ "${#names[@]}" -ge 8 ]
    for name in "${names[@]}"; do
        grep -qE "^\\| $name \\|" "$root/doc/mathematics.md" || fail "doc/mathematics.md: $name"
        [ "$name" != precomputed ] || continue
        svm-rank-train -q -c .01 -t "$name" -g .01 train.svm model >out
        for parameter in degree gamma coef0; do
            svm-rank-train --help | awk -v option="--$parameter" '
                on && / --/ { exit } $2 == option { on = 1 } on' >help
            [ -s help ]
            local has=0 named=0
            grep -q "^$parameter " model && has=1
            grep -q "$name" help && named=1
            [ $has = $named ] || fail "$name, $parameter: $(<help)"
        done
    done
}
