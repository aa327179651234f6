"""The texts of all reasons: `slug: title`, what it means, and after `->` what change removes it."""

from __future__ import annotations

import re
from typing import Final, NamedTuple


class Text(NamedTuple):
    """One reason's texts, each without line breaks."""

    title: str
    meaning: str
    remedy: str


def _texts(written: str) -> dict[str, Text]:
    """Texts by slug. Entries have a blank line between them."""
    out = {}
    for entry in re.split(r"\n\n+", written.strip()):
        head, body = entry.split("\n", 1)
        slug, title = head.split(": ", 1)
        meaning, remedy = (" ".join(part.split()) for part in body.split("\n-> "))
        out[slug] = Text(title, meaning, remedy)
    return out


ROUTES: Final = _texts(
    """
key-not-compared: Nothing compares the shard key with a value
The statement says nothing of the table's shard key that would tell where its rows are, so each shard is
asked.
-> Compare the shard key with a value (`WHERE customer_id = ?`), or join with a table on it that is so
compared. If most statements compare another column, declare it: `ALSO BY`, or shard by that column.

no-shard-key: The table has no shard key of its own
It is SCATTERED by no rule that is known, or sharded WITH its parent, whose key is a column of the parent
alone. No predicate on the table tells where its rows are.
-> Join it with its parent, and compare the parent's shard key with a value. If there is a rule, declare it
with SHARD BY.

or-with-another-column: The key's condition stands in an OR with another one
`customer_id = 1 OR status = 'new'` is TRUE of rows on every shard.
-> Ask for the two separately (UNION), or repeat the key's condition in each arm of the OR.

text-compared-with-number: A text key is compared with a value that is not text
`code = 1` matches '1', '01' and ' 1', which are on different shards.
-> Write the value as text: `code = '1'`. If all keys are numbers, make the column one.

constant-not-of-key-type: The constant is not certain to be a value of the key's type
A key prunes only by constants that convert to its type without loss, under a comparison made in that type.
-> Write the constant in the column's own type, with a CAST where there is no such literal.

key-not-compared-with-constant: The key is compared with something that is not a constant
Another column, an expression of columns or a subquery's list is not known before the shards are asked.
-> Compare with a constant or a parameter. An uncorrelated scalar subquery is one too: it runs first.

predicate-not-understood: The condition on the key is of a form that does not prune
It mentions the key inside CASE, COALESCE, a function, arithmetic or IS TRUE, where a value of the key does
not follow from its being TRUE.
-> Compare the key itself: `customer_id = 5` for `customer_id + 1 = 6`. If all statements use one
expression, shard by that expression.

key-collation: The key has a collation that takes different values as equal
The shard is found by hashing the bytes, and 'Ann' and 'ann' have different ones. Each shard may hold a
value that compares equal. Of an EXACT key, too, `<`, BETWEEN, LIKE and `<>` go by the collation.
-> Are all values spelled in one way? Say so in the catalog: `EXACT LOWER (tenant)`, `EXACT UPPER (tenant)`
or `EXACT (tenant)`, behind SHARD BY. Else give the column a binary collation.

key-spelling: The constant may equal an EXACT key's text that is spelled otherwise
'ábc' equals 'abc' under most collations, and of a constant that is no plain ASCII it is not known here which
text of the column it equals. Under a collation that takes more of ASCII as equal than letter case, or is not
known to us, EXACT LOWER and EXACT UPPER say nothing of constants.
-> Ask for the key as the rows spell it. EXACT alone takes constants as they are, where they are ASCII or
letters that have neither case nor accents.

key-type: The key's type is not known, or not one that prunes
Where a value of this type lies cannot be told from a constant in the statement.
-> Declare the column's type in the catalog, or read it: `shardwise catalog import`. Else shard by a column
of another type.

range-on-unordered-sharding: A range of the key is on all slots
HASH, MOD and the like put neighbouring values on different shards, so `BETWEEN 1 AND 100` may be anywhere.
-> List the values (`IN (…)`) if they are few, or shard by RANGE.

value-not-placed: The sharding has no place for a value
The value is outside what the sharding's function takes, so nothing is concluded from it.
-> Correct the value. If rows with it exist, the catalog's sharding is not how they were placed: `shardwise
catalog check --rows`.

all-slots-match: The values are on all shards
The predicate was understood, and leaves no shard out.
-> Ask for fewer values. Each shard gets only its own.

key-of-any-type: The key may hold values of other types
A SQLite column declared INTEGER may hold 2.5 or a text: on no slot that is known, and a match of ranges.
-> Compare the key by =, IS or IN with whole numbers (INTEGER keys) or texts (TEXT keys).

dialect-not-pruned: Predicates of this dialect do not prune yet
Its comparisons differ from those that are known (letter case, trailing blanks, conversions), so nothing is
concluded from them.
-> Nothing in the statement; the answer is right, and all shards are asked.

scope-shards: The connection's scope names these shards
`SET SCOPE shard IN (…)` has split tables read on those shards only.
-> RESET SCOPE, if all shards are to be asked.
"""
)

