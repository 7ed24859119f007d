# Proofs and svm-check: fits of every family are verified, and what is changed is not.

load helper

setup() {
    cd "$tmp" || exit 1
}

# made NAME N FEATURES LABELS SEED: rows with these labels in turn, one in five another; values from 0
# to 2 by eighths.
made() {
    awk -v n="$2" -v d="$3" -v labels="$4" -v seed="$5" '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        BEGIN {
            k = split(labels, label, " ")
            for (i = 0; i < 20; i++) uniform()
            for (i = 0; i < n; i++) {
                y = uniform() < .8 ? i % k + 1 : 1 + int(uniform() * k)
                line = label[y]
                for (f = 1; f <= d; f++) {
                    v = int((uniform() + (f % k + 1 == y) * .5) * 11) / 8
                    if (v > 0) line = line " " f ":" v
                }
                print line
            }
        }' >"$1"
}

# verified FAMILY FILE OPTIONS: the fit has a proof, which holds; files model and proof are left.
verified() {
    local family=$1 file=$2
    shift 2
    rm -f proof model
    quietly "svm-$family-train" --proof proof "$@" "$file" model
    [ -f proof ] || fail "no proof: svm-$family-train $*: $(<said)"
    limited svm-check "$file" model proof >verdict ||
        fail "svm-$family-train $*: $(<verdict) primal $(header primal model) dual $(header dual model)"
    assert_equal "$(tail -n 1 verdict)" VERIFIED
}

kernels=('-t linear' '-t polynomial -g .1 -r 1' '-t rbf -g .3' '-t tanimoto' '-t minmax'
    '-t laplacian -g .2' '-t rational -g .2')
if quick; then
    kernels=('-t linear' '-t rbf -g .3' '-t minmax')
fi

# costs and gaps in turn
turn=0
next() {
    turn=$((turn + 1))
    cost=$(printf '%s\n' .1 1 100 | sed -n "$((turn % 3 + 1))p")
    gap=$(printf '%s\n' 1e-3 1e-6 | sed -n "$((turn % 2 + 1))p")
}

# crc FILE: as models have it.
crc() {
    gzip -c "$1" | tail -c 8 | od -An -N4 -tx4 | tr -d ' '
}

# closed: standard input, a model or proof without its last line, with a last line that fits.
closed() {
    cat >open
    cat open
    echo "end $(awk 'body && $0 != "pairs" { n++ } /^(dual|w|SV|SV pairs)$/ { body = 1 }
        /^scaling$/ { body = 1; n-- } END { print n + 0 }' open) $(crc open)"
}

# changed FILE SEED: the file with one of its numbers changed, without the last line. What was changed
# is in `change`.
changed() {
    awk -v seed="$2" '
        function uniform() { seed = (seed * 16807) % 2147483647; return seed / 2147483647 }
        FNR > 1 && !/^(end|training|model) / {
            rest = $0
            at = 0
            while (match(rest, /[ :][-+]?[0-9][-+0-9.e]*/)) {
                n++
                line[n] = FNR
                place[n] = at + RSTART + 1
                size[n] = RLENGTH - 1
                at += RSTART + RLENGTH - 1
                rest = substr(rest, RSTART + RLENGTH)
            }
        }
        { text[FNR] = $0 }
        END {
            for (i = 0; i < 20; i++) uniform()
            k = 1 + int(uniform() * n)
            old = substr(text[line[k]], place[k], size[k])
            how = int(uniform() * 5)
            new = how == 0 ? old * 1.01 : how == 1 ? old * .99 : how == 2 ? -old : how == 3 ? old + 1 : 0
            if (new == old + 0) new = old + .5
            new = sprintf("%.17g", new)
            text[line[k]] = substr(text[line[k]], 1, place[k] - 1) new \
                substr(text[line[k]], place[k] + size[k])
            for (i = 1; i < FNR; i++) print text[i]
            print line[k] ": " old " to " new >"change"
        }' "$1"
}

# rebound: the proof as `other`, of the altered model.
rebound() {
    local sum
    sed '$d' altered >bare
    sum=$(crc bare)
    sed "\$d; s/^model .*/model $sum/" proof | closed >other
}

