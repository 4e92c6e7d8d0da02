"""The prompts for attempts at cards: texts for the model, not for people."""

from collections.abc import Iterator
from typing import Final

from hermes_acp.core.ports.boards.board_ports import CardWorktree
from hermes_acp.core.ports.boards.cards import Card, Comment
from hermes_acp.runs.board.board_fold import Board
from hermes_acp.runs.board.card_links import awaited

MAX_RESULT_CHARACTERS: Final = 4_000
FIRST: Final = """\
{title}

This is card {card} of the board {board!r}.

{text}"""
BRANCH: Final = """\

This folder is a git worktree for this card alone, on a branch of its own. Your changes are committed and merged for \
you once they are accepted: you need not commit, and must not merge, rebase or push."""
ENDING: Final = """\

Nobody is watching. Work until the card is done, then end with a summary of the result: a person reviews it. If you \
cannot go on without a decision, use ask_user; the card then waits for the answer."""
RESULTS: Final = "\n\nResults of the cards that this one waited for:"
COMMENTS: Final = "\n\nComments on the card:"
AGAIN: Final = "Card {card} ({title}) was sent back to you:\n\n{words}"
RESUMED: Final = "Continue with card {card} ({title})."
MOVED: Final = (
    "[This work continues on another machine. {folder} is a new worktree there, which starts from the commit {base}. "
    "The changes made so far, on the branch {branch} of the first machine, are not in it. Look at what is there before "
    "you continue.]"
)
EDITED: Final = "\n\nThe card's text is now:\n\n{text}"


def attempt_prompt(board: Board, name: str, card: Card) -> str:
    """Return the prompt for a card's current attempt."""
    attempt = card.attempt
    assert attempt, "a prompt requires an attempt"
    if attempt.folder:
        return "".join(_again(card))
    return "".join(_first(board, name, card))


def foreign_sources(board: Board, name: str, card: Card) -> tuple[str, ...]:
    """Return the sources of the prompt parts that no person wrote: an agent's text may quote others."""
    others = (board.cards[each] for each in awaited(board.incoming, card.id) if each in board.cards)
    writers = [
        card.created.by.kind == "agent",
        any(each.by.kind == "agent" for each in card.comments),
        any(each.notes.result for each in others),
    ]
    return (f"card {card.id} of the board {name}",) if any(writers) else ()


def moved_note(branch: str, worktree: CardWorktree) -> str:
    """Return the note for the model when another machine has the changes on the card's branch."""
    return MOVED.format(folder=worktree.folder, base=worktree.base[:12], branch=branch)


def _first(board: Board, name: str, card: Card) -> Iterator[str]:
    text = card.text.strip()
    yield FIRST.format(card=card.id, board=name, title=card.title, text=text).rstrip()
    results = [
        board.cards[each]
        for each in awaited(board.incoming, card.id)
        if each in board.cards and board.cards[each].notes.result
    ]
    if results:
        yield RESULTS
        for each in results:
            yield f"\n\nCard {each.id}, {each.title}:\n{each.notes.result[:MAX_RESULT_CHARACTERS]}"
    yield from _comments(card.comments)
    if card.work.worktree == "own":
        yield "\n" + BRANCH
    yield "\n" + ENDING


def _again(card: Card) -> Iterator[str]:
    if card.notes.words:
        yield AGAIN.format(card=card.id, title=card.title, words=card.notes.words)
    else:
        yield RESUMED.format(card=card.id, title=card.title)
        yield EDITED.format(text=card.text.strip() or card.title)
    attempt = card.attempt
    assert attempt, "a prompt requires an attempt"
    words = card.notes.words
    yield from _comments(tuple(each for each in card.comments if each.text != words))


def _comments(comments: tuple[Comment, ...]) -> Iterator[str]:
    if comments:
        yield COMMENTS
        for each in comments:
            writer = each.by.name or each.by.kind
            yield f"\n- {writer}: {each.text}"
