# claims and dispatch: against labgrid, GNU parallel, bare SQLite and bare SSH
# Sourced by ops/bench; appends rows to $rows and counts what cannot be measured in $problems.

# A Python that has labgrid, in a virtual environment of the user's cache; nothing when it cannot be had.
labgrid_python() {
    local version=26.0.1
    local venv=${XDG_CACHE_HOME:-$HOME/.cache}/berth-bench/labgrid-$version
    if [ ! -x "$venv/bin/labgrid-coordinator" ]; then
        echo "Installing labgrid $version from PyPI into $venv ..." >&2
        rm -rf "$venv"
        if ! { timeout 60 python3 -m venv "$venv" &&
            timeout 240 "$venv/bin/pip" install -q --disable-pip-version-check "labgrid==$version"; } >&2; then
            echo "ops/bench: labgrid cannot be installed; its rows say so" >&2
            rm -rf "$venv"
            return
        fi
    fi
    echo "$venv/bin/python"
}

bench_dispatch() {
    local quick=() names=() all=(store queue start idle ssh path postgres)
    while [ $# -gt 0 ]; do
        case "$1" in
        --quick) quick=(--quick) ;;
        --only)
            [ $# -ge 2 ] || status=64 fail "--only needs one of: ${all[*]}"
            [[ " ${all[*]} " == *" $2 "* ]] || status=64 fail "--only needs one of: ${all[*]}"
            names+=("$2")
            shift
            ;;
        *) status=64 fail "dispatch has no option $1; there are --quick, --json FILE and --only ${all[*]}" ;;
        esac
        shift
    done
    [ ${#names[@]} -gt 0 ] || names=("${all[@]}")
    build_release berth-bench berth-coordinator berth-agent
    local python labgrid=()
    python=$(labgrid_python)
    [ -z "$python" ] || labgrid=(--labgrid-python "$python")
    local name
    for name in "${names[@]}"; do
        echo "Measuring $name ..." >&2
        mkdir -m 711 "$folder/$name"
        chattr +T "$folder/$name" 2>/dev/null || true
        if ! timeout --foreground -k 10 600 "$programs/berth-bench" "$name" "${quick[@]}" "${labgrid[@]}" \
            --folder "$folder/$name" --programs "$programs" --scripts "$PWD/ops/bench.d" \
            >>"$rows" 2>"$folder/log"; then
            tail -n 20 "$folder/log" >&2
            echo "ops/bench: $name could not be measured" >&2
            problems=$((problems + 1))
        fi
        rm -rf "${folder:?}/$name"
    done
}
