"""The model file comes back as it was, and anything else is refused in one sentence."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.base import clone

from fewsight._base.archive import read_archive, write_archive
from fewsight._base.errors import InvalidInput, ModelFileError
from fewsight._base.types import State
from fewsight.kernels import RBF, Kernel
from fewsight.learners import GPClassifier, HistogramGPClassifier, NearestNeighbourClassifier
from fewsight.persistence import load, save

CATEGORIES = ["brick", "grass", "été, 'quoted'"]


@pytest.fixture
def model() -> GPClassifier:
    rng = np.random.default_rng(0)
    labels = np.repeat(CATEGORIES, 5)
    points = rng.normal(size=(15, 4)) + np.repeat(np.arange(3), 5)[:, None]
    return GPClassifier(RBF(scale=2.0)).fit(points, labels)


@pytest.fixture
def model_file(model: GPClassifier, tmp_path: Path) -> Path:
    path = tmp_path / "model.fewsight"
    save(model, path)
    return path


def edited(path: Path, change: Callable[[State], State | None]) -> Path:
    """The same file with its state changed, as by hand."""
    state = read_archive(path)
    state = State(json.loads(json.dumps(state.header)), {name: array.copy() for name, array in state.arrays.items()})
    write_archive(path, change(state) or state)
    return path


def only_sentence(path: Path) -> str:
    """What the refusal says; it must name the file and be one line."""
    with pytest.raises(ModelFileError) as refusal:
        load(path)
    text = str(refusal.value)
    assert text.startswith(f"{path}: ")
    assert text.endswith(".")
    assert "\n" not in text
    return text.removeprefix(f"{path}: ")


def test_a_model_comes_back_with_the_same_categories_and_predictions(model: GPClassifier, model_file: Path) -> None:
    points = np.random.default_rng(1).normal(size=(20, 4))
    restored = load(model_file)
    assert restored.classes_.tolist() == CATEGORIES
    np.testing.assert_allclose(restored.predict_proba(points), model.predict_proba(points), rtol=0, atol=1e-12)
    np.testing.assert_allclose(restored.latent(points).std, model.latent(points).std, rtol=0, atol=1e-12)


def test_integer_and_boolean_labels_come_back_with_their_type(tmp_path: Path) -> None:
    points = np.arange(8.0).reshape(4, 2)
    for labels in ([1, 1, 7, 7], [False, True, False, True]):
        path = tmp_path / "model.fewsight"
        save(GPClassifier(RBF(scale=2.0)).fit(points, labels), path)
        assert load(path).classes_.tolist() == sorted(set(labels))
        assert type(load(path).predict(points)[0].item()) is type(labels[0])


def test_the_same_model_gives_the_same_bytes(model: GPClassifier, model_file: Path, tmp_path: Path) -> None:
    save(model, tmp_path / "again.fewsight")
    assert (tmp_path / "again.fewsight").read_bytes() == model_file.read_bytes()


def test_the_header_says_what_the_file_is_and_who_wrote_it(model_file: Path) -> None:
    header = read_archive(model_file).header
    assert header["format"] == "fewsight model"
    assert header["written_by"].startswith("fewsight ")
    assert header["kind"] == "gp_classifier"


def test_a_file_asks_for_no_newer_version_than_it_needs(model: GPClassifier, tmp_path: Path) -> None:
    path = tmp_path / "model.fewsight"
    assert model.calibration_.prototypes is not None
    save(model, path)
    assert read_archive(path).header["version"] == 5
    model.prototypes = False
    save(model.recalibrate(), path)
    assert read_archive(path).header["version"] == 1  # nothing in it that the first version could not read


def test_what_is_no_kind_of_model_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    class Derived(NearestNeighbourClassifier):
        """Not registered, and none of ours for certain: a file must not name it."""

    other = Derived(RBF(scale=1.0)).fit([[0.0], [1.0]], ["a", "b"])
    with pytest.raises(InvalidInput, match=r"save: the learner Derived must be known by a name of its own"):
        save(other, tmp_path / "model.fewsight")
    with pytest.raises(InvalidInput, match=r"save: model must be one of GPClassifier, .*, got RBF"):
        save(RBF(), tmp_path / "model.fewsight")
    assert list(tmp_path.iterdir()) == []


@dataclass(frozen=True)
class OwnKernel(Kernel):
    """Somebody's kernel that no model file can name."""

    kind: ClassVar[str] = "own"

    def _gram(self, A: np.ndarray, B: np.ndarray | None) -> np.ndarray:
        return A @ (A if B is None else B).T

    def _diag(self, A: np.ndarray) -> np.ndarray:
        return (A**2).sum(axis=1)


