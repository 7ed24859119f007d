# What the programs are made of, where the sources can tell.

load helper

@test "driver: every option that the code asks for stands in a table" {
    cd "$root" || exit 1
    grep -rhoE '(options|point)_[a-z_]+\([^"(]*, "[a-z0-9-]+"' driver families |
        sed 's/.*"\(.*\)"/\1/' | sort -u >"$tmp/asked"
    grep -rhoE '\.name = "[a-z0-9-]+"' driver families | sed 's/.*"\(.*\)"/\1/' | sort -u \
        >"$tmp/tables"
    [ "$(wc -l <"$tmp/asked")" -gt 30 ]
    run comm -23 "$tmp/asked" "$tmp/tables"
    assert_success
    refute_output
}
