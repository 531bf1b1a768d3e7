"""A session as a page meets it: what is answered is kept, what is asked is held, and all of it comes back after a kill."""

from __future__ import annotations

import dataclasses
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pillow
from tests.apps.workbench.digit_project import CHANNELS, OTHER_PAGE, PAGE, digit_project, known_project

from fewsight._base.errors import FewsightError, InvalidInput, ProjectError
from fewsight.apps.workbench import model_thread
from fewsight.apps.workbench import session as session_module
from fewsight.apps.workbench.project import Present, ProjectFile
from fewsight.apps.workbench.project.events import Label, Question
from fewsight.apps.workbench.session import LabellingSession
from fewsight.apps.workbench.session_messages import Answer, PageQuestion
from fewsight.apps.workbench.verbs import Workbench
from fewsight.images import ImageFile

N_DIGITS = 150
N_ANSWERS = int(os.environ.get("FEWSIGHT_ANSWERS", "60"))


@pytest.fixture
def known(folder: Path) -> Path:
    known_project(folder, 12)
    return folder


def opened(folder: Path, cache: Path, who: str = "ann", **options: object) -> LabellingSession:
    """A session over images that were read earlier."""
    return LabellingSession(folder, cache=cache, who=who, **({"n_workers": 0, "channels": CHANNELS} | options))


@pytest.fixture
def plain(known: Path, tmp_path: Path) -> Iterator[LabellingSession]:
    """Without features: questions come in a random order."""
    with opened(known, tmp_path / "cache") as session:
        until(lambda: session.state().n_files == 12)
        yield session


@pytest.fixture(scope="module")
def digits(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, dict[str, str]]:
    place = tmp_path_factory.mktemp("digits")
    return place / "photos", place / "cache", digit_project(place / "photos", place / "cache", N_DIGITS)


@pytest.fixture
def fresh_digits(digits, tmp_path: Path) -> tuple[Path, Path, dict[str, str]]:
    """The same digits in a project of their own; the cache is shared, as a user's projects share theirs."""
    folder = tmp_path / "photos"
    return folder, tmp_path / "cache", digit_project(folder, tmp_path / "cache", N_DIGITS)


def until(condition, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.01)


def label(session: LabellingSession, truth: dict[str, str], number: int, page: str = PAGE) -> PageQuestion:
    """The right answer to the current question, as a person gives it."""
    question = session.questions(page)[0]
    names = {info.name: info.id for info in session.categories()}
    name = truth[question.image]
    key = names.get(name) or session.new_category(page, name, f"{page}-{number}-category").category
    session.answer(page, Answer("label", (question.image,), key), f"{page}-{number}")
    return question


# Questions and answers.