# honest: what the altered model claims holds the optimum that the true one has shown.
honest() {
    awk -v p="$(header primal altered)" -v d="$(header dual altered)" \
        -v q="$(header primal model)" -v e="$(header dual model)" \
        'BEGIN { exit !(p >= e && d <= q) }'
}

# attacked FAMILY FILE OPTIONS: a tight fit is verified; with one number changed, in the model or in the
# proof, with checksums that fit, it is not, or claims no more than what is true. Most of the
# changes of proofs are noticed.
attacked() {
    local file=$2 seed accepted=0 rounds=6 status most=6
    [ $1 != rank ] || most=3 # its points may move without a pair that changes sides
    verified "$@" -e 1e-7
    for ((seed = 1; seed <= rounds; seed++)); do
        changed proof "$seed" | closed >other
        status=0
        limited svm-check "$file" model other >verdict 2>said || status=$?
        [[ $status =~ ^[013]$ ]] || fail "exit $status: proof, $(<change): $(<said)"
        if [ "$status" = 0 ]; then
            accepted=$((accepted + 1))
        fi
        changed model "$seed" | closed >altered
        rebound
        status=0
        limited svm-check "$file" altered other >verdict 2>said || status=$?
        [[ $status =~ ^[013]$ ]] || fail "exit $status: model, $(<change): $(<said)"
        [ "$status" != 0 ] || honest || fail "believed: model, $(<change): $(<verdict)"
    done
    [ $((accepted * most)) -le "$rounds" ] || fail "$accepted of $rounds changed proofs are believed"
}

# bats test_tags=long
@test "check: mc with a matrix in float evaluates some rows only, and its bounds hold" {
    awk 'BEGIN {
        srand(7)
        for (i = 0; i < 700; i++) {
            y = i % 3
            line = y
            for (j = 1; j <= 4; j++) {
                line = line sprintf(" %d:%.4f", j, (j == y + 1) * 2 + rand() + rand() - 1)
            }
            print line
        }
    }' >rows
    # rows without coefficients have losses where the gap is wide
    for form in '-s ww -t rbf' '-s cs -t laplacian' '-s ova -t rbf --bias 1' '-s llw -t rbf'; do
        for epsilon in .5 .1 1e-3; do
            # shellcheck disable=SC2086 # options
            verified mc rows -m 1 $form -g .5 -c 1 -e "$epsilon"
        done
    done
}

@test "check: balls contain the exact results" {
    unit check/ball_dd
}

# bats test_tags=long,slow
@test "check: rank, losses, kernels, solvers, weights and windows" {
    made rows 42 4 '1 2 3 4' 3
    awk '{ $1 = $1 " qid:" NR % 3 + 1; print }' rows >queries
    for loss in hinge squared-hinge; do
        for solver in ocas newton; do
            for kernel in "${kernels[@]}"; do
                next
                verified rank queries -l $loss --solver $solver $kernel -c $cost -e $gap
                verified rank queries -l $loss --solver $solver $kernel -c $cost -e $gap \
                    --rank-gap 1:2 --cost-per query -w 2:3 -w 1:.4
            done
        done
        verified rank rows -l $loss
        verified rank queries -l $loss --rank-gap 2:inf
        verified rank queries -l $loss --cost-per ndcg -w 2:3 -c 100 -e 1e-6
        verified rank queries -l $loss --cost-per gain -w 2:3 -e 1e-6
        verified rank queries -l $loss -t rational --scale quantile --query-features mean -e 1e-6
        verified rank queries -l $loss -t rbf --scale query-std --query-features mean -e 1e-6
        verified rank queries -l $loss --scale query-minmax
        verified rank queries -l $loss --cost-per ndcg --gain linear -t rbf --rank-gap 1:2 -e 1e-6
        verified rank queries -l $loss -t rbf --scale std
        verified rank queries -l $loss -t rbf -g 30 -c 1e6 # planes with margins next to 1
        verified rank queries -l $loss -t rbf -g 30 -c 1e6 -e 1e-8 # to interior points
    done
}