NOT_PUSHED: Final = _texts(
    """
groups-span-shards: A group's rows are on several shards
The shards aggregate what they have and the merge combines the parts, so what comes after the aggregate
(HAVING, ORDER BY … LIMIT, a window, a join) sees a group's true value only in the merge. A shard that
applied `ORDER BY sum(x) DESC LIMIT 3` to its partial sums could drop a group that is first in all.
-> Group by the shard key too, or shard the table by the grouping column; then each group is whole on one
shard.

distinct-spans-shards: Equal rows may be on several shards
Each shard removes its own duplicates; the merge removes those between shards. A LIMIT or a count of the
distinct rows is therefore the merge's.
-> Select the shard key among the distinct columns.

window-spans-shards: A window's partitions span shards
`row_number() OVER (ORDER BY …)` or a PARTITION BY without the shard key ranks rows of several shards
together, so all rows of the window's input are moved.
-> Put the shard key into PARTITION BY, or filter before the window.

set-operation-spans-shards: Rows that UNION, INTERSECT or EXCEPT compares may be on different shards
A row may have its equal on another shard. A shard that did `EXCEPT` alone would return a row that another
shard's arm removes. UNION ALL compares nothing and has this reason only where one arm is a reference table
or on one shard: each shard would add its copy.
-> Have the shard key of both arms, with the same sharding, at the same place of their select lists; or use
UNION ALL if duplicates do no harm.

order-needs-all-rows: The order is over all shards' rows
Rows come off the shards in no common order, and ORDER BY without LIMIT needs them all. Sorting on the
shards as well would save no row.
-> Add a LIMIT: then each shard sends only its first rows. Else nothing: the rows are the answer.

limit-not-pushable: Each shard's first rows are not known to hold the first rows of all
LIMIT goes to the shards as `offset + count` if nothing between it and the fragment drops, joins, groups or
reorders rows of several shards. A percentage has no such bound, and a sum that overflows neither.
-> Give LIMIT a number; put it into the subquery whose rows it is meant to limit.

aggregate-not-splittable: The aggregate cannot be computed from parts
No partial results of the shards give the function's value (or with its ORDER BY, FILTER or DISTINCT they do
not), so the rows it reads are moved.
-> Group by the shard key too, so that each group is whole on a shard; or use a function that has parts
(sum, count, avg, min, max and the like), or an approximate one.

join-not-colocated: The join's pairs may be on different shards
Two sharded tables join on their shards only if an equality links the shard keys of both, under the same
sharding. Here none does: both sides are moved, narrowed to the columns and rows that are needed.
-> Join on the shard keys (add `AND a.key = b.key` if it holds), shard both tables by what they are joined
on, or make the smaller one a REFERENCE table.

outer-join-preserved-copied: The preserved side of an outer join is on every shard
`reference LEFT JOIN sharded`: each shard has all rows of the preserved table and would add NULLs to those
whose partner is on another shard. The join is therefore made in the merge.
-> Use an inner join if unmatched rows are not wanted, or turn the join round.

subquery-not-colocated: The subquery reads rows of other shards
EXISTS and a plain IN run on the shards if an equality links the shard keys inside and outside. NOT IN, ANY,
ALL and scalar subqueries need all of their rows beside each outer row: one shard's list may lack the value,
or the NULL, that decides.
-> Correlate the subquery on the shard key; write NOT EXISTS for NOT IN; make a small table a REFERENCE.

correlated-outside: The expression reads a row that is not on the shard
It mentions a column of an outer query whose rows are elsewhere, so it waits for the merge.
-> Correlate on the shard key, or write the subquery as a join.

loose-key: Rows with a NULL key may be anywhere
After an outer join, or under a sharding that scatters NULLs, rows without NULL in the key are where their
key says and the others are on any shard. The NULL group would be returned once per shard.
-> Add `key IS NOT NULL` where NULLs are not wanted, use an inner join, or declare the column NOT NULL.

key-has-collation: Values that compare equal are placed apart
The sharding hashes the key's bytes, while the comparison takes more values as equal: letter case, accents
or trailing blanks under a collation, 1 and 1.00 between types. Equal values may be on different shards.
-> Compare under a binary collation, declare both columns EXACT if their values are spelled in one way, or
give both the same type.

volatile: The expression gives another value each time
`random()`, `uuid()` or `nextval()` is evaluated once per row, at the place where it is written; moving it
to shards that hold copies, or evaluating it twice, would change the answer.
-> Compute it in an outer query, after what should run on the shards.

order-dependent: The result depends on the order in which rows are read
LIMIT without a total order, `row_number()` with ties, `any_value` or a sum of floats may differ from copy
to copy of a reference table, so one copy is picked for the whole statement.
-> Make the order total (add a unique column).

predicate-can-fail: The predicate may raise an error on rows that another one removes
`x <> 0 AND 1 / x > 2` or a cast of text must not be evaluated before what guards it, so it stays where it
is written.
-> Write it so that it cannot fail: TRY_CAST, `nullif(x, 0)`.

recursive: The recursion crosses shards
Each step of WITH RECURSIVE may reach rows on any shard, so its tables are moved and it runs in the merge.
No filter is pushed into them, for later steps read what the first one does not.
-> Filter the tables inside the recursive query's arms, or keep the table that it follows as a REFERENCE or
on one shard.

read-twice: Two places read the same rows
A WITH query that is not deterministic is computed once and read by each of its references, so what only one
of them needs cannot narrow it.
-> Put the filter into the WITH query.

local-table: A registered table is known to the merge only
A DataFrame or an Arrow table is in this process. What is joined with it is joined in the merge.
-> Load it into the database as a table if it is used often.

statement-kept-whole: The planner does not model a construct of the statement
It runs as written, in the merge, over all rows that its plain filters leave of each table. The answer is
right; all of those rows are moved.
-> Rewrite the construct named, or move it out: into a subquery over fewer rows, or to the outer query.

not-in-agreement: A source of another product is not certain to compute it alike
The query has the meaning of its own dialect. What a source of another dialect computes otherwise (text beyond
ASCII, rounding, overflow, dates), or is not known to compute alike, is done in the merge, over the rows that
the rest of the statement leaves.
-> Compare, group and order by plain columns where you can: docs/sqlite.md lists what runs on a SQLite file,
docs/servers.md what runs on MariaDB and PostgreSQL.
For the rest, limit the rows by conditions that do.

deep-page: A page deep in an order is found by moving what is before it
Seeks find a page's place by the keys of a few rows: the columns of ORDER BY and then the primary keys of the
tables, whose values can be sent to the sources and back and are compared there as here. Where that cannot
be had each shard sends its first rows, as many as LIMIT and OFFSET together.
-> Order by plain columns of numbers, dates or short texts, and page over rows instead of groups.
docs/pages.md says more.
"""
)