def test_importing_it_loads_nothing_that_learns_or_plots() -> None:
    code = (
        "import sys, fewsight.apps.workbench.session\n"
        "print([name for name in ('matplotlib', 'sklearn', 'numba', 'cv2', 'skimage') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_questions_stay_until_they_are_answered_and_answers_are_on_the_disk(plain: LabellingSession) -> None:
    first = plain.questions(PAGE)
    assert plain.questions(PAGE) == first
    assert len({question.image for question in first}) == 4
    owl = plain.new_category(PAGE, "owl", "c1").category
    receipt = plain.answer(PAGE, Answer("label", (first[0].image,), owl), "r1")
    with ProjectFile(plain.bench.file.path) as project:
        kept = [event for _, event in project.events() if isinstance(event.act, Label)]
    assert [(event.act.image, event.act.category, event.who) for event in kept] == [(first[0].image, owl, "ann")]
    assert receipt.questions[0] == first[1]
    assert (receipt.repeated, receipt.said, receipt.state.n_labelled) == (False, "owl, 1 labelled", 1)
    assert json.loads(json.dumps(dataclasses.asdict(receipt)))["event"] == receipt.event > 0


def test_a_model_that_knows_a_part_of_the_labels_is_not_written(
    plain: LabellingSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    owl = plain.new_category(PAGE, "owl", "c1").category
    plain.answer(PAGE, Answer("label", (plain.questions(PAGE)[0].image,), owl), "r1")
    monkeypatch.setattr(plain, "_has_all_images", lambda: False)
    with pytest.raises(InvalidInput, match="the model knows 0 of 1 labels so far, as images are still being prepared"):
        plain.save_model(tmp_path / "model.fewsight")
    assert plain.plan_sort(tmp_path / "sorted").n_files == 1  # the others are not prepared


def test_why_there_will_be_no_model_is_said_instead_of_wait(plain: LabellingSession, tmp_path: Path) -> None:
    owl = plain.new_category(PAGE, "owl", "c1").category
    plain.answer(PAGE, Answer("label", (plain.questions(PAGE)[0].image,), owl), "r1")
    plain._learning._fail("Learning has stopped: no memory")
    with pytest.raises(InvalidInput, match="there is no model to write: Learning has stopped: no memory"):
        plain.save_model(tmp_path / "model.fewsight")
    plain._supply.failure = "colour: no room."
    with pytest.raises(InvalidInput, match=r"there is no model to write: colour: no room\."):
        plain.save_model(tmp_path / "model.fewsight")


def test_a_request_that_is_sent_twice_counts_once(plain: LabellingSession) -> None:
    owl = plain.new_category(PAGE, "owl", "c1").category
    answer = Answer("label", (plain.questions(PAGE)[0].image,), owl)
    first = plain.answer(PAGE, answer, "r1")
    again = plain.answer(PAGE, answer, "r1")
    assert (again.event, again.repeated, again.state.n_labelled) == (first.event, True, 1)
    assert plain.new_category(PAGE, "owl", "c1").category == owl


def test_every_image_comes_once_and_skipped_ones_last(plain: LabellingSession) -> None:
    asked = [plain.questions(PAGE)[0].image]
    plain.answer(PAGE, Answer("skip", (asked[0],)), "skip")
    number = 0
    while questions := plain.questions(PAGE):
        asked.append(questions[0].image)
        plain.answer(PAGE, Answer("none", (questions[0].image,)), f"r{number}")
        number += 1
    assert number == 12
    assert asked[-1] == asked[0]
    assert len(set(asked)) == 12
    assert plain.state().n_left == 0


def test_undo_brings_the_question_back_and_redo_the_answer(plain: LabellingSession) -> None:
    owl = plain.new_category(PAGE, "owl", "c1").category
    first, second = plain.questions(PAGE)[:2]
    plain.answer(PAGE, Answer("label", (first.image,), owl), "r1")
    back = plain.undo(PAGE, "u1")
    assert (back.said, back.questions[0].image, back.questions[1].image) == (
        "Took back: owl.",
        first.image,
        second.image,
    )
    assert plain.state().n_labelled == 0
    again = plain.redo(PAGE, "u2")
    assert (again.said, again.questions[0].image, again.state.n_labelled) == ("Brought back: owl.", second.image, 1)


def test_two_pages_never_get_one_question(plain: LabellingSession) -> None:
    given: dict[str, set[str]] = {PAGE: set(), OTHER_PAGE: set()}
    failures: list[Exception] = []

    def work(page: str) -> None:
        try:
            for number in range(40):
                questions = plain.questions(page, 2)
                given[page].update(question.image for question in questions)
                if questions:
                    plain.answer(page, Answer("none", (questions[0].image,)), f"{page}-{number}")
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(page,)) for page in given]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert not given[PAGE] & given[OTHER_PAGE]
    assert len(given[PAGE] | given[OTHER_PAGE]) == 12


def test_what_a_closed_page_held_goes_to_others(plain: LabellingSession) -> None:
    held = {question.image for question in plain.questions(PAGE, 12)}
    assert len(held) == 12
    assert plain.questions(OTHER_PAGE, 4) == []
    plain.release(PAGE)
    assert len(plain.questions(OTHER_PAGE, 4)) == 4


