"""Generate shell commands whose words are hard to predict: quotes, escapes, expansions, patterns, unusual spacing.

The same seed gives the same commands. Generated commands name no paths outside the folder they run in, and only
programs that read. `argv_oracle` runs them without any programs.
"""

import random
from collections.abc import Callable, Iterator
from typing import Final

FILES: Final = ("a", "b.txt", "c1.py", "dash-ed", "sub/inner", ".hidden", "A", "zz", "é", "0")
ODD_FILES: Final = (
    "sp ace", "new\nline", "[x]", "*", "?", "{a,b}", "~", "$x", "quo'te", "back\\slash", "#hash", '"', "a]",
    "\udcff\udcfe", "K", "=", "a=b", "!", "^a", "%", "@f", "+f", "\u3000", "tab\tbed", ".\udc80", "\\",
    "end\\",
)  # fmt: skip
DASHED_FILES: Final = ("-n", "--", "-exec", "-")

PROGRAMS: Final = (
    "cat", "cat", "cat", "head", "wc", "ls", "sort", "stat", "tac", "nl", "find", "diff a", "uniq",
)  # fmt: skip
SCRIPTED: Final = ("grep", "grep -e", "sed -n", "awk", "jq", "find . -name", "git log --grep", "printf")
LITERALS: Final = (
    "a", "b.txt", "c1.py", "x", "-n", "-", "--", "=", ".", "./a", "sub/inner", "..", "0", "12", "é", "%",
    "@", "+", ",", ":", "^", "_", "!", "!!", "!$", "#", "a#b", "a=b", "--x=", "-o", "in", "do", "time",
    "then", "/", "]", "[", "{", "}", "{}", "~", "~/a", "~+", "~-", "~nobody", "a:~", "x=~", "=~", "e",
    "xec", "\xa0", "\u3000",
)  # fmt: skip
IN_QUOTES: Final = (
    "a", "b.txt", " ", "  ", "-", "*", "?", "[a]", "{a,b}", "~", "#", ";", "|", "&", "<", "\\", "\\\\",
    "\n", "\t", "$", "$x", "${x}", "$$", "\\$", "\\`", "!", "é", ".", "/", "", "", "=", "\\\n", "\\n", "%s",
)  # fmt: skip
IN_DOUBLE: Final = (
    *IN_QUOTES, '\\"', "'", "$(cat a)", "`cat a`", "$((1+1))", "${x:-a}", "$HOME", "$'a'", "${#x}", "$!",
)  # fmt: skip
ESCAPES: Final = (
    "\\n", "\\t", "\\\\", "\\'", '\\"', "\\?", "\\a", "\\b", "\\e", "\\E", "\\f", "\\r", "\\v", "\\x2e",
    "\\x{2f}", "\\x{2e", "\\x", "\\x4", "\\xff", "\\xc3\\xa9", "\\056", "\\56", "\\0", "\\00", "\\400",
    "\\377", "\\8", "\\u2e", "\\u002e", "\\u", "\\ue9", "\\U2e", "\\U0000002e", "\\U110000", "\\cA", "\\c",
    "\\c\\\\", "\\c.", "\\z", "\\.", "a", "-", " ", "\\\n", "\\%", "$x", "`", '"', "\\x00", "\\1234",
    "\\x2e2", "\\",
)  # fmt: skip
EXPANSIONS: Final = (
    "$x", "${x}", "$HOME", "${HOME}", "$PWD", "$1", "$@", "$*", "$#", "$?", "$$", "$-", "$_", "${x:-a}",
    "${x-a b}", "${x:=a}", "${x:+b}", "${#x}", "${x#a}", "${x%%*}", "${x/a/b}", "${x^^}", "${!x}", "${x@Q}",
    "${x:0:1}", "${x:1}", "$((1+2))", "$((x))", "$[1+2]", "$(cat a)", "`cat a`", "$(<a)", "$(pwd)",
    "<(cat a)", "$", "$.", "$%", "${", "$((", '$"a"', '"$@"', '"$x"', '"${x}b"', "${x[0]}", "$x[0]",
    "${HOME}a", "$HOMEa", "$(git rev-parse HEAD)",
)  # fmt: skip
BRACES: Final = (
    "{a,b}", "{1..3}", "{a}", "{a,}", "{,}", "{a..c}", "\\{a,b}", "{a,{b,c}}", "{a,b", "a,b}", "{a\\,b}",
    "{'a',b}", "{a, b}", "${x,}", "{1..2", "{..}", "{a..b..2}", "{03..1}", "{-1..1}", "{$x,b}", "{a,*}",
    "{,.}", "{b.txt,a}",
)  # fmt: skip
PATTERNS: Final = (
    "*", "?", "[a-c]", "[!a]", "[[:alpha:]]", "*.txt", ".*", "a*", "[^a]", "[a", "[]", "**", "sub/*", "*/",
    "[a-c]*", "[]a]", "[!]a]", "*\\*", "'*'", "?*", ".?*", "[.]*", "[a/b]", "[\\a]", "[a-]", "[z-a]", "*[",
    "[[.a.]]", "[A-Z]", "??", "[0-9]", "*a*", "./*", "su?/inner", "s*/i*", "*(a)", "@(a|b)", "+(a)", "!(a)",
    "?(a)", "[$x]", '["a"]',
)  # fmt: skip
SPACES: Final = (
    " ", " ", " ", " ", "  ", "\t", " \\\n", " \\\n ", "\\\n", "\\\n ", "\r", " \\ ", "\x0b", "\xa0",
    "\x0c",
)  # fmt: skip
REDIRECTS: Final = (
    "<", "<", "2>", ">&", "2>&1", "<&", "<&-", "0<", "1<", "3<", "<<<", "<<<", "<>", "&>", "{v}<", "2>>",
    ">|",
)  # fmt: skip
TARGETS: Final = (
    "a", "b.txt", "/dev/null", '"a"', "'b.txt'", "$'a'", "a\\\nb", '"$x"', "$x", "*.txt", "{a,b}", "&1",
    "1", "2", '"a"\\b', "~", "''", '"a"', "~/a", "a#b", "$(cat a)", "sub/inner", "0", "-", '"."/a', "''a",
    "b.tx[t]",
)  # fmt: skip
DOCUMENTS: Final = (
    "<<E\n{0}\nE", "<<'E'\n{0}\nE", '<<"E"\n{0}\nE', "<<-E\n\t{0}\n\tE", "<< E\n{0}\nE", "<<E {1}\n{0}\nE",
    "<<\\E\n{0}\nE", "<<E\n{0}\n E\nE", "<<E;{0}\n{1}\nE", "<<E\n{0}\nE\ncat {1}", "<<E | cat {1}\n{0}\nE",
    "<<E\n{0}", "<<'E' {1}\n{0}\nE", "<<E\n{0}\\\nE\nE", "<<E <<F\n{0}\nE\n{1}\nF", "<<E\\\nF\n{0}\nEF",
    "<<''\n{0}\n\ncat {1}",
)  # fmt: skip
SETTINGS: Final = (
    "x={0} ", "x={0}; ", "x={0}\n", "x={0} && ", "LC_ALL=C ", "LC_ALL=C.UTF-8 ", "LANG=C ", "IFS=a; ",
    "IFS=: ", "x+={0}; ", "HOME={0}; ", "HOME={0} ", "PWD={0}; ", "x[0]={0}; ", "x=({0} b); ",
    "export x={0}; ", "declare x={0}; ", "x= ", "y=$x ", "set -f; ", "set -- {0} b; ", "shopt -s extglob; ",
    "shopt -s extglob\n", "set +B; ", "shopt -s nullglob; ", "set -o noglob; ", "shopt -s dotglob; ",
    "set -o posix; ", "alias cat=ls; ", "alias cat=ls\n", "cat() { ls b.txt; }; ", "time ", "! ",
    "command ", "shopt -s expand_aliases\nalias cat='ls {0}'\n", "OLDPWD={0}; ", "CDPATH=sub; ", "set -k; ",
    "POSIXLY_CORRECT=1; ", "cd sub; ", "cd {0}; ", "cd {0} && ", "read x <<< {0}; ", "readonly x={0}; ",
    "GLOBIGNORE=a; ", "BASH_COMPAT=31; ", "x=a y={0} ", "unset HOME; ",
)  # fmt: skip
FRAMES: Final = (
    "{0} | {1}", "{0}; {1}", "{0} && {1}", "{0} || {1}", "{0}\n{1}", "({0}); {1}", "{ {0}; }; {1}",
    "{0} & {1}", "{0} |& {1}", "for x in {2}; do {0}; done", "for x in {2}\ndo {0}; done",
    "if {0}; then {1}; fi", "[ -n {2} ] && {0}", "[[ {2} ]] && {0}", "{0} # {1}", "{0} #{1}\n{1}",
    "{0};#{1}\n{1}", "# {0}\n{1}", "echo $({0}); {1}", "echo `{0}`; {1}", 'echo "$({0})"', "{0} <({1})",
    "for x in {2}; do cat $x; done", 'for x in {2}; do cat "$x"; done', "x={2}; cat $x",
    'x={2}; cat "${x}"', "x={2} cat $x", "cat b.txt | while read -r x; do cat $x; done",
    "while read x; do {0}; done < a", "for x in {2}; do x={2}; cat $x; done", "case {2} in a) {0};; esac",
    "for ((;0;)); do {0}; done", "select x in {2}; do {0}; done", "{0} | xargs {1}", "! {0}; {1}",
    "for x in *.py; do cat ${x%.py}; done", "for x in {2} {2}; do wc $x/{2}; done", "cd sub && {0}",
    "(cd sub; {0}); {1}", "cd sub; {0}", "test -f {2} && {0}", "[ {2} = {2} ] || {0}",
    "{0} > /dev/null 2>&1; {1}", "f() { {0}; }; f {2}", "coproc {0}; {1}", "time {0}",
)  # fmt: skip
NOISE: Final = "\"'\\$`{}()[]*?~!#;&|<> \n\t=-a.\r,:+@^%x"
SEEDS: Final = (
    'cat in{a\\,b}a,b}{a\\,b}',
    'cat a>&"\\n\'"2', "cat a >&'$(cat b.txt)x'", "cat <&'$(cat b.txt)'", 'tac ""~/a', "diff a ~''",
    "for x in ''; do cat $x; done", "[ -f a \n]&cat a", "[a = b ] && cat a", 'echo "$(uniq \\ ])"',
    "for x in *; do IFS=b; cat $x; done", "IFS=/; cat $HOME", "for x in bab; do IFS=a; cat $x; done",
    "IFS=a cat $HOME", "[ -f |a ]&cat a", "[ a = b ] && cat a", "find =~ b", "cat == 'a'b",
    'nl <&- $\'a\'""', "cat <&-a#b", 'cd sub && head 2>> b.txt$\'\\n\' <<"E"\nx\nE',
    "cd sub && cat > inner <<E\nx\nE", "time cat a", "grep -e '#'\\$", "cat a#b\\\n 1<0", "cat x{v}<a",
    "cat x\\\n2<a", 'find . "-"\\exec cat a \\;', 'sort a "-"\\o f', 'head "."\\./"."\\./a',
    "cat $'\\x{2e}hidden'", "cat $'\\c.'hidden", "cat $'a\\z'", 'cat {"."\\hidden,a}',
    "awk '{pri'\\nt'}' a", 'cat "a"\'\'\\b', 'cat <a"b"\\c', 'cat <<< "a"\\b', 'x="a"\\b; cat $x',
    'for x in "a"\\b; do cat $x; done', 'cat $"a"\'b\'\\c', "cat a$'b'\\c", "cat \\\na", "cat a\\\nb",
    "cat '[a]'*", "cat [a'-'c]*", "cat .*/a", "cat K", 'cat ${x}"a"\\b', "cat $(pwd)\\a", "cat `pwd`a",
    "cat a # b\ncat c", "cat a#b", 'cat ""#b', "cat <<E | cat b\n$x\nE", "cat <<'E' a\nx\nE",
    "cat <<E\na\nE b\nE", "LC_ALL=C cat [!a]", "for x in *; do cat $x; done",
    'for x in *.txt; do cat "$x" ./$x; done', "cat x=~", "cat ~\\/a", "cat ~+/a", "cat {a,b}{c,d}",
    "cat {a..c}", "cat a{,}", 'cat "\\a" "\\$x" "a\\\nb"', "cat 2<a 3", "cat a2<b", "cat a>&2",
    "cat a 2>&1b", "cat ${x:-a b}", 'cat "$@"a', "cat $x*", "x='a b'; cat $x", "x='*'; cat $x",
    'x="~"; cat $x', "x=~; cat $x", "x=a:~; cat $x", "cat a;cat b", "cat a&cat b", "[ -f a ]&&cat a",
    "cat -- -n", "cat !(a)", "! cat a", "cat a\\ b", "cat 'a'\\''b'",
)  # fmt: skip
MAX_PIECES: Final = 5
MAX_WORDS: Final = 4


