"""Texts with made-up secrets, put together at run time, so that no scanner of repositories takes them for real."""

from __future__ import annotations

import random

_random = random.Random(20260301)
ALNUM = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
HEX = "0123456789abcdef"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


def make(length: int, letters: str = ALNUM) -> str:
    """A body of that length, with letters and digits."""
    return (
        "".join(_random.choices(letters, k=length - 2)) + "a7"
        if letters != UPPER
        else "".join(_random.choices(letters, k=length - 2)) + "Q7"
    )


def hexes(length: int) -> str:
    """Hexadecimal digits."""
    return make(length, HEX)


def make_key(kind: str = "RSA PRIVATE KEY", lines: int = 6) -> str:
    """A PEM block with nothing in it."""
    body = "\n".join([*(make(64) for _ in range(lines)), make(20) + "=="])
    return f"-----BEGIN {kind}-----\n{body}\n-----END {kind}-----"


UUID = "5b7d2c1e-4f6a-4b8c-9d0e-1f2a3b4c5d6e"
PEM = make_key()
ESCAPED_PEM = PEM.replace("\n", "\\n")
TWICE_ESCAPED_PEM = PEM.replace("\n", "\\\\n")
NUMBERED_PEM = "\n".join(f"{n:6}\u2192{line}" for n, line in enumerate(PEM.split("\n"), 1))

#: (family, secret): tokens that are known by their shape alone
TOKENS: list[tuple[str, str]] = [
    ("anthropic", "sk-" + "ant-api03-" + make(40)),
    ("openrouter", "sk-" + "or-v1-" + hexes(64)),
    ("openai", "sk-" + "proj-" + make(30) + "_" + make(20) + "-" + make(8)),
    ("openai", "sk-" + "svcacct-" + make(40)),
    ("openai", "sk-" + make(48)),
    ("github", "ghp" + "_" + make(36)),
    ("github", "gho" + "_" + make(36)),
    ("github", "ghu" + "_" + make(36)),
    ("github", "ghs" + "_" + make(36)),
    ("github", "ghr" + "_" + make(36)),
    ("github", "github_" + "pat_" + make(22) + "_" + make(59)),
    ("gitlab", "glpat" + "-" + make(20)),
    ("aws", "AKIA" + make(16, UPPER)),
    ("aws", "ASIA" + make(16, UPPER)),
    ("google", "AIza" + make(35)),
    ("google", "ya29" + "." + make(60)),
    ("google", "1//" + "0" + make(50)),
    ("google", "GOCSPX" + "-" + make(28)),
    ("slack", "xoxb" + "-123456789012-1234567890123-" + make(24)),
    ("slack", "xoxp" + "-123456789012-" + make(24)),
    ("slack", "xapp" + "-1-A0123456789-1234567890123-" + hexes(40)),
    ("stripe", "sk_" + "live_" + make(24)),
    ("stripe", "rk_" + "live_" + make(24)),
    ("stripe", "whsec" + "_" + make(32)),
    ("telegram", "123456789" + ":AA" + make(33)),
    ("npm", "npm" + "_" + make(36)),
    ("pypi", "pypi" + "-AgEIcHlwaS5vcmc" + make(60)),
    ("huggingface", "hf" + "_" + make(34)),
    ("supabase", "sbp" + "_" + hexes(40)),
    ("sendgrid", "SG" + "." + make(22) + "." + make(43)),
    ("twilio", "SK" + hexes(32)),
    ("discord", "MTk4" + make(22) + "." + make(6) + "." + make(27)),
    ("jwt", "eyJ" + make(20) + ".eyJ" + make(30) + "." + make(43)),
    ("age", "AGE-SECRET-" + "KEY-1" + make(58, UPPER)),
    ("groq", "gsk" + "_" + make(52)),
    ("docker", "dckr_" + "pat_" + make(27)),
    ("digitalocean", "dop_" + "v1_" + hexes(64)),
    ("highlevel", "pit" + "-" + UUID),
    ("private-key", PEM),
    ("private-key", ESCAPED_PEM),
    ("private-key", TWICE_ESCAPED_PEM),
    ("private-key", make_key("OPENSSH PRIVATE KEY")),
    ("private-key", make_key("EC PRIVATE KEY", 2)),
    ("private-key", make_key("PGP PRIVATE KEY BLOCK")),
]

RANDOM = make(24)
WORDY = "correct-horse"