def test_fixed_questions_of_a_page_come_back_after_a_kill(known: Path, tmp_path: Path) -> None:
    session = opened(known, tmp_path / "cache")
    until(lambda: session.state().n_files == 12)
    first = session.questions(PAGE)
    owl = session.new_category(PAGE, "owl", "c1").category
    receipt = session.answer(PAGE, Answer("label", (first[0].image,), owl), "r1")
    session.bench.note(session._notes())  # as the watch does twice a second
    session._watch.close(), session._learning.close()  # and nothing that `close` would write
    with opened(known, tmp_path / "cache") as again:
        until(lambda: again.state().n_files == 12)
        assert again.questions(PAGE)[:2] == receipt.questions[:2]
        others = {question.image for question in again.questions(OTHER_PAGE, 12)}
        assert not others & {question.image for question in receipt.questions[:2]}


def test_a_burst_is_one_question(known: Path, tmp_path: Path) -> None:
    with ProjectFile(known / "fewsight.sqlite") as project, project.writing() as connection:
        images = [row[0] for row in connection.execute("SELECT hash FROM images ORDER BY hash")]
        for number, image in enumerate(images[:3]):
            connection.execute("UPDATE images SET taken_at = ?, camera = 'c' WHERE hash = ?", (1000 * number, image))
    with opened(known, tmp_path / "cache") as session:
        until(lambda: session.state().n_files == 12)
        (question,) = [each for each in session.questions(PAGE, 12) if each.image == images[1]]
        assert set(question.group) == {images[0], images[2]}
        owl = session.new_category(PAGE, "owl", "c1").category
        receipt = session.answer(PAGE, Answer("label", (question.image, *question.group), owl), "r1")
        assert receipt.state.n_labelled == 3
        assert not set(images[:3]) & {each.image for each in receipt.questions}
        assert session.undo(PAGE, "u1").state.n_labelled == 0


# Categories, settings, files.


def test_categories_have_keys_and_an_order(plain: LabellingSession) -> None:
    owl, tit = (plain.new_category(PAGE, name, name).category for name in ("owl", "tit"))
    assert [(info.name, info.key) for info in plain.categories()] == [("owl", "1"), ("tit", "2")]
    plain.set_key(tit, "t")
    plain.change_settings({"order": [tit, owl], "name": "Bob"})
    assert [(info.name, info.key) for info in plain.categories()] == [("tit", "t"), ("owl", "1")]
    assert plain.settings() == {"name": "Bob", "keys": {tit: "t"}, "actions": {}, "order": [tit, owl], "channels": []}
    plain.rename(owl, "barn owl", "rename")
    plain.merge(tit, owl, "merge")
    assert [info.name for info in plain.categories()] == ["barn owl"]
    assert plain.state().who == "Bob"