def test_a_model_that_could_not_be_opened_again_is_not_written(tmp_path: Path) -> None:
    own = GPClassifier(OwnKernel()).fit(np.eye(4), [1, 1, 2, 2])
    with pytest.raises(
        InvalidInput, match="save: the kernel 'own' is not known here; if it comes from another package"
    ):
        save(own, tmp_path / "model")
    model = GPClassifier(RBF(scale=1.0)).fit(np.eye(4), [1, 1, 2, 2])
    model.noise_variance_ = 1e101
    with pytest.raises(InvalidInput, match=r"holds numbers larger than any model's"):
        save(model, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_said(tmp_path: Path) -> None:
    assert only_sentence(tmp_path / "nowhere.fewsight") == "there is no such file."


def test_a_folder_is_no_model_file(tmp_path: Path) -> None:
    assert only_sentence(tmp_path) == "a folder or a device, not a model file."


def foreign_files() -> dict[str, bytes]:
    zipped = io.BytesIO()
    with zipfile.ZipFile(zipped, "w") as archive:
        archive.writestr("letter.txt", "hello")
    arrays = io.BytesIO()
    np.savez(arrays, codebook=np.ones(3))
    return {
        "empty": b"",
        "jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF" + bytes(500),
        "zip": zipped.getvalue(),
        "npz": arrays.getvalue(),
        "pickle": pickle.dumps({"classes": ["a", "b"]}),
        "text": b"file,category\r\n",
    }


@pytest.mark.parametrize("kind", foreign_files())
def test_a_foreign_file_is_refused(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "model.fewsight"
    path.write_bytes(foreign_files()[kind])
    assert only_sentence(path) == "not a fewsight model file."


def test_an_archive_of_ours_that_is_no_model_is_refused(tmp_path: Path) -> None:
    write_archive(tmp_path / "entry", State({"recipe": {}}, {"descriptors": np.ones((2, 2))}))
    assert only_sentence(tmp_path / "entry") == "not a fewsight model file."


def test_a_file_cut_short_anywhere_is_called_damaged(model_file: Path) -> None:
    whole = model_file.read_bytes()
    for length in range(64, len(whole), max(1, len(whole) // 40)):
        model_file.write_bytes(whole[:length])
        assert only_sentence(model_file) == "a damaged or incomplete model file; copy or learn it again."


def test_a_flipped_byte_is_noticed_or_harmless(model: GPClassifier, model_file: Path) -> None:
    whole, points = model_file.read_bytes(), np.zeros((1, 4))
    expected = model.predict_proba(points)
    refused = 0
    for position in range(0, len(whole), max(1, len(whole) // 150)):
        model_file.write_bytes(whole[:position] + bytes([whole[position] ^ 0x55]) + whole[position + 1 :])
        try:
            np.testing.assert_allclose(load(model_file).predict_proba(points), expected, atol=1e-12)
        except ModelFileError:
            refused += 1
    assert refused > 75


def test_a_newer_file_says_that_fewsight_must_be_updated(model_file: Path) -> None:
    edited(model_file, lambda state: State({**state.header, "version": 6, "kind": "of the future"}, {}))
    assert only_sentence(model_file) == (
        "was written by a newer fewsight (model version 6, this one reads up to 5); update fewsight."
    )


@pytest.mark.parametrize("version", [0, -1, True, "1", None, 1.5])
def test_a_version_that_is_none_is_refused(version: Any, model_file: Path) -> None:
    edited(model_file, lambda state: State({**state.header, "version": version}, state.arrays))
    assert only_sentence(model_file) == f"damaged or edited by hand (its version is {version!r})."


@pytest.mark.parametrize("kind", ["os.system", "", None, ["gp_classifier"], "__class__"])
def test_an_unknown_kind_is_refused(kind: Any, model_file: Path) -> None:
    edited(model_file, lambda state: State({**state.header, "kind": kind}, state.arrays))
    assert only_sentence(model_file) == f"holds a model of a kind this fewsight does not know ({kind!r})."


def test_every_missing_array_is_noticed(model_file: Path) -> None:
    whole = read_archive(model_file)
    for name in whole.arrays:
        write_archive(model_file, State(whole.header, {key: a for key, a in whole.arrays.items() if key != name}))
        assert only_sentence(model_file).startswith("damaged or edited by hand (")


def test_every_array_with_another_shape_is_noticed(model_file: Path) -> None:
    whole = read_archive(model_file)
    for name, array in whole.arrays.items():
        for wrong in (array[:-1], array[None], np.concatenate([array, array])):
            write_archive(model_file, State(whole.header, {**whole.arrays, name: wrong}))
            assert only_sentence(model_file).startswith("damaged or edited by hand ("), name


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_every_array_with_a_number_that_is_none_is_noticed(value: float, model_file: Path) -> None:
    whole = read_archive(model_file)
    for name, array in whole.arrays.items():
        if array.dtype.kind == "f":
            wrong = array.copy()
            wrong.flat[0] = value
            write_archive(model_file, State(whole.header, {**whole.arrays, name: wrong}))
            assert only_sentence(model_file) == f"damaged or edited by hand (array {name} holds NaN or infinity)."


def test_every_missing_key_of_the_header_is_noticed(model_file: Path) -> None:
    whole = read_archive(model_file)
    for key in whole.header["model"]:
        model = {name: value for name, value in whole.header["model"].items() if name != key}
        write_archive(model_file, State({**whole.header, "model": model}, whole.arrays))
        assert only_sentence(model_file).startswith("damaged or edited by hand (")
    write_archive(model_file, State({k: v for k, v in whole.header.items() if k != "model"}, whole.arrays))
    assert only_sentence(model_file) == "damaged or edited by hand (the stored file: model is missing)."


@pytest.mark.parametrize(
    "wrong", [["a"], ["a", "b", "c", "d"], ["a", "a", "b"], [1, 2, 3], [None] * 3, "abc", {}, None]
)
def test_categories_that_do_not_fit_are_noticed(wrong: Any, model_file: Path) -> None:
    edited(model_file, lambda state: state.header["model"].update(classes=wrong))
    assert only_sentence(model_file).startswith("damaged or edited by hand (")


@pytest.mark.parametrize("wrong", [float("nan"), float("inf"), 0, -1.0, "evidence", None, [1.0]])
def test_a_noise_variance_that_is_none_is_noticed(wrong: Any, model_file: Path) -> None:
    edited(model_file, lambda state: state.header["model"].update(noise_variance=wrong))
    assert only_sentence(model_file).startswith("damaged or edited by hand (")


def test_a_header_of_deep_nesting_is_refused(model_file: Path) -> None:
    deep: list[Any] = []
    for _ in range(450):
        deep = [deep]
    edited(model_file, lambda state: state.header.update(model=deep))
    assert only_sentence(model_file).startswith("damaged or edited by hand (")


def test_a_pickled_array_is_never_loaded(model_file: Path, tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return (Path.touch, (tmp_path / "executed",))

    member = io.BytesIO()
    np.save(member, np.array([Trap()], dtype=object), allow_pickle=True)
    with zipfile.ZipFile(model_file, "a") as archive:
        archive.writestr("model/extra.npy", member.getvalue())
    assert only_sentence(model_file) == "a damaged or incomplete model file; copy or learn it again."
    assert not (tmp_path / "executed").exists()


def test_a_full_disk_is_one_sentence_and_the_old_file_stays(model: GPClassifier, model_file: Path) -> None:
    resource = pytest.importorskip("resource", reason="limits as POSIX has them")
    before = model_file.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(
            ModelFileError, match=r"model\.fewsight: could not be written \(.*\); nothing was replaced\."
        ):
            save(model, model_file)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert model_file.read_bytes() == before
    assert [path.name for path in model_file.parent.iterdir()] == [model_file.name]


def test_a_folder_that_does_not_exist_is_one_sentence(model: GPClassifier, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"could not be written \(No such file or directory\)"):
        save(model, tmp_path / "nowhere" / "model.fewsight")


@pytest.mark.parametrize(
    "learner",
    [
        GPClassifier(RBF(scale=2.0)),
        GPClassifier(
            [RBF(scale=1.0), RBF(scale=3.0)], weights="evidence", prior_weights=[1.0, 3.0], unknown_rule="contrast"
        ),
        HistogramGPClassifier(),
        HistogramGPClassifier(feature_transform="power", relevance="evidence", noise_per_class=True),
    ],
)
def test_a_learner_from_a_file_learns_anew_as_the_one_that_was_saved(learner, tmp_path):
    """What was found stays with the model; what was asked for comes back, so that fit does not keep the old noise in silence."""
    rng = np.random.default_rng(0)
    labels = np.array(["ant", "bee", "cat"])[np.arange(60) % 3]
    rows = np.abs(rng.normal(size=(60, 5))) + 2 * np.eye(5)[np.arange(60) % 3]
    fitted = clone(learner).fit(rows, labels)
    save(fitted, tmp_path / "model")
    again = load(tmp_path / "model")
    found = np.atleast_1d(fitted.noise_variance_)
    np.testing.assert_array_equal(again.noise_variance_, found if len(found) > 1 else found[0])
    for name, value in learner.get_params(deep=False).items():
        assert name == "kernel" or again.get_params(deep=False)[name] == value
    np.testing.assert_allclose(
        again.fit(rows[:30], labels[:30]).predict_proba(rows),
        fitted.fit(rows[:30], labels[:30]).predict_proba(rows),
        atol=1e-8,
    )


@pytest.mark.parametrize(
    "asked", [{"noise_variance": -1}, {"kernel": None}, {"weights": "x"}, 3, {"prior_weights": [1, 2]}]
)
def test_what_was_asked_for_is_checked(asked, tmp_path):
    model = GPClassifier(RBF(scale=2.0)).fit(np.eye(4), [0, 0, 1, 1])
    state = model.state()
    with pytest.raises((InvalidInput, TypeError)):
        GPClassifier.from_state(State({**state.header, "asked": asked}, state.arrays))