INDEXES: Final = _texts(
    """
index-used: The index answers, as of its build
What is read of the index is as its tables were when it was built; a table that the application keeps is as
the application keeps it. Rows that have come or changed since then may be missed, rows that have gone are not
found where the table itself is read too, and are still there where the index alone answers.
-> `trust_indexes=False`, the default, reads the tables. `CHECK JOIN INDEX … REPAIR` brings an index up to
date.

index-not-trusted: The connection does not trust indexes
Nothing keeps an index as its tables are while they are written, so it is used only where that is asked for.
-> Open the connection, or run the statement, with `trust_indexes=True`, if answers as of the build will do.

index-in-scope: The connection has a scope
An index holds the rows of everybody. In a scope the tables themselves are read, each with the scope's
condition.
-> RESET SCOPE, if the statement is not one tenant's.

index-without-table: The index can have no table
The columns of a table are not known, or a table is split by a DIRECTORY, whose members come and go, or the
index joins a table with itself.
-> The sentence says which. Columns: list them in the catalog, or read them off the sources.

index-not-built: The index was never built
The catalog declares it, and the lock file knows of no build.
-> Build it: CREATE JOIN INDEX, CREATE LOOKUP INDEX on a connection, or `shardwise catalog index`.

index-not-valid: The index is being built, or dropped
Only a valid one holds all rows.
-> Wait for the build, or resume it.

index-outdated: The index was built of another catalog
A column's type or collation, the sharding or its map has changed since: rows may be on other shards now, or
compare otherwise.
-> Build it again.

index-lacks-columns: The index does not hold all that the statement reads
A join index answers alone only if it has the columns of both tables that the statement reads anywhere. One
that lacks some is joined back to its tables by its keys, if that is expected to move less; here it is not.
-> Add them to INCLUDE, or read fewer columns. `_shard`, `_source` and `_table` are the tables', and in no
index.

index-of-another-equality: The statement compares otherwise than the index
The types or collations of the two are not the same, or it is not known under which collation a source holds
a text: the index might lack rows that the statement's comparison finds.
-> Declare the columns alike, each text with its collation.

index-not-for-this-join: The index is of an inner join
A join index holds the pairs that meet. The rows of a LEFT, RIGHT, FULL or ANTI join, or of NOT EXISTS, that
meet none are not in it, and a row that came after its build would count as one of them.
-> Write an inner join, or EXISTS, if rows without a partner are not wanted.

index-without-a-key: The index does not tell the rows of a semi-join apart
EXISTS and IN give a row once, however many it meets; the index has it as often as that. It is asked on the
shards of the outer table, if it is sharded as that is; or read in its place, if it has a key of it, without
NULLs, that is unique on all shards.
-> SHARD BY the outer table's shard key; or INCLUDE its primary key, if that has the shard key in it or is
UNIQUE ACROSS SHARDS.

index-not-cheaper: The index would spare nothing
A join index has more pairs to move than the two tables have rows, or what a lookup index gives is on all
shards: by what was found, or is known or estimated of the tables.
-> ANALYZE the tables, if the estimate is wrong.

index-leads-nowhere: The keys found do not travel
What the index gave is too much to be sent to the table's shards, or of a type that is not the same after it
was read.
-> Ask for fewer values at once.

index-misses-a-value: The application's table does not have a value
A table that the application keeps may lack what is new: for such a value all shards are asked.
-> Nothing, where such values are few; else keep the table complete, or CREATE the index.
"""
)

