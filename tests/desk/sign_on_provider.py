"""An OpenID Connect provider on loopback: real HTTP, real keys, and answers that may be wrong."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, parse_qsl, urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

CLIENT_ID, CLIENT_SECRET = "desk-client", "desk-secret-7"
RSA_KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
EC_KEY = ec.generate_private_key(ec.SECP256R1())


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int) -> str:
    return encoded(value.to_bytes((value.bit_length() + 7) // 8, "big"))


def key_set() -> dict[str, Any]:
    rsa_numbers, point = RSA_KEY.public_key().public_numbers(), EC_KEY.public_key().public_numbers()
    return {
        "keys": [
            {"kty": "RSA", "kid": "RS256", "n": number(rsa_numbers.n), "e": number(rsa_numbers.e)},
            {
                "kty": "EC",
                "kid": "ES256",
                "crv": "P-256",
                "x": encoded(point.x.to_bytes(32, "big")),
                "y": encoded(point.y.to_bytes(32, "big")),
            },
        ]
    }


def public_pem() -> bytes:
    return RSA_KEY.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )


def signature(alg: str, data: bytes) -> bytes:
    if alg == "RS256":
        return RSA_KEY.sign(data, padding.PKCS1v15(), hashes.SHA256())
    if alg == "ES256":
        r, s = decode_dss_signature(EC_KEY.sign(data, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")
    # The attack: the public key, which everybody knows, used as an HMAC secret.
    return b"" if alg == "none" else hmac.digest(public_pem(), data, "sha256")


def signed(claims: dict[str, Any], alg: str, kid: str) -> str:
    header = {"alg": alg, "kid": kid, "typ": "JWT"}
    text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
    return f"{text}.{encoded(signature(alg, text.encode()))}"


class FakeProvider:
    def __init__(self) -> None:
        self.issuer = ""
        # Challenge, redirect URI and token by code.
        self.codes: dict[str, tuple[str, str, str]] = {}
        self.requested_paths: list[str] = []
        self.broken: dict[str, tuple[int, bytes]] = {}
        self.discovery: dict[str, Any] = {}

    def grant(
        self,
        query: dict[str, str],
        *,
        alg: str = "RS256",
        kid: str = "",
        begins_in: int = 0,
        ends_in: int = 300,
        **changes: Any,
    ) -> str:
        """Issue a code for these claims, as the browser would bring it back."""
        claims: dict[str, Any] = {
            "iss": self.issuer,
            "aud": query["client_id"],
            "sub": "subject-of-ada",
            "nonce": query["nonce"],
            "iat": int(time.time()) + begins_in,
            "exp": int(time.time()) + ends_in,
            "email": "ada@desk.example",
            "email_verified": True,
        }
        token = signed(claims | changes, alg, kid or alg)
        code = f"code-{len(self.codes)}"
        self.codes[code] = (query["code_challenge"], query["redirect_uri"], token)
        return code

    def answer(self, path: str, body: str, login: str) -> tuple[int, bytes]:
        self.requested_paths.append(path)
        if path in self.broken:
            return self.broken[path]
        if path.endswith("/openid-configuration"):
            return 200, json.dumps(self.described()).encode()
        if path == "/keys":
            return 200, json.dumps(key_set()).encode()
        return self.token(dict(parse_qsl(body)), login)

    def described(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "end_session_endpoint": f"{self.issuer}/logout",
            # Algorithms of a careless provider: the desk has to refuse the weak ones itself.
            "id_token_signing_alg_values_supported": ["none", "HS256", "RS256", "ES256"],
        } | self.discovery

    def token(self, form: dict[str, str], login: str) -> tuple[int, bytes]:
        expected = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
        challenge, redirect_uri, token = self.codes.pop(form.get("code", ""), ("", "", ""))
        digest = encoded(hashlib.sha256(form.get("code_verifier", "").encode()).digest())
        right = login == f"Basic {expected}" and digest == challenge
        if not right or form.get("redirect_uri") != redirect_uri:
            return 400, b'{"error": "invalid_grant", "error_description": "desk-secret-7"}'
        answer = {"access_token": "opaque", "token_type": "Bearer", "id_token": token}
        return 200, json.dumps(answer).encode()


@contextmanager
def running_provider() -> Iterator[FakeProvider]:
    provider = FakeProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            body = self.rfile.read(length).decode()
            login = self.headers.get("Authorization", "")
            status, content = provider.answer(self.path, body, login)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            if 300 <= status < 400:
                self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    provider.issuer = f"http://127.0.0.1:{server.server_port}"
    Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()


def query_of(url: str) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
