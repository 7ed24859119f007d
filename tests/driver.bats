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

@test "driver: only the program knows standard error, ends the process or sets signals" {
    cd "$root" || exit 1
    # leaves out comments, texts and the attributes of printf's formats
    grep -rnwE 'stderr|stdout|printf|puts|perror|exit|_exit|abort|raise|signal' --include='*.[ch]' \
        common solvers families driver |
        grep -vE '/\*|:[0-9]+: +\*|"[^"]*\b(stderr|stdout|exit)\b|format\(printf|<signal\.h>' \
            >"$tmp/found"
    run grep -v '^driver/program\.c:' "$tmp/found"
    refute_output
    grep -q '^driver/program\.c:.*stderr' "$tmp/found" # the search does find
}