# bats test_tags=long,slow
@test "check: rank, samples of the pairs, features of pairs" {
    made rows 42 4 '1 2 3 4' 3
    awk '{ $1 = $1 " qid:" NR % 3 + 1; print }' rows >queries
    for loss in hinge squared-hinge; do
        for kernel in "${kernels[@]}"; do
            next
            verified rank queries -l $loss $kernel -c $cost -e $gap --pairs .3 --seed $turn
            verified rank queries -l $loss $kernel -c $cost -e $gap --pair-features exterior
            verified rank queries -l $loss $kernel -c $cost -e $gap --pair-features exterior \
                --pairs .6 --rank-gap 1:2 --cost-per query -w 2:3 -w 1:.4
        done
        verified rank queries -l $loss --pairs .3 -t rbf -g 30 -c 1e6 -e 1e-8 # to interior points
        verified rank queries -l $loss --pair-features exterior -t rbf -g 30 -c 100 -e 1e-7
        verified rank queries -l $loss --pair-features exterior --cost-per ndcg --pairs .6 -e 1e-6
        verified rank rows -l $loss --pairs .01 --scale std
        verified rank rows -l $loss --pair-features exterior --pairs .2 --scale std
    done
    verified rank rows --pairs .3 --seed 9007199254740992
}

# bats test_tags=long
@test "check: a sample of the pairs is that of its seed and its share" {
    made rows 20 3 '1 2 3 4' 3
    verified rank rows --pairs .4 --seed 5
    for script in 's/^seed 5/seed 6/' 's/^pairs .*/pairs 0.39/' '/^pairs/d; /^seed/d'; do
        sed "\$d; $script" proof | closed >other
        run -1 svm-check rows model other
        assert_line --regexp "REFUTED: (the model's (primal|dual) is|the model is of 57 preferences)"
    done
    for script in 's/^seed 5/seed x/' '/^seed/d' 's/^pairs .*/pairs 2/' 's/^pairs .*/pairs 0/' \
        's/^seed/surprise/'; do
        sed "\$d; $script" proof | closed >other
        refused svm-check rows model other
    done
    verified rank rows --pair-features exterior
    sed '$d; s/^dual/point 1 0\ndual/' proof | closed >other
    refused svm-check rows model other
}

@test "check: models of pairs whose support vectors are equal rows, or no training rows" {
    made rows 20 3 '1 2 3 4' 3
    sed '1s/^[0-9]*/2/; 1p; 1s/^2/4/' rows >equal_rows # rows 1 and 2 are equal
    verified rank equal_rows --pair-features exterior -t rbf
    awk '/^SV/ { print; getline; $0 = "1:77" } { print }' model | sed '$d' | closed >altered
    rebound
    run -1 svm-check equal_rows altered other
    assert_line --partial "REFUTED: the model's primal is"
}

# bats test_tags=long,slow
@test "check: top, every formulation, loss and kernel, with weights" {
    made rows 36 4 '+1 -1 -1' 3
    for formulation in toppush 'toppushk -k 2.5' 'tau-fpl --tau .2' 'topmeank --tau .1' \
        'patmat --tau .2' 'patmat-np --tau .2 --theta .5' svm; do
        for loss in hinge squared-hinge; do
            for kernel in "${kernels[@]}"; do
                next
                verified top rows -s $formulation -l $loss $kernel -c $cost -e $gap
            done
            verified top rows -s $formulation -l $loss -w -1:2.5
            awk '{ print NR % 4 / 3 }' rows >weights
            verified top rows -s $formulation -l $loss --row-weights weights
        done
    done
    # weights whose products, and whose sum, double rounds: theta divides what that moves the threshold by
    for theta in 1e-3 1e-5 1e-7; do
        for cost in .01 10; do
            awk '{ print 3 / (NR % 7 + 1) }' rows >weights
            verified top rows -s patmat --tau 1 --theta $theta -c $cost -e 1e-9 --row-weights weights -w +1:.3
            verified top rows -s patmat-np --tau 1 --theta $theta -c $cost -l squared-hinge -e 1e-9 \
                --row-weights weights -w -1:1.7
            verified top rows -s patmat-np --tau .7 --theta $theta -c $cost -e 1e-9 --row-weights weights
        done
    done
    made words 30 3 'yes no' 4
    verified top words --positive yes --lambda .01
}

