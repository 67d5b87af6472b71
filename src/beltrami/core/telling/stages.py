"""The stages that our jobs go through, in the words that a person reads on the progress line."""

from enum import StrEnum


class Stage(StrEnum):
    """A part of a job that is worth a word; a job goes through some of them, in its own order."""

    START = "loading the library"
    READ = "reading the table"
    PREPARE = "preparing the columns"
    GRAPH = "joining neighbours"
    BASIS = "computing the eigenbasis"
    LEARN = "trying learners"
    ASK = "choosing questions"
    DOUBT = "looking for doubts"
    EMBED = "computing coordinates"
    CLUSTER = "splitting into groups"
    WRITE = "writing the result"
    MAP = "drawing the map"
    PAGE = "writing the page"
    AUDIT = "weighing the audit"
    COMPILE = "compiling"
    SURVEY = "counting the rows"
    DRAW = "drawing representatives"
    COVER = "checking who stands for whom"
    SETTLE = "moving representatives to their rows"
    WITNESS = "counting rows between representatives"
    ANSWER = "answering every row"
    FETCH = "fetching rows"
    INSPECT = "inspecting the installation"


INTAKE = (Stage.START, Stage.READ, Stage.PREPARE)
"""How every command on a table begins."""

FIT = (Stage.PREPARE, Stage.GRAPH, Stage.BASIS, Stage.LEARN)
"""What a learner at the front door does."""

LEARNING = (Stage.START, Stage.READ, *FIT)
"""How every command that learns from a table begins."""
