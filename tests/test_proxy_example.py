"""The example of a proxy agrees with the app, with the pinned Streamlit, and with the page that explains it."""

from __future__ import annotations

import re
import subprocess
import tomllib
import urllib.error
import urllib.request
from contextlib import AsyncExitStack
from email.message import Message
from pathlib import Path

import psutil
import pytest
from streamlit.web.server.starlette import starlette_agent_routes, starlette_routes, starlette_websocket
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus
from websockets.typing import Origin, Subprotocol

from rr_core.limits import MAX_UPLOAD_BYTES
from server.middleware import HEADERS, PLOTLY_ADDRESS
from tests.app.opening import ABOUT_SCENARIO
from tests.benchmarks.visitor import UNVERIFIED, Visitor, finish
from tests.browser.proxy import TEXT, behind_nginx, configured, heeded
from tests.browser.server import started

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = heeded(TEXT)
PAGE = (ROOT / "docs" / "behind_a_proxy.md").read_text(encoding="utf-8")
STUDENTS = 100

# What stands in a location's braces, by "= /exact" or "/prefix"; the rest of the file without them.
LOCATIONS = dict(re.findall(r"location ((?:= )?/\S*) \{(.*?)\n    \}", EXAMPLE, flags=re.S))
OUTSIDE = re.sub(r"location .*?\n    \}", "", EXAMPLE, flags=re.S)


def inside(path: str) -> str:
    """The location that nginx takes for a path: the exact one, else the longest prefix."""
    if f"= {path}" in LOCATIONS:
        return LOCATIONS[f"= {path}"]
    return LOCATIONS[max((prefix for prefix in LOCATIONS if path.startswith(prefix)), key=len)]


def is_public(path: str) -> bool:
    here = inside(path)
    assert ("proxy_pass http://app;" in here) != ("return 404;" in here), path
    return "proxy_pass" in here


def test_what_the_app_needs_is_public() -> None:
    for path in (
        "/",
        "/plan",
        "/r/CDFGHJ/report",
        "/media/0123.csv",
        "/static/js/index.js",
        f"/{starlette_routes.ROUTE_HEALTH}",
        f"/{starlette_routes.ROUTE_HOST_CONFIG}",
        f"/{starlette_routes.BASE_ROUTE_UPLOAD_FILE}/session/file",
        f"/{starlette_websocket._ROUTE_WEBSOCKET_STREAM}",
        f"/{PLOTLY_ADDRESS.partition('?')[0]}",
    ):
        assert is_public(path), path


def test_the_rest_is_not() -> None:
    for path in (
        f"/{starlette_routes.ROUTE_METRICS}",
        f"/{starlette_routes.ROUTE_SCRIPT_HEALTH}",
        f"/{starlette_routes.BASE_ROUTE_COMPONENT}/x",
        f"/{starlette_routes.BASE_ROUTE_APP_STATIC}/x",
        f"/{starlette_agent_routes._ROUTE_AGENT_INTERACT}",
        f"/{starlette_agent_routes._ROUTE_AGENT_SCHEMA}",
        f"/{starlette_agent_routes._ROUTE_AGENT_MCP}",
        "/auth/login",
    ):
        assert not is_public(path), path
        assert f"`/{path.split('/')[1]}/" in PAGE, path
    assert "`/_stcore/metrics`" in PAGE


def test_uploads_have_the_limit_of_the_app() -> None:
    config = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text(encoding="utf-8"))
    megabytes = config["server"]["maxUploadSize"]
    assert megabytes * 1024 * 1024 == MAX_UPLOAD_BYTES
    upload = inside(f"/{starlette_routes.BASE_ROUTE_UPLOAD_FILE}/session/file")
    assert f"client_max_body_size {megabytes}m;" in upload
    assert f"| {megabytes} MB, as in `.streamlit/config.toml`" in PAGE
    assert "proxy_request_buffering off;" in upload  # nginx would write it to a file


def test_sockets_are_upgraded_wait_long_and_are_enough_for_a_class() -> None:
    stream = inside(f"/{starlette_websocket._ROUTE_WEBSOCKET_STREAM}")
    assert "proxy_set_header Upgrade $http_upgrade;" in stream
    assert "proxy_set_header Connection $connection_wanted;" in stream
    assert re.search(r"map \$http_upgrade \$connection_wanted \{\s*default upgrade;", OUTSIDE)
    assert "proxy_http_version 1.1;" in OUTSIDE
    assert "proxy_read_timeout 1h;" in stream
    pages = 1 + len(ABOUT_SCENARIO)  # and home
    for pattern in (r"limit_conn sockets_open (\d+);", r"limit_req zone=sockets burst=(\d+) nodelay;"):
        (limit,) = re.findall(pattern, stream)
        assert int(limit) >= STUDENTS * pages
        assert f"{int(limit):,}" in PAGE


def test_every_limit_is_told() -> None:
    numbers = re.findall(r"(?:limit_conn \w+ |rate=|burst=)(\d+)", EXAMPLE)
    assert len(numbers) > 6
    for number in numbers:
        assert f"{int(number):,}" in PAGE, number


def test_headers_of_the_page_are_those_of_the_example_and_reach_every_answer() -> None:
    sent = dict(re.findall(r'add_header ([\w-]+) "([^"]+)" always;', OUTSIDE))
    assert OUTSIDE.count("add_header ") == len(sent)
    table = PAGE.split("## The headers")[1].split("\n\n")[1]
    assert set(re.findall(r"`([A-Z][\w-]+)`", table)) == set(sent)
    # A location that adds one header loses all others, and so with those sent to the app.
    to_app = set(re.findall(r"proxy_set_header ([\w-]+) ", OUTSIDE))
    for name, words in LOCATIONS.items():
        assert "add_header" not in words, name
        assert set(re.findall(r"proxy_set_header ([\w-]+) ", words)) in (set(), to_app | {"Upgrade"}), name


