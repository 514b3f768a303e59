"""The samples of deploy/proxy/, run by Debian's own Squid and Dante (decision N23)."""

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_network
from pathlib import Path

import pytest

from deliveries.http.answers import Failure, Reply
from tests.deliveries.hostile import good, receiver, send
from tests.programs import program
from tools.faults.ports import free_port
from webhooks.outgoing import parse_proxy
from webhooks.targets import Policy

SAMPLES = Path(__file__).resolve().parents[2] / "deploy" / "proxy"
# Inside addresses are allowed here, so that the proxy's own rule is tested.
POLICY = Policy(
    allow_http=True, allowed_networks=(ip_network("127.0.0.0/8"), ip_network("10.0.0.0/8"))
)
LOGIN = "parceldesk:secret"


def sample(name: str, changes: dict[str, str]) -> str:
    text = (SAMPLES / name).read_text()
    for old, new in changes.items():
        assert old in text, f"{name} has no {old}"
        text = text.replace(old, new)
    return text


@contextmanager
def running(command: list[str], port: int) -> Iterator[None]:
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as server:
        try:
            until = time.monotonic() + 20
            while server.poll() is None and time.monotonic() < until:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            assert server.poll() is None, server.stdout and server.stdout.read().decode()
            yield
        finally:
            server.terminate()


@contextmanager
def squid(open_port: int, closed_port: int) -> Iterator[str]:
    port = free_port()
    command = program("squid")
    # Squid runs as a user that cannot read pytest's folders.
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        hashed = subprocess.run(
            ["openssl", "passwd", "-6", "secret"], capture_output=True, text=True, check=True
        )
        (folder / "passwords").write_text(f"parceldesk:{hashed.stdout.strip()}\n")
        changes = {
            "http_port 10.1.0.5:3128": f"http_port 127.0.0.1:{port}",
            "/etc/squid/parceldesk.passwords": f"{folder}/passwords",
            "src 10.1.0.0/24": "src 127.0.0.0/8",
            "port 443 8443": f"port {open_port} {closed_port}",
            " 127.0.0.0/8 169": " 169",
            "stdio:/var/log/squid/access.log": "none",
            "shutdown_lifetime 5 seconds": "shutdown_lifetime 0 seconds",
        }
        quiet = "pid_filename none\ncache_log /dev/null\nnetdb_filename none\n"
        config = folder / "squid.conf"
        config.write_text(sample("squid.conf", changes) + quiet)
        with running([command, "-N", "-f", str(config)], port):
            yield f"http://{LOGIN}@127.0.0.1:{port}"


@contextmanager
def dante(open_port: int, closed_port: int) -> Iterator[str]:
    port = free_port()
    command = program("danted")
    with tempfile.TemporaryDirectory() as place:
        changes = {
            "internal: 10.1.0.5 port = 1080": f"internal: 127.0.0.1 port = {port}",
            "external: eth0": "external: 127.0.0.1",
            "logoutput: syslog": "logoutput: stderr",
            "from: 10.1.0.0/24": "from: 127.0.0.0/8",
            "socks block { from: 0.0.0.0/0 to: 127.0.0.0/8 }": "",
            "port = 443\n": f"port = {open_port}\n",
            "port = 8443\n": f"port = {closed_port}\n",
        }
        config = Path(place) / "danted.conf"
        config.write_text(sample("danted.conf", changes))
        with running([command, "-f", str(config), "-p", f"{place}/pid"], port):
            yield f"socks5://127.0.0.1:{port}"


@pytest.mark.parametrize("proxy", [squid, dante])
def test_delivers_through_it_and_knows_whose_failure_is_whose(proxy: object) -> None:
    assert callable(proxy)
    with receiver(good) as there:
        closed = free_port()
        with proxy(there.port, closed) as url:

            def through(target: str, way: str = url) -> Reply:
                return send(target, POLICY, proxy=parse_proxy(way), timeout_seconds=10.0)

            assert through(f"http://127.0.0.1:{there.port}/in").status == 200
            assert through(f"http://127.0.0.1:{closed}/").error is Failure.REFUSED
            inside = through(f"http://10.1.2.3:{there.port}/")
            assert inside.error is Failure.PROXY_REFUSED
            other_port = through(f"http://127.0.0.1:{free_port()}/")
            assert other_port.error is Failure.PROXY_REFUSED
            if "@" in url:
                wrong = through(f"http://127.0.0.1:{there.port}/", url.replace("secret", "other"))
                assert wrong.error is Failure.PROXY
        assert len(there.requests) == 1
