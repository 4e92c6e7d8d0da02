"""The shell scripts that read, write, list and search files on a remote machine.

A script walks to a file's folder and uses relative names from there, so replacing a parent folder cannot
redirect it. It does not follow links; it reports a link's target, which is then checked separately.
"""

from shlex import join, quote
from string import Template
from typing import Final

from hermes_acp.core.ports.workspace_ports import FileQuery, SearchQuery
from hermes_acp.workspaces import ripgrep

# The first words of a script's output. `link` is followed by the link's target.
_ENTER: Final = Template(r"""
enter() { cd -P -- "$$1" 2>/dev/null && [ "$$(pwd -P)" = "$$1" ]; }
base=$base
if ! enter $folder; then
    cd / && [ -e $folder ] || { echo missing; exit 0; }
    printf 'link %s' "$$(cd -P -- $folder 2>/dev/null && pwd -P)"
    exit 0
fi
leads() {
    target=$$(readlink -- "./$$base" 2>/dev/null)
    case $$target in /*) echo "$$target" ;; *) echo "$$PWD/$$target" ;; esac
}
[ ! -L "./$$base" ] || { printf 'link %s' "$$(leads)"; exit 0; }
""")
_KIND: Final = r"""
[ -e "./$base" ] || { echo missing; exit 0; }
[ ! -d "./$base" ] || { echo folder; exit 0; }
[ -f "./$base" ] || { echo odd; exit 0; }
set -- $(ls -lnd -- "./$base")
links=$2 size=$5
"""
_READ: Final = Template(r"""
[ "$$size" -le $largest ] || { echo "large $$size"; exit 0; }
[ -r "./$$base" ] || { echo forbidden; exit 0; }
echo "holds $$size"
$pour
""")
_MAKE: Final = Template(r"""
cd -P -- $root 2>/dev/null && [ "$$(pwd -P)" = $root ] || { echo missing; exit 0; }
for name in $names; do
    [ ! -L "./$$name" ] || { printf 'link %s' "$$PWD/$$name"; exit 0; }
    [ -d "./$$name" ] || mkdir -- "./$$name" 2>/dev/null || { echo forbidden; exit 0; }
    cd -P -- "./$$name" || { echo forbidden; exit 0; }
done
""")
_WRITE: Final = Template(r"""
source=$source
fresh=.hermes-acp-$token
if [ -e "./$$base" ]; then
    [ -f "./$$base" ] || { echo folder; exit 0; }
    set -- $$(ls -lnd -- "./$$base")
    [ "$$2" -le 1 ] || { echo "shared $$2"; exit 0; }
    [ -w "./$$base" ] || { echo forbidden; exit 0; }
    cp -p -- "./$$base" "./$$fresh" 2>/dev/null
fi
{ cat -- "$$source" >"./$$fresh" && mv -f -- "./$$fresh" "./$$base"; } 2>/dev/null || {
    rm -f -- "./$$fresh"
    echo forbidden
    exit 0
}
rm -f -- "$$source"
echo done
""")
_REMOVE: Final = r"""
rm -f -- "./$base" 2>/dev/null && [ ! -e "./$base" ] && echo done || echo forbidden
"""
_LIST: Final = r"""
[ -e "./$base" ] || { echo missing; exit 0; }
[ -d "./$base" ] || { echo nofolder; exit 0; }
cd -P -- "./$base" 2>/dev/null || { echo forbidden; exit 0; }
echo holds 0
for each in */ .[!.]*/ ..?*/; do
    [ ! -d "$each" ] || printf '%s\0' "$each"
done
printf '\0'
if stat -c %s . >/dev/null 2>&1; then
    find . ! -name . -prune -exec stat -c '%s %n' {} + 2>/dev/null
else
    find . ! -name . -prune -exec stat -f '%z %N' {} + 2>/dev/null
fi
"""
_SEARCH: Final = Template(r"""
[ -e "./$$base" ] || { echo missing; exit 0; }
if command -v rg >/dev/null; then
    echo rg
    { rg $options -- "./$$base" 2>&1 </dev/null; printf '\n\0exit %s' "$$?"; } | head -c $most
else
    echo grep
    { grep $manner --exclude-dir=.git $left_out -e $pattern -- "./$$base" 2>&1 </dev/null
    printf '\n\0exit %s' "$$?"; } | head -c $most
fi
""")
_FIND: Final = Template(r"""
[ -e "./$$base" ] || { echo missing; exit 0; }
echo found
if command -v rg >/dev/null; then
    rg $options --sortr=modified -- "./$$base" 2>/dev/null </dev/null | head -c $most
else
    find "./$$base" -name .git -prune -o -type f -exec ls -td -- {} + 2>/dev/null | tr '\n' '\0' | head -c $most
fi
""")


def read_script(path: str, largest_bytes: int) -> str:
    """Return the script that prints `holds SIZE`, a newline and a file's bytes, or a word that says why it cannot."""
    return _enter(path) + _KIND + _READ.substitute(largest=largest_bytes, pour='cat -- "./$base"')


def piece_script(path: str, start: int, size_bytes: int) -> str:
    """Return the script that prints the same for a part of a file, with the size of the whole file."""
    pour = f'tail -c +{start + 1} -- "./$base" | head -c {size_bytes}'
    return _enter(path) + _KIND + _READ.substitute(largest=1 << 50, pour=pour)


def write_script(path: str, root: str, source: str, token: str) -> str:
    """Return the script that replaces a file with `source`, creating missing folders beneath `root`."""
    below = path.removeprefix(root.rstrip("/")).strip("/").split("/")[:-1]
    made = _MAKE.substitute(root=quote(root), names=" ".join(quote(name) for name in below))
    return made + _enter(path) + _WRITE.substitute(source=quote(source), token=token)


def remove_script(path: str) -> str:
    """Return the script that deletes a file."""
    return _enter(path) + _KIND + _REMOVE


def list_script(path: str) -> str:
    """Return the script that prints `holds 0`, folders, each with a slash and NUL, and NUL, then sizes with names."""
    return _enter(path) + _LIST


def search_script(query: SearchQuery, path: str, most_bytes: int) -> str:
    """Return the script that searches with ripgrep, or else with grep; its first line says which."""
    options, _ = ripgrep.search_options(query)
    return _enter(path) + _SEARCH.substitute(
        options=join(options),
        manner=join(_grep_manner(query)),
        left_out=join([f"--exclude-dir={name.strip('/')}" for name in query.excluded]),
        pattern=quote(query.pattern),
        most=most_bytes,
    )


def _grep_manner(query: SearchQuery) -> list[str]:
    shapes = {"files": ["-lZ"], "counts": ["-cZ"], "lines": ["-nZ", f"-B{query.before}", f"-A{query.after}"]}
    manner = ["-rIH", "-F" if query.is_literal else "-E", *shapes[query.shape]]
    return [*manner, "-i"] if query.ignores_case else manner


def find_script(query: FileQuery, path: str, most_bytes: int) -> str:
    """Return the script that prints `found`, a newline, and the paths of files, each followed by NUL."""
    options, _ = ripgrep.find_options(query)
    return _enter(path) + _FIND.substitute(options=join(options), most=most_bytes)


def _enter(path: str) -> str:
    folder, _, base = path.rpartition("/")
    return _ENTER.substitute(folder=quote(folder or "/"), base=quote(base or "."))