def test_the_policy_is_what_the_page_says() -> None:
    (policy,) = re.findall(r'Content-Security-Policy "([^"]+)"', EXAMPLE)
    parts = {name: set(values) for name, *values in map(str.split, policy.split(";"))}
    assert parts["default-src"] == parts["frame-ancestors"] == parts["base-uri"] == {"'none'"}
    assert parts["script-src"] == {"'self'", "'unsafe-inline'", "blob:"}
    assert parts["connect-src"] == {"'self'"}
    assert policy == HEADERS["Content-Security-Policy"] + "; frame-ancestors 'none'"
    assert set(re.findall(r"proxy_hide_header ([\w-]+);", OUTSIDE)) == set(HEADERS)
    assert "It has no `'unsafe-eval'`" in PAGE
    assert not any(host in policy for host in ("http", "*", "unsafe-eval"))


def test_nothing_of_a_scenario_is_logged() -> None:
    (form,) = re.findall(r"log_format no_scenario '([^']+)'", EXAMPLE)
    assert not {"$request", "$request_uri", "$args", "$http_referer", "$remote_addr"} & set(form.split())
    logs = re.findall(r"access_log ([^;]+);", EXAMPLE)
    assert logs
    assert all(log == "off" or log.endswith(" no_scenario") for log in logs)


def test_the_app_listens_where_the_proxy_looks_and_to_the_machine_alone() -> None:
    (port,) = re.findall(r"server 127\.0\.0\.1:(\d+);", EXAMPLE)
    assert f"--server.address 127.0.0.1 --server.port {port}" in PAGE
    assert "--server.allowedHosts class.example" in PAGE


@pytest.mark.parametrize("apps", [("127.0.0.1:8501",), ("127.0.0.1:8501", "127.0.0.1:8502")])
def test_nginx_takes_it(tmp_path: Path, apps: tuple[str, ...]) -> None:
    start, _, _ = configured(tmp_path, *apps)
    checked = subprocess.run([*start, "-t"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.slow
def test_the_app_is_served_through_it_and_a_class_is_spread_over_two_servers(tmp_path: Path) -> None:
    """Each visitor stays with one: without the cookie every second upload would go to the other, and be refused."""
    homes = [tmp_path / name for name in ("one", "two")]
    for home in homes:
        home.mkdir()

    async def visit(https: str) -> None:
        async with AsyncExitStack() as after:
            visitors = [await after.enter_async_context(Visitor.at(https)) for _ in range(60)]
            assert len({visitor.place[0] for visitor in visitors}) == 60
            for visitor in visitors[::10]:
                await visitor.open("your_reports", "k=12")
                await visitor.upload("Report files", "people.csv", b"category,count\nyes,640\nno,360\n")
                assert any("1,000" in text for text in visitor.said), visitor.said
                assert not visitor.errors
            held = [len(psutil.Process(app.process.pid).net_connections("tcp")) for app in (one, two)]
            # Each holds at most two connections of no visitor. Of 60 visitors at random, at most 3 are with a server that
            # has 35% of the hashes once in 28 million times.
            assert min(held) > 5, held

    hosts = ("--server.allowedHosts", "class.example", "--server.allowedHosts", "127.0.0.1")
    with (
        started("app.py", ROOT, homes[0], *hosts) as one,
        started("app.py", ROOT, homes[1], *hosts) as two,
        behind_nginx(tmp_path, *(app.address.removeprefix("http://") for app in (one, two))) as (http, https),
    ):
        _visit(http, https)
        finish(visit(https))


def _visit(http: str, https: str) -> None:
    def answer(address: str) -> tuple[int, Message]:
        class Stay(urllib.request.HTTPRedirectHandler):
            def redirect_request(self, *about: object) -> None:
                return None

        try:
            with urllib.request.build_opener(Stay, urllib.request.HTTPSHandler(context=UNVERIFIED)).open(
                address
            ) as got:
                return got.status, got.headers
        except urllib.error.HTTPError as refused:
            return refused.code, refused.headers

    status, headers = answer(f"{https}/estimators")
    assert status == 200
    assert headers["X-Frame-Options"] == "DENY"
    assert all(len(headers.get_all(name, [])) == 1 for name in HEADERS)
    assert headers["Strict-Transport-Security"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    for path, expected in (
        ("metrics", 404),
        ("script-health-check", 404),
        ("health", 200),
        ("host-config", 200),
    ):
        assert answer(f"{https}/_stcore/{path}")[0] == expected, path
    status, headers = answer(f"{https}/r")  # where phones join a room
    assert (status, headers["X-Frame-Options"], headers["Cache-Control"]) == (200, "DENY", "no-store")
    status, headers = answer(f"{http}/plan?k=3")
    assert (status, headers["Location"]) == (301, "https://class.example/plan?k=3")

    async def opened(name: str) -> str:
        async with connect(
            f"wss://{name}/_stcore/stream",
            host="127.0.0.1",
            port=int(https.rpartition(":")[2]),
            ssl=UNVERIFIED,
            subprotocols=[Subprotocol("streamlit")],
            origin=Origin(f"https://{name}"),
        ) as socket:
            visitor = Visitor(https, socket)
            await visitor.open("estimators", "k=12")
            assert not visitor.errors
            return visitor.dials

    assert finish(opened("class.example"))
    with pytest.raises(InvalidStatus):
        finish(opened("other.example"))
