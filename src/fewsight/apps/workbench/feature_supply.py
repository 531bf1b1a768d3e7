"""Which images have features, and when codebooks are learned: from the first images that are ready, once for a project.

The project file keeps which images the codebooks were learned from, so that the same ones come out when the cache was deleted.
The order in which images came into the pool lies in the cache: with it, a project that is opened again asks the same questions.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import final

from fewsight._base.errors import ProjectError
from fewsight.apps.workbench.image_stock import ImageStock
from fewsight.apps.workbench.preparation import Preparation
from fewsight.apps.workbench.project.events import Json
from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.images.cache import FeatureCache

FIRST_IMAGES = 200  # that codebooks are learned from, or all there are
SETTING = "codebooks"


@final
class FeatureSupply:
    """Images with features, as they come from the preparation. `tell` is called when something changed."""

    def __init__(
        self,
        project: ProjectFile,
        cache: FeatureCache,
        tell: Callable[[], None],
        *,
        channels: Sequence[str] | None,
        seed: int,
    ) -> None:
        self._project, self._cache, self._tell = project, cache, tell
        self.channels, self._seed = None if channels is None else list(channels), seed
        self._lock = threading.Lock()
        self._keeping = threading.Lock()  # taken before the other: one thread at a time writes what codebooks came from
        self._described: dict[str, None] = {}  # images with local features, in the order in which they came
        self._encoded: dict[str, None] = {}  # and with encodings
        self._known: set[str] = set()  # images whose features were asked for
        self._fitting, self._cache_checked = False, True
        self._unkept: tuple[tuple[str, ...], Path] | None = None  # codebooks that the project does not know of yet
        self._unkept_why: str | None = None
        self._to_ask = False  # features of some images are wanted, and `want` has not asked for them yet
        self._ordered: set[str] | None = None  # images whose place in the pool is kept
        self.failure: str | None = None
        self._first_failure: str | None = None  # of an image
        self.learned_from = self._kept_images()
        self.fitted: Path | None = None  # the file of fitted channels, once there is one
        if self.learned_from and self._file(self.learned_from).is_file():
            self.fitted = self._file(self.learned_from)
            self._cache_checked = False

    @property
    def n_features(self) -> int:
        """Images that can be learned from, or are about to be."""
        return len(self._encoded) if self.fitted else len(self._described)

    @property
    def remark(self) -> str | None:
        """Why nothing can be learned: what was prepared cannot be noted in the project, or not one image has features, where the
        channels may be at fault, such as by their names."""
        if self._unkept_why is not None:
            return self._unkept_why
        no_features = self._first_failure is not None and not self._described and not self._encoded
        return f"Features cannot be computed: {self._first_failure}" if no_features else None

    @property
    def is_busy(self) -> bool:
        """Whether codebooks are being learned, or images wait to be asked for again."""
        return self._fitting or self._to_ask

    def on_features(self, image: str, fitted: Path | None, failure: str | None) -> None:
        """An image has features, and encodings by these channels."""
        with self._lock:
            self._known.add(image)
            self._first_failure = self._first_failure or failure
            if failure is None:
                self._described[image] = None
                if fitted is not None and fitted == self.fitted:
                    self._encoded[image] = None
        self._tell()

    def found(self, images: Iterable[str]) -> None:
        """The encodings of these are in the cache, and of no others that were read before this session."""
        with self._lock:
            self._encoded = dict.fromkeys([*images, *self._encoded])
            self._known.update(self._encoded)
            self._cache_checked = self._to_ask = True
        self._tell()

    def lost(self, images: Iterable[str]) -> None:
        """The encodings of these are not in the cache any more."""
        with self._lock:
            for image in images:
                self._encoded.pop(image, None)
                self._known.discard(image)
            self._to_ask = True
        self._tell()

    def new_ones(self, known: set[str] | dict[str, int]) -> list[str]:
        """Images with encodings that are not known yet, in the order in which they came."""
        with self._lock:
            return [image for image in self._encoded if image not in known]

    def want(self, stock: ImageStock, preparation: Preparation) -> None:
        """Have features computed of images that were read before this session, and codebooks as soon as that makes sense."""
        self._keep_codebooks()
        with self._lock:
            missing = [image for image in stock.paths if image not in self._known] if self._cache_checked else []
            self._known.update(missing)
        if missing:
            preparation.describe([(stock.paths[image][0], image) for image in missing])
        with self._lock:  # after they were asked for, unless something is to be asked for since
            self._to_ask = any(image not in self._known for image in stock.paths) and self._cache_checked
        self._fit_if_due(stock, preparation)

    def _fit_if_due(self, stock: ImageStock, preparation: Preparation) -> None:
        with self._lock:
            if self.fitted or self._fitting or self.failure:
                return
            chosen = self.learned_from or tuple(list(self._described)[:FIRST_IMAGES])
            is_all = not stock.n_unread and len(self._described) >= len(stock.paths)
            if not chosen or not (self.learned_from or len(chosen) == FIRST_IMAGES or is_all):
                return
            self._fitting = True
        images = [(stock.paths[image][0], image) for image in chosen if image in stock.paths]
        target = self._file(chosen)
        preparation.fit(images, target, lambda failure: self._on_fitted(chosen, target, failure))

    def _on_fitted(self, chosen: tuple[str, ...], target: Path, failure: str | None) -> None:
        with self._lock:
            self._fitting, self.failure = failure is None, failure
            self._unkept = (chosen, target) if failure is None else None
        self._keep_codebooks()
        self._tell()

    def _keep_codebooks(self) -> None:
        """Use new codebooks from now on; while the project cannot be written to (a full disk), later."""
        with self._keeping:
            if self._unkept is None:
                return
            chosen, target = self._unkept
            if chosen != self.learned_from:
                kept: dict[str, Json] = {"channels": self._named(), "seed": self._seed, "images": list(chosen)}
                try:
                    self._project.set(SETTING, kept)
                except ProjectError as error:
                    self._unkept_why = str(error)
                    return
            with self._lock:
                self._fitting, self._unkept, self._unkept_why = False, None, None
                self.learned_from, self.fitted = chosen, target
                self._known.clear()  # all are to be encoded now
                self._to_ask = True
                self._encoded.clear()
        self._tell()

    # The order of the pool.

    def kept_order(self) -> list[str]:
        """Images in the order in which they came into the pool in earlier sessions."""
        try:
            order = list(dict.fromkeys(self._order_file().read_text("ascii").split()))
        except (OSError, ValueError):
            order = []
        self._ordered = set(order)
        return order

    def keep_order(self, images: Iterable[str]) -> None:
        """These came into the pool."""
        if self._ordered is None:
            self.kept_order()
        new = [image for image in images if image not in (self._ordered or ())]
        with contextlib.suppress(OSError), open(self._order_file(), "a", encoding="ascii") as stream:
            stream.write("".join(f"{image}\n" for image in new))
        (self._ordered or set()).update(new)

    def _order_file(self) -> Path:
        assert self.fitted is not None
        return self.fitted.with_suffix(f".{self._project.id[:16]}.pool")

    # Inside.

    def _kept_images(self) -> tuple[str, ...]:
        """The images that codebooks of these channels were learned from earlier; none if there are no such codebooks."""
        kept = self._project.setting(SETTING)
        if not isinstance(kept, dict) or kept.get("channels") != self._named() or kept.get("seed") != self._seed:
            return ()
        images = kept.get("images")
        return tuple(map(str, images)) if isinstance(images, list) else ()

    def _named(self) -> Json:
        return None if self.channels is None else list(self.channels)

    def _file(self, images: Sequence[str]) -> Path:
        key = FeatureCache.key_of("codebooks", {"channels": self._named(), "seed": self._seed}, "".join(images))
        return Path(os.path.abspath(self._cache.folder)) / "codebooks" / f"{key}.arrays"
