"""Names and numbers as the report words them."""

from fewsight.evaluation.report.wording import seconds, short_path, shown_name


def test_wording():
    assert shown_name("a\x00b\u202ec") == "a\ufffdb\ufffdc"
    assert shown_name(" ") == "(blank)"
    assert short_path("/somewhere/birds/owl/1.jpg") == "owl/1.jpg"
    assert short_path("C:\\birds\\owl\\1.jpg") == "owl/1.jpg"
    assert [seconds(value) for value in (0.0123, 2.34, 61, 3700)] == ["0.012 s", "2.3 s", "1 min 1 s", "1 h 1 min"]