@pytest.mark.parametrize(
    ("act", "sentence"),
    [
        (
            lambda session: session.questions("no page"),
            "a page must be named by 8 to 64 hexadecimal digits, got 'no page'",
        ),
        (lambda session: session.questions(PAGE, 0), "the number of questions must be"),
        (
            lambda session: session.answer(PAGE, Answer("love", ("0" * 40,)), "r"),
            "an answer must be one of 'label', 'none'",
        ),
        (lambda session: session.answer(PAGE, Answer("label", ("0" * 40,)), "r"), "a label needs a category"),
        (lambda session: session.answer(PAGE, Answer("skip", ("0" * 40,)), "r"), "an image must be one that was read"),
        (lambda session: session.answer(PAGE, Answer("skip", ("0" * 40,)), "a:b"), "a request must have 1 to 100"),
        (lambda session: session.undo(PAGE, "r"), "ann has nothing left to undo"),
        (lambda session: session.set_key("none", "1"), "a category must be one of those that exist"),
        (
            lambda session: session.change_settings({"colour": "blue"}),
            "a setting must be one of 'name', 'keys', 'order'",
        ),
        (lambda session: session.change_settings({"channels": "colour"}), "channels must be a list of names"),
        (lambda session: session.sort("gone"), "this plan is no longer there; make it again"),
        (lambda session: session.save_model("m.fewsight"), "no model to write yet"),
        (lambda session: session.loan_offer("none"), "a category must be one of those that exist"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(plain: LabellingSession, act, sentence: str) -> None:
    n_events = len(plain.bench.file.events())
    with pytest.raises(FewsightError, match=sentence) as caught:
        act(plain)
    assert "\n" not in str(caught.value)
    assert [event for _, event in plain.bench.file.events()[n_events:] if not isinstance(event.act, Question)] == []


def test_labels_of_another_program_are_seen_within_two_seconds(plain: LabellingSession) -> None:
    image = plain.questions(PAGE)[0].image
    version = plain.state().version
    with Workbench(plain.bench.folder, who="bob") as other:
        tit = other.new_category("tit")
        other.label(image, tit)
        written = time.monotonic()
    while plain.state().n_labelled == 0 and time.monotonic() < written + 2:
        version = plain.wait(version, 2.0)
    assert plain.state().n_labelled == 1
    assert image not in {question.image for question in plain.questions(PAGE)}
    plain.answer(PAGE, Answer("none", (image,), how="own choice"), "r1")
    assert plain.disagreements()[0].votes == (("ann", "none", None), ("bob", "label", tit))


def test_a_full_disk_refuses_the_answer_and_takes_it_once_there_is_room(
    plain: LabellingSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    image = plain.questions(PAGE)[0].image
    plain.bench.note(plain._notes())
    pages = plain.bench.file.read("PRAGMA page_count")[0][0]
    plain.bench.file.read(f"PRAGMA max_page_count = {pages}")

    def fill_the_pages_that_are_there() -> None:
        for number in range(400):
            plain.answer(PAGE, Answer("skip", (image,), how="own choice"), f"r{number}")

    with pytest.raises(ProjectError, match="no room is left on the disk"):
        fill_the_pages_that_are_there()
    n_events = plain.bench.last_event
    with pytest.raises(ProjectError, match="no room is left on the disk, so nothing was saved"):
        plain.answer(PAGE, Answer("none", (image,)), "wanted")
    assert plain.state().n_none == 0
    assert plain.bench.last_event == n_events
    plain.bench.file.read("PRAGMA max_page_count = 1000000")
    assert plain.answer(PAGE, Answer("none", (image,)), "wanted").state.n_none == 1
    plain.bench.file.check()


# Learning.


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a reply does not always wait for questions that know the answer; here it does."""
    monkeypatch.setattr(session_module, "PATIENCE_SECONDS", 30.0)
    monkeypatch.setattr(session_module, "FIRST_PATIENCE_SECONDS", 30.0)
    monkeypatch.setattr(model_thread, "ASSESS_SECONDS", 0.0)


def test_it_learns_and_says_what_it_thinks(fresh_digits, tmp_path: Path, patient: None) -> None:
    folder, cache, truth = fresh_digits
    with opened(folder, cache) as session:
        assert session.settle(60)
        assert session.state().n_features == N_DIGITS
        asked = [label(session, truth, number) for number in range(45)]
        assert 8 <= sum(question.check for question in asked) <= 10  # every fifth is drawn at random
        assert session.settle(60)
        state = session.state()
        assert (state.model, state.n_learned, state.n_behind) == ("learned", 45, 0)
        assert state.accuracy.startswith("about ")
        assert session.progress().counts[0][2] >= 1
        assert 0.5 < session.progress().accuracy_left_out <= 1.0
        assert [name for name, _, _ in session.progress().cues] == CHANNELS
        curve = session.progress().curve
        assert curve[-1][0] == 45
        assert all(low <= share <= high for _, share, low, high in curve)
        image = session.questions(PAGE)[0].image
        near = session.lookalikes(image, 5)
        assert len(near) == 5
        assert [each.probability for each in near] == sorted((each.probability for each in near), reverse=True)
        guess = session.guess(image)
        assert guess.words in ("sure", "leaning", "no idea")
        assert guess.top[0][2] == max(probability for _, _, probability in guess.top)
        results = session.results(n=N_DIGITS)
        right = [
            truth[item.image] == session._facts.categories[item.category] for item in results.items if not item.labelled
        ]
        assert np.mean(right) > 0.6
        assert sum(n for _, _, n in results.groups) == N_DIGITS
        sure = session.sure_of(results.items[0].category, 3)
        assert not {each.image for each in sure} & set(session._facts.standings)
        wrong = next(image for image in session._facts.images_of[results.items[0].category])
        other = next(info.id for info in session.categories() if info.id != results.items[0].category)
        session.answer(PAGE, Answer("label", (wrong,), other, how="own choice"), "a mistake")
        assert session.settle(60)
        assert wrong in [item.image for item in session.labels(n=8).items]
        session.save_model(tmp_path / "model.fewsight")
        assert (tmp_path / "model.fewsight").stat().st_size > 1000
        preview = session.plan_sort(tmp_path / "sorted")
        assert preview.n_files == N_DIGITS
        assert session.sort(preview.id).n_done == N_DIGITS
        assert session.undo_sort().n_done == N_DIGITS


def run(
    folder: Path, cache: Path, truth: dict[str, str], n_answers: int, reopen_every: int, channels: list[str] = CHANNELS
) -> list[object]:
    """Answers as a person gives them, some skipped, some taken back, some none of these; what was asked and said."""
    said: list[object] = []
    session = opened(folder, cache, channels=channels)
    assert session.settle(60)
    for turn in range(n_answers):
        if reopen_every and turn and turn % reopen_every == 0:
            kill(session)
            session = opened(folder, cache, channels=channels)
            assert session.settle(60)
        said.append(session.questions(PAGE)[:2])  # those behind may be chosen again at any time
        image = session.questions(PAGE)[0].image
        if turn % 13 == 5:
            session.answer(PAGE, Answer("skip", (image,)), f"r{turn}")
        elif turn % 29 == 11:
            session.answer(PAGE, Answer("discard", (image,)), f"r{turn}")
        elif truth[image] == "digit 9" and turn > 20:
            session.answer(PAGE, Answer("none", (image,)), f"r{turn}")
        else:
            label(session, truth, turn)
        assert session.settle(60)
        if turn % 17 == 16:
            session.undo(PAGE, f"u{turn}")
            assert session.settle(60)
    state = session.state()
    said += [state.accuracy, state.advice, state.model, state.n_learned, session.questions(PAGE)[:2]]
    while session.state().can_undo and len(said) < n_answers + 15:
        said.append(session.undo(PAGE, f"last {len(said)}").said)
    session.close()
    return said


def kill(session: LabellingSession) -> None:
    """What a kill leaves: nothing more is written. (Killed for good in `test_killed_at_any_moment`.)"""
    until(lambda: not session._desk.unnoted() or session.bench.note(session._notes()) or True)
    session._watch.close()
    session._learning.close()


@pytest.mark.slow
def test_killed_and_reopened_after_each_20_as_if_it_never_was(tmp_path: Path, patient: None) -> None:
    """60 answers here; FEWSIGHT_ANSWERS=200 for the whole."""
    found = []
    for reopen_every in (0, 20):
        folder, cache = tmp_path / str(reopen_every) / "photos", tmp_path / str(reopen_every) / "cache"
        truth = digit_project(folder, cache, 400)
        found.append(run(folder, cache, truth, N_ANSWERS, reopen_every))
    for place, (never, reopened) in enumerate(zip(*found, strict=True)):
        assert never == reopened, f"turn {place}"


@pytest.mark.slow
def test_a_folder_of_caltech_images_killed_and_reopened(caltech101: Path, tmp_path: Path, patient: None) -> None:
    """60 answers here; FEWSIGHT_ANSWERS=200 for the whole."""
    first, channels, truth = tmp_path / "0", ["colour", "texture"], {}
    (first / "photos").mkdir(parents=True)
    for category in ("Faces", "Leopards", "airplanes", "Motorbikes"):
        for path in sorted((caltech101 / category).iterdir())[: N_ANSWERS // 4 + 5]:
            shutil.copy(path, first / "photos" / f"{category}-{path.name}")
            truth[ImageFile(path).content_hash] = category
    with opened(first / "photos", first / "cache", channels=channels, n_workers=1) as session:
        assert session.settle(300)
        assert session.state().n_features == len(truth)
    shutil.copytree(first, tmp_path / "20")
    found = [
        run(tmp_path / str(every) / "photos", tmp_path / str(every) / "cache", truth, N_ANSWERS, every, channels)
        for every in (0, 20)
    ]
    for place, (never, reopened) in enumerate(zip(*found, strict=True)):
        assert never == reopened, f"turn {place}"


# Real images, real processes.


def photographs(folder: Path, n: int, start: int = 0) -> None:
    rng = np.random.default_rng(start)
    for number in range(start, start + n):
        Pillow.fromarray(rng.integers(0, 256, (40, 60, 3), dtype=np.uint8)).save(folder / f"{number:03}.png")


@pytest.mark.slow
def test_new_photographs_are_found_prepared_and_asked_about(folder: Path, tmp_path: Path) -> None:
    photographs(folder, 4)
    (folder / "broken.png").write_bytes(b"no image")
    with LabellingSession(folder, cache=tmp_path / "cache", who="ann", channels=CHANNELS, n_workers=1) as session:
        until(lambda: session.state().n_read == 4)
        assert session.state().n_unreadable == 1
        assert session.results(group="unread").unreadable[0][0] == "broken.png"
        image = session.questions(PAGE)[0].image
        assert session.picture(image, 320)[:2] == b"\xff\xd8"
        assert session.original_size(image) == (60, 40)
        photographs(folder, 2, start=10)
        session.rescan()
        until(lambda: session.state().n_read == 6)
        assert session.questions(PAGE)[0].image == image
        assert session.settle(60)
        assert session.state().n_features == 6
        pids = session._watch.preparation.pids
        os.kill(pids[0], signal.SIGKILL)
        photographs(folder, 1, start=20)
        session.rescan()
        session.answer(PAGE, Answer("none", (image,)), "r1")  # while the process is replaced
        until(lambda: session.state().n_features == 7)
        assert session._watch.preparation.pids != pids
        pids = session._watch.preparation.pids
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


CHILD = """
import sys, time
from fewsight.apps.workbench.session import LabellingSession
from fewsight.apps.workbench.session_messages import Answer
folder, cache, page, first = sys.argv[1:]
session = LabellingSession(folder, cache=cache, who="ann", channels=["colour"], n_workers=1)
names = {info.name: info.id for info in session.categories()}
key = names.get("a") or session.new_category(page, "a", "category").category
print("pids", *session._watch.preparation.pids, flush=True)
number = int(first)
while True:
    questions = session.questions(page)
    if not questions:
        time.sleep(0.01)
        continue
    kind = number % 5
    if kind == 4:
        session.undo(page, f"act-{number}")
    else:
        answer = Answer("skip", (questions[0].image,)) if kind == 3 else Answer("label", (questions[0].image,), key)
        session.answer(page, answer, f"act-{number}")
    print(number, flush=True)
    number += 1
"""


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path: Path) -> None:
    """10 times here; FEWSIGHT_KILLS=200 for the whole."""
    folder, cache, rng = tmp_path / "photos", tmp_path / "cache", random.Random(0)
    digit_project(folder, cache, N_DIGITS)
    acknowledged: list[int] = []
    first = 0
    for _ in range(int(os.environ.get("FEWSIGHT_KILLS", "10"))):
        command = [sys.executable, "-c", CHILD, str(folder), str(cache), PAGE, str(first)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        pids = [int(pid) for pid in process.stdout.readline().split()[1:]]
        time.sleep(rng.uniform(0.0, 2.5))
        process.kill()
        lines = process.communicate()[0].split()
        killed = time.monotonic()
        acknowledged += [int(line) for line in lines]
        first += len(lines) + 1
        with ProjectFile(folder / "fewsight.sqlite", create=False) as project:
            project.check()
            requests = [event.request for _, event in project.events()]
        kept = [int(request.removeprefix("act-")) for request in requests if request.startswith("act-")]
        assert len(set(requests)) == len(requests)
        assert set(acknowledged) <= set(kept)
        assert len(kept) == len(set(kept))
        while any(alive(pid) for pid in pids) and time.monotonic() < killed + 5:
            time.sleep(0.05)
        assert not any(alive(pid) for pid in pids)
    assert len(acknowledged) > 10


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(")")[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.slow
def test_two_programs_give_500_answers_each(tmp_path: Path) -> None:
    folder, cache = tmp_path / "photos", tmp_path / "cache"
    known_project(folder, 40)
    code = """
import sys
from fewsight.apps.workbench.session import LabellingSession
from fewsight.apps.workbench.session_messages import Answer
folder, cache, who, page = sys.argv[1:]
with LabellingSession(folder, cache=cache, who=who, channels=["colour"], n_workers=0) as session:
    images = []
    while not images:
        images = [question.image for question in session.questions(page, 10)]
    for number in range(500):
        session.answer(page, Answer("skip", (images[number % len(images)],), how="own choice"), f"{who}-{number}")
"""
    pages = {"ann": PAGE, "bob": OTHER_PAGE}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(folder), str(cache), who, page], stderr=subprocess.PIPE, text=True
        )
        for who, page in pages.items()
    ]
    errors = [process.communicate()[1] for process in running]
    assert errors == ["", ""]
    with ProjectFile(folder / "fewsight.sqlite") as project:
        project.check()
        skips = [event for _, event in project.events() if event.act.kind == "skip"]
    assert len(skips) == len({event.request for event in skips}) == 1000


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_500_random_acts_of_two_persons_end_as_the_log_says(tmp_path: Path, seed: int) -> None:
    folder, cache, rng = tmp_path / "photos", tmp_path / "cache", random.Random(seed)
    truth = digit_project(folder, cache, 80)
    images = sorted(truth)
    with opened(folder, cache) as ann, opened(folder, cache, who="bob") as bob:
        assert ann.settle(60)
        assert bob.settle(60)
        for turn in range(500):
            random_act(rng, *rng.choice([(ann, PAGE), (bob, OTHER_PAGE)]), images, truth, turn)
        assert ann.bench.refresh() is not None
        assert bob.bench.refresh() is not None
        assert ann.settle(120)
        assert bob.settle(120)  # what he learns again, she and whoever opens the project take over
        assert ann.settle(120)
        fresh = Present([event for _, event in ann.bench.file.events()])
        for session in (ann, bob):
            assert session.bench.present.standings() == fresh.standings() == dict(session._facts.standings)
            assert session.bench.present.categories == fresh.categories
        ann.bench.file.check()
        means, classes = ann._learning.call(
            lambda model: (model.learner.view_.mean.copy(), list(model.learner.view_.classes))
        )
        with opened(folder, cache) as again:
            assert again.settle(60)
            same, names = again._learning.call(
                lambda model: (model.learner.view_.mean, list(model.learner.view_.classes))
            )
            assert names == classes
            np.testing.assert_allclose(same, means, atol=1e-8)


def random_act(
    rng: random.Random, session: LabellingSession, page: str, images: list[str], truth: dict[str, str], turn: int
) -> None:
    chosen = tuple(rng.sample(images, rng.choice([1, 1, 1, 5])))
    keys = [info.id for info in session.categories()]
    request = f"{page}-{turn}"
    act = rng.random()
    try:
        if act < 0.1 or not keys:
            session.new_category(page, f"name {rng.randrange(6)}", request)
        elif act < 0.5:
            session.answer(page, Answer("label", chosen, rng.choice(keys), "own choice"), request)
        elif act < 0.75:
            kind = rng.choice(["none", "skip", "discard", "clear"])
            session.answer(page, Answer(kind, chosen, how="own choice"), request)
        elif act < 0.8:
            session.merge(rng.choice(keys), rng.choice(keys), request)
        elif act < 0.85:
            session.rename(rng.choice(keys), f"name {rng.randrange(6)}", request)
        else:
            (session.undo if rng.random() < 0.6 else session.redo)(page, request)
    except InvalidInput:
        return  # nothing to undo, a name that is taken


def test_patience_leaves_room_in_the_time_that_an_answer_may_take() -> None:
    assert session_module.PATIENCE_SECONDS < 0.05
