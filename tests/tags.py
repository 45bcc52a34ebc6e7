"""Reads a page as a browser would, and complains where it is not well nested."""

from html.parser import HTMLParser


class Tags(HTMLParser):
    """Collects the elements of a page, and checks that they are closed in order."""

    VOID = ("meta", "input", "br", "hr")

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
