# shellcheck shell=bash disable=SC2034
# packages.sh: installs what a script needs and the system lacks. For bash; sourced by quickstart
# and tests/run.
#
# An item is package:command (there if the command is), package=module (there if pkg-config knows
# the module) or package@pattern (there if a file is), so that what was installed in another way
# counts too.

needs_to_build=(gcc:gcc meson:meson ninja-build:ninja pkg-config:pkg-config
        libfuse3-dev=fuse3 libsqlite3-dev=sqlite3 libjansson-dev=jansson libmd-dev=libmd)

is_there() { # ITEM
        case $1 in
        *:*) command -v "${1#*:}" >/dev/null ;;
        *=*) command -v pkg-config >/dev/null && pkg-config --exists "${1#*=}" ;;
        *@*) compgen -G "${1#*@}" >/dev/null ;;
        esac
}

as_root() {
        if [ "$(id -u)" = 0 ]; then
                "$@"
        elif command -v sudo >/dev/null; then
                sudo "$@"
        else
                echo "to run \"$*\" one must be root, and there is no sudo" >&2
                return 1
        fi
}

apt_install() { # PACKAGE…
        as_root env DEBIAN_FRONTEND=noninteractive \
                apt-get install -y -q --no-install-recommends "$@" </dev/null
}

# Installs what is missing of the items; the lists are only fetched if it does not go without.
install_missing() { # ITEM…
        local item missing=()
        for item; do
                is_there "$item" || missing+=("${item%%[:=@]*}")
        done
        [ ${#missing[@]} -gt 0 ] || return 0
        echo "missing: ${missing[*]}" >&2
        if ! command -v apt-get >/dev/null; then
                echo 'there is no apt-get here: install them yourself, then run this again' >&2
                return 1
        fi
        apt_install "${missing[@]}" >&2 && return
        echo 'fetching the package lists, then trying again' >&2
        as_root apt-get update -q </dev/null >&2 && apt_install "${missing[@]}" >&2 && return
        echo "could not install: ${missing[*]}" >&2
        return 1
}
