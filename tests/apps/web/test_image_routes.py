"""Grids over HTTP; pictures are tested with the answers and the guard."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fewsight.apps.workbench.session import LabellingSession
from page_visits import Visitor


@pytest.mark.parametrize(
    "path",
    [
        "/api/lookalikes",
        "/api/lookalikes?image=x",
        f"/api/lookalikes?image={'0' * 40}&n=0",
        "/api/may_belong?category=a%2Fb",
    ],
)
def test_a_query_that_does_not_fit_is_refused(client: Visitor, path: str) -> None:
    found = client.get(path)
    assert (found.status, found.json()["error"]["code"]) == (400, "bad_request")


def test_an_image_that_is_not_there_looks_like_nothing(client: Visitor) -> None:
    assert client.get(f"/api/lookalikes?image={'0' * 40}").json() == []


def test_a_picture_at_actual_size_is_made_anew_and_only_of_the_file_that_was_read(
    client: Visitor, session: LabellingSession
) -> None:
    image = session.questions("00000000")[0].image
    size = session.original_size(image)
    found = client.get(f"/image/{image}/whole")
    assert found.headers["content-type"] == "image/jpeg"
    with Image.open(io.BytesIO(found.body)) as shown:
        assert shown.size == size
        assert not shown.getexif()
    (path,) = session._watch.stock.paths[image]
    file = Path(session.bench.folder) / path.decode()
    content = file.read_bytes()
    try:
        Image.fromarray(np.zeros((9, 9, 3), np.uint8)).save(file)
        assert client.get(f"/image/{image}/whole").status == 404
    finally:
        file.write_bytes(content)
    assert client.get(f"/image/{'0' * 40}/whole").status == 404
