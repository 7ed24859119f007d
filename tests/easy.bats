# tools/easy.

load helper

setup() { with_tools; }

@test "easy: works for all five families, and each printed command runs by itself" {
    small='--rows 80'
    for family in rank top mc ml smm; do
        mkdir -p $family/again
        cd $family || exit 1
        [ $family != rank ] && set -- $small || set -- --molecules 25
        generate $family "$@" --output train.svm
        generate $family "$@" --seed 2 --output test.svm
        easy $family --folds 2 --cost 0.25,1 --gamma 0.1 train.svm test.svm -- -q >said 2>told || fail "$family: $(cat said told)"
        assert_equal "$(wc -l <test.svm.predict)" "$(grep -vc '^#' test.svm)"
        header formulation train.svm.model >/dev/null
        for table in train.svm*.sweep; do grep -q cost <(head -n 1 "$table"); done
        grep -Eq '^[a-z@0-9.-]+ [0-9.e-]+$' said # measures
        assert_equal "$(grep -c '^\$ svm-.*-predict' said) $(grep -c '^\$ svm-.* train.svm.model$' said)" '1 1'
        cp train.svm test.svm again
        [ ! -e train.svm.folds ] || cp train.svm.folds again
        (cd again && eval "$(sed -n 's/^\$ //p' ../said)" >/dev/null 2>&1)
        cmp train.svm.model again/train.svm.model
        cmp test.svm.predict again/test.svm.predict
        cd ..
    done
}

@test "easy: file names are never taken as options, and are printed without control characters" {
    local name printed
    for name in --log=x -x.svm 'a;b c' $'q\e[31m\\\'s\n.svm'; do
        mkdir work again
        generate mc --rows 60 | tee "work/$name" >"again/$name"
        (cd work && easy mc --folds 2 --kernel linear --cost 1,2 "./$name" "./$name" -- -q) >said 2>told || fail "$name: $(cat said told)"
        [ -s "work/$name.model" ]
        [ -s "work/$name.predict" ]
        holds work "$name"{,.model,.predict,.sweep}
        printed=$(sed -n 's/^\$ //p' said)
        ! LC_ALL=C grep '[^ -~]' <<<"$printed" || fail 'a command with control characters'
        (cd again && eval "$printed") >/dev/null
        cmp "work/$name.model" "again/$name.model"
        cmp "work/$name.predict" "again/$name.predict"
        rm -r work again
    done
}