def commands(seed: int) -> Iterator[str]:
    """Generate an endless sequence of commands: new ones and variations of past findings."""
    writer = _Writer(random.Random(seed))
    while True:
        yield writer.command()


class _Writer:
    def __init__(self, dice: random.Random) -> None:
        self._dice = dice
        self._kinds: tuple[tuple[int, Callable[[], str]], ...] = (
            (9, lambda: dice.choice(LITERALS)),
            (4, lambda: f"'{self._several(IN_QUOTES)}'"),
            (4, lambda: f'"{self._several(IN_DOUBLE)}"'),
            (3, lambda: f"$'{self._several(ESCAPES)}'"),
            (1, lambda: f'$"{self._several(IN_DOUBLE)}"'),
            (4, lambda: "\\" + dice.choice("abne.- \t\"'\\$`*?[]{}~#;|&<>!=/x0\n")),
            (3, lambda: dice.choice(EXPANSIONS)),
            (2, lambda: dice.choice(BRACES)),
            (3, lambda: dice.choice(PATTERNS)),
        )

    def command(self) -> str:
        """Generate one command line."""
        chance = self._dice.random()
        if chance < 0.25:
            return self._altered(self._dice.choice(SEEDS))
        if chance < 0.4:
            frame = self._dice.choice(FRAMES)
            return _filled(frame, self._simple(), self._simple(), self._word())
        return self._altered(self._simple()) if chance < 0.5 else self._simple()

    def _simple(self) -> str:
        setting = _filled(self._dice.choice(SETTINGS), self._word()) if self._dice.random() < 0.12 else ""
        program = self._dice.choice(PROGRAMS if self._dice.random() < 0.8 else SCRIPTED)
        line = setting + program
        for _ in range(self._dice.randint(1, MAX_WORDS)):
            line += self._space() + (self._redirect() if self._dice.random() < 0.08 else self._word())
        if self._dice.random() < 0.04:
            line += " " + _filled(self._dice.choice(DOCUMENTS), self._word(), self._word())
        return line

    def _space(self) -> str:
        return " " if self._dice.random() < 0.85 else self._dice.choice(SPACES)

    def _redirect(self) -> str:
        gap = "" if self._dice.random() < 0.7 else self._space()
        after = "" if self._dice.random() < 0.8 else self._word()
        return self._dice.choice(REDIRECTS) + gap + self._dice.choice(TARGETS) + after

    def _word(self) -> str:
        number = min(self._dice.randint(1, MAX_PIECES) for _ in range(3))
        return "".join(self._piece() for _ in range(number))

    def _piece(self) -> str:
        weights = [weight for weight, _ in self._kinds]
        return self._dice.choices([kind for _, kind in self._kinds], weights)[0]()

    def _several(self, choices: tuple[str, ...]) -> str:
        return "".join(self._dice.choice(choices) for _ in range(self._dice.randint(0, 3)))

    def _altered(self, text: str) -> str:
        for _ in range(self._dice.randint(1, 3)):
            at = self._dice.randint(0, len(text))
            match self._dice.randint(0, 3):
                case 0:
                    text = text[:at] + self._dice.choice(NOISE) + text[at:]
                case 1:
                    text = text[:at] + text[at + 1 :]
                case 2:
                    end = min(len(text), at + self._dice.randint(1, 4))
                    text = text[:end] + text[at:end] + text[end:]
                case _:
                    text = text[:at] + self._piece() + text[at:]
        return text


def _filled(form: str, *texts: str) -> str:
    for number, text in enumerate(texts):
        form = form.replace(f"{{{number}}}", text)
    return form