# bats test_tags=long,slow
@test "check: top, outlying rows in every threshold" {
    for far in 1e5 1e17; do
        printf '%s\n' "-1 1:-$far" '-1 2:1' '1 3:-.5' '-1 1:-1 2:-1' '-1 1:-1 2:.25' '1 2:-1' >low
        printf '%s\n' "-1 1:$far" '-1 2:1' '1 1:-1' '-1 1:1 2:-1' "1 2:-$far" '-1 3:.25' >several
        printf '%s\n' 1 "-1 2:$far" '1 1:300' '-1 3:2' -1 >origin
        for formulation in toppush 'toppushk -k 3' 'tau-fpl --tau .6' 'topmeank --tau .5' patmat patmat-np \
            'patmat --tau .5 --theta 10' 'patmat-np --theta .1'; do
            for rows in low several origin; do
                [[ $rows$formulation = origin*3 ]] && continue # K is above the number of negatives
                next
                for kernel in '-t linear' '-t polynomial -d 2 -r 1' '-t polynomial'; do
                    for loss in hinge squared-hinge; do
                        verified top $rows -s $formulation -l $loss $kernel -c $cost -e $gap
                    done
                done
            done
        done
    done
}

@test "check: top, a dual point above its bounds by rounding alone has its bound, with rows far from 0" {
    printf '%s\n' '1 1:-1 2:-1 3:1 4:-1' '-1 2:0.8 3:-1 4:1' '1 2:1e11 3:-1' '1 1:-1 2:-1 5:2' \
        '-1 2:1e6 4:1.28 5:-1' '1 1:.5 2:-1 4:-1' '-1 1:1 4:1 5:-1.62' >rows
    printf '%s\n' .1 .1 67597.8896243925 2.849905658013411e-4 .5 4.8644e-5 .5 >weights
    verified top rows -s topmeank -t polynomial -d 2 -r 0 -g .5 -c 100 -e 1e-6 --tau .83 \
        -w -1:3.94921557 --row-weights weights
    printf '%s\n' '1 2:-1' '-1 1:.25 2:1' '-1 2:.25' 1 1 '1 1:1.02575445 2:-1' '1 1:1' '-1 2:1.13311577' \
        '-1 1:1 2:1' '-1 2:1' '1 2:-3.15352806e+14' '-1 1:2 2:1' >rows
    printf '%s\n' .5 .5 1 .07226246126182596 2.196192320069277 2.584705657875039 .5 1 2 .1 \
        2.060235288893569 .1 >weights
    verified top rows -s patmat --tau .5 --theta 10 -c 10000 -e 1e-6 --row-weights weights
}

# bats test_tags=long,slow
@test "check: mc, every formulation and kernel, constant feature and weights" {
    made rows 36 4 'a b c' 3
    for formulation in ww 'ww --margin-scale .5' cs llw adm atm ats mmr ova; do
        for kernel in "${kernels[@]}"; do
            next
            verified mc rows -s $formulation $kernel -c $cost -e $gap
            verified mc rows -s $formulation $kernel -c $cost -e $gap -B 1.5 -w a:2.5
        done
        awk '{ print 10 ^ (NR % 5 - 2) / 3 }' rows >weights
        verified mc rows -s $formulation -t rbf -c $cost -e $gap -w a:2.5 --row-weights weights
        verified mc rows -s $formulation --solver newton -c $cost
    done
}

# bats test_tags=long,slow
@test "check: ml, losses, kernels, biases and solvers" {
    made rows 30 4 '1,2 3 2,5 1,4,5 4' 3
    awk '{ print } NR % 9 == 0 { sub(/^[^ ]*/, ""); print }' rows >some # without labels
    for loss in hinge squared-hinge; do
        for bias in '' '-B 1.5' --free-bias; do
            for solver in bcd interior; do
                for kernel in "${kernels[@]}"; do
                    next
                    verified ml some -l $loss $bias $kernel --solver $solver -c $cost -e $gap
                done
            done
        done
    done
    awk '{ print 10 ^ (NR % 5 - 2) / 3 }' some >weights
    verified ml some -t rbf -c $cost -e $gap --row-weights weights
    verified ml some -l squared-hinge --free-bias -c $cost -e $gap --row-weights weights
    made many 40 5 '1,2,3,4,5,6,7,8,9 10,11,12,13,14,15,16,17,18,19 1,5,9,13,17,20,21,22,23' 5
    for loss in hinge squared-hinge; do # more pairs than are stepped in one by one
        verified ml many -l $loss --solver bcd
        verified ml many -l $loss --solver bcd --free-bias
    done
}

