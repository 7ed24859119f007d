# Messages that no other test produces, each once: `make coverage` lists those that no test produces.

load helper

setup() {
    cd "$tmp" || exit 1
    awk 'BEGIN { for (q = 1; q <= 3; q++) for (i = 1; i <= 4; i++)
        printf "%d qid:%d 1:%g 2:%g\n", i, q, i + (i * q) % 3, (i * i + q) % 5 }' >rank
    cp rank queries
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

# says TEXT: asserts that the last message contains it.
says() {
    grep -qF -- "$1" err || fail "not '$1': $(<err)"
}

# crc FILE: the checksum in the last line of a model.
crc() {
    gzip -c "$1" | tail -c 8 | od -An -N4 -tx4 | tr -d ' '
}

# closed: reads a model without its last line from standard input, and adds a valid one.
closed() {
    cat >open
    cat open
    echo "end $(awk 'body { n++ } /^(w|SV)/ { body = 1 } END { print n + 0 }' open) $(crc open)"
}

# bats test_tags=long
@test "messages: inconsistent options" {
    while IFS='|' read -r family options text; do
        misused "svm-$family-train" $options $family model
        says "$text"
    done <<'END'
rank|--select ndcg|--select wants --folds, --fold-file or --validate
rank|--resume table|--resume wants --folds, --fold-file or --validate
rank|-v 2 --libsvm file|--libsvm wants a fit of a model
mc|-v 2 --liblinear file|--liblinear wants a fit of a model
smm|-v 2 --weights file|--weights wants a fit of a model
top|-v 2 --proof file|--proof wants a fit of a model
rank|-v 3 -c 1,2 --shard 1/2|--shard writes no model: the best of all parts is known when their tables are joined, then --resume fits it
rank|-t precomputed --scale std|a precomputed kernel has no features to --scale
rank|--libsvm l --scale l2|--libsvm: that format has no place for --scale l2
rank|--libsvm l -t rbf --scale std|--libsvm: that format has no place for --scale std of a kernel model
rank|--liblinear l -t rbf|--liblinear: that format does not have the rbf kernel
rank|--libsvm l -t minmax|--libsvm: that format does not have the minmax kernel
rank|--libsvm l --pair-features exterior|no other program knows pair features
rank|--query-features mean|--query-features wants a kernel of features that is not linear
rank|-t precomputed --query-features mean|--query-features wants a kernel of features that is not linear
rank|-t rbf --scale l2 --query-features mean|--query-features is not for --scale l2
rank|--liblinear l --scale query-std|--liblinear: that format has no place for --scale query-std
rank|--targets 1 --scale query-std|no --targets with --query-features or --scale by query
top|--scale query-std|query-std
rank|-t rbf --libsvm l --query-features mean|no other program knows features of queries
rank|-b 1 --pair-features exterior|no probabilities with --pair-features exterior
rank|-t rbf --query-features mean --targets 1|no --targets with --query-features or --scale by query: folds and standards have parts of a query
rank|--step diminishing|--step and --stop are for --solver fw
rank|-v 3 -c 1:9e3:+1,1:9e3:+1|more than
rank|-v 3 -c 1:999:+1 -g 1:100:+1 -t rbf|a sweep of more than 10000 points
mc|-s cs --margin-scale .5|--margin-scale is for the formulation ww
mc|--margin-scale .7|must be 1 or 0.5
mc|-t rbf --solver newton|--solver newton is for the linear kernel
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
    misused svm-rank-train -v 3 -c 1,2 --shard 3/2 rank
    says "option --shard: not a part I/N, from 1/N to N/N: '3/2'"
    misused svm-rank-train rank model more
    says 'too many file names'
    misused svm-check rank model proof more
    says 'too many file names'
    misused svm-check rank
    says 'a training file, a model and a proof are wanted'
}

