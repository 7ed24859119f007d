# Static checks of the sources of the driver.

load helper

@test "driver: every option name in the sources is in a table of options" {
    run "$root/tests/options"
    assert_output ''
    assert_success
}

# bats test_tags=long
@test "driver: a misspelt option name in the sources is found" {
    cp -r "$root/driver" "$root/families" "$root/library" "$tmp"
    while IFS='|' read -r file before name behind; do
        sed "s~$before\"$name\"$behind~$before\"x$name\"$behind~" "$root/$file" >"$tmp/$file"
        run "$root/tests/options" "$tmp"
        assert_failure 1
        assert_output "$file: x$name"
        cp "$root/$file" "$tmp/$file"
    done <<'EOF'
driver/train.c|training->options, |quiet|)
driver/program.c|options, 0}, |max-time|)
driver/grid.c|strcmp(name, |coef0|)
driver/outputs.c|{|fold-file|,
driver/outputs.c|NULL, |proof|}
families/top/frontend/train.c|takes(formulation, |theta|)
families/top/frontend/measures.c|.option = |pauc|, .number = PAUC
families/smm/frontend/train.c|.extra_option = |weights|,
families/smm/frontend/train.c|options_lists(options, |formulation|, formulation
families/rank/frontend/train.c|point_choice(point, |cost-per|) != RANK_PAIR
library/predict.c|options, |threads|)
EOF
}