# bats test_tags=long,slow
@test "check: smm, every convex formulation and loss, two labels and more, weights" {
    made two 36 12 'a b' 3
    made three 36 12 'a b c' 4
    for formulation in svm 'nuclear --tau .5' 'nuclear --tau 3' 'lowrank -k 3'; do
        for loss in hinge squared-hinge; do
            for file in two three; do
                for cost in .01 1 100; do
                    next
                    verified smm $file -s $formulation -l $loss -c $cost --shape 3x4 -e $gap -w a:2.5
                done
            done
        done
    done
}

# bats test_tags=long,slow
@test "check: kernels that need not be positive semidefinite are tested" {
    made rows 36 4 'a b c' 3
    sed 's/$/ 5:1/' rows >constant # of which coef0 takes a part
    verified mc constant -t polynomial -d 1 -g .5 -r -.01
    made two 24 4 '1 -1' 7
    awk '{ x[NR] = $2; y[NR] = $1; for (i = 2; i <= NF; i++) { split($i, p, ":"); v[NR, p[1]] = p[2] } }
        END { for (i = 1; i <= NR; i++) {
            line = y[i] " 0:" i
            for (j = 1; j <= NR; j++) {
                s = i == j ? 1 : 0
                for (f = 1; f <= 4; f++) s += v[i, f] * v[j, f]
                line = line " " j ":" s
            }
            print line } }' two >stored
    verified top stored -t precomputed -s tau-fpl --tau .2
    verified mc stored -t precomputed
    verified rank stored -t precomputed --pair-features exterior
    printf '1 0:1 1:1\n2 0:2 2:1\n1 0:3\n3 0:4 4:1\n' >hollow # a row that is 0
    for formulation in ww cs llw adm atm ats mmr ova; do
        verified mc hollow -t precomputed -s $formulation
    done
    verified top hollow -t precomputed --positive 1
    verified rank hollow -t precomputed
    sed 's/ \([1-4]\):1$/ \1:0/' hollow >nothing # a matrix that is 0
    verified rank nothing -t precomputed --pair-features exterior
    verified ml hollow -t precomputed
    if ! quick; then # more rows than are factored in double-double
        made many 1560 4 '1 2 3' 3
        sed 's/$/ 5:1/' many >constant
        verified rank constant -t polynomial -d 1 -g .5 -r -.01 -c 1e-6 -e 1e-6
        [ "$(sed '1,/^SV/d' model | wc -l)" -gt 1500 ] || fail 'few support vectors'
    fi
    # a row without coefficients that makes the matrix indefinite: a model might use it
    printf '+1 0:1 1:1\n-1 0:2 2:1\n-1 0:3 3:1\n' >identity
    printf '1\n1\n0\n' >weights
    verified top identity -t precomputed -s svm --row-weights weights
    sed 's/3:1$/3:-1/' identity >indefinite
    run -1 svm-check indefinite model proof
    local own
    own=$(sed -n 's/^REFUTED: .*: 3 rows \([0-9a-f]*\), not .*/\1/p' <<<"$output")
    sed "\$d; s/^training .*/training $own/" proof | closed >other
    run -3 svm-check indefinite model other
    assert_line 'CANNOT TELL: the kernel matrix is not positive semidefinite'
    quietly svm-mc-train --force --proof none -t sigmoid -g 1 -r 1 rows model
    grep -q 'no proof is written' said
    [ ! -e none ]
}

@test "check: a zero row of a stored matrix adds nothing to pairs, whatever shift the others need" {
    printf '%s\n' '-2 qid:2 0:1 1:0 2:0 3:0' '-1 qid:2 0:2 1:0 2:55251 3:32925' \
        '2 qid:1 0:3 1:0 2:32925 3:19625' >rows
    for weight in 200 280 300; do
        verified rank rows -t precomputed --pair-features exterior -w 2:$weight
    done
    grep -qx 'dual = 300 .. 300' verdict
}

