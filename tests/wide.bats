# Hashed features: indices up to 2^32 - 1 of which few occur cost what the columns that occur cost, and
# change nothing else.

load helper

setup() {
    cd "$tmp" || exit 1
    # the same rows by places and by indices, and labels for each family
    awk 'BEGIN { srand(5); n = 300; CONVFMT = "%.0f"
        for (f = 1; f <= n; f++) at[f] = int((f - 1 + .9 * rand()) * 4294967295 / n) + 1
        at[n] = 4294967295
        for (i = 1; i <= 80; i++) {
            line = hashed = ""; score = 0
            for (f = 1; f <= n; f++) if (f % 80 == i - 1 || rand() < .03) {
                value = int(9 * rand()) + 1
                line = line " " f ":" value; hashed = hashed " " at[f] ":" value
                score += (f % 7 - 3) * value
            }
            y["rank"] = score " qid:" int(i / 20); y["top"] = score > 0 ? "+1" : "-1"
            y["mc"] = score % 3; y["ml"] = score > 0 ? "a,b" : "b"
            for (family in y) {
                print y[family] line >(family ".small")
                print y[family] hashed >(family ".wide")
            }
        }
        for (f = 1; f <= n; f++) printf "%d %.0f\n", f, at[f] >"places" }'
}

# as_wide MODEL: the lines of weights and scaling of a model of the small file as the wide file's has them.
as_wide() {
    awk 'NR == FNR { at[$1] = $2; next }
        $0 == "scaling" || $0 == "w" { print $0 " sparse"; table = $0; n = 0; next }
        $0 == "w sparse" { print; table = "w"; indexed = 1; next }
        $1 == "end" || $1 == "features" { next }
        table && indexed { split($0, part, ":"); print at[part[1]] ":" part[2]; next }
        table { n++; zero = $0 ~ /^0( 0)*$/
            if (table == "scaling" || !zero) print at[n] ":" $0; next }
        { print }' places "$1"
}

# bats test_tags=long
@test "wide: a linear fit of hashed rows is that of the same rows by places, to the bit, in all families" {
    for family in rank top mc ml; do
        for how in '' '--scale std' '--scale minmax' '--validate'; do
            quick && [ "$how" = '--scale std' ] && continue
            for kind in small wide; do
                # shellcheck disable=SC2086  # options are words
                "svm-$family-train" -q --force ${how/validate/validate $family.$kind -c .1,1} \
                    "$family.$kind" $kind.model >report
            done
            cmp <(as_wide small.model) <(grep -Ev '^(end|features) ' wide.model) ||
                fail "$family $how"
            grep -qx 'features 4294967295' wide.model
            for kind in small wide; do
                "svm-$family-predict" -q "$family.$kind" $kind.model $kind.out
            done
            # where a weight is 0, and has no column in the wide model, sums are in another order
            if ! cmp -s small.out wide.out; then
                grep -qxE '0( 0)*' small.model
                paste small.out wide.out | awk '{ for (i = 1; i <= NF / 2; i++) { a = $i; b = $(i + NF / 2)
                    if (a != b && (a + 0 == b + 0 || (a - b) ^ 2 > 1e-28 * a ^ 2)) exit 1 } }'
            fi
        done
    done
}

@test "wide: little memory is enough for training, predicting and checking, with any kernel and scaling" {
    sanitized && skip 'limits on memory do not go with the sanitizer'
    ulimit -v 1000000
    for family in rank top mc ml; do
        for how in '' '--scale std' '--scale std-center' '--scale minmax' '--scale l2' '--scale quantile' \
            '-t rbf -g .01' '-t rbf -g .01 --scale minmax' '-t tanimoto' '-t polynomial -g .01 --scale std'; do
            # shellcheck disable=SC2086  # options are words
            "svm-$family-train" -q -j 1 --force $how --proof proof "$family.wide" model >report
            "svm-$family-predict" -q -j 1 "$family.wide" model out
            svm-check "$family.wide" model proof >found || fail "$family $how: $(<found)"
            [ "$(stat -c %s model)" -lt 1000000 ] || fail "$family $how: $(stat -c %s model) bytes"
        done
    done
}

@test "wide: smm takes its indices as places in a matrix, whatever they are" {
    printf '# matrix 65535 65536\n1 4294967295:1\n-1 1:1\n' >matrix.svm
    run -1 svm-smm-train -q matrix.svm model
    assert_output --partial 'svm-smm-train: '
    assert_equal "${#lines[@]}" 1
}

# bats test_tags=long
@test "wide: cross-validation, kernels and probabilities see the same rows" {
    for how in '-v 4' '-v 4 --scale minmax' '-v 4 -t rbf -g .01 --scale std' '-v 4 -t tanimoto -c .1,1'; do
        for kind in small wide; do
            # shellcheck disable=SC2086  # options are words
            svm-mc-train -q $how mc.$kind >table
            # but for a sweep's seconds and the checksum of its data
            sed 's/\t[^\t]*\t[^\t]*$//' table >$kind.cv
        done
        cmp small.cv wide.cv || fail "$how"
    done
    for kind in small wide; do
        svm-rank-train -q -b 1 rank.$kind $kind.model >report
        svm-rank-predict -q --pairs rank.$kind $kind.model $kind.out
    done
    cmp small.out wide.out
}

