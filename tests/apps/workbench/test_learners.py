"""Every registered learner can be asked for by name, learned, stored and asked; what it cannot do is one sentence."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from fewsight._base.errors import InvalidInput
from fewsight.apps.workbench import learners
from fewsight.apps.workbench.learners import (
    WantedLearners,
    check_memory,
    choose_learner,
    make_learners,
    new_learner,
    share_described,
    usual_channels,
    way_of,
)
from fewsight.channels import Colour, DensePmk, FisherDog, Phog, Pretrained, SpatialPmk
from fewsight.images import FeatureCache, ImageFile, image_set_from_class_folders
from fewsight.learners import (
    LEARNERS,
    GPClassifier,
    HistogramGPClassifier,
    KernelCombination,
    Learner,
    SparseGPClassifier,
    SVMClassifier,
)
from fewsight.learners.histogram_gp import BESIDE
from fewsight.persistence import load

TWO = (
    *("--channels", "spatial_pmk,dense_pmk", "--set", "spatial_pmk.n_words=20"),
    *("--set", "spatial_pmk.n_descriptors=2000", "--set", "dense_pmk.n_descriptors=2000"),
)
PARTS = (
    *("--channels", "fisher_dog,fisher_harris"),
    *(f"--set={name}.{option}" for name in ("fisher_dog", "fisher_harris") for option in ("width=64", "n_starts=1")),
)
PLAIN = [name for name, kind in LEARNERS.items() if kind.needs.takes_rows]  # those that take any channel
Run = Callable[..., Result]
Refused = Callable[..., str]


@pytest.mark.parametrize("name", LEARNERS)
def test_learn_writes_a_model_of_any_learner_and_predict_reads_it(
    name: str, run: Run, photos: Path, tmp_path: Path
) -> None:
    learned = run("learn", photos, "-o", tmp_path / "model", "--learner", name, *(TWO if name in PLAIN else PARTS))
    assert learned.exit_code == 0, learned.output
    assert "What decides: " in learned.stdout
    model = load(tmp_path / "model")
    assert type(model) is LEARNERS[name]
    assert run("predict", tmp_path / "model", photos, "-o", tmp_path / "table.csv", "--probabilities").exit_code == 0
    with (tmp_path / "table.csv").open() as table:
        rows = list(csv.DictReader(table))
    assert sum(Path(row["file"]).parent.name == row["category"] for row in rows) > 20
    says = model.assess([photos / "brick" / "0.png"]).unknown is not None
    assert {row["unknown"] for row in rows} <= ({"yes", "no"} if says else {""})


@pytest.mark.parametrize("command", ["learn", "evaluate"])
def test_the_help_names_every_learner(command: str, run: Run) -> None:
    words = run(command, "--help").stdout.replace("│", " ").replace(",", " ").split()
    assert set(LEARNERS) <= set(words)


def test_evaluate_takes_every_learner_and_the_report_shows_parts_where_they_are_modelled(
    run: Run, photos: Path, tmp_path: Path
) -> None:
    small = ("--per-class", "3", "--test-per-class", "2", "--repeats", "1", "--combine", "none")
    for names, channels in ((PLAIN, TWO), (["generative"], PARTS)):
        page = tmp_path / f"{names[0]}.html"
        result = run("evaluate", photos, "--learners", ",".join(names), *small, *channels, "--report", page)
        assert result.exit_code == 0, result.output
        assert all(f" {name} " in result.stdout for name in names)
        assert ('id="parts"' in page.read_text()) == (channels == PARTS)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--learner", "svm", "--borrow"], "learn: svm cannot be used: its categories cannot borrow."),
        (["--learner", "knn"], "learn: learner must be one of 'auto', 'gp', "),
        (["--learner", "svm", "--noise", "0.1"], "noise_variance is a setting of gp, which is not asked for."),
        (["--learner", "svm", "--combine", "evidence", *TWO], "learn: svm: combine must be one of 'average', got"),
        (["--learner", "combination", "--combine", "average", *TWO], "combine must be one of 'evidence', got"),
    ],
)
def test_what_a_learner_cannot_do_is_refused_before_any_image_is_described(
    arguments: list[str], sentence: str, refused: Refused, photos: Path, tmp_path: Path
) -> None:
    assert sentence in refused("learn", photos, "-o", tmp_path / "model", *arguments)
    assert not list(tmp_path.iterdir())


def test_a_new_learner_combines_several_channels_in_the_way_asked_for() -> None:
    channels = [SpatialPmk(), SpatialPmk(n_words=20)]
    assert new_learner("gp", channels, "evidence", 0.5).get_params()["weights"] == "evidence"
    assert new_learner("gp", channels, "average", 0.5).get_params()["noise_variance"] == 0.5
    assert new_learner("histogram_gp", channels, "evidence", None).get_params()["relevance"] == "channels"
    assert new_learner("histogram_gp", channels[:1], "evidence", None).get_params()["relevance"] == "none"


def test_the_way_to_combine_is_the_learners_own_unless_one_is_wanted() -> None:
    channels = [SpatialPmk(), Phog()]
    assert [way_of(kind, channels, None) for kind in (GPClassifier, SVMClassifier, KernelCombination)] == [
        "evidence",
        "average",
        "evidence",
    ]
    assert way_of(HistogramGPClassifier, channels, "average") == "average"
    with pytest.raises(InvalidInput, match="combine 'average' needs two or more channels, got only phog"):
        way_of(GPClassifier, channels[1:], "average")


def test_the_noise_goes_to_the_first_learner_that_has_one() -> None:
    made = make_learners(["histogram_gp", "gp"], noise_variance=0.25)
    assert made["gp"].get_params()["noise_variance"] == 0.25
    assert made["histogram_gp"].get_params()["noise_variance"] == "auto"
    assert (
        make_learners(["nn", "combination"], noise_variance=0.25)["combination"].get_params()["noise_variance"] == 0.25
    )


@pytest.mark.parametrize("name", LEARNERS)
def test_a_learner_that_is_named_is_taken(name: str) -> None:
    assert choose_learner(name, 10, 2, [SpatialPmk() if name in PLAIN else FisherDog()]).name == name


def test_a_learner_of_models_takes_a_channel_that_models_images_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        InvalidInput,
        match="learn: generative cannot be used: phog does not model images, as fisher_kb, fisher_dog, fisher_harris, "
        r"fisher_hessian do\.",
    ):
        choose_learner("generative", 10, 2, [Phog()])
    monkeypatch.delenv("FEWSIGHT_CHANNELS")
    names, remarks = usual_channels(None, ["generative"])
    assert names == ("fisher_kb",)
    assert remarks[0].startswith("Took fisher_kb alone: generative cannot use ")


def gigabytes(monkeypatch: pytest.MonkeyPatch, number: float) -> None:
    monkeypatch.setattr(learners, "memory_of_this_machine", lambda: int(number * 2**30))


def test_a_refusal_for_want_of_memory_names_what_would_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    words, many = [SpatialPmk()], 200_000
    gigabytes(monkeypatch, 8)
    with pytest.raises(InvalidInput, match=r"200,000 images would need about .* there are 8; use at most") as refusal:
        check_memory(HistogramGPClassifier(), many, 100, words)
    assert str(refusal.value).endswith("images, or --learner sparse_gp.")
    most = int(re.findall(r"at most ([\d,]+) images", str(refusal.value))[0].replace(",", ""))
    check_memory(HistogramGPClassifier(), most, 100, words)
    with pytest.raises(InvalidInput):
        check_memory(HistogramGPClassifier(), most + 1, 100, words)
    check_memory(SparseGPClassifier(), many, 100, words)
    gigabytes(monkeypatch, 0.3)
    with pytest.raises(InvalidInput, match=r"use at most [\d,]+ images\.$"):
        check_memory(SparseGPClassifier(), many, 100, words)


def test_memory_counts_the_network_only_where_images_must_still_be_described(photos: Path, tmp_path: Path) -> None:
    images = image_set_from_class_folders(photos).images
    channel = Colour(cache=FeatureCache(tmp_path / "cache"))
    assert share_described(images, [channel]) == 0
    channel.prepare(images[: len(images) // 2])
    assert share_described(images, [channel]) == pytest.approx(0.5, abs=0.1)
    channel.prepare(images)
    assert share_described(images, [channel]) == 1
    assert share_described(images, [channel, Colour()]) == 0  # which has no cache
    assert not channel.is_described(ImageFile(tmp_path / "no such file"))
    learner, network = SparseGPClassifier(), [Pretrained()]
    cold, half, warm = (learner.memory_needed(1_000, 10, network, share) for share in (0.0, 0.5, 1.0))
    assert cold == half == learner.memory_needed(1_000, 10, network)
    assert cold - warm > 150e6
    # Of 5,000 images the cache keeps local features of the 2,000 inducing points alone.
    assert learner.memory_needed(5_000, 10, network, 0.4) == learner.memory_needed(5_000, 10, network, 1.0)


def test_memory_of_a_histogram_learner_counts_the_matrix_where_it_will_be_formed() -> None:
    learner, words = HistogramGPClassifier(), [SpatialPmk()]
    needed = [learner.memory_needed(n, 100, words) for n in (7_000, 14_000, 15_000)]
    assert needed[1] - 2 * needed[0] + BESIDE == 2 * 4 * 7_000**2  # it grows with the square
    assert needed[2] < needed[1]  # and is not there where it would be larger than twice the histograms


def test_evaluate_refuses_a_learner_that_does_not_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    gigabytes(monkeypatch, 8)
    with pytest.raises(InvalidInput, match=r"evaluate: 50,000 images .* use at most .*, or --learner sparse_gp\.$"):
        WantedLearners(("gp",)).made(50_000, 100, [Colour()])


@pytest.mark.parametrize("learner", [HistogramGPClassifier(), SparseGPClassifier(), GPClassifier()])
def test_more_images_and_more_channels_take_more_memory(learner: Learner) -> None:
    one, two = [SpatialPmk()], [SpatialPmk(), DensePmk()]
    assert learner.memory_needed(1_000, 5, one) < learner.memory_needed(4_000, 5, one)
    assert learner.memory_needed(4_000, 5, one) < learner.memory_needed(4_000, 5, two)