@test "check: a gap of 1 claims nothing, however far the dual point's bound is from known" {
    # products of about 1e8 and alphas of 1e129: the bound is a difference of numbers of 1e250
    printf '%s\n' '-2 qid:1 1:10000 3:10000 4:10000 5:10000' '0 qid:1 1:10000 3:10000 4:10000 5:10000' \
        '-1 qid:1 1:10000 4:10000' '-1 qid:1 1:10000 3:10000 4:10000 5:10000' '-1 qid:1' >huge
    verified rank huge -c 1.1393390149118872e+129 -e 1.9184045333317479e-09 --seed 23
    # tanh is 1 or -1 wherever its argument is, of which eight digits are known
    printf '%s\n' '-2 qid:1 1:9.99999994e-09 2:2.25142584e+18 3:656.685547 4:13937.3037' \
        '-1 qid:1 4:90.526886' '-1 qid:2 1:10000000 2:100034560 3:1.65449376e-10 4:0.00181575678' >far
    verified rank far -t sigmoid -g .0082900045697482435 -r 1e10 -c 1e-4 -l squared-hinge -w 2:487.8
}

# bats test_tags=long
@test "check: scaled features, gzip, standard input" {
    made rows 36 4 'a b c' 3
    for scale in std std-center minmax l2 quantile; do
        verified mc rows --scale $scale -t rbf
        verified mc rows --scale $scale
    done
    svm-mc-train -q --proof proof.gz rows model.gz >report
    gzip -t proof.gz
    svm-check rows model.gz proof.gz | grep -qx VERIFIED
    gzip -dc proof.gz | svm-check rows model.gz - | grep -qx VERIFIED
    svm-check -j 1 rows model.gz proof.gz >one
    svm-check -j 3 rows model.gz proof.gz | diff one -
}

# bats test_tags=long,slow
@test "check: a changed number in a model or proof is detected, or claims no more than is true" {
    made two 30 3 '+1 -1' 3
    made three 30 3 'a b c' 3
    made sets 30 3 '1,2 3 2,4' 3
    awk '{ print NR % 5 " qid:" NR % 2 substr($0, 3) }' two >queries
    attacked rank queries -t rbf -g .3
    attacked rank queries -l squared-hinge --cost-per query -w 1:2
    attacked rank queries --cost-per ndcg --gain linear -c 10
    attacked rank queries --cost-per gain --gain linear
    attacked rank queries -t rbf -g .3 --pairs .5
    attacked rank queries -t rbf -g .3 --pair-features exterior
    attacked rank queries -l squared-hinge --pair-features exterior --pairs .5 -w 1:2
    attacked top two -s toppush -t rbf -g .3
    attacked top two -s patmat-np --tau .2 -l squared-hinge
    attacked mc three -s ww -t rbf -g .3
    attacked mc three -s cs -B 1 -w a:2
    attacked ml sets -t rbf -g .3
    attacked ml sets -l squared-hinge --free-bias
    attacked smm three -s svm --shape 1x3
    attacked smm two -s nuclear --tau .5 --shape 3x1
}

# bats test_tags=long,slow
@test "check: bounds of any size are verified, with C down to 1e-305, in every family" {
    made two 20 6 '+1 -1' 3
    made three 20 6 'a b c' 3
    made sets 20 6 '1,2 3 2,4' 3
    awk '{ print NR % 5 " qid:" NR % 2 substr($0, 3) }' two >queries
    for cost in 1e-305 1e-280 1e-100; do
        for kernel in '-t linear' '-t rbf -g .3'; do
            verified rank queries $kernel -c $cost
            verified rank queries $kernel -c $cost -l squared-hinge --pair-features exterior
            verified top two $kernel -c $cost -s topmeank --tau .2
            verified top two $kernel -c $cost -s patmat -l squared-hinge
            verified mc three $kernel -c $cost -s cs -B 2
            verified mc three $kernel -c $cost -s atm
            verified ml sets $kernel -c $cost
            verified ml sets $kernel -c $cost -l squared-hinge --free-bias
        done
        verified smm three -c $cost -s svm --shape 2x3
        verified smm two -c $cost -s svm -l squared-hinge --shape 2x3
        verified smm two -c $cost -s nuclear --tau 1e-200 --shape 2x3
    done
    # what is claimed too tight by little is seen there, too
    verified mc three -c 1e-300
    awk '$1 == "dual" { $2 = sprintf("%.17g", $2 * 1.0001) } { print }' model | sed '$d' |
        closed >altered
    rebound
    run -1 svm-check three altered other
    assert_line --partial "REFUTED: the model's dual is "
    assert_line --regexp '^primal = [0-9.]*e-299 [.][.] [0-9.]*e-299$'
}

