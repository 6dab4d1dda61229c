"""Files that hold credentials: none of such a file is in the index."""

from __future__ import annotations

import codecs
import re

_HEAD = 16384
"""Bytes in which a file shows what it is; a key may come later only where files of that name hold several."""

_NAMES = re.compile(
    r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.(?:p12|pfx|jks|keystore|keytab|kdbx|ppk)"
    r"|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.mylogin\.cnf|\.git-credentials|\.htpasswd|\.dockercfg|\.vault-token"
    r"|\.s3cfg|\.boto|\.terraformrc|terraform\.rc|(?:.*\.)?kubeconfig|master\.key|.*\.tfstate(?:\.backup)?"
    r"|credentials\.json|application_default_credentials\.json|client_secrets?.*\.json",
    re.IGNORECASE,
)
_ENVIRONMENT = re.compile(r"\.env(?:rc|[._-].*)?|.+\.env", re.IGNORECASE)
_EXAMPLE = re.compile(
    r"example|sample|template|dist$|(?<!application_)default|schema|\.(?:py|[cm]?[jt]s|rb|go|md)$",
    re.IGNORECASE,
)
"""Names of what shows how such a file looks, or speaks of one."""
_CODE = re.compile(r"\.(?:py|[cm]?[jt]sx?|rb|go|rs|java|php|md|rst|adoc|html?)$", re.IGNORECASE)
_PATHS = re.compile(
    r"(?:^|/)(?:\.aws/credentials|\.docker/config\.json|\.kube/config|\.gem/credentials"
    r"|\.cargo/credentials(?:\.toml)?|\.config/gh/hosts\.yml)$"
)

_PRIVATE_KEY = re.compile(rb"\s*-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY")
_KEY_IN_BUNDLE = re.compile(rb"^-----BEGIN (?:[A-Z0-9]+ ){0,3}PRIVATE KEY", re.MULTILINE)
_AGE_KEY = re.compile(rb"^AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]{50}", re.MULTILINE)
_SERVICE_ACCOUNT = re.compile(rb'"type"\s*:\s*"service_account"')
_SERVICE_KEY = re.compile(rb'"private_key"\s*:\s*"(-----BEGIN)?')
_SETTING = {
    "credentials": re.compile(rb"^\s*aws_secret_access_key\s*=\s*\S", re.MULTILINE),
    "auth.json": re.compile(
        rb'"(?:auths|http-basic|bearer|(?:github|gitlab|bitbucket)-(?:oauth|token))"\s*:'
    ),
    ".npmrc": re.compile(rb"^\s*.*:_(?:authToken|password|auth)\s*=\s*[^$\s]", re.MULTILINE),
    ".pypirc": re.compile(rb"^\s*password\s*[:=]\s*[^$<\s]", re.MULTILINE),
    ".yarnrc.yml": re.compile(rb"^\s*npmAuthToken\s*:\s*[^$<\s]", re.MULTILINE),
}
"""By the whole name: the setting that makes it a secret."""
_VARIABLE = re.compile(
    rb"^\s*\w*(?:password|secret|token|api_key|access_key|private_key)\w*\s*=\s*\"[^\"$<{\s][^\"]*\"",
    re.MULTILINE | re.IGNORECASE,
)


def is_secret(path: str, data: bytes) -> bool:
    """Whether a file holds credentials, by its name or by what is in it.

    A key in it counts under any name but that of code and prose, a name alone not for an example of one.
    """
    name = path.rpartition("/")[2]
    suffix = name.lower().rpartition(".")[2]
    text = _text(data)
    head = text[:_HEAD]
    if _PRIVATE_KEY.match(head):
        return True
    if suffix in ("pem", "key", "crt", "cer", "ovpn") and _KEY_IN_BUNDLE.search(text):
        return True
    if not _CODE.search(name) and _AGE_KEY.search(head):
        return True
    example = _EXAMPLE.search(name) is not None
    if suffix == "json" and _SERVICE_ACCOUNT.search(head) and (key := _SERVICE_KEY.search(head)):
        return key[1] is not None or not example
    if example:
        return False
    if _NAMES.fullmatch(name) or _ENVIRONMENT.fullmatch(name) or _PATHS.search(path):
        return True
    setting = _VARIABLE if suffix == "tfvars" else _SETTING.get(name)
    return setting is not None and setting.search(head) is not None


def _text(data: bytes) -> bytes:
    """The bytes as UTF-8 without a mark, where a mark says what they are."""
    if data.startswith(codecs.BOM_UTF8):
        return data[len(codecs.BOM_UTF8) :]
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace").encode("utf-8", "replace")
    return data
