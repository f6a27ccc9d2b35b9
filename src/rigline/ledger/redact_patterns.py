"""What a secret looks like, as data. `redact` gives these tables their meaning.

Shapes are those that the issuers publish or that their tokens are seen to have; lengths are lower bounds where an
issuer has changed them before.
"""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: a run of bytes that a token may be made of: name -> the inside of a character class
CHARSETS: dict[str, str] = {
    "alnum": "A-Za-z0-9",
    "word": "A-Za-z0-9_",
    "dash": "A-Za-z0-9_-",
    "dots": "A-Za-z0-9_.-",
    "upper": "A-Z0-9",
    "updash": "A-Z0-9-",
    "hex": "0-9a-f",
    "hexdash": "0-9a-fA-F-",
    "base64": "A-Za-z0-9+/=_-",
    "percent": "A-Za-z0-9%_-",
    "path": "A-Za-z0-9/_-",
    "bearer": "A-Za-z0-9._~+/=-",
}

#: (family, prefixes, charset, least length after the prefix, exact length or None, further check)
TOKENS: tuple[tuple[str, tuple[str, ...], str, int, int | None, str], ...] = (
    ("anthropic", ("sk-ant-",), "dash", 16, None, ""),
    ("openrouter", ("sk-or-",), "dash", 20, None, "digit"),
    ("openai", ("sk-proj-", "sk-svcacct-", "sk-admin-", "sk-None-"), "dash", 20, None, ""),
    ("langfuse", ("sk-lf-",), "hexdash", 36, 36, ""),
    ("openai", ("sk-",), "alnum", 20, None, ""),
    ("github", ("ghp_", "gho_", "ghu_", "ghr_"), "alnum", 20, None, ""),
    ("github", ("ghs_",), "dots", 20, None, ""),
    ("github", ("github_pat_",), "word", 20, None, ""),
    (
        "gitlab",
        ("glpat-", "gloas-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-"),
        "dots",
        16,
        None,
        "",
    ),
    ("aws", ("AKIA", "ASIA", "ABIA", "ACCA"), "upper", 16, 16, ""),
    ("google", ("AIza",), "dash", 35, 35, ""),
    ("google", ("ya29.", "1//0", "GOCSPX-"), "dash", 20, None, ""),
    ("slack", ("xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxe-", "xoxc-"), "dash", 10, None, "digit"),
    ("slack", ("xoxe.xoxb-", "xoxe.xoxp-", "xapp-"), "dash", 16, None, "digit"),
    ("slack", ("xoxd-",), "percent", 16, None, ""),
    ("slack", ("hooks.slack.com/services/",), "path", 30, None, "digit"),
    ("stripe", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), "alnum", 16, None, ""),
    ("stripe", ("whsec_",), "base64", 20, None, ""),
    ("npm", ("npm_",), "alnum", 36, 36, ""),
    ("pypi", ("pypi-",), "dash", 60, None, ""),
    ("huggingface", ("hf_",), "alnum", 30, None, ""),
    ("supabase", ("sbp_",), "alnum", 36, None, ""),
    ("supabase", ("sb_secret_",), "dash", 20, None, ""),
    ("sendgrid", ("SG.",), "dots", 40, None, "dot"),
    ("twilio", ("SK", "AC"), "hex", 32, 32, ""),
    ("jwt", ("eyJ",), "dots", 20, None, "jwt"),
    ("age", ("AGE-SECRET-KEY-",), "updash", 40, None, ""),
    ("facebook", ("EAA",), "alnum", 100, None, "digit"),
    ("highlevel", ("pit-",), "hexdash", 36, 36, ""),
    ("digitalocean", ("dop_v1_", "doo_v1_", "dor_v1_"), "hex", 64, None, ""),
    ("shopify", ("shpat_", "shpss_", "shpca_", "shppa_"), "alnum", 32, None, ""),
    ("groq", ("gsk_",), "alnum", 40, None, ""),
    ("xai", ("xai-",), "alnum", 60, None, ""),
    ("perplexity", ("pplx-",), "alnum", 40, None, ""),
    ("replicate", ("r8_",), "alnum", 37, 37, ""),
    ("cerebras", ("csk-",), "alnum", 40, None, ""),
    ("nvidia", ("nvapi-",), "dash", 60, None, ""),
    ("tavily", ("tvly-",), "dash", 20, None, "digit"),
    ("langsmith", ("lsv2_pt_", "lsv2_sk_"), "word", 30, None, ""),
    ("tailscale", ("tskey-",), "dash", 20, None, "digit"),
    ("docker", ("dckr_pat_",), "dash", 20, None, ""),
    ("vault", ("hvs.", "hvb."), "dash", 24, None, "digit"),
    ("doppler", ("dp.pt.", "dp.st."), "dots", 40, None, ""),
    ("grafana", ("glsa_", "glc_"), "base64", 32, None, ""),
    ("atlassian", ("ATATT3", "ATCTT3"), "base64", 60, None, ""),
    ("linear", ("lin_api_",), "alnum", 32, None, ""),
    ("notion", ("ntn_",), "alnum", 40, None, ""),
    ("figma", ("figd_",), "dash", 30, None, ""),
    ("rubygems", ("rubygems_",), "hex", 48, None, ""),
    ("newrelic", ("NRAK-",), "upper", 27, 27, ""),
    ("postman", ("PMAK-",), "hexdash", 40, None, ""),
    ("sentry", ("sntrys_", "sntryu_"), "base64", 40, None, ""),
    ("square", ("sq0atp-", "sq0csp-"), "dash", 20, None, ""),
    ("pulumi", ("pul-",), "hex", 40, 40, ""),
    ("databricks", ("dapi",), "hex", 32, 32, ""),
    ("fly", ("fm2_",), "base64", 100, None, ""),
)

