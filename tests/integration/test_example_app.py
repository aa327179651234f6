"""The example app: what its README shows, and that no tenant sees another's rows."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("flask")

APP = Path(__file__).parents[2] / "examples" / "tenants" / "app.py"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Any]:
    spec = importlib.util.spec_from_file_location("tenants_app", APP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app = module.create_app(tmp_path)
    yield app.test_client()
    app.config["CLUSTER"].close()


def _sell(client: Any, tenant: str, customer: str, city: str, total: str, issued: str) -> None:
    given = {"customer": customer, "city": city, "total": total, "issued": issued}
    assert client.post(f"/t/{tenant}/invoices", json=given).status_code == 201


def test_a_day_of_the_service(client: Any) -> None:
    assert client.get("/operator/revenue").json == []  # no tenant yet
    for tenant in ("acme", "globex"):
        assert client.put(f"/t/{tenant}").status_code == 201
    _sell(client, "acme", "Ann", "Paris", "120.50", "2026-11-01")
    _sell(client, "acme", "Bob", "Rome", "80.00", "2026-11-02")
    _sell(client, "globex", "Cem", "Paris", "0.05", "2026-11-03")

    invoices = client.get("/t/acme/invoices").json
    assert [(i["customer"], i["total"], i["paid"]) for i in invoices] == [
        ("Ann", "120.50", False),
        ("Bob", "80.00", False),
    ]
    assert [i["customer"] for i in client.get("/t/acme/invoices?since=2026-11-02").json] == ["Bob"]
    assert client.get("/operator/revenue").json == [
        {"city": "Paris", "tenants": 2, "revenue": "120.55"},
        {"city": "Rome", "tenants": 1, "revenue": "80.00"},
    ]
    assert client.get("/operator/tenants").json == [
        {"tenant": "acme", "invoices": 2, "last": "2026-11-02"},
        {"tenant": "globex", "invoices": 1, "last": "2026-11-03"},
    ]

    client.put("/t/initech")  # a new file, at once a tenant
    assert client.get("/operator/tenants").json[-1] == {"tenant": "initech", "invoices": 0, "last": None}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT tenant FROM invoices",
        "SELECT tenant FROM invoices WHERE tenant = 'globex' OR TRUE",
        "WITH invoices AS (SELECT * FROM invoices) SELECT tenant FROM invoices",
        "SELECT t.tenant FROM customers t FULL JOIN invoices USING (tenant)",
    ],
)
def test_a_tenants_own_sql_reads_its_own_file(sql: str, client: Any) -> None:
    for tenant in ("acme", "globex"):
        client.put(f"/t/{tenant}")
        _sell(client, tenant, "Ann", "Paris", "1.00", "2026-11-01")
    answer = client.get("/t/acme/report", query_string={"sql": sql})
    if answer.status_code == 200:
        assert {row["tenant"] for row in answer.json} == {"acme"}
    else:
        assert answer.status_code == 400
        assert "globex" not in answer.text


@pytest.mark.parametrize(
    "sql", ["RESET SCOPE", "SET SCOPE tenant = 'globex'", "SELECT * FROM nothing", "SELEC"]
)
def test_what_is_refused_says_why(sql: str, client: Any) -> None:
    client.put("/t/acme")
    answer = client.get("/t/acme/report", query_string={"sql": sql})
    assert answer.status_code == 400
    assert answer.json["error"]


@pytest.mark.parametrize("tenant", ["..", "ACME", "a/b", "a%2Fb", "..%2Fcluster", "é"])
def test_what_is_no_tenant(tenant: str, client: Any, tmp_path: Path) -> None:
    assert client.put(f"/t/{tenant}").status_code in (404, 308)
    assert list((tmp_path / "tenants").iterdir()) == []