#: (text before, secret, text after, family): secrets that are known by what stands around them
NAMED: list[tuple[str, str, str, str]] = [
    # environment files and dumps
    ("AWS_SECRET_ACCESS_KEY=", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYz9x8y7w6v5", "", "aws"),
    ("export AWS_SESSION_TOKEN='", make(80) + "==", "'", "aws"),
    ("SOME_SERVICE_KEY=", RANDOM, "\nNEXT=1", "key"),
    ("SOME_TOKEN=", hexes(40), "\n", "token"),
    ("MY_SECRET=", "supersecretvalue", "", "secret"),
    ("DB_PASSWORD=", "postgres", "", "password"),
    ("DB_PASSWORD=", "hunter2;with,marks)", "\n", "password"),
    ("PGPASSWORD=", "letmein99", " psql -h db", "password"),
    ("SMTP_PASS=", "letmein99", "", "password"),
    ("GOOGLE_CREDENTIAL=", RANDOM, "", "secret"),
    ("OPENAI_API_KEY_2=", RANDOM, "", "key"),
    ("SECRET_KEY_BASE=", hexes(64), "", "key"),
    ('declare -x API_TOKEN="', "abc def ghi jkl", '"', "token"),
    ("docker run -e API_KEY=", RANDOM, " image", "key"),
    ("$env:API_KEY = '", RANDOM, "'", "key"),
    ("TWILIO_AUTH_TOKEN=", hexes(32), "", "token"),
    (r"PATH=/bin\nAPI_KEY=", RANDOM, r"\nHOME=/root", "key"),
    ("\x1b[32mAPI_KEY\x1b[0m=\x1b[33m", RANDOM, "\x1b[0m", "key"),
    # YAML and ini
    ("password: ", "hunter22", "\n", "password"),
    ("  password: ", "p@ss,w0rd;x", "\n", "password"),
    ("api_key: ", RANDOM, "\n", "key"),
    ("spring.datasource.password=", "hunter22", "\n", "password"),
    ("data:\n  token: ", "aHVudGVyMmh1bnRlcjI=", "\n", "token"),
    ("client-secret = ", RANDOM, "", "secret"),
    # JSON, quoted and escaped once and twice
    ('{"password": "', "hunter22", '"}', "password"),
    ('{"accessToken":"', RANDOM, '","expires":3600}', "token"),
    ('{"AccountKey": "', make(86) + "==", '"}', "key"),
    ('{"SecretAccessKey": "', make(40), '"}', "key"),
    ('{"clientSecret": "', RANDOM, '"}', "secret"),
    (r"{\"api_key\": \"", RANDOM, r"\"}", "key"),
    (r"{\\\"api_key\\\": \\\"", RANDOM, r"\\\"}", "key"),
    (r"{\"DB_PASSWORD\": \"", "hunter22", r"\", \"x\": 1}", "password"),
    ('"private_key": "', ESCAPED_PEM, r'\n", "x": 1', "private-key"),
    # code
    ('const API_KEY: string = "', RANDOM, '";', "key"),
    ("password = 'hunter22'".partition("hunter22")[0], "hunter22", "'", "password"),
    ('password: str = "', "hunter22", '"', "password"),
    ("'password' => '", "hunter22", "',", "password"),
    ("client = Client(api_key='", RANDOM, "')", "key"),
    # headers in text, JSON, curl, tracebacks
    ("Authorization: Bearer ", "abc123def", "\nHost: x", "authorization"),
    ("> authorization: Basic ", "dXNlcjpwYXNz", "\n", "authorization"),
    ("Proxy-Authorization: Basic ", "dXNlcjpwYXNz", "", "authorization"),
    ("curl -H 'Authorization: token ", hexes(40), "' https://api", "authorization"),
    ('curl -H "X-Api-Key: ', RANDOM, '" https://api', "header"),
    ("PRIVATE-TOKEN: ", RANDOM, "", "header"),
    ('{"Authorization": "Bearer ', RANDOM, '"}', "authorization"),
    (r"{\"Authorization\": \"Bearer ", RANDOM, r"\"}", "authorization"),
    ("requests.get(headers={'Authorization': 'Bearer ", RANDOM, "'}) failed", "authorization"),
    ("map[Authorization:[Bearer ", RANDOM, "] Accept:[*/*]]", "authorization"),
    ("(b'authorization', b'Bearer ", RANDOM, "')", "authorization"),
    (
        "Authorization: AWS4-HMAC-SHA256 ",
        "Credential=x/20260301/s3, Signature=" + hexes(64),
        "\nHost: y",
        "authorization",
    ),
    ("Cookie: ", "session=abc123def; theme=dark", "\nHost: x", "cookie"),
    ("< set-cookie: ", "sid=s%3Aabc123def456; Path=/; HttpOnly", "\n", "cookie"),
    ('{"Cookie": "', "session=abc123def", '"}', "cookie"),
    ("sent Bearer ", make(32), " to the server", "bearer"),
    # URLs and files of credentials
    ("postgres://app:", "hunter2", "@db.internal:5432/app", "url"),
    ("https://user:", "pass", "@example.com/x", "url"),
    ("redis://:", "hunter2", "@cache:6379/0", "url"),
    ("mongodb+srv://app:", "p@ss", "@cluster0.example.net/?retryWrites=true", "url"),
    ("https://", make(40), "@git.example.com/x.git", "url"),
    ("https:\\/\\/user:", "hunter2", "@example.com\\/x", "url"),
    ("jdbc:postgresql://h/db?user=x&password=", "hunter22", "&ssl=true", "password"),
    ("Server=db;User Id=sa;Password=", "hunter22", ";Encrypt=true", "password"),
    ("//packages.example.org/:_authToken=", UUID, "\n", "token"),
    ("_auth=", "dXNlcjpwYXNzdzByZA==", "\n", "basic"),
    ("machine api.example.com\n  login me\n  password ", "letmein", "\n", "netrc"),
    ("mysql --password ", "hunter22", " db", "password"),
    ("tool --api-key=", RANDOM, " run", "key"),
    ("curl -u admin:", "hunter2", " https://example.com", "curl"),
]

#: texts in which nothing is a secret
HARMLESS: list[str] = [
    "max_tokens = 100",
    "token_count: 5",
    "tokens: 12345678",
    '"input_tokens": 1234, "output_tokens": 99',
    'API_KEY=os.environ["X"]',
    'API_KEY = os.environ["API_KEY"]',
    'api_key = os.getenv("OPENAI_API_KEY")',
    "apiKey: process.env.OPENAI_API_KEY,",
    "API_KEY=$OTHER_KEY",
    "API_KEY=${API_KEY:-}",
    'API_KEY="$(cat /run/key)"',
    "TOKEN: ${{ secrets.GITHUB_TOKEN }}",
    "password: {{ db_password }}",
    "API_KEY=<your key>",
    "API_KEY=your-api-key-here",
    "API_KEY=xxxxxxxxxxxxxxxx",
    "API_KEY=****************",
    "API_KEY=",
    'API_KEY=""',
    "password: str",
    "password: str | None = None",
    "password: Optional[str] = None",
    "password: Annotated[str, Field(min_length=8)]",
    "password: z.string().min(8),",
    "password: string;",
    "secret_key = None",
    "secret: null",
    "self.token = token",
    "self._token = config.token",
    "token = get_token()",
    "token = tokens[0]",
    "token = await self.fetch_token(user_id=7)",
    "token=token2, secret=secret_v2",
    "def login(user, password=password, token=self.token):",
    "if token == expected_token1234567890:",
    "Token::new(1234567890)",
    "key=lambda pair: pair[0]",
    '{"key": "value-1234567890", "sort_key": "created_at_2024"}',
    "primary_key=True",
    'PRIMARY_KEY = "user_id_1234567890"',
    "cache_key: 3f2a1b0c4d5e6f708192a3b4c5d6e7f8a9b0c1d2",
    'EOS_TOKEN = "<|endoftext|>"',
    'next_page_token: "CAUQAA1234567890abcdef"',
    'PASSWORD_RESET: "/reset-password"',
    '"password": "Password must have at least 8 characters"',
    '"password": "Passwort"',
    "'password' => 'required|confirmed'",
    'type: "password"',
    "private_key: /etc/ssl/private/server.key",
    "ssh_key: ~/.ssh/id_ed25519",
    "PWD=/home/user/src",
    "monkey: banana1234567890, turkey=1234567890abcdef",
    "tests pass: 123456, fail: 0",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    'headers["Authorization"] = f"Bearer {token}"',
    'headers = {"Authorization": "Bearer " + token}',
    "Authorization: Bearer authentication is required",
    "authorization = self.headers.get('authorization')",
    "Cookie: a small sweet thing",
    "Cookie: theme=dark",
    "document.cookie = 'name=' + value",
    "http://localhost:8080/path@2",
    "https://example.com:443/@scope/name",
    "git@github.com:org/repo.git",
    "docker pull image:tag@sha256:" + hexes(64),
    "https://user:${PASSWORD}@example.com",
    "https://${USER}:***@example.com",
    "commit " + hexes(40),
    "id: " + UUID,
    "sha256:" + hexes(64),
    "data:image/png;base64," + make(4000) + "==",
    'if line == "-----BEGIN RSA PRIVATE KEY-----":',
    '.replace("-----BEGIN PRIVATE KEY-----", "").replace("-----END PRIVATE KEY-----", "")',
    "-----BEGIN CERTIFICATE-----\n" + make(64) + "\n-----END CERTIFICATE-----",
    "-----BEGIN PUBLIC KEY-----\n" + make(64) + "\n-----END PUBLIC KEY-----",
    "ssh-ed25519 AAAA" + make(64) + " user@host",
    "task-sk-learn, disk-based, risk-or-reward-analysis-of-things",
    '<div class="sk-fading-circle-of-something-very-long">',
    "npm_config_cache, npm_package_name",
    "half_done, shelf_life, hf_hub_download",
    "the password is changed with the token of the secret key",
    "docker run -u 1000:1000 image",
    "login with password authentication",
    "uses: actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683",
    "const token = jwt.sign(payload, key)",
    "secretName: tls-certificate-2024",
    "secretKeyRef:\n  name: app-secrets\n  key: token",
    "password = getpass.getpass()",
    "password=$(op read op://vault/item/password)",
    "arn:aws:secretsmanager:eu-west-1:123456789012:secret:name-AbCdEf",
    "credentials: 'same-origin'",
    "Basic usage: see below",
    "1.2.3-beta.4+build.567",
    "[redacted:github]",
    "API_KEY=[redacted:key]",
]