@test "easy: chooses settings by the rows, unless options are given" {
    # said ROWS ARGUMENTS: the command of the trainer
    commands() {
        easy --folds 2 "$@" 2>/dev/null | grep '^\$.*train'
    }
    awk 'BEGIN { for (i = 0; i < 40; i++) printf "%d %d:%d\n", i % 2, i % 9 + 1, i % 3 + 1 }' >counts
    awk 'BEGIN { srand(1); for (i = 0; i < 40; i++) printf "%d 1:%g 2:%g\n", i % 2, rand(), rand() * 900 }' >wide
    awk 'BEGIN { srand(1); for (i = 0; i < 40; i++) printf "%d 1:%g 2000:%g\n", i % 2, rand(), rand() }' >many
    [[ "$(commands mc counts)" == *'-t minmax -c '* ]]
    [[ "$(commands mc wide)" == *'-t rbf --scale std -c '*' -g '* ]]
    [[ "$(commands top many)" == *'-t linear -c '* ]]
    [[ "$(commands mc --kernel linear --cost 1,2 wide)" == *' -t linear --scale std -c 1,2 '*' wide >'* ]]
    [[ "$(commands mc --cost 1,2 wide -- --kernel=2)" == *' --scale std -c 1,2 -g '*' --kernel=2 wide >'* ]]
    [[ "$(commands mc wide -- -t rbf -g 1,2)" == *' -g '[12]' -t rbf wide wide.model' ]]
    said=$(commands mc wide -- -t tanimoto -c 3 --scale none)
    [[ "$said" == *' -v 2 '*' -t tanimoto -c 3 --scale none -c 3,3 wide >'* ]] || fail "$said"
    assert_equal "$(header kernel wide.model) $(wc -l <wide.sweep)" 'tanimoto 2'
    # grades: several sweeps, the best of which is trained
    awk 'BEGIN { srand(2); for (i = 0; i < 60; i++) { x = rand(); printf "%d qid:%d 1:%g 2:%g\n", \
        x * 2.5 + rand(), i % 6, x * x * 900, rand() } }' >grades
    easy rank --folds 2 --cost 0.1,1 grades -- -q --loss hinge >said 2>told || fail "$(cat told)"
    assert_equal "$(grep -c '^\$ svm-rank-train .*--loss hinge grades >grades.*.sweep' said)" 7
    assert_equal "$(grep -c ' --cost-per query,ndcg .*>grades.cost-per.sweep' said)" 1
    best=$(awk '/^# ndcg@10/ { v = $3 + 0; if (v > b) { b = v; name = $4 } } END { print name }' said)
    best=${best%,}
    best=${best%.wider}
    grep -q "^# best ndcg@10: .*, $best, in grades.$best.sweep" said
    [[ "$(tail -n 12 said | grep '^\$')" == *" grades grades.model" ]] || fail "$(tail -n 12 said)"
    assert_equal "$(grep -c -- '-t rational .* --query-features mean .*>grades.rational-quantile-mean.sweep' said)" 1
    assert_equal "$(grep -c ' --cost-per gain .*>grades.gain.sweep' said)" 1
    grep -qx "kernel ${best%%-*}" grades.model || [ "$best" = cost-per ] || [ "$best" = gain ]
    easy rank --folds 2 --cost 0.1,1 grades -- -q --query-features mean >said 2>told || fail "$(cat told)"
    assert_equal "$(grep -c -- '-t linear' said) $(grep -c '^\$ .*--query-features mean' said)" '0 5'
    easy rank --folds 2 --cost 0.1 --scale std grades -- -q >said 2>told || fail "$(cat told)"
    assert_equal "$(header cost grades.model) $(wc -l <grades.linear-std.sweep)" '0.1 2'
    refused easy mc missing
    run -1 easy smm wide
    assert_output --partial 'no shape of the matrices'
    printf '1 1:1\n1 2:1\n' >one
    run easy mc one
    [ "$status" = 1 ]
    [ ! -e one.model ]
    [ ! -e one.sweep ]
    # a picture that cannot be drawn, of one point, takes no prediction away
    run -1 easy mc --folds 2 --kernel linear --cost 1 --picture one.svg wide counts -- -q
    assert_output --partial 'nothing varies'
    assert_equal "$(wc -l <counts.predict)" 40
    run -1 easy mc wide missing
    assert_output 'easy: missing: No such file or directory'
    misused easy mc -
}

@test "easy: of top no model of zeros is the best, and --tau selects" {
    awk 'BEGIN { srand(1); for (i = 0; i < 200; i++) { y = rand() < 0.2
        printf "%s 1:%g 2:%g\n", y ? "+1" : "-1", rand() + 0.4 * y, rand() } }' >train
    easy top --folds 2 --kernel linear --cost 0.1,1 train train -- -q --tau 0.05 >said 2>told || fail "$(cat said told)"
    grep -qx '# toppush-linear: w = 0 at every point' said
    grep -q ' -s svm .* -w +1:' said
    assert_equal "$(grep -c -- '--select tpr@0.05' said) $(grep -c -- '-s patmat-np --tau 0.05 .*sweep$' said)" '4 1'
    [ "$(header formulation train.model)" != toppush ]
    grep -qx 'tpr@0.05 [0-9.]*' said
    # all of the trials
    run -1 --separate-stderr easy top --folds 2 --kernel linear --cost 1 train -- -q -s toppush
    assert_equal "${#stderr_lines[@]}" 1
    assert_regex "$stderr" '^easy: train: no model has a weight other than 0: '
    # options behind --
    easy top --folds 2 --cost 0.1 train -- -q -t linear -s patmat-np --tau=0.1 >said
    assert_equal "$(grep -c '^\$ svm-top-train -v 2 .*--select tpr@0.1 ' said) $(header tau train.model)" '1 0.1'
    # indices up to the largest that few rows have: the model lists only the weights that are not 0
    awk 'NR % 7 == 1 { print $0, NR * 20000 ":1" } NR % 7 > 1' train >huge
    easy top --folds 2 --cost 1 huge -- -q -t linear -s svm -B 1 >said 2>told || fail "$(cat said told)"
    grep -qx 'w sparse' huge.model
    # other names of the positives
    sed 's/^+1 /yes /; s/^-1 /no /' train >words
    easy top --tau 0.1 --folds 2 --kernel linear --cost 0.1 words -- -q --positive yes >said
    grep -q ' -w yes:' said
    misused easy mc --tau 0.1 train
    misused easy top --tau 0.1 train -- --tau 0.1
}

