"""Find styled letters, letters with too many marks, and foreign letters among Latin ones.

Only text that is not plain ASCII is searched. Source: Unicode's blocks of mathematical, enclosed, small
capital and regional letters.
"""

import re

STYLED_PROSE = (
    r"\U0001d400-\U0001d7ff\uff21-\uff3a\uff41-\uff5a\u249c-\u24e9\U0001f110-\U0001f189"
    r"\u1d00-\u1d2b\u0262\u026a\u0274\u0280\u028f\u0299\u029c\u029f\ua730\ua731"
)
STYLE_RUN = re.compile(rf"[{STYLED_PROSE}][{STYLED_PROSE}\s.,:;'-]{{30,}}")
INTERLEAVED = re.compile(
    "[\u0370-\u0558\u10a0-\u10ff\u13a0-\u16ff\u2c80-\u2cff\ua4d0-\ua4ff\uab30-\uabbf](?<=[A-Za-z].)(?=[A-Za-z])"
)
"""Matches a foreign letter between Latin ones."""

STYLED_SIGN = re.compile(f"[{STYLED_PROSE}\u0300-\u036f\u0483-\u0489\U0001f1e6-\U0001f1ff]")
REGIONAL_WORDS = re.compile("[\U0001f1e6-\U0001f1ff]{3,}")
MARKS = re.compile("[\u0300-\u036f\u0483-\u0489](?=[\u0300-\u036f\u0483-\u0489])")
STACKED = re.compile("(?:[b-df-hj-np-tv-zB-DF-HJ-NP-TV-Z][\u0300-\u036f\u0483-\u0489]{2,8}[^\n]{0,12}){5}")
