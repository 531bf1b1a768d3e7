"""All that a person can do: kept at once, the same after a restart, one sentence where it cannot be done."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fewsight._base.errors import FewsightError, InvalidInput
from fewsight.apps.workbench.project import Asked, Present
from fewsight.apps.workbench.project.catalogue import Reading, known_files, record
from fewsight.apps.workbench.project.events import Label, Question
from fewsight.apps.workbench.verbs import Workbench, check_person
from fewsight.images.capture import Capture
from fewsight.images.hashing import hash_of

NAMES = [f"{number}.jpg" for number in range(8)]
IMAGES = [hash_of(name.encode()) for name in NAMES]


@pytest.fixture
def filled(folder: Path) -> Path:
    """A folder whose images were read once, as the image workers do it; what is in them does not matter here."""
    for name in NAMES:
        (folder / name).write_bytes(name.encode())
    with Workbench(folder, who="ann") as bench:
        bench.scan()
        files = known_files(bench.file)
        record(
            bench.file,
            [
                Reading(path, file.stamp, hash_of(path), None, 4, 3, Capture(1000 * number, "camera"), 9 * 10**18)
                for number, (path, file) in enumerate(files.items())
            ],
        )
    return folder


@pytest.fixture
def bench(filled: Path) -> Iterator[Workbench]:
    with Workbench(filled, who="ann") as opened:
        yield opened


def test_a_day_at_work(bench: Workbench, filled: Path) -> None:
    owl = bench.new_category("owl")
    bench.label(IMAGES[0], owl, asked=Asked("rule", None, 0), notes=[Question(IMAGES[0], "random", "page")])
    bench.skip(IMAGES[1])
    tit = bench.new_category("tit")
    rest = IMAGES[2:]
    bench.label(rest[:2], tit, asked={rest[0]: Asked("grid")})
    events = {event.act.image: event for event in bench.present.events if isinstance(event.act, Label)}
    assert [events[image].asked for image in (IMAGES[0], *rest[:2])] == [Asked("rule", None, 0), Asked("grid"), None]
    assert [event.act for event in bench.present.questions] == [Question(IMAGES[0], "random", "page")]
    bench.none_of_these(rest[2])
    bench.discard(rest[3])
    status = bench.status()
    assert status.counts == {"owl": 1, "tit": 2}
    assert (status.n_files, status.n_labelled, status.n_none, status.n_discarded, status.n_skipped) == (8, 3, 1, 1, 1)
    assert (status.n_bursts, status.n_duplicates, status.n_unread, status.broken) == (1, 0, 0, {})
    assert status.persons == {"ann": 5}
    with Workbench(filled, who="ann") as again:
        assert again.status() == status
        assert again.present.standings() == bench.present.standings()
        while again.status().can_undo:
            again.undo()
        assert again.present.standings() == {}
        while again.status().can_redo:
            again.redo()
        assert again.present.standings() == bench.present.standings()


def test_a_request_that_is_sent_twice_counts_once(bench: Workbench) -> None:
    owl = bench.new_category("owl", request="r1")
    assert bench.new_category("owl", request="r1") == owl
    bench.label(IMAGES[0], owl, request="r2")
    bench.undo(request="r3")
    assert bench.undo(request="r3").repeated
    assert bench.present.categories == {owl: "owl"}  # the second undo did not reach further


def test_labels_of_another_program_are_seen(bench: Workbench, filled: Path) -> None:
    owl = bench.new_category("owl")
    with Workbench(filled, who="bob") as other:
        other.label(IMAGES[:2], owl)
    assert bench.present.labels() == {IMAGES[0]: owl, IMAGES[1]: owl}
    bench.none_of_these(IMAGES[0])
    assert bench.status().disagreements == ["0.jpg: ann says none of these, bob says owl"]


def test_history_in_words(bench: Workbench) -> None:
    owl, tit = bench.new_category("owl"), bench.new_category("tit")
    bench.label(IMAGES[:2], owl)
    bench.skip(IMAGES[2])
    bench.rename(owl, "barn owl")
    bench.borrow(owl, tit)
    bench.refuse_loan(tit, owl)
    bench.merge(tit, owl)
    bench.clear(IMAGES[0])
    bench.undo()
    lines = [(act.what, act.on, act.n_images) for act in bench.history()]
    assert lines == [
        ("undo", True, 0),
        ("label taken back", False, 1),
        ("merged a category into barn owl", True, 0),
        ("barn owl does not borrow from barn owl", True, 0),
        ("barn owl borrows from barn owl", True, 0),
        ("renamed a category to barn owl", True, 0),
        ("skipped", True, 1),
        ("barn owl", True, 2),
        ("new category tit", True, 0),
        ("new category owl", True, 0),
    ]
    assert bench.history(1)[0].what == "undo"
    assert bench.history()[7].files == ("0.jpg", "1.jpg")


def test_a_category_that_was_undone_keeps_its_name_in_the_history(bench: Workbench) -> None:
    bench.label(IMAGES[0], bench.new_category("owl"))
    for _ in range(2):
        bench.undo()
    assert [(act.what, act.on) for act in bench.history()[2:]] == [("owl", False), ("new category owl", False)]


Try = Callable[[Workbench], object]


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (
            lambda bench: bench.new_category("Owl"),
            "the name must be a new one, but 'Owl' differs from 'owl' in case only",
        ),
        (lambda bench: bench.new_category("owl"), "the name must be a new one, but 'owl' is there already"),
        (lambda bench: bench.new_category(" "), "must have 1 to 100 characters and no line breaks, got ''"),
        (lambda bench: bench.new_category("x" * 101), "must have 1 to 100 characters and no line breaks"),
        (lambda bench: bench.rename("none", "tit"), "a category must be one of those that exist, got 'none'"),
        (lambda bench: bench.merge("owl", "owl"), "the categories must be two, got 'owl' twice"),
        (lambda bench: bench.label("../secret", "owl"), "must be named by the 40 digits of its content hash"),
        (lambda bench: bench.label("0" * 40, "owl"), "an image must be one that was read, got '0000"),
        (lambda bench: bench.label([], "owl"), "at least one image is needed, got none"),
        (lambda bench: bench.redo(), "ann has nothing left to redo"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_leaves_nothing(bench: Workbench, act: Try, sentence: str) -> None:
    bench.new_category("owl", request="owl")
    n_events = len(bench.file.events())
    with pytest.raises(FewsightError, match=sentence) as caught:
        act(bench)
    assert "\n" not in str(caught.value)
    assert len(bench.file.events()) == n_events


def test_nothing_left_to_undo(bench: Workbench) -> None:
    with pytest.raises(InvalidInput, match="undo: ann has nothing left to undo"):
        bench.undo()


def test_a_persons_name() -> None:
    assert check_person(" Ann ") == "Ann"
    assert check_person(None)
    for name in ("", "two\nlines", "x" * 101):
        with pytest.raises(InvalidInput, match="a person's name must have 1 to 100 characters in one line"):
            check_person(name)


def test_a_name_that_was_chosen_stays_for_the_account_and_one_that_is_said_counts_first(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "a.miller")
    with Workbench(filled) as bench:
        assert bench.who == "a.miller"
        bench.call_me("Ann ")
        assert bench.who == "Ann"
    for said, who in ((None, "Ann"), ("Bob", "Bob"), (None, "Ann")):
        with Workbench(filled, who=said) as bench:
            assert bench.who == who
    for name, value in (("getpass.getuser", "b.smith"), ("platform.node", "another computer")):
        with monkeypatch.context() as patch:
            patch.setattr(name, lambda value=value: value)
            with Workbench(filled) as bench:
                assert bench.who != "Ann"


def test_a_project_that_must_be_there(folder: Path) -> None:
    with pytest.raises(InvalidInput, match="no project there yet"):
        Workbench(folder, create=False)
    assert list(folder.iterdir()) == []


@pytest.mark.slow
def test_1000_random_operations_of_two_persons_are_what_the_file_says(filled: Path) -> None:
    rng = random.Random(0)
    with Workbench(filled, who="ann") as ann, Workbench(filled, who="bob") as bob:
        done = 0
        while done < 1000:
            bench = rng.choice([ann, bob])
            try:
                random_act(rng, bench)
                done += 1
            except InvalidInput:
                continue  # nothing to undo, a name that is taken
        kept = ann.present.standings(), ann.present.categories, ann.present.loans(), ann.present.skipped()
        assert (bob.present.standings(), bob.present.categories, bob.present.loans(), bob.present.skipped()) == kept
        fresh = Present([event for _, event in ann.file.events()])
        assert (fresh.standings(), fresh.categories, fresh.loans(), fresh.skipped()) == kept
        ann.file.check()


def random_act(rng: random.Random, bench: Workbench) -> None:
    images = rng.sample(IMAGES, rng.randint(1, 3))
    keys = list(bench.present.categories) or [""]
    rng.choice(
        [
            *[lambda: bench.label(images, rng.choice(keys))] * 4,
            lambda: bench.none_of_these(images),
            lambda: bench.skip(images),
            lambda: bench.discard(images),
            lambda: bench.clear(images),
            lambda: bench.new_category(f"name {rng.randrange(8)}"),
            lambda: bench.rename(rng.choice(keys), f"name {rng.randrange(8)}"),
            lambda: bench.merge(rng.choice(keys), rng.choice(keys)),
            lambda: bench.borrow(rng.choice(keys), rng.choice(keys)),
            *[bench.undo] * 4,
            *[bench.redo] * 3,
        ]
    )()


def test_the_workbench_opens_without_learning_and_plotting() -> None:
    code = (
        "import sys, fewsight.apps.workbench, fewsight.apps.workbench.verbs as verbs\n"
        "print([name for name in ('matplotlib', 'sklearn', 'numba', 'cv2', 'skimage') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