@test "easy: after the first sweep of its kernel it says how long the rest takes, unless -q is passed on" {
    mkdir slow
    for family in top rank; do # slow in that sweep alone
        printf '#!/bin/sh\ncase " $* " in *" -v 2 "*"-s svm -B 1 -c "* | *" -t rbf "*) sleep .4 ;; esac\nexec %s "$@"\n' \
            "$(command -v svm-$family-train)" >slow/svm-$family-train
    done
    chmod +x slow/*
    PATH=$PWD/slow:$PATH
    awk 'BEGIN { srand(1); for (i = 0; i < 60; i++)
        printf "%d qid:%d 1:%g 2:%g\n", i % 4 == 0, i / 6, rand(), rand() }' >train
    easy rank --folds 2 --cost 1 --gamma 1 train >said 2>told || fail "$(cat said told)"
    grep -Exq 'easy: about [0-9]+ s for the rest, if each of up to 5 more sweeps takes as long as rbf-std' told
    awk '{ $1 = $1 ? "+1" : "-1"; $2 = ""; print }' train >classes
    easy top --folds 2 --cost 1 classes -- -t linear >said 2>told || fail "$(cat said told)"
    assert_equal "$(grep -Exc 'easy: about [0-9]+ s for the rest, if each of up to 4 more sweeps takes as long as svm-linear' told)" 1
    easy top --folds 2 --cost 1 classes -- -t linear -q >said 2>told || fail "$(cat said told)"
    assert_equal "$(cat told)" ''
}

@test "easy: of many rows the kernel is chosen on a part, and its values on all" {
    awk 'BEGIN { srand(1); for (i = 0; i < 3200; i++) { x = 2 * rand() - 1; y = 2 * rand() - 1
        printf "%d 1:%g 2:%g\n", (x * y > 0), x, y } }' >chess
    easy mc --folds 2 --cost 1,4 --gamma 1,4 chess chess -- -q >said 2>told || fail "$(cat said told)"
    assert_equal "$(wc -l <chess.part) $(wc -l <chess.fit) $(wc -l <chess.held)" '1000 2560 640'
    grep -q '^# kernel rbf: accuracy 0.9.* of rbf is better than 0.[4-6].* of linear' said
    grep -q ' --validate chess.held -t rbf ' said
    assert_equal "$(header kernel chess.model)" rbf
    within "$(metric accuracy said)" 0.97 1
    # lines: linear suffices
    awk '{ split($2, x, ":"); print (x[2] > 0), $2, $3 }' chess >line
    easy mc --folds 2 --cost 1,4 --gamma 0.1 line -- -q >said
    grep -q '^# kernel linear: ' said
    assert_equal "$(header rows line.model) $(header kernel line.model)" '3200 linear'
}

@test "easy: a sweep is extended once where the best value of its list is an edge" {
    awk 'BEGIN { srand(1); for (i = 0; i < 90; i++) printf "%d 1:%g 2:%g\n", (rand() < 0.2), rand(), rand() }' >noise
    easy mc --folds 2 --kernel linear noise -- -q >said # all values predict class 0
    grep -q '^# cost 0.00390625 is the smallest of its values: beyond it$' said
    assert_equal "$(tail -n +2 noise.wider.sweep | cut -f 3 | paste -sd ' ')" '0.000244141 0.000976562 0.00390625'
    easy mc --folds 2 --kernel linear --cost 0.01,0.1,1 noise -- -q >said
    grep -q '^# the best cost 0.01 is the smallest of its values: others may be better (--cost)$' said
    assert_equal "$(grep -c '^\$' said)" 2
    # and it is told if fits of the best value have not converged
    run -1 grep 'have converged' said
    easy mc --folds 2 --kernel linear --cost 1,2 noise -- -q --max-iter 1 -e 1e-6 >said
    grep -q '^# accuracy 0.83[0-9]*: cost [12], not all of whose fits have converged$' said
}