#: prefixes that nothing else has, so that they count in the middle of a word too
UNMISTAKABLE = frozenset(
    {"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "xoxb-", "xoxp-", "xapp-"}
    | {"sk_live_", "rk_live_", "whsec_", "AGE-SECRET-KEY-", "sk-ant-api", "hooks.slack.com/services/"}
)

#: how the name of an assigned secret ends; case does not matter
NAME_ENDS = "key|token|secret|password|passwd|passphrase|pwd|pass|credentials?|_auth|authorization|cookie"

#: what may stand behind that ending and leave it a secret: OPENAI_API_KEY_2, SECRET_KEY_BASE, TOKEN_PROD
NAME_TAILS = "_?[0-9]{1,3}|_base|_prod|_production|_dev|_development|_staging|_test|_live|_old|_new|_value"

#: flags that take a secret as the next word
FLAG_ENDS = "password|passwd|passphrase|token|secret|api-?key|access-?key|secret-?key"

#: words before `key` that make a lower-case or camel-case name one of a secret
KEY_KINDS = _words(
    "api access secret private encryption encrypt signing sign auth account service master client subscription "
    "license shared deploy admin root hmac jwt sas ssh session cipher crypto webhook ingest write aes app"
)

#: words before a lower-case `pass` that make it a password
PASS_KINDS = _words("db database smtp mail email imap user root admin mysql pg postgres redis ftp auth login")

#: names written in one word
JOINED_NAMES = _words(
    "apikey secretkey accesskey privatekey authkey signingkey masterkey encryptionkey accountkey sharedaccesskey "
    "apisecret clientsecret apitoken authtoken accesstoken refreshtoken bottoken usertoken"
)

#: words before the last one of a name that make it the name of something else
HARMLESS_KINDS = _words(
    "primary foreign sort partition cache public storage object index group registry hot composite unique range hash "
    "routing query config settings idempotency translation lookup map dict shortcut dedupe dedup i18n locale react row "
    "column state event message menu label title lock redis queue topic natural surrogate candidate sorting "
    "next page continuation start end eos bos pad sep cls mask unk special max min num total stop image prompt "
    "completion input output reasoning per of cancellation count pub verify verifying issue jira project"
)

#: request headers whose value is a credential, besides every `x-...-key|token|secret`
HEADERS = _words(
    "authorization proxy-authorization cookie set-cookie x-api-key api-key private-token job-token "
    "x-auth-token x-amz-security-token dd-api-key ocp-apim-subscription-key"
)

#: values that are types or words of a schema and no passwords
TYPE_WORDS = _words(
    "string str text bytes required optional password passwd none null nullable hidden include omit basic bearer "
    "undefined boolean true false number integer varchar secret token unset empty sha1 sha256 sha512 md5 bcrypt "
    "argon2 argon2id scrypt base64 base32 base58 utf8 utf-8 latin1 random-string random uuid uuid4 uuidv4 prompt "
    "disabled enabled confirmed invalid incorrect missing unknown default"
)

#: words that show, in a value without digits, that somebody has still to fill it in
PLACEHOLDER_WORDS = ("your", "example", "placeholder", "changeme", "change-me", "change_me", "replace", "insert")
PLACEHOLDER_PARTS = ("xxxx", "XXXX", "****", "....", "\u2022\u2022\u2022", "\u2026", "redacted", "REDACTED", "[secure]")

#: how a value begins that points at the secret and is none
REFERENCE_STARTS = (
    "os.", "process.env", "env.", "ENV[", "env(", "ENC[", "!", "op://", "vault:", "arn:", "ref+", "secrets.", "vars.",
    "import.meta", "http://", "https://", "file:", "{{", "-----BEGIN", "&", "=",
)  # fmt: skip
REFERENCE_PARTS = ("${", "$(", "#{", "%(", "{{", "<%")