# bats test_tags=long
@test "wide: what the model does not know counts for nothing in linear and scaled models, else in the kernel" {
    printf '1 7:1 4294967295:1\n2 9:1\n' >test.svm
    printf '1 4294967295:1\n2\n' >known.svm
    for how in '' '--scale std' '-t rbf -g .01 --scale minmax'; do
        # shellcheck disable=SC2086  # options are words
        svm-rank-train -q $how rank.wide model >report
        cmp <(svm-rank-predict -q test.svm model) <(svm-rank-predict -q known.svm model)
    done
    svm-rank-train -q -t rbf -g .01 rank.wide model >report
    svm-rank-predict -q test.svm model >out
    svm-rank-predict -q known.svm model >known
    run -1 cmp -s out known
    # a file whose rows are all there
    printf '1 1:1 2:2\n2 1:3 2:1\n' >dense.svm
    svm-rank-train -q rank.wide model >report
    svm-rank-predict -q dense.svm model >out
    assert_equal "$(sort -u out)" 0
}

@test "wide: a file that is not wide but has few columns, most weights 0, is written by index and reads as ever" {
    awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+:/) {
        split($i, part, ":"); $i = 20 * part[1] ":" part[2] } print }' rank.small >rank.few
    svm-rank-train -q rank.few model >report
    grep -qx 'w sparse' model
    assert_equal "$(grep -c '^[0-9]*:' model)" "$(tail -1 model | cut -d' ' -f2)"
    # the same model as older versions wrote it
    awk '/^end / { next } $0 == "w sparse" { print "w"; table = 1; next }
        !table { print; if ($1 == "features") n = $2; next }
        { split($0, part, ":"); w[part[1]] = part[2] }
        END { for (f = 1; f <= n; f++) print f in w ? w[f] : 0 }' model >old
    printf 'end %d %s\n' "$(sed '1,/^w$/d' old | wc -l)" \
        "$(gzip -c old | tail -c 8 | od -An -tx4 -N4 | tr -d ' ')" >>old
    cmp <(svm-rank-predict -q rank.few model) <(svm-rank-predict -q rank.few old)
}

@test "wide: LIBSVM's format has the indices, LIBLINEAR's refuses what it would fill with zeros" {
    svm-rank-train -q --libsvm exported rank.wide model >report
    [ "$(stat -c %s exported)" -lt 100000 ]
    run -1 svm-rank-train -q --liblinear none rank.wide model
    assert_output --partial 'svm-rank-train: --liblinear: that format lists the weights of all features'
    assert_not_exists none
    awk '{ for (i = 2; i <= NF; i++) if ($i ~ /^[0-9]+:/) {
        split($i, part, ":"); $i = 20 * part[1] ":" part[2] } print }' rank.small >rank.few
    svm-rank-train -q --force --liblinear exported rank.few model >report
    assert_equal "$(sed '1,/^w$/d' exported | wc -l)" 6000
    command -v liblinear-predict >/dev/null || skip 'no liblinear-predict (package liblinear-tools)'
    sed 's/ qid:[0-9]*//' rank.few >plain
    liblinear-predict plain exported theirs >/dev/null
    svm-rank-predict -q rank.few model >ours
    paste ours theirs | awk '($1 - $2) ^ 2 > 1e-8 * (1 + $1 ^ 2) { exit 1 }'
}

@test "wide: gamma's default is 1 / the largest index, as LIBSVM has it" {
    svm-rank-train -q -t rbf rank.wide model >report
    awk '$1 == "gamma" { found = ($2 * 4294967295 > .999999 && $2 * 4294967295 < 1.000001) }
        END { exit !found }' model
}

# close A B: the first columns of both are the same to the rounding of scaled values to float.
close() {
    [ "$(wc -l <"$1")" = "$(wc -l <"$2")" ] || fail 'not the same number of rows'
    paste "$1" "$2" | awk '($1 - $2) ^ 2 > 1e-10 * (1 + $1 ^ 2) { print; exit 1 }'
}

@test "wide: linear exports have --scale in their weights: other programs score rows as they are" {
    command -v svm-predict >/dev/null || skip 'no svm-predict (package libsvm-tools)'
    command -v liblinear-predict >/dev/null || skip 'no liblinear-predict (package liblinear-tools)'
    sed 's/ qid:[0-9]*//' rank.small >plain
    for how in std std-center minmax; do
        svm-rank-train -q --force --scale $how --libsvm l --liblinear ll rank.small model >report
        svm-rank-predict -q rank.small model >ours
        svm-predict plain l theirs >said
        close ours theirs
        liblinear-predict plain ll theirs >said
        close ours theirs
        svm-mc-train -q --force -B 1 --scale $how --liblinear ll mc.small model >report
        svm-mc-predict -q mc.small model >ours
        liblinear-predict mc.small ll theirs >said
        cmp ours theirs
    done
    for how in l2 quantile; do
        run -2 svm-rank-train -q --scale $how --liblinear ll rank.small model
        assert_output --partial "no place for --scale $how"
    done
    run -2 svm-rank-train -q -t rbf --scale std --libsvm l rank.small model
    assert_output --partial 'no place for --scale std of a kernel model'
}
