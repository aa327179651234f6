"""What is meant to break out: of strings, names, comments, parameters' marks, and other encodings."""

from __future__ import annotations

CANARY = "DELETE FROM canary"
"""What each tries to have run; the word must never stand in a statement outside of quotes."""

TEXTS = (
    "it's",
    "''",
    "\\",
    "\\\\",
    "\\'",
    "a\\",
    f"'; {CANARY}; -- ",
    f"\\'; {CANARY}; -- ",
    f"\\\\'; {CANARY}; # ",
    f"' OR 1 = 1; {CANARY}; --",
    "' OR '1' = '1",
    f'"; {CANARY}; -- ',
    '" OR ""="',
    f"`; {CANARY}; -- ",
    "``",
    f"*/ ; {CANARY}; /*",
    f"/*! {CANARY} */",
    f"/*M! {CANARY} */",
    "/* not closed",
    f"--\n{CANARY}",
    f"# {CANARY}\n",
    "-- ",
    f"$$; {CANARY}; $$",
    f"$tag$; {CANARY}; $tag$",
    "$1 $2 $p1",
    "E'\\''",
    "U&'\\0027'",
    "\\u0027 \\x27 \\047 \\N \\n \\Z \\b",
    "%s",
    "%(p1)s %(name)s",
    "100%",
    "%%",
    "?",
    "?1 :1 :x :p1 @p1 @@version",
    "_",
    "\\% \\_",
    "a|b",
    "{}{0}{p}",
    "\ue001\ue002",
    "\ue001SLEEP(1)\ue002",
    f"\u02bc \u2019 \uff07; {CANARY}; ",
    f"縗'; {CANARY}; -- ",
    f"\u7e27\u5c5c'; {CANARY}; -- ",
    f"表\\'; {CANARY}; -- ",
    f"ソ'; {CANARY}; -- ",
    "ß\u0130\u0131\u017f",
    "\U0001f600'\U0001f600",
    "a\r\nb\tc\bd\x1ae\x7f",
    "\x01\x02\x1f",
    "\u200b\u202e\ufeff'",
    "a" * 3000 + "'",
)
NUL = ("\0", "a\0b", f"\0'; {CANARY}; -- ", "'\0", "\\\0'")
"""What only MySQL and DuckDB keep in a text."""

BYTES = (
    *(b"", b"'", b"\\'", b"\0'\"`\\", bytes(range(256)), b"\xff\xfe"),
    *(b"\xbf\x27", b"\xbf\x5c\x27"),  # 0xbf27 ends with a quote, but in GBK, whose one character it is
    b"\x95\x5c'",  # 0x955c is one of Shift JIS
)
WORDS = ("select", "order by", "x y", "A", "é")
NAMES = (*(text for text in TEXTS if 0 < len(text.encode()) <= 60 and "\U0001f600" not in text), *WORDS)
"""Without what MySQL's and PostgreSQL's names cannot be."""