# bats test_tags=long
@test "check: a dual is refuted if no near repair of its dual point reaches it, or a primal is smaller" {
    printf '%s\n' '1 1:1472447396184064' '2 1:6594872890884096' 1 '2 1:-0.29' >large
    for options in '-l squared-hinge -c 100' '-l hinge -c 1000' '-l squared-hinge -c 30'; do
        quietly svm-smm-train --proof proof -s svm --shape 1x1 $options large model
        limited svm-check large model proof >verdict || [ $? = 3 ] || fail "$options: $(<verdict)"
    done
    verified smm large -s svm --shape 1x1 -l squared-hinge -c 100
    awk '$1 == "primal" { p = $2 } $1 == "dual" { $2 = p * 1.01 } { print }' model | sed '$d' |
        closed >altered
    rebound
    run -1 svm-check large altered other
    assert_line --partial "REFUTED: the model's dual is "
    # sums that differ in the last digit are repaired, and the repaired point tells nothing against
    # what another repair may give
    printf '%s\n' 'a 1:1e18' 'b 1:1e18' 'a 1:-1e18' 'b' >far
    quietly svm-smm-train --proof proof -s svm --shape 1x1 -c 10 far model
    limited svm-check far model proof >verdict || [ $? = 3 ] || fail "$(<verdict)"
}

# bats test_tags=long
@test "check: large rows that are near to one another have exact distances" {
    awk 'BEGIN { for (i = 0; i < 11; i++)
        print i * 7 % 11, "1:" 1e14 * (i % 4 + 1), "2:" 3 * i % 5 * 1e3, "3:" i * i % 7 }' >near
    for kernel in rbf laplacian rational; do
        for gamma in 1 1e-3 1e-7; do
            verified rank near -t $kernel -g $gamma -e 1e-12
            verified mc near -t $kernel -g $gamma -e 1e-10
        done
    done
}

# bats test_tags=long
@test "check: bounds that are too tight by a little are refuted" {
    made rows 30 3 'a b c' 3
    verified mc rows -c 10 -e .1
    awk -v gap="$(header gap model)" 'BEGIN { exit !(gap > 1e-6) }' || fail "too tight to tell"
    for key in primal dual gap; do
        factor=$([ $key = dual ] && echo 1.00000001 || echo .99999999)
        awk -v key=$key -v factor="$factor" '$1 == key { $2 = sprintf("%.17g", $2 * factor) } { print }' \
            model | sed '$d' | closed >altered
        rebound
        run -1 svm-check rows altered other
        assert_line --partial "REFUTED: the model's $key is "
    done
    for key in primal dual gap; do # wider ones are true
        factor=$([ $key = dual ] && echo .9 || echo 1.1)
        awk -v key=$key -v factor="$factor" '$1 == key { $2 = sprintf("%.17g", $2 * factor) } { print }' \
            model | sed '$d' | closed >altered
        rebound
        run -0 svm-check rows altered other
        assert_line VERIFIED
    done
}

@test "check: other rows, another model, another family's proof" {
    made rows 30 3 'a b c' 3
    verified mc rows
    sed '7s/^[abc]/b/; 8s/^[abc]/c/' rows >other
    run -1 svm-check other model proof
    assert_output --partial 'REFUTED: the proof is of other training rows'
    sed 's/1:/ 1:/; s/$/ # and a comment/' rows | svm-check - model proof | grep -qx VERIFIED
    quietly svm-mc-train -c 2 rows second
    run -1 svm-check rows second proof
    assert_output --partial 'REFUTED: the proof is of another model'
    quietly svm-smm-train --shape 1x3 -s svm --proof smm.proof rows smm.model
    refused svm-check rows model smm.proof
}

