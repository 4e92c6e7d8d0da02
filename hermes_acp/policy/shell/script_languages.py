"""Recognise sed, awk, jq, yq and SQL scripts that only print.

Only a few forms are recognised; anything else is not considered harmless.
"""

import re
from typing import Final

from hermes_acp.lazy_pattern import LazyPattern


def _sed_pattern(mark: str, in_brackets: str = "") -> str:
    """Return a regular expression for a sed pattern up to its delimiter, given as a character class.

    Inside brackets, some versions of sed treat the delimiter as a plain character, others as the end. It may appear
    there only as the last character, so that the latter versions find the bracket open and reject the script.
    """
    named = "" if mark == ":" else r"\[:[a-z]+:\]|"
    inside = rf"(?:{named}\\[^\]\[\n]|[^\]\[\\\n{mark}])"
    return rf"(?:[^{mark}\\\n\[]|\\[^\n]|\[\^?+\]?+{inside}*+{in_brackets}\])*"


def _sed_substitution(mark: str) -> str:
    """Return a regular expression for `s`, excluding what some seds would read as a flag that opens a file."""
    marked = rf"{_sed_pattern(mark, f'{mark}?')}{mark}(?![gpiIeMm0-9]*w)"
    put_in = rf"(?:[^{mark}\\\n]|\\[^\n])*"
    return rf"s{mark}(?:{_sed_pattern(mark)}{mark}|{marked}){put_in}{mark}[gpiI0-9]*"


# Blanks are matched possessively: with backtracking, a long run of them would take minutes.
_REGEX = rf"/{_sed_pattern('/', '/?')}/[IM]*"
_ADDRESS = rf"(?:\d+(?:~\d+)?|\$|{_REGEX})"
_RANGE = rf"(?:{_ADDRESS}(?: *+, *+(?:{_ADDRESS}|[+~]\d+))? *+!? *+)?"
_SUBSTITUTE = "|".join(map(_sed_substitution, ("/", r"\|", "#", ",", ":", "@", "!", "%", "~", "_")))
_TRANSLITERATE = r"y/(?:[^/\\\n\[]|\\.)*/(?:[^/\\\n]|\\.)*/"
_SED_COMMAND = rf" *+{_RANGE}(?:[pdDPhHgGxnN=lqQ]|{_SUBSTITUTE}|{_TRANSLITERATE})? *+"
_SED_PLAIN = rf"{_SED_COMMAND}(?:[;\n]{_SED_COMMAND})*"
_SED_STATEMENT = rf"(?:{_SED_COMMAND}| *+{_RANGE}\{{{_SED_PLAIN}\}} *+)"
SED: Final = LazyPattern(rf"{_SED_STATEMENT}(?:[;\n]{_SED_STATEMENT})*")

