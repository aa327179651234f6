"""An invoicing service with a SQLite file per tenant, in Flask.

    python -m flask --app examples/tenants/app.py run

A tenant's own pages go through a connection whose scope is pinned to that tenant: whatever the SQL says, it
reads that one file. The operator's pages ask all files at once. What is written is written with `sqlite3`,
to the tenant's file.
"""

import sqlite3
from contextlib import closing
from datetime import date
from pathlib import Path
from re import fullmatch
from shutil import copyfile

from flask import Blueprint, Flask, abort, current_app, g, jsonify, request

import shardwise

HERE = Path(__file__).parent
SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL, city TEXT);
CREATE TABLE invoices (
  id INTEGER PRIMARY KEY, customer_id INTEGER NOT NULL REFERENCES customers,
  issued TEXT NOT NULL,  -- ISO dates: 2026-11-30
  total TEXT NOT NULL,   -- DECIMAL(12,2) in the catalog: as TEXT every digit is kept
  paid INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX invoices_issued ON invoices (issued);
"""


def create_app(folder: str | Path = HERE) -> Flask:
    """The app over `folder`, which has (or is given) a cluster.sql and the tenants' files."""
    folder = Path(folder)
    (folder / "tenants").mkdir(exist_ok=True)
    if not (folder / "cluster.sql").exists():
        copyfile(HERE / "cluster.sql", folder / "cluster.sql")
    app = Flask(__name__)
    app.config["FOLDER"] = folder
    app.config["CLUSTER"] = shardwise.open(folder / "cluster.sql")  # one per process; threads share it
    app.register_blueprint(tenant_pages, url_prefix="/t/<tenant>")
    app.register_blueprint(operator_pages, url_prefix="/operator")
    return app


tenant_pages = Blueprint("tenant", __name__)
operator_pages = Blueprint("operator", __name__)


# -- a tenant's own pages ------------------------------------------------------------------------


@tenant_pages.url_value_preprocessor
def take_tenant(_: str | None, values: dict[str, str] | None) -> None:
    """In a real service the tenant comes from the session, not from the URL."""
    g.tenant = (values or {}).pop("tenant", "")
    if not fullmatch(r"[a-z][a-z0-9-]{0,30}", g.tenant):
        abort(404)


@tenant_pages.put("")
def sign_up():
    """A new tenant is a new file. Nothing has to be told to shardwise."""
    path = tenant_file()
    if path.exists():
        abort(409)
    with closing(sqlite3.connect(path)) as db:
        db.executescript(SCHEMA)
    return {"tenant": g.tenant}, 201


@tenant_pages.post("/invoices")
def add_invoice():
    given = request.get_json()
    with closing(sqlite3.connect(f"file:{tenant_file()}?mode=rw", uri=True)) as db, db:
        (customer,) = db.execute(
            "INSERT INTO customers (name, city) VALUES (?, ?) RETURNING id",
            (given["customer"], given["city"]),
        ).fetchone()
        db.execute(
            "INSERT INTO invoices (customer_id, issued, total, paid) VALUES (?, ?, ?, ?)",
            (
                customer,
                given.get("issued") or date.today().isoformat(),
                given["total"],
                given.get("paid", False),
            ),
        )
    return {"customer": customer}, 201


@tenant_pages.get("/invoices")
def invoices():
    """The tenant's invoices, dearest first. No WHERE names the tenant: the scope does."""
    return rows(
        tenant_connection(),
        """SELECT i.id, c.name AS customer, i.issued, i.total, i.paid
           FROM invoices i JOIN customers c ON c.id = i.customer_id AND c.tenant = i.tenant
           WHERE i.issued >= ? ORDER BY i.total DESC, i.id""",
        [date.fromisoformat(request.args.get("since", "1970-01-01"))],
    )


@tenant_pages.get("/report")
def report():
    """Any SQL of the tenant's own: it can only ever see that tenant's rows."""
    return rows(tenant_connection(), request.args["sql"])


def tenant_connection():
    """Pinned: no statement can undo it."""
    return current_app.config["CLUSTER"].connect(scope={"tenant": g.tenant}, pinned=True)


def tenant_file() -> Path:
    return current_app.config["FOLDER"] / "tenants" / f"{g.tenant}.db"


# -- the operator's pages ------------------------------------------------------------------------


@operator_pages.get("/revenue")
def revenue():
    """All tenants' revenue by city: each file sums up its own, a row per city is moved."""
    return rows(
        current_app.config["CLUSTER"].connect(),
        """SELECT c.city, count(DISTINCT i.tenant) AS tenants, sum(i.total) AS revenue
           FROM invoices i JOIN customers c ON c.id = i.customer_id AND c.tenant = i.tenant
           GROUP BY c.city ORDER BY revenue DESC, c.city""",
    )


@operator_pages.get("/tenants")
def tenants():
    """Each tenant's own answer to one question."""
    with current_app.config["CLUSTER"].connect() as con:
        cursor = con.each("by_file").execute("SELECT count(*) AS invoices, max(issued) AS last FROM invoices")
        return jsonify(as_dicts(cursor))


# -- shared --------------------------------------------------------------------------------------


def rows(con, sql: str, params=()):
    """The answer as JSON; what shardwise refuses is the asker's error, and says why."""
    try:
        with con:
            return jsonify(as_dicts(con.execute(sql, params)))
    except shardwise.ProgrammingError as error:
        return {"error": str(error)}, 400
    except shardwise.NotSupportedError as error:
        return {"error": str(error)}, 400


def as_dicts(cursor) -> list[dict]:
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, map(as_json, row), strict=True)) for row in cursor]


def as_json(value):
    """Dates as ISO text, amounts as text with every digit."""
    return value.isoformat() if isinstance(value, date) else value
