"""`python -m fewsight.apps.cli`, for a source tree that is not installed."""

from fewsight.apps.cli import main

if __name__ == "__main__":
    main()
