# Messages that no other test provokes, each once: `make coverage` lists those that nothing has provoked.

load helper

setup() {
    cd "$tmp" || exit 1
    awk 'BEGIN { for (q = 1; q <= 3; q++) for (i = 1; i <= 4; i++)
        printf "%d qid:%d 1:%g 2:%g\n", i, q, i + (i * q) % 3, (i * i + q) % 5 }' >rank
    awk 'BEGIN { for (i = 1; i <= 9; i++)
        printf "%s 1:%g 2:%g\n", i % 3 ? "-1" : "+1", i % 3 - 1 + i / 8, (i * i) % 5 }' >top
    awk 'BEGIN { for (i = 1; i <= 9; i++) printf "%d 1:%g 2:%g\n", i % 3 + 1, i % 3, (i * i) % 5 }' >mc
    awk 'BEGIN { split("a b a,b c b,c", set, " ")
        for (i = 1; i <= 8; i++) printf "%s 1:%g 2:%g\n", set[i % 5 + 1], i % 5, (i * i) % 7 }' >ml
    awk 'BEGIN { print "# matrix 2 2"; for (i = 1; i <= 8; i++)
        printf "%s 1:%g 2:%g 3:%g 4:%g\n", i % 2 ? "+1" : "-1", i % 2 + i / 9, i % 3, i % 4, i % 5 }' >smm
    seq 9 >numbers
    yes 1 | head -n 9 >ones
}

# says TEXT: the last message has it.
says() {
    grep -qF -- "$1" err || fail "not '$1': $(<err)"
}

# crc FILE: as models have it.
crc() {
    gzip -c "$1" | tail -c 8 | od -An -N4 -tx4 | tr -d ' '
}

# closed: standard input, a model without its last line, with one that is right.
closed() {
    cat >open
    cat open
    echo "end $(awk 'body { n++ } /^(w|SV)/ { body = 1 } END { print n + 0 }' open) $(crc open)"
}

@test "messages: options that mean nothing together" {
    while IFS='|' read -r family options text; do
        misused "svm-$family-train" $options $family model
        says "$text"
    done <<'END'
rank|--select ndcg|--select wants --folds, --fold-file or --validate
rank|-v 3 --log log|--log wants a fit of a model
rank|-t precomputed --scale std|a precomputed kernel has no features to --scale
rank|--libsvm l --scale std|--libsvm: that format has no place for --scale
rank|--liblinear l -t rbf|--liblinear: that format does not have the rbf kernel
rank|--libsvm l -t minmax|--libsvm: that format does not have the minmax kernel
rank|--libsvm l --pair-features exterior|no other program knows pair features
rank|-b 1 --pair-features exterior|no probabilities with --pair-features exterior
rank|--step diminishing|--step and --stop are for --solver fw
rank|-v 3 -c 1:9e3:+1,1:9e3:+1|more than
rank|-v 3 -c 1:999:+1 -g 1:100:+1 -t rbf|a sweep of more than 10000 points
mc|-s cs --margin-scale .5|--margin-scale is for the formulation ww
mc|--margin-scale .7|must be 1 or 0.5
mc|-t rbf --solver newton|--solver newton is for the linear kernel
ml|--solver fw --free-bias|--solver fw has no --free-bias
ml|-l squared-hinge --solver fw|--solver fw is for the hinge loss
ml|-B 1 --free-bias|--bias and --free-bias exclude each other
smm|-s nuclear --rank 1|--rank is for formulation lowrank
smm|-s svm --tau 1|--tau is for formulation nuclear
smm|-s svm --solver alternate|--solver alternate is for formulation lowrank
top|-s grill -t rbf|formulation grill is for the linear kernel
top|-s grill --solver bundle|--solver bundle is not for formulation grill
top|-s grill --proof p|--proof is not for formulation grill
top|--lambda 1 -c 1|--lambda and --cost exclude each other
top|--tau .1|--tau is not for formulation toppush
END
    misused svm-rank-train rank model more
    says 'too many file names'
    misused svm-check rank model proof more
    says 'too many file names'
    misused svm-check rank
    says 'a training file, a model and a proof are wanted'
}

@test "messages: files beside the training file" {
    refused svm-top-train --fold-file ones top
    says 'ones: all rows are in one fold'
    refused svm-top-train --fold-file missing top
    says 'missing: cannot open'
    refused svm-top-train --fold-file . top
    says 'cannot read'
    sed -i '3s/.*/-1/' numbers
    refused svm-top-train --row-weights numbers top
    says "numbers:3:1: not a weight of 0 or more: '-1'"
    sed -i 's/^-//; 9d' numbers
    refused svm-top-train --row-weights numbers top
    says 'numbers: 8 lines for 9 training rows'
    refused svm-top-train --row-weights <(seq 10) top
    says 'more lines than the 9 training rows'
    sed 's/qid:. //' rank >without
    refused svm-rank-train --validate without rank
    says 'only one of the training and validation files has queries (qid)'
    printf '1 0:1 1:1 2:2\n2 0:2 1:9 2:1\n' >kernel
    refused svm-rank-train -t precomputed kernel
    says 'precomputed kernel: not symmetric'
    printf 'a 1:1\nb 1:2\na 1:3\n' >words
    misused svm-mc-train --liblinear l words
    says "labels must be whole numbers: 'a'"
}

@test "messages: models whose lines do not fit together" {
    svm-rank-train -q rank rank.model >report
    svm-top-train -q top top.model >report
    sed '$d' rank.model | awk '/^groups/ { print "outputs 2" } { print w ? $0 " 1" : $0 } /^w$/ { w = 1 }' |
        closed >two.model
    refused svm-rank-predict rank two.model scores
    says 'the model has 2 scores for a row: one is expected'
    sed '$d; s/^labels .*/labels +1/' top.model | closed >one.model
    refused svm-top-predict top one.model scores
    says 'the model has not one score and two labels'
    sed '$d; s/^threshold .*/threshold much/' top.model | closed >word.model
    refused svm-top-predict top word.model scores
    says "the model's threshold is not a number: 'much'"
    printf '1 1:1e38 2:1e38\n' >huge
    sed '$d' rank.model | awk 'w { print "1e300"; next } /^w$/ { w = 1 } { print }' | closed >large.model
    refused svm-rank-predict huge large.model scores
    says 'a score is not a finite number'
}
