"""The picker as an app: keys in, screens out, in a terminal that is not there."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine

import pytest
from rich.cells import cell_len
from textual.events import Paste
from textual.pilot import Pilot

from rigline.picking import Place, Standing, tidy
from rigline.readable import measure
from rigline.tui.app import Picker
from rigline.tui.items import LINE_COLUMNS, Item, build_line_item
from rigline.tui.page import Choice, Page
from tests.unit.test_picking import make_line

Play = Callable[[Pilot[Choice]], Coroutine[None, None, None]]
NAMES = ("main", "docs", "解析器-漢字", "emoji-🙂", *(f"line-{number}" for number in range(40)))
WORDS = "修正する 🙂 the parser has a problem with 漢字 " * 9


def make_item(name: str, standing: Standing | None = None) -> Item:
    line = make_line(name, title=f"about {name}", words=WORDS, speaker="you", harnesses=("codex",))
    return build_line_item(line, standing, now_ms=60_000, has_place=False)


def make_page(choose: Callable[[Choice], str | Page | None] = lambda choice: None, **fields: object) -> Page:
    values: dict[str, object] = {
        "title": "Lines of work",
        "items": [make_item(name) for name in NAMES],
        "choose": choose,
        "columns": LINE_COLUMNS,
        "options": ("auto", "claude-code", "codex"),
        **fields,
    }
    return Page(**values)  # type: ignore[arg-type]


def play(page: Page, steps: Play, *, size: tuple[int, int] = (80, 24)) -> Picker:
    """Run the app without a terminal, and what a person does in it."""
    picker = Picker(page)

    async def run() -> None:
        async with picker.run_test(size=size) as pilot:
            await pilot.pause()
            await steps(pilot)

    asyncio.run(run())
    return picker


def read_screen(pilot: Pilot[Choice]) -> list[str]:
    """What the terminal would show."""
    canvas = pilot.app.query_one("Canvas")
    return [canvas.render_line(y).text.rstrip() for y in range(canvas.size.height)]


def find_chosen(pilot: Pilot[Choice]) -> str:
    return next(row for row in read_screen(pilot) if row.startswith("> "))


def test_the_first_screen_shows_the_list_and_the_chosen_line() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        rows = read_screen(pilot)
        assert len(rows) == 24
        assert rows[0].startswith("Lines of work")
        assert find_chosen(pilot).startswith("> main")
        assert any("解析器-漢字" in row for row in rows)
        assert "with < auto >" in rows[-1]

    play(make_page(), steps)


def test_typing_filters_and_enter_chooses_with_the_harness_of_left_and_right() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press(*"LINE-3", "down", "right", "right")
        assert find_chosen(pilot).startswith("> line-30")
        assert "with < codex >" in read_screen(pilot)[-1]
        await pilot.press("enter")

    asked: list[Choice] = []

    def choose(choice: Choice) -> None:
        asked.append(choice)

    picker = play(make_page(choose), steps)
    assert picker.return_value == Choice(key="id-line-30", option="codex")
    assert asked == [picker.return_value]


def test_letters_that_other_programs_take_for_keys_are_letters() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press("j", "k", "q", "question_mark", "space", "left_square_bracket")
        assert "/ jkq? [_" in read_screen(pilot)[1]
        await pilot.press("ctrl+u")
        assert "type to filter" in read_screen(pilot)[1]

    play(make_page(), steps)


def test_wide_characters_are_typed_pasted_and_found() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        pilot.app.post_message(Paste("漢字\nnot this"))
        await pilot.pause()
        assert "/ 漢字_" in read_screen(pilot)[1]
        assert "1 of" not in read_screen(pilot)[0]  # the words of every line have it
        await pilot.press("backspace", "backspace", *"解析器-")
        assert "1 of 44" in read_screen(pilot)[0]
        assert find_chosen(pilot).startswith("> 解析器-漢字")

    play(make_page(), steps)


def test_escape_clears_and_then_leaves_without_a_choice() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press("x", "escape")
        assert "type to filter" in read_screen(pilot)[1]
        assert pilot.app.is_running
        await pilot.press("escape")

    picker = play(make_page(), steps)
    assert (picker.return_value, picker.is_interrupted) == (None, False)


def test_ctrl_c_interrupts_at_once_also_with_a_filter() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press("x", "ctrl+c")

    assert play(make_page(), steps).is_interrupted


def test_what_cannot_be_chosen_says_why_until_the_next_key() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press("enter")
        assert any("its folder is gone" in row for row in read_screen(pilot))
        await pilot.press("down")
        assert not any("its folder is gone" in row for row in read_screen(pilot))
        assert pilot.app.is_running

    play(make_page(lambda choice: f"{choice.key} was not started: its folder is gone."), steps)


def test_a_page_leads_to_the_next_and_escape_back_to_the_same_place() -> None:
    def choose(_choice: Choice) -> Page:
        return make_page(title="Agents", items=[make_item("auto"), make_item("pi")], options=())

    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press("down", "enter")
        assert read_screen(pilot)[0].startswith("Agents")
        assert "Esc back" in read_screen(pilot)[-1]
        await pilot.press("escape")
        assert find_chosen(pilot).startswith("> docs")
        await pilot.press("enter", "down", "enter")

    assert play(make_page(choose), steps).return_value == Choice(key="id-pi")


def test_no_screen_waits_for_what_is_looked_up() -> None:
    gate, is_shown = threading.Event(), threading.Event()

    def look(key: str) -> Item:
        assert gate.wait(10)
        is_shown.set()
        return make_item(key.removeprefix("id-"), Standing(place=Place.GONE))

    async def steps(pilot: Pilot[Choice]) -> None:
        assert find_chosen(pilot).startswith("> main")
        await pilot.press("down", "up")
        assert "gone" not in find_chosen(pilot)
        gate.set()
        while "gone" not in find_chosen(pilot):
            await pilot.pause(0.01)
        assert any("its folder is gone" in row for row in read_screen(pilot))

    play(make_page(look=look), steps)
    assert is_shown.is_set()


@pytest.mark.parametrize("size", [(80, 24), (40, 10), (20, 5), (8, 2), (1, 1), (200, 60)])
def test_every_size_works_and_keys_with_it(size: tuple[int, int]) -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press("end", "up", "pageup", "x", "escape", "right", "home", "down")
        assert len(read_screen(pilot)) == size[1]
        await pilot.press("enter")

    assert play(make_page(), steps, size=size).return_value == Choice(key="id-docs", option="claude-code")


def test_the_screen_follows_the_terminals_size() -> None:
    async def steps(pilot: Pilot[Choice]) -> None:
        await pilot.press("end")
        await pilot.resize_terminal(40, 8)
        await pilot.pause()
        assert len(read_screen(pilot)) == 8
        assert find_chosen(pilot).startswith("> line-39")

    play(make_page(), steps)


@pytest.mark.parametrize(
    "text",
    [
        "漢字ＡＢｱ",
        "🙂🫠☕⌚",
        "👍🏽 ❤️ ☎️ 1️⃣",
        "👩‍💻",
        "🇩🇪",
        "e\u0301",
        "각",
        "नमस्ते ภาษาไทย",
        "עברית العربية",
        "①★→…",
        "\u200b\ufeff",
    ],
)
def test_a_text_is_as_wide_as_the_screen_takes_it_to_be(text: str) -> None:
    assert measure(tidy(text)) == cell_len(tidy(text))


def test_without_colour_the_chosen_row_is_still_marked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    async def steps(pilot: Pilot[Choice]) -> None:
        assert find_chosen(pilot).startswith("> main")
        assert pilot.app.no_color

    play(make_page(), steps)
