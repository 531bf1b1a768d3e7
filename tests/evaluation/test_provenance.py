"""Settings as JSON knows them."""


def test_the_settings_of_channels_and_learners_are_recorded_without_the_workplace(run, make_set, mean_colour):
    evaluation = run(make_set(["ant", "bee"]), channels={"colour": mean_colour(cache=object(), weight=2.5)})
    protocol = evaluation.as_json()["protocol"]
    assert protocol["channels"] == {"colour": {"class": "MeanColour", "random_state": 0, "weight": 2.5}}
    assert protocol["learners"] == {"near": {"class": "Nearest", "kernel": None, "sharpness": 4.0}}
