"""Opens a labelling session as a command would, answers ten questions as soon as there are some, and says when what happened."""

from __future__ import annotations

import json
import sys
import time

from fewsight.apps.workbench.session import LabellingSession
from fewsight.apps.workbench.session_messages import Answer

PAGE = "0123456789abcdef"


def main() -> None:
    folder, cache = sys.argv[1:]
    seconds: list[float] = []
    with LabellingSession(folder, cache=cache, who="bench") as session:
        while not session.questions(PAGE) or session.picture(session.questions(PAGE)[0].image, 1600) is None:
            time.sleep(0.005)
        first = time.time()
        key = str(session.new_category(PAGE, "a thing", "category").category)
        n_answers = 0
        while session.state().n_features < session.state().n_files and n_answers < 10:
            questions = session.questions(PAGE)
            if not questions:
                time.sleep(0.01)
                continue
            start = time.perf_counter()
            session.answer(PAGE, Answer("label", (questions[0].image,), key), f"answer-{n_answers}")
            seconds.append(time.perf_counter() - start)
            n_answers += 1
            time.sleep(0.5)  # a person looks at a picture
        n_features = session.state().n_features
    print(json.dumps({"first": first, "n_answers": n_answers, "n_features": n_features, "seconds": seconds}))


if __name__ == "__main__":
    main()