AWK_WORDS: Final = LazyPattern(
    r"\b(?:system|getline|close|fflush|ARGV|ARGC|ARGIND|PROCINFO|ENVIRON|SYMTAB)\b|@|/inet"
)
AWK_COMPARISONS: Final = LazyPattern(r">=|\|\|")
AWK_PRINT: Final = LazyPattern(r"print|@|func")
# The head of a `for` may be a `print` that is redirected to a file.
AWK_BRACKETS: Final = LazyPattern(r"\((?:(?!print)[^()|])*\)")
AWK_TEXT: Final = LazyPattern(r'"[^"\\\n]*"')
BOUND: Final = LazyPattern(r"[+-]?\d{1,7}(?:\.\d{1,6})?")
NAME: Final = LazyPattern(r"[A-Za-z0-9_][\w.:+-]*")
DURATION: Final = LazyPattern(r"(?:[1-5]?\d(?:\.\d{1,6})?|\.\d{1,6}|60)s?|1m")
LARGE: Final = LazyPattern(r"\d{6}|\*")
FORMAT_THAT_SETS: Final = LazyPattern(r"%[^%A-Za-z]*[hlLjzt]*n")
JQ_WORDS: Final = LazyPattern(
    r"\b(?:import|include|modulemeta|env|ENV|input_filename|get_search_list)\b|\b__prog"
)
YQ_WORDS: Final = LazyPattern(
    r"(?<![\w\"])(?<!(?<!\.)\.)(?:load\w*|str_?env|env\w*|system|exec\w*|input\w*|import|include|eval\w*|"
    r"split_doc\w*|modulemeta)\b"
    r"|\bENV\b|\b__prog|filename"
)
SQL_READS: Final = LazyPattern(
    r"(?:select|explain|with|values)\b.*|pragma\s+(?:(?:table|index)_x?(?:info|list)|foreign_key_list|database_list|"
    r"compile_options|integrity_check|quick_check|user_version|page_count|page_size|encoding)\s*(?:\(\s*['\"]?\w+['\"]?\s*\))?",
    re.DOTALL,
)
SQL_LOOKS: Final = LazyPattern(r"\.(?:tables?|schema|indexes|databases|fullschema|dbinfo)(?: [\w%]+)?")
SQL_WORDS: Final = LazyPattern(
    r"\b(?:load_extension|sha\d*_query|writefile|readfile|edit|fsdir|lsdir|zipfile\w*|sqlar\w*|csv|fileio|eval|"
    r"shell\w*|attach|detach|vacuum|insert|update|delete|replace\s+into|create|drop|alter|reindex|fts3_tokenizer|dbpage|sqlite_dbpage)\b"
)
PACKAGE: Final = LazyPattern(r"(?:\./|\.$)?(?!/)[\w./~+-]*")
MAX_SCRIPT_CHARS: Final = 1_000


def is_harmless(script: str, language: str) -> bool:
    """Return whether a script only prints what its program reads; a numeric script must be within a limit."""
    if len(script) > MAX_SCRIPT_CHARS:
        return False
    match language:
        case "sed":
            return bool(SED.compiled.fullmatch(script))
        case "awk":
            return not AWK_WORDS.compiled.search(script) and not re.search(
                r"[|>]", _without_comparisons(script)
            )
        case "jq":
            return not JQ_WORDS.compiled.search(script)
        case "yq":
            return not YQ_WORDS.compiled.search(script)
        case "sql":
            return _only_asks(script)
        case "package":
            return bool(PACKAGE.compiled.fullmatch(script)) and ".." not in script.split("/")
        case "format":
            return not FORMAT_THAT_SETS.compiled.search(
                script.replace("%%", "")
            ) and not LARGE.compiled.search(script)
        case "bounds":
            return bool(BOUND.compiled.fullmatch(script))
        case "name":
            return bool(NAME.compiled.fullmatch(script))
        case "duration":
            return bool(DURATION.compiled.fullmatch(script))
        case _:
            return True


def _only_asks(script: str) -> bool:
    """Return whether all SQL statements are queries; a line that starts with a dot is a client command."""
    if SQL_LOOKS.compiled.fullmatch(script):
        return True
    plain = script.strip().rstrip(";").casefold()
    if SQL_WORDS.compiled.search(plain) or re.search(r"^\s*\.", script, re.MULTILINE):
        return False
    return all(SQL_READS.compiled.fullmatch(each.strip()) for each in plain.split(";"))


def _without_comparisons(script: str) -> str:
    """Return an awk script without comparisons, which are no redirections: those only follow `print` outside brackets.

    Quotes and brackets are unreliable wherever a slash may start a regular expression.
    """
    rest = AWK_COMPARISONS.compiled.sub("", script)
    if not AWK_PRINT.compiled.search(rest):
        return rest.replace(">", "")
    bare = AWK_TEXT.compiled.sub("", rest)
    if re.search(r"[/\"\\#]", bare):
        return rest
    condition, brace, action = bare.partition("{")
    condition = condition.replace(">", "") if brace else condition
    while (shorter := AWK_BRACKETS.compiled.sub("", action)) != action:
        action = shorter
    return condition + action
