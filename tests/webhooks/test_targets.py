from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.corpora import UrlRow, ssrf_urls
from webhooks.targets import MAX_LENGTH, BadTarget, Policy, Target, check_target

STRICT = Policy()
DEVELOPMENT = Policy(
    allow_http=True, allowed_networks=(ip_network("127.0.0.0/8"), ip_network("::1/128"))
)


@pytest.mark.parametrize("row", [row for row in ssrf_urls() if row.good])
def test_takes_the_good_urls_of_the_corpus(row: UrlRow) -> None:
    assert check_target(row.url, STRICT).scheme == "https"


@pytest.mark.parametrize("row", [row for row in ssrf_urls() if not row.good])
def test_refuses_the_bad_urls_of_the_corpus_whose_badness_is_in_the_text(row: UrlRow) -> None:
    if row.answers != "-":
        assert check_target(row.url, STRICT).address is None
        return
    with pytest.raises(BadTarget):
        check_target(row.url, STRICT)


@pytest.mark.parametrize(
    ("url", "target"),
    [
        ("https://example.com", ("https://example.com/", "example.com", 443, None)),
        ("HTTPS://Example.COM./A", ("https://example.com/A", "example.com", 443, None)),
        ("https://example.com?a=b@c", ("https://example.com/?a=b@c", "example.com", 443, None)),
        ("https://a.b.io:8443/x", ("https://a.b.io:8443/x", "a.b.io", 8443, None)),
        ("https://a.b.io:443/../x", ("https://a.b.io/../x", "a.b.io", 443, None)),
        ("https://münchen.de/", ("https://xn--mnchen-3ya.de/", "xn--mnchen-3ya.de", 443, None)),
        ("https://8.8.8.8/", ("https://8.8.8.8/", "8.8.8.8", 443, IPv4Address("8.8.8.8"))),
        (
            "https://[2606:4700:0::1]:8443/",
            ("https://[2606:4700::1]:8443/", "2606:4700::1", 8443, IPv6Address("2606:4700::1")),
        ),
    ],
)
def test_says_what_to_send_to(
    url: str, target: tuple[str, str, int, IPv4Address | IPv6Address | None]
) -> None:
    wire, host, port, address = target
    assert check_target(url, STRICT) == Target(wire, "https", host, port, address)


@pytest.mark.parametrize(
    "url",
    [
        "https://example.com:/",
        "https://example.com:0/",
        "https://example.com:0443/",
        "https://example.com:+443/",
        "https://example.com:8080/",
        "https://example.com:22/",
        "https://example.com/é",
        "https://example.com/?q=\u3000",
        "https://example.com/\u2028",
        "https://example\u3002com/",
        "https://\u200bexample.com/",
        "https://Bücher.de/",
        "https://my_app.example.com/",
        "https://1.2.3.4.5/",
        "https://1.2.3.4../",
        "https://example.0x7f/",
        "https://example.12/",
        "https://[::1%25lo]/",
        "https://[2606:4700::1%eth0]/",
        "https://[]/",
        "https://" + "a." * 127 + "com/",
        "https://metadata.goog/",
        "https://Metadata.Goog./computeMetadata/v1/",
        "https://a.metadata.goog/",
        "https://x.localhost/",
        "https://api.test/",
        "https://x.onion/",
        "https://x.lan/",
        "https://kubernetes.default.svc/",
        "https:example.com/",
        "https:///example.com/",
        "//example.com/",
        "",
    ],
)
def test_refuses_urls_the_corpus_does_not_name(url: str) -> None:
    with pytest.raises(BadTarget):
        check_target(url, STRICT)


def test_takes_a_url_of_the_greatest_length_and_refuses_one_character_more() -> None:
    url = "https://example.com/".ljust(MAX_LENGTH, "a")
    assert check_target(url, STRICT).url == url
    with pytest.raises(BadTarget, match="2048"):
        check_target(url + "a", STRICT)


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8000/hook",
        "https://127.0.0.1:1/hook",
        "http://[::1]:65535/hook",
        "http://localhost:8000/hook",
        "https://Localhost./hook",
        "http://one.localhost:8000/hook",
        "http://example.com/",
        "http://example.com:8443/",
    ],
)
def test_takes_loopback_on_any_port_where_the_operator_allows_it(url: str) -> None:
    assert check_target(url, DEVELOPMENT)


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1/",
        "https://169.254.169.254/",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://example.com:8000/",
        "https://example.com:80/",
        "http://intranet:8000/",
        "http://127.0.0.1:0/",
    ],
)
def test_refuses_everything_else_as_before_where_loopback_is_allowed(url: str) -> None:
    with pytest.raises(BadTarget):
        check_target(url, DEVELOPMENT)


def test_lets_the_operator_name_other_ports() -> None:
    policy = Policy(ports=frozenset({9443}))
    assert check_target("https://example.com:9443/", policy).port == 9443
    assert check_target("https://example.com/", policy).port == 443
    with pytest.raises(BadTarget, match="use one of 9443"):
        check_target("https://example.com:8443/", policy)


def test_opens_no_other_loopback_than_the_one_allowed() -> None:
    policy = Policy(allowed_networks=(ip_network("127.0.0.1/32"),))
    assert policy.loopback == ("127.0.0.1",)
    assert STRICT.loopback == ()
    with pytest.raises(BadTarget):
        check_target("https://127.0.0.2/", policy)


@given(st.text(max_size=60))
@example("[")
@example("xn--\u0138.com")
def test_judges_any_text_in_the_host_without_breaking(text: str) -> None:
    try:
        target = check_target(f"https://{text}/", STRICT)
    except BadTarget:
        return
    assert target.url.isascii()
    assert check_target(target.url, STRICT) == target
