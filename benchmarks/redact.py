"""How fast secrets are found: MB/s over generated tool output, and the ratio to encoding the same texts.

    python benchmarks/redact.py [MEGABYTES]

Three corpora: listings and test reports without secrets, Python sources of this interpreter's library (code that
speaks of keys and tokens all the time), and an environment dump in which every line holds a secret.
"""

from __future__ import annotations

import glob
import os
import random
import sys
import sysconfig
import time

from rigline.ledger.redact import redact

CHUNK_CHARS = 8_000


def make_reports(random_: random.Random, size: int) -> list[str]:
    """Listings, diffs and test reports, as tools print them."""
    words = ["".join(random_.choices("abcdefghijklmnopqrstuvwxyz", k=random_.randint(2, 9))) for _ in range(4_000)]

    def line() -> str:
        shape = random_.randrange(5)
        word = random_.choice
        if shape == 0:
            return f"src/{word(words)}/{word(words)}.py:{random_.randint(1, 900)}:    {word(words)}({word(words)}=1)"
        if shape == 1:
            return f"tests/test_{word(words)}.py::test_{word(words)} PASSED [{random_.randint(0, 99):3d}%]"
        if shape == 2:
            return (
                f"-rw-r--r-- 1 me me {random_.randint(1, 99999):6d} May  3 10:{random_.randint(10, 59)} {word(words)}.c"
            )
        if shape == 3:
            return f"{random_.getrandbits(160):040x} {' '.join(random_.choices(words, k=8))}"
        return " ".join(random_.choices(words, k=random_.randint(3, 14)))

    return _chunks("\n".join(line() for _ in range(size // 45)))


def read_sources(size: int) -> list[str]:
    """Python sources of the standard library."""
    texts: list[str] = []
    total = 0
    for path in sorted(glob.glob(os.path.join(sysconfig.get_paths()["stdlib"], "**", "*.py"), recursive=True)):
        if "site-packages" in path or total >= size:
            continue
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
        texts += _chunks(text)
        total += len(text)
    return texts


def make_dump(random_: random.Random, size: int) -> list[str]:
    """An environment in which every line is a secret: the worst case of many matches."""
    lines = [f"SERVICE_{n}_API_KEY={random_.getrandbits(160):x}" for n in range(size // 58)]
    return ["\n".join(lines)]


def _chunks(text: str) -> list[str]:
    return [text[at : at + CHUNK_CHARS] for at in range(0, len(text), CHUNK_CHARS)]


def measure(name: str, texts: list[str]) -> None:
    """Print one line of figures."""
    size = sum(map(len, texts)) / 1e6
    encoding = min(_time(lambda: [text.encode() for text in texts]) for _ in range(3))
    counts: dict[str, int] = {}

    def run() -> None:
        counts.clear()
        for text in texts:
            for family, count in redact(text)[1].items():
                counts[family] = counts.get(family, 0) + count

    taken = min(_time(run) for _ in range(3))
    families = ", ".join(f"{count} {family}" for family, count in sorted(counts.items()))
    print(
        f"{name:12}{size:6.1f} MB {size / taken:7.1f} MB/s {taken / encoding:8.1f} x str.encode  found: {families or 0}"
    )


def _time(work: object) -> float:
    assert callable(work)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main() -> None:
    """Measure the three corpora."""
    size = int(float(sys.argv[1]) * 1e6) if len(sys.argv) > 1 else 20_000_000
    random_ = random.Random(7)
    redact("warm up: API_KEY=0123456789abcdef")
    measure("reports", make_reports(random_, size))
    measure("non-ascii", [f"{text} \u00e9\u4e2d" for text in make_reports(random_, size)])
    measure("sources", read_sources(size))
    measure("all secrets", make_dump(random_, size // 10))


if __name__ == "__main__":
    main()