# bats test_tags=long
@test "check: cut and hostile proofs are errors of one line" {
    made rows 12 3 'a b c' 3
    verified mc rows
    local size bytes
    size=$(wc -c <proof)
    for ((bytes = 0; bytes < size; bytes += 23)); do
        head -c "$bytes" proof >short
        refused svm-check rows model short
    done
    while read -r script; do
        sed '$d' proof | sed -E "$script" | closed >other
        if cmp -s proof other; then
            fail "$script changes nothing"
        fi
        refused svm-check rows model other
    done <<'END'
1s/1$/2/
1s/mc/xx/
1s/.*/dualsvm mc 1/
2s/12/0/
2s/12/99999999999/
2s/12/-3/
2s/rows/row/
3s/ ./ x/
3s/$/0/
4s/model/modell/
5s/^/surprise 1\n/
5s/^/constant 1\nconstant 2\n/
5s/^/constant x\n/
5s/^/constant -1\n/
5s/^/weight unknown 2\n/
5s/^/weight a -2\n/
5s/^/weight a\n/
5s/^/row-weight 13 2\n/
5s/^/row-weight 0 2\n/
5s/^/K 1\n/
5s/^/\n/
6s/^[0-9]+/0/
6s/^[0-9]+/13/
6s/^[0-9]+/1e3/
7s/^[0-9]+/1/
6s/:[^ ]*/:nan/
6s/:[^ ]*/:inf/
6s/:[^ ]*/:/
6s/:[^ ]*/:1e999/
6s/ [0-9]+:/ 0:/
6s/ [0-9]+:/ 99999999999:/
6s/ [0-9]+:/ 2:0:/
6s/$/ /
6s/$/ 1:1/
6s/ .*//
END
    run -1 svm-check rows model rows
    misused svm-check rows model
    misused svm-check rows model proof more
    refused svm-check rows model nowhere
    refused svm-check rows nowhere proof
    refused svm-check nowhere model proof
}

@test "check: --proof where there is nothing to prove is a usage error" {
    made rows 30 3 '+1 -1' 3
    misused svm-mc-train --proof proof -v 3 rows
    misused svm-top-train --proof proof -s grill rows model
    misused svm-rank-train --proof proof --solver fw rows model
    made square 30 4 '+1 -1' 3
    misused svm-smm-train --proof proof -s lowrank -k 1 --shape 2x2 square model
    misused svm-mc-train --proof model rows model
    holds . rows square out err
}

# 60 rows of three classes, unscaled: values to 1000.
unscaled_rows() {
    awk 'BEGIN {
        for (i = 0; i < 60; i++) {
            printf "%d qid:1", i % 3 + 1
            for (j = 1; j <= 8; j++) {
                seed = (seed * 16807 + i * j + 15838) % 2147483647
                printf " %d:%.6g", j, (seed / 2147483.647 + (j == i % 3 + 1 ? 150 : 0)) * (j > 4 ? 0.1 : 1)
            }
            print ""
        }
    }'
}

# reaches FAMILY OPTIONS: the fit of `rows` reaches its gap, and is verified; with any number of threads.
reaches() {
    local family=$1
    shift
    "svm-$family-train" --force -q -e 1e-6 --strict -j 1 "$@" --proof proof rows model >report
    "svm-$family-train" --force -q -e 1e-6 -j 3 "$@" rows model.3 >report.3
    cmp model model.3
    svm-check rows model proof | grep -qx VERIFIED
}

# bats test_tags=long,slow
@test "check: with large coefficients scores in double-double keep the gap small, as svm-check confirms" {
    cd "$tmp"
    unscaled_rows >rows
    quick || reaches rank -t rbf -g 1e-7 -c 1e6
    quick || reaches rank -t tanimoto -c 1e5 --pair-features exterior
    sed -i 's/ qid:1//' rows
    reaches mc -t polynomial -d 2 -r 1 -c 1e4
    sed 's/^1/1,2/; s/^2/2,3/' rows >labels && mv labels rows
    reaches ml -t polynomial -d 2 -r 1 -c 1e4
    sed 's/^1,2/1/; s/^2,3/-1/; s/^3/-1/' rows >labels && mv labels rows
    quick || reaches top -t rbf -g 1e-8 -c 1e6
    reaches top -t polynomial -d 2 -r 1 -c 1e4
}
