"""What lies in the folder and what others write, kept up to date beside labelling: scans, readings, events of other programs."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import final

from fewsight._base.errors import FewsightError
from fewsight.apps.workbench.feature_supply import FeatureSupply
from fewsight.apps.workbench.image_stock import ImageStock
from fewsight.apps.workbench.picture_groups import picture_groups
from fewsight.apps.workbench.preparation import Preparation
from fewsight.apps.workbench.project import catalogue
from fewsight.apps.workbench.project.catalogue import Reading, shown_path
from fewsight.apps.workbench.project.events import Act
from fewsight.apps.workbench.project.file import Draft
from fewsight.apps.workbench.verbs import Workbench
from fewsight.images import KnownLooks
from fewsight.images.cache import FeatureCache
from fewsight.images.capture import Capture

SCAN_SECONDS = 60.0
LISTEN_SECONDS = 0.5  # between two looks at what other programs wrote
KEEP_SECONDS = 0.25  # readings of so long a time are kept with one commit
FIRST = 40  # images that are waited for: kept as soon as they were read
CLOSING_SECONDS = 2.0
GROUP_SECONDS = 30.0  # at least, between two searches for copies and bursts while files are read
SHOWN = 3  # files that a remark names
REPLACED = "The content of this file has changed, so it has no label now: "


@final
class FolderWatch:
    """Scans the folder now and every minute, has its images prepared, and takes in what others write.

    `stock` is what is known of the folder; it is replaced as a whole after a scan and grows by readings. `tell` is called after
    every change, `notes` gives what waits to be written.
    """

    def __init__(
        self,
        bench: Workbench,
        cache: FeatureCache,
        tell: Callable[[], None],
        *,
        supply: FeatureSupply,
        seed: int = 0,
        n_workers: int | None = None,
        notes: Callable[[], list[Draft | Act]] = list,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._bench, self._tell, self._notes, self._supply, self._seed = bench, tell, notes, supply, seed
        self._clock = clock
        self._lock = threading.Lock()  # of the stock: readings come while it is read again
        self.stock = ImageStock.read(bench.file, seed)
        self.preparation = Preparation(
            bench.folder,
            cache,
            self._on_reading,
            on_features=supply.on_features,
            features=True,
            channels=supply.channels,
            fitted=supply.fitted,
            n_workers=n_workers,
            seed=seed,
        )
        self._readings: queue.SimpleQueue[Reading | None] = queue.SimpleQueue()
        self._n_unkept = 0  # readings that are not in the project file yet
        self._wake, self._closed = threading.Event(), False
        self._scan_wanted, self._scanned_at, self.n_scans = True, 0.0, 0
        self._asked_for: set[bytes] = set()  # files that were given to the preparation
        self.groups: dict[str, tuple[str, ...]] = {}  # images of one picture or burst, by each of them
        self._looks, self._n_grouped, self._grouped_at = KnownLooks(cache), 0, 0.0
        self._about_scan: list[str] = []
        self._about_file = ""
        self._threads = [
            threading.Thread(target=work, name=f"fewsight {name}", daemon=True)
            for name, work in (("watch", self._watch), ("readings", self._keep_readings))
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """End everything; readings that wait are kept first."""
        self._closed = True
        self._wake.set()
        self.preparation.close()
        self._readings.put(None)
        for thread in self._threads:
            if thread.is_alive():
                thread.join(CLOSING_SECONDS)

    def scan_soon(self) -> None:
        """Look at the folder now."""
        self._scan_wanted = True
        self._wake.set()

    def prepare_first(self, paths: Collection[bytes]) -> None:
        """Somebody waits for these."""
        self.preparation.first(paths)

    def remarks(self) -> list[str]:
        """What a person should know, a sentence each."""
        about = [self._about_file, f"Codebooks: {self._supply.failure}" if self._supply.failure else ""]
        return [*self._about_scan, *filter(None, about), *self.preparation.remarks]

    @property
    def is_idle(self) -> bool:
        """Whether the folder was looked at and all its files are prepared."""
        return bool(self.n_scans) and not self._scan_wanted and not self._n_unkept and self.preparation.is_idle

    # Threads.

    def _watch(self) -> None:
        while not self._closed:
            self.look()
            self._wake.wait(LISTEN_SECONDS)
            self._wake.clear()

    def look(self) -> None:
        """One round: scan if somebody asked for it or a minute has passed, and take in what others wrote."""
        if self._scan_wanted or self._clock() - self._scanned_at >= SCAN_SECONDS:
            self._scan()
            self._scanned_at, self._scan_wanted = self._clock(), False
        self._listen()
        self._supply.want(self.stock, self.preparation)
        self._group()

    def _group(self) -> None:
        """Find copies and bursts again where images are new: when all are read, or now and then meanwhile."""
        images = list(self.stock.paths)
        due = self._clock() - self._grouped_at >= GROUP_SECONDS or self.preparation.is_idle
        if len(images) == self._n_grouped or not due:
            return
        groups = picture_groups({image: self.stock.captures.get(image, Capture()) for image in images}, self._looks)
        self.groups = {image: group for group in groups for image in group}
        self._n_grouped, self._grouped_at = len(images), self._clock()
        if groups:
            self._tell()

    def _scan(self) -> None:
        try:
            scan = self._bench.scan()
        except FewsightError as error:  # a folder that is away for a while
            self._say([str(error)])
            return
        with self._lock:
            self.stock = ImageStock.read(self._bench.file, self._seed)
            waiting = list(self.stock.unprepared())
            unread = [path for path in waiting if path not in self._asked_for]
            self._asked_for = set(waiting)
        self.n_scans += 1
        if unread:
            self.preparation.add(unread)
        replaced = [shown_path(path) for path in scan.replaced]
        self._say([f"{REPLACED}{name}." for name in replaced[:SHOWN]])

    def _say(self, sentences: Sequence[str]) -> None:
        kept = [line for line in self._about_scan if line.startswith(REPLACED)] if not sentences else []
        self._about_scan = [*kept, *sentences][-SHOWN:]
        self._tell()

    def _listen(self) -> None:
        """Take in what others wrote, and keep what was asked."""
        try:
            self._bench.refresh()
            self._bench.note(self._notes())
            self._about_file = ""
        except FewsightError as error:
            if self._about_file != str(error) and not self._closed:
                self._about_file = str(error)
                self._tell()

    def _on_reading(self, reading: Reading) -> None:
        with self._lock:
            self._n_unkept += 1
        self._readings.put(reading)

    def _keep_readings(self) -> None:
        """Write what was read, some files at a time: a commit for each would keep answers waiting."""
        while (first := self._readings.get()) is not None:
            batch: list[Reading] = [first]
            if len(self.stock.paths) > FIRST:  # the first few are waited for
                time.sleep(KEEP_SECONDS)
            ended = False
            while not self._readings.empty():
                more = self._readings.get()
                ended |= more is None
                batch += [] if more is None else [more]
            self._keep(batch)
            if ended:
                return

    def _keep(self, batch: Sequence[Reading]) -> None:
        try:
            with self._lock:
                catalogue.record(self._bench.file, batch)
                self.stock.take(batch)
            self._about_file = ""
        except FewsightError as error:  # a full disk: these files are read again after the next start
            self._about_file = str(error)
        finally:
            with self._lock:
                self._n_unkept -= len(batch)
        self._tell()
