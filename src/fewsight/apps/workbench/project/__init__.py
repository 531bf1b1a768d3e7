"""The project file: one SQLite database with all that people said about the images of a folder, kept as events."""

from fewsight.apps.workbench.project.events import Asked, Event
from fewsight.apps.workbench.project.file import ProjectFile
from fewsight.apps.workbench.project.location import Place, locate
from fewsight.apps.workbench.project.present import Present

__all__ = ["Asked", "Event", "Place", "Present", "ProjectFile", "locate"]
