"""Reports read back as pages."""

from html.parser import HTMLParser

import pytest

from fewsight.evaluation import Protocol
from fewsight.evaluation.report import render_report

ONE = Protocol(per_class=(3,), test_per_class=3, repeats=1)
VOID = {"meta", "link", "img", "br", "path", "use", "line"}


class Page(HTMLParser):
    """The elements of a page, and whether every one of them is closed."""

    def __init__(self, text):
        super().__init__()
        self.elements, self.open, self.words = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.words.append(data)

    def all(self, tag):
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


@pytest.fixture
def page(run, make_set):
    """Evaluates a set and reads the report back."""

    def make(image_set, protocol=ONE, learners=None, **options):
        given = {} if learners is None else {"learners": learners}
        text = render_report(run(image_set, protocol, **given), image_set, **options)
        found = Page(text)
        assert not found.open
        return text, found

    return make


@pytest.fixture
def parsed():
    """What reads a report back."""
    return Page
