"""The example of a proxy agrees with the app, with the pinned Streamlit, and with the page that explains it."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import tomllib
from pathlib import Path

import pytest
from streamlit.web.server.starlette import starlette_agent_routes, starlette_routes, starlette_websocket

from rr_core.limits import MAX_UPLOAD_BYTES

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = (ROOT / "docs" / "nginx.conf.example").read_text(encoding="utf-8")
PAGE = (ROOT / "docs" / "behind_a_proxy.md").read_text(encoding="utf-8")
STUDENTS, PAGES = 100, 9
NGINX = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
OPENSSL = shutil.which("openssl")

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


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/plan",
        "/media/0123.csv",
        "/static/js/index.js",
        f"/{starlette_routes.ROUTE_HEALTH}",
        f"/{starlette_routes.ROUTE_HOST_CONFIG}",
        f"/{starlette_routes.BASE_ROUTE_UPLOAD_FILE}/session/file",
        f"/{starlette_websocket._ROUTE_WEBSOCKET_STREAM}",
    ],
)
def test_what_the_app_needs_is_public(path: str) -> None:
    assert is_public(path)


@pytest.mark.parametrize(
    "path",
    [
        f"/{starlette_routes.ROUTE_METRICS}",
        f"/{starlette_routes.ROUTE_SCRIPT_HEALTH}",
        f"/{starlette_routes.BASE_ROUTE_COMPONENT}/x",
        f"/{starlette_routes.BASE_ROUTE_APP_STATIC}/x",
        f"/{starlette_agent_routes._ROUTE_AGENT_INTERACT}",
        f"/{starlette_agent_routes._ROUTE_AGENT_SCHEMA}",
        f"/{starlette_agent_routes._ROUTE_AGENT_MCP}",
        "/auth/login",
    ],
)
def test_the_rest_is_not(path: str) -> None:
    assert not is_public(path)
    assert f"`/{path.split('/')[1]}/" in PAGE


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
    assert "proxy_read_timeout 1h;" in stream
    for pattern in (r"limit_conn sockets_open (\d+);", r"limit_req zone=sockets burst=(\d+) nodelay;"):
        (limit,) = re.findall(pattern, stream)
        assert int(limit) >= STUDENTS * PAGES
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


@pytest.mark.skipif(NGINX is None or OPENSSL is None, reason="nginx or openssl is not installed")
def test_nginx_takes_it(tmp_path: Path) -> None:
    subject = ["-subj", "/CN=class.example", "-keyout", str(tmp_path / "privkey.pem")]
    made = [str(OPENSSL), "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject]
    subprocess.run([*made, "-out", str(tmp_path / "fullchain.pem")], check=True, capture_output=True)
    site = EXAMPLE.replace("/etc/letsencrypt/live/class.example", str(tmp_path))
    site = site.replace("/var/log/nginx", str(tmp_path))
    for port in ("80;", "443 "):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            free = f"127.0.0.1:{probe.getsockname()[1]}"
        site = site.replace(f"listen {port}", f"listen {free}{port[-1]}")
    (tmp_path / "site.conf").write_text(site, encoding="utf-8")
    kept = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    folders = "".join(f"{name}_temp_path {tmp_path}/{name};" for name in kept)
    whole = f"pid {tmp_path}/pid; events {{}} http {{ {folders} include {tmp_path}/site.conf; }}"
    (tmp_path / "nginx.conf").write_text(whole, encoding="utf-8")
    log = str(tmp_path / "error.log")
    checked = subprocess.run(
        [str(NGINX), "-t", "-e", log, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr
