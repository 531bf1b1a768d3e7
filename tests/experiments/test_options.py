"""The commands of the experiments say what they are called and what holds where an option is not given."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "experiments"
MODULES = [
    ".".join(path.relative_to(FOLDER.parent).with_suffix("").parts)
    for path in sorted(FOLDER.rglob("*.py"))
    if "\ndef parser() ->" in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_a_command_is_called_by_its_module(module):
    assert importlib.import_module(module).parser().prog == f"python -m {module}"


@pytest.mark.parametrize("module", MODULES)
def test_the_help_names_the_channels_that_are_taken_by_default(module):
    for action in importlib.import_module(module).parser()._actions:
        if action.dest == "channels":
            assert f"({','.join(action.default)})" in action.help


@pytest.mark.parametrize("name", ["words", "unseen_histograms"])
def test_what_has_channels_of_its_own_takes_no_others(name):
    parser = importlib.import_module(f"experiments.rodner2012.{name}").parser()
    for option in (["--channels", "phog"], ["--pool", "15"]):
        with pytest.raises(SystemExit):
            parser.parse_args(["DATA", "--work", "WORK", *option])


@pytest.mark.parametrize(
    ("name", "option"), [("fig4_tasks", "--sizes"), ("grams", "--seeds"), ("shared_photographs", "--seeds")]
)
def test_what_is_the_same_for_all_draws_or_sizes_takes_none(name, option):
    parser = importlib.import_module(f"experiments.rodner2010.{name}").parser()
    with pytest.raises(SystemExit):
        parser.parse_args(["DATA", "--work", "WORK", option, "1"])


@pytest.mark.parametrize(
    ("module", "option"),
    [
        ("domains.accuracy", "--peers"),
        ("domains.few_labels", "--sets"),
        ("domains.defaults", "--choices"),
        ("domains.false_alarms", "--channels"),
        ("gehler2009.brodatz", "--ways"),
    ],
)
def test_a_name_that_a_command_does_not_know_is_refused_before_it_works(module, option, capsys):
    parser = importlib.import_module(f"experiments.{module}").parser()
    with pytest.raises(SystemExit):
        parser.parse_args(["DATA", "--work", "WORK", option, "unheard_of"])
    assert "each must be one of " in (said := capsys.readouterr().err)
    assert "got unheard_of" in said
