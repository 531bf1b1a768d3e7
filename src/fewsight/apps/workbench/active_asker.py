"""The asker that learns: an `ActiveLearner` over the images that are ready, always as the events of the project make it.

An answer to a new image is learned at once, by one row. Everything else that can happen (undo, a correction, a batch, another
person, a merge) makes the learner anew from the records, which gives the same as if it had been so from the beginning.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import final

from fewsight.active import ActiveLearner, Pool
from fewsight.active.followers import LEAST_TO_LEARN
from fewsight.active.history import Check
from fewsight.apps.workbench.asker import Put
from fewsight.apps.workbench.asking_records import AskingRecords, asking_records, labels_digest
from fewsight.apps.workbench.project.events import Act, Asked, Event, Import, Label, NewCategory, Question, Relearned
from fewsight.apps.workbench.project.present import Present
from fewsight.learners import Learner

RELEARN_EVERY = 20  # labels; sooner while there are few


@final
class ActiveAsker:
    """Asks by a query rule over a pool; `images` are the content hashes of its examples, in their order."""

    def __init__(
        self,
        pool: Pool,
        images: Sequence[str],
        learner: Learner | None = None,
        *,
        rule: str = "uncertainty",
        seed: int = 0,
    ) -> None:
        self.pool, self.images = pool, list(images)
        self.position_of = {image: place for place, image in enumerate(self.images)}
        self.learner = ActiveLearner(learner, rule, relearn_every=None, random_state=seed)
        self._records = AskingRecords()
        self._last: str | None = None  # the last label that the learner knows
        self._put: str | None = None  # the question that the learner put last, and nobody else
        self._rebuild(Present())

    def put(self, ready: Sequence[str], present: Present) -> Put | None:
        """The next question among the images that are ready."""
        allowed = set(ready) & set(self.position_of)
        if not allowed:
            return None
        query = self.learner.query()
        self._put = self.images[int(query.indices[0])] if len(query) else None
        if self._put not in allowed:  # held by another page
            query, self._put = self.learner.query(batch_size=1 + len(self.images) - len(allowed)), None
        found = [place for place, position in enumerate(query.indices.tolist()) if self.images[position] in allowed]
        if not found:
            return None
        image = self.images[int(query.indices[found[0]])]
        check, n_labelled = self._check(image), self.learner.view_.n_labelled
        drawn_from, n_labelled = (None, n_labelled) if check is None else check
        return Put(image, str(self.learner.rule), query.reasons[found[0]], check is not None, drawn_from, n_labelled)

    def asked(self, image: str, present: Present) -> Asked | None:
        """How an answer about this image comes about, and what is believed about it now."""
        position = self.position_of.get(image)
        if position is None:
            return None
        name, check = self.learner.view_.guess(position), self._check(image)
        guess = None if name is None else present.category_named(str(name))
        how, drawn_from = ("rule", None) if check is None else ("check", check[0])
        return Asked(how, drawn_from, self.learner.view_.n_labelled, {"guess": guess})

    def told(self, events: Sequence[Event], present: Present) -> list[Act]:
        """Learn what was said; what the project should note about it."""
        if not all(self._learn_quickly(event, present) for event in events):
            self._rebuild(present)
        return self._relearn_if_due()

    # Inside.

    def _learn_quickly(self, event: Event, present: Present) -> bool:
        """One label of an image that has none: by one row. False if that is not what happened."""
        act = event.act
        if isinstance(act, Question):
            return act.image == self._put
        if isinstance(act, (Import, NewCategory)):
            return True
        if isinstance(act, Relearned):
            return act.labels == labels_digest(self._records.labelled[: self._records.n_learned])
        if not isinstance(act, Label) or event.batch is not None or event.asked is None or event.asked.believed is None:
            return False
        position = self.position_of.get(act.image)
        standing = present.standing(act.image)
        if position is None or standing is None or len(standing.votes) > 1 or standing.choice is None:
            return False
        if standing.choice.category is None or not self.learner.view_.unlabelled[position]:
            return False
        category = standing.choice.category
        guess = event.asked.believed.get("guess")
        believed = present.categories.get(present.category(guess)) if isinstance(guess, str) else None
        if self.learner.view_.guess(position) != believed:
            return False  # the answer was given before the last ones were learned
        self.learner.teach([position], [present.categories[category]])
        self._records.labelled.append((act.image, category))
        self._last = event.request
        return True

    def _rebuild(self, present: Present) -> None:
        self._records = asking_records(present, self.position_of)
        self._last, self._put = self._records.last_label, None
        self.learner.rebuild(self.pool, self._records.records)

    def _relearn_if_due(self) -> list[Act]:
        n, last = len(self._records.labelled), self._records.n_learned
        if self._last is None or n < LEAST_TO_LEARN:
            return []
        if last >= LEAST_TO_LEARN and n - last < min(RELEARN_EVERY, max(5, last // 2)):
            return []
        self.learner.relearn()
        learned = self.learner.records_[-1].get("learned")
        self._records.n_learned = n
        return [Relearned(self._last, self._records.digest, json.dumps(learned))]

    def _check(self, image: str) -> tuple[int, int] | None:
        """Of an image that the last question drew as a random check: from how many, and how many labels there were."""
        last = next((record for record in reversed(self.learner.records_) if record["act"] == "question"), None)
        checks = [Check(*each) for each in last["checks"]] if last else []  # type: ignore[union-attr, misc]
        drawn = {check.position: (check.n_drawn_from, check.n_labelled) for check in checks}
        return drawn.get(self.position_of[image])
