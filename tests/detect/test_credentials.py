"""Files that hold credentials: what is one, and what only looks like it."""

from __future__ import annotations

import pytest

from ckvd.parse.credentials import is_secret

KEY = b"-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n"


@pytest.mark.parametrize(
    ("path", "head"),
    [
        (".env", b"TOKEN=x"),
        ("web/.env.production", b""),
        ("prod.env", b""),
        (".envrc", b"export TOKEN=x"),
        (".env-prod", b""),
        ("krb5.keytab", b""),
        ("office.ovpn", b"client\n<key>\n-----BEGIN PRIVATE KEY-----\n"),
        ("id_ed25519", b""),
        ("keys/id_rsa", b""),
        ("cert.p12", b""),
        (".netrc", b""),
        ("home/.aws/credentials", b""),
        ("infra/terraform.tfstate", b"{}"),
        ("server.pem", b"-----BEGIN CERTIFICATE-----\nx\n-----BEGIN PRIVATE KEY-----\n"),
        ("deploy", b"-----BEGIN OPENSSH PRIVATE KEY-----\nx"),
        ("anything.txt", b"-----BEGIN RSA PRIVATE KEY-----\nx"),
        ("gcp.json", b'{\n  "type": "service_account",\n  "private_key": "x"}'),
        (".npmrc", b"//registry.npmjs.org/:_authToken=abc\n"),
        ("default.key", KEY),
        ("schema.pem", KEY),
        ("dist", KEY),
        ("bom.pem", b"\xef\xbb\xbf" + KEY),
        ("utf16.pem", KEY.decode().encode("utf-16")),
        ("late.pem", b"# x\n" * 5000 + KEY),
        (
            "default-service.json",
            b'{"type": "service_account", "private_key": "-----BEGIN PRIVATE KEY-----"}',
        ),
        ("conf/credentials", b"[default]\naws_secret_access_key = abc\n"),
        (".cargo/credentials.toml", b""),
        (".config/gh/hosts.yml", b""),
        ("application_default_credentials.json", b"{}"),
        ("kubeconfig", b""),
        ("prod.kubeconfig", b""),
        (".my.cnf", b"[client]\n"),
        (".terraformrc", b""),
        ("auth.json", b'{"github-oauth": {"github.com": "x"}}'),
        ("keys.txt", b"# created: 2026\nAGE-SECRET-KEY-1" + b"Q" * 58),
        ("prod.tfvars", b'region = "eu"\ndb_password = "abc"\n'),
    ],
)
def test_secrets(path: str, head: bytes) -> None:
    assert is_secret(path, head)


@pytest.mark.parametrize(
    ("path", "head"),
    [
        (".env.example", b"TOKEN="),
        (".env.sample", b""),
        ("env.py", b""),
        (".environment", b""),
        ("office.ovpn", b"client\nremote vpn.example.org\n"),
        ("environment.ts", b""),
        ("ca.pem", b"-----BEGIN CERTIFICATE-----\nx"),
        ("id_rsa.pub", b"ssh-rsa x"),
        ("test_keys.py", b'KEY = """\n-----BEGIN PRIVATE KEY-----\n"""'),
        ("package.json", b'{"type": "module"}'),
        (".npmrc", b"//registry.npmjs.org/:_authToken=${NPM_TOKEN}\nsave-exact=true\n"),
        ("credentials.py", b"class Credentials: ..."),
        ("translations.key", b"hello"),
        ("locales/en/auth.json", b'{"login": "Log in", "bearer of": "x"}'),
        ("prod.tfvars", b'region = "eu"\n'),
        ("credentials", b"how to get them\n"),
        ("sample-service.json", b'{"type": "service_account", "private_key": "..."}'),
        ("age.md", b"AGE-SECRET-KEY-1" + b"Q" * 58),
    ],
)
def test_no_secrets(path: str, head: bytes) -> None:
    assert not is_secret(path, head)