@test "messages: files besides the training file" {
    refused svm-top-train --fold-file ones top
    says 'ones: all rows are in one fold'
    refused svm-top-train --fold-file missing top
    says 'missing: No such file or directory'
    refused svm-top-train --fold-file . top
    says '.: Is a directory'
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

@test "messages: models with inconsistent lines" {
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

# edited FILE PROGRAM: for each line `SED|TEXT` of standard input, the model FILE changed by sed, with a
# valid last line, is refused by the program with the message TEXT.
edited() {
    local change text
    while IFS='|' read -r change text; do
        sed '$d' "$1" | sed "$change" | closed >changed.model
        ! cmp -s "$1" changed.model || fail "nothing was changed: $change"
        refused "$2" "$rows" changed.model scores
        says "$text"
    done
}

@test "messages: rows and models that do not fit query features" {
    svm-rank-train -q -t rbf --scale minmax --query-features mean rank model >report
    rows=rank
    edited model svm-rank-predict <<'END'
s/^features .*/features 7/|features of queries are half of all features
s/^features .*/features 8/|the scaling does not fit the features of queries
s/^query-features .*/query-features max/|not features of queries
END
    sed 's/ qid:[0-9]*//' rank >unqueried
    refused svm-rank-predict unqueried model
    says 'features of queries want a qid, and no row has one'
    refused svm-rank-train -t rbf --query-features mean unqueried model
    says 'features of queries want a qid, and no row has one'
    svm-rank-train -q --scale query-std rank model >report
    refused svm-rank-predict unqueried model
    says 'features of queries want a qid, and no row has one'
    awk 'NR % 2' rank | cat rank - >twice
    refused svm-rank-predict twice model
    says 'scaling by query wants the rows of a query one after another'
    refused svm-rank-train --scale query-minmax unqueried model
    says 'features of queries want a qid, and no row has one'
    printf '1 qid:1 1:1\n0 qid:1 4000000000:1\n' >far
    refused svm-rank-train -t rbf --query-features mean far model
    says 'an index of 4000000000, and few below it: too sparse for features of queries'
}

# bats test_tags=long
@test "messages: models with one invalid line" {
    rows=rank
    svm-rank-train -q rank linear.model >report
    edited linear.model svm-rank-predict <<'END'
s/^cost .*/cost/|not a line 'key value'
s/^cost .*/price 1/|an unknown key
s/^cost .*/&\n&/|given twice
s/^groups .*/&\n&/|given twice
/^cost/d|the header lacks the key
s/^bias .*/bias 0 x/|not a list of numbers
s/^bias .*/bias 0x/|not a list of numbers
s/^bias .*/bias 0 1/|the bias does not fit the number of outputs
s/^groups/outputs 0\n&/|a model without outputs
s/^groups/outputs 16777216\n&/|a number is missing or wrong
s/^groups/outputs 16777217\n&/|not a whole number in range
s/^kernel .*/&\ndegree 1048577/|not a whole number in range
s/^groups/scale much\n&/|an unknown scaling
s/^groups/scale std\n&/|the body does not fit the scaling
s/^kernel .*/kernel none/|an unknown kernel
s/^kernel .*/kernel tanimoto/|a kernel model has support vectors
s/^w$/SV/|a linear model has weights
$d|not a weight for each feature
END
    svm-rank-train -q --scale std rank dense.model >report
    edited dense.model svm-rank-predict <<'END'
s/^features .*/features 4294967294/|not a scaling of each feature
END
    printf '2 1:1 5000:1\n1 1:2\n' >wide
    svm-rank-train -q --scale std wide sparse.model >report
    edited sparse.model svm-rank-predict <<'END'
s/^w sparse$/w/|the weights do not fit the scaling
s/^scaling sparse$/scaling/|a number is missing or wrong
/^w sparse$/,$s/^5000:/4999:/|a weight of a feature without scaling
s/^5000:/5001:/|not an index, or out of order
s/^5000:/1:/|not an index, or out of order
s/^5000:/+/|not an index, or out of order
/^w sparse$/,$s/^1:.*/&1 1/|more on the line than its numbers
END
    svm-rank-train -q -t rbf --scale std wide sparse.model >report
    edited sparse.model svm-rank-predict <<'END'
$s/5000:/4999:/|a support vector has a feature without scaling
END
    svm-rank-train -q --scale quantile rank ranks.model >report
    edited ranks.model svm-rank-predict <<'END'
/^scaling$/{n; s/$/ 9/}|line 1 of the scaling: not values with their ranks
/^scaling$/{n; s/ 0 / 0.5 /}|line 1 of the scaling: not values with their ranks
/^scaling$/{n; s/ 1$/ 2/}|line 1 of the scaling: not values with their ranks
/^scaling$/{n; s/[^ ]* 1$/-1e9 1/}|line 1 of the scaling: not values with their ranks
/^scaling$/{n; s/.*//}|a number is missing or wrong
/^scaling$/{n; s/ 1$/ x/}|a number is missing or wrong
s/^scale .*/scale std/|more on the line than its numbers
END
    svm-rank-train -q -t rbf rank kernel.model >report
    edited kernel.model svm-rank-predict <<'END'
s/^SV$/w/|a kernel model has support vectors
$s/ 1:.*/ 1:1 1:2/|not index:value
$s/ 1:.*/ 7:1/|not index:value
$s/$/\npairs/|not what follows the support vectors
s/^kernel .*/kernel precomputed/; /^gamma/d|not 0:serial
END
    svm-rank-train -q --pair-features exterior rank pairs.model >report
    edited pairs.model svm-rank-predict <<'END'
$s/.*/2 1 0.5/|not a pair of support vectors
$s/.*/1 99 0.5/|not a pair of support vectors
END
}

@test "messages: LIBLINEAR models with one invalid line, and damaged gzip files" {
    printf '%s\n' 'solver_type MCSVM_CS' 'nr_class 3' 'label 1 2 3 ' 'nr_feature 2' 'bias -1' w \
        '1 2 3 ' '-1 0.5 0 ' >good
    svm-mc-predict -q mc good labels
    sed 's/$/\r/' good >crlf
    svm-mc-predict -q mc crlf others
    cmp others labels
    while IFS='|' read -r change text; do
        sed "$change" good >bad
        refused svm-mc-predict mc bad labels
        says "$text"
    done <<'END'
s/MCSVM_CS/L2R_LR/|a LIBLINEAR model, but not of MCSVM_CS (-s 4)
s/^nr_class 3/nr_class 1/|not a number in range
s/^nr_class 3/nr_class 2.5/|not a whole number of classes and features
s/^label/names/|not LIBLINEAR's line label
s/^w$/v/|not LIBLINEAR's line w
s/^1 2 3/1 2/|a number is missing or wrong
s/^1 2 3/1 2 3 4/|more on the line than its numbers
$s/$/\n1 1 1/|something follows the last line
END
    gzip -c good >good.gz
    printf '\377\377\377\377' | dd of=good.gz bs=1 seek=20 conv=notrunc status=none
    refused svm-mc-predict mc good.gz labels
    says 'corrupt gzip data'
    printf 'solver_type\0 MCSVM_CS\n' >bad
    refused svm-mc-predict mc bad labels
    says 'a NUL byte'
}

# unproven FAMILY OPTIONS: for each line `MODEL SED|PROOF SED|TEXT` of standard input, the model and the
# proof of a fit, changed by sed and with valid last lines, are refused or refuted by svm-check with the
# message TEXT.
unproven() {
    local family=$1 of_model of_proof text sum status
    shift
    svm-$family-train -q --force --proof proof "$@" $family model >report
    while IFS='|' read -r of_model of_proof text; do
        sed '$d' model | sed "$of_model" | closed >changed.model
        sum=$(tail -n 1 changed.model | sed 's/.* //')
        sed "\$d; s/^model .*/model $sum/" proof | sed "$of_proof" >open
        { cat open && echo "end $(awk 'body { n++ } /^dual$/ { body = 1 } END { print n + 0 }' open) $(crc open)"; } \
            >changed.proof
        status=0
        limited svm-check $family changed.model changed.proof >out 2>err || status=$?
        [ "$status" = 1 ] || [[ $status == 3 && $text == 'CANNOT TELL'* ]] ||
            fail "exit $status: $of_model|$of_proof: $(<out)"
        grep -qF -- "$text" out err || fail "not '$text': $of_model|$of_proof: $(<out) $(<err)"
    done
}

# bats test_tags=long,slow
@test "messages: proofs and models that svm-check cannot verify" {
    unproven mc -s ww -B 1 <<'END'
s/^formulation .*/formulation new/||not a formulation with a proof: 'new'
s/^gap .*/gap none/||the model claims no gap
|s/^dual$/what ever\n&/|unknown key
|s/^dual$/point 1 1\n&/|unknown key
END
    unproven mc -t rbf <<'END'
s/^labels .*/labels 1 2/||the model does not have a label for each score
$s/ [12]:.*/ 1:77/||REFUTED: 
END
    unproven ml --free-bias <<'END'
|s/^free-bias .*/free-bias perhaps/|free-bias is 'yes' where there is no constant
s/^formulation .*/formulation new/||the model does not have a score for each label
END
    unproven smm -s nuclear <<'END'
s/^formulation .*/formulation new/||not a formulation with a proof: 'new'
s/^formulation .*/formulation svm/||a tau that formulation svm does not have
END
    unproven top -s topmeank --tau .3 <<'END'
s/^formulation .*/formulation new/||not a formulation with a proof: 'new'
|s/^K .*/K 5/|K is 5 in the proof
END
    sed -i 's/^-1/b/; s/^+1/a/' top
    unproven top -s topmeank --tau .3 --positive a <<'END'
/^positive/d||label 'b' is no number, and none is positive
|s/^3 1:1 2:1/3 1:1 2:3/; s/^6 1:1 2:1/6 1:1/; s/^9 1:1 2:1/9 1:1/|row 3 is over its cap
END
    sed -i 's/^b/2/; s/^a/1/' top
    unproven top --positive 1 <<'END'
/^positive/d||there are no negatives
END
    sed -i '/^3/d' mc
    unproven mc <<'END'
s/^outputs .*/outputs 1/; /^w$/,$s/ .*//||the model does not have a score for each class
END
    unproven smm -s svm <<'END'
s/^labels/outputs 2\n&/; s/^bias .*/bias 0 0/; /^w$/,$s/[0-9]$/& 0/||the model does not have a machine for each label
END
    unproven rank -w 2:3 --rank-gap 1:2 <<'END'
|s/^rank-gap .*/rank-gap 1-2/|not a window of ranks
|s/^point .*/point -1 0/|not a point
|s/^point .*/point 2 0/|the dual point is not feasible: weights sum to
|/^point /d; s/^1 .*/1 99:0.5/|there is no row 99
|/^point /d|the dual point is not feasible: row
|s/^rank-gap .*/cost-per row/|not a unit of the cost
|s/^rank-gap .*/gain cubic/|not a gain
s/^pairs .*/&\ncost-per ndcg/||the model is of cost-per ndcg, and the proof is not
s/^formulation .*/formulation top/||not a model of rank with a proof
END
    unproven rank --cost-per query <<'END'
/^cost-per/d||the proof is of cost-per query, and the model is not
END
    printf '1 qid:1 0:1 1:1 2:0\n2 qid:1 0:2 1:0 2:1\n' >rank
    unproven rank -t precomputed <<'END'
$s/0:[12]/0:7/||is no training row
END
    cp queries rank
    unproven rank -t rbf <<'END'
s/^kernel .*/kernel sigmoid/; s/^gamma .*/gamma 0.001\ncoef0 -3/; s/^primal .*/primal 20/; s/^dual .*/dual 0/; s/^gap .*/gap 1/||CANNOT TELL: the kernel matrix is not positive semidefinite
END
}

@test "messages: a proof with a changed byte, fits with overflowing scores, too few pairs" {
    svm-rank-train -q --proof proof rank model >report
    sed 's/^point 0/point 1/; s/^point 1 /point 2 /' proof >changed
    refused svm-check rank model changed
    says 'the proof is damaged: its checksum does not fit'
    svm-ml-train -q --force ml model >report
    rows=ml
    edited model svm-ml-predict <<'END'
s/^threshold .*/threshold new 1/|the model's threshold is not one: 'new 1'
s/^label-rows .*/label-rows 1/|the model's label-rows are not counts of its rows, one for each label: '1'
s/^label-rows .*/& 1/|the model's label-rows are not counts of its rows
s/^label-rows [0-9]*/label-rows 0/|the model's label-rows are not counts of its rows
s/^label-rows [0-9]*/label-rows 999/|the model's label-rows are not counts of its rows
END
    grep -v '^label-rows\|^end' model | closed >old
    refused svm-ml-predict --psp 2 ml old
    says 'the model has no counts of its labels (label-rows), which psp@K needs: train it anew'
    svm-ml-predict --metrics ml old >measures
    grep -q '^ndcg@5 ' measures
    ! grep psp measures || fail 'psp without label-rows'
    misused svm-ml-predict --top-k 2 --scores ml model
    says '--top-k and --scores exclude each other'
    for family in rank top smm; do
        sed 's/\([1-4]\):\(-*[0-9.]*\)/\1:\2e37/g; s/qid:\([0-9]*\)e37/qid:\1/' $family >large-$family
    done
    while read -r family options; do
        refused "svm-$family-train" -q --force -c 1e300 $options "large-$family" model
        says 'scores overflow: scale the data or lower the cost'
    done <<'END'
rank --solver fw
rank --solver newton
rank --solver newton -l squared-hinge
top --solver cd
top --solver smo
smm -s svm
smm -s nuclear
smm -s lowrank
END
    for _ in {1..9}; do echo 1e307; done >heavy
    refused svm-mc-train -q --force -c 1e10 --row-weights heavy mc model # their sum overflows, the optimum does not
    says 'scores overflow: scale the data or lower the cost'
    for _ in {1..9}; do echo 1e300; done >heavy
    refused svm-top-train -q --force -s svm --solver cd -c 1e10 --row-weights heavy top model
    says 'scores overflow: scale the data or lower the cost'
    refused svm-rank-train -q --force --pairs 0.001 rank model
    says 'preference pairs is less than one pair'
    seq 5 | awk '{ print $1, "qid:1 1:" $1 }' >five
    refused svm-rank-train -q --force -b 1 five model
    says 'no probabilities: no held-out rows of one query with different targets'
}

@test "messages: errors that no command line can cause" {
    unit driver/refusals
}