ERRORS: Final = _texts(
    """
unknown-table: No such table
Neither the catalog nor the registered tables have it, and no `ATTACH TABLE *` takes it.
-> Check the spelling (the message offers the nearest name), or declare the table in the catalog.

unknown-column: No such column
No table in sight has a column of that name.
-> Check the spelling; if the table has changed, read its columns again: `shardwise catalog import`.

ambiguous-column: Several tables have the column
The name alone does not tell which is meant.
-> Write it with its table: `o.id`.

syntax: The text is not SQL of the query's dialect
The position is that of the first token that does not fit.
-> Correct the text there or just before it.

parameters: Parameters and placeholders do not match
There are more or fewer values than placeholders, a name has no value, or the two styles are mixed.
-> Give one value for each `?`, or a mapping for `:name`.

catalog: The catalog is wrong
Its text or its contents contradict themselves; file, line and column are in the message.
-> Correct it and run `shardwise catalog check`.

not-supported: shardwise cannot answer this rightly
No plan gives the answer that one database would, or the feature is not there yet. Nothing was run.
-> The message names the clause and a way to write it that can be answered.

forbidden: The statement tries to leave the database
Reading files, loading extensions, changing settings and the like are not allowed to a query.
-> Register the data as a table (`con.register`), or declare it as a source in the catalog.

engine: A database engine refused or failed
A shard or the merge raised an error while it ran the statement: a cast that fails, a division by zero, a
lack of memory. The engine's own message is included.
-> As its message says. A lack of memory: raise `memory_bytes_max`, or give the merge room to spill.

shard-unavailable: A shard cannot be reached
Its source is missing, locked, broken or does not answer. No partial answer is given.
-> Bring the source back; the error names the shard. A DuckDB file that another process writes is locked.

schema-drift: A shard's table differs from the catalog
A column is missing or has another type there than on the other shards.
-> Finish the migration, or run `shardwise catalog check` to see all differences.

deadline: The statement took too long
Its deadline passed, and all shards were told to stop.
-> Raise `deadline_s`, or make the statement move less (EXPLAIN ANALYZE shows what it moves).

budget: The statement would move too much
It reached the number of rows or bytes that may be moved off the shards.
-> Raise `rows_max` or `bytes_max`, or narrow the statement: EXPLAIN says what is not pushed, and why.

cancelled: The statement was cancelled
Somebody asked for it: `cursor.cancel()`, a closed connection, Ctrl-C.
-> Run it again.

member-name: A name cannot be a member of an open family
A member's name becomes part of a path or of a
schema's name. One that is empty, begins with a dot, holds a slash, a backslash, a brace, `*`, `?`, a bracket
or an unprintable character, is very long, differs from another in letter case only, or is no value of the
virtual column's type is refused, in a listing and when a statement names it.
-> Compare with the member's own name, or rename the file. What is no member does not belong into the folder.

members-needed: The members of an open family are not listed
The statement does not name its members, and whoever plans has not listed them.
-> Name the member in the statement, or plan with `Context(members={sharding: names})`.

scatter-refused: The statement goes to several shards, and `scatter` is "refuse"
The connection or the statement allows only what one shard answers.
-> Compare the shard key with a value, or allow it: `scatter="allow"`.

scope: The connection's scope does not allow it, or cannot be applied
The connection sees only the rows of its scope (SET SCOPE), and a pinned one cannot leave it. A table of which
the scope does not say whose its rows are is not read, rather than read whole.
-> The message names the table and what is missing. `SHOW SCOPE` tells what is set. Which further tables a
pinned connection may read is said where it is made: `also_read`.

internal: A bug in shardwise
One of its own invariants does not hold. The message names the pass or part.
-> Report it with the statement and the catalog. Switching off the pass that is named may help until then.
"""
)
