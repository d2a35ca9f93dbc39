"""Which tasks and matchings of a study each of its profiles counts, and those by which it is scored.

Profiles such as `hipe` have tasks and matchings of their own, and some of them count one task by some matchings alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from remix.errors import Error, UnknownName
from remix.scoring.matching import matching_named
from remix.scoring.profiles import PROFILES
from remix.scoring.tasks import TASKS, task_named
from remix.studies.definition import Study


@cache
def is_counted(profile: str, task: str, matching: str) -> bool:
    """Return whether a profile has scores of a task by a matching, one of its own or one of all.

    >>> is_counted("hipe", "NEL-LIT", "fuzzy@1"), is_counted("hipe", "NEL-LIT", "fuzzy")
    (True, False)
    >>> is_counted("remix", "NEL-LIT", "strong"), is_counted("bat", "ETyping", "strong")
    (False, False)
    """
    return PROFILES[profile].takes(task, matching)


def with_rules(study: Study) -> Study:
    """Return the study with the tasks and matchings that it does not name, those first that exhibits show.

    They are those by which its first profile is compared with others, and those of a profile that does not count them.
    Of a task that is named without a matching it is the first of the profile that counts it.

    >>> from remix.studies.definition import StudiedRun
    >>> study = Study(name="mine", datasets=("ajmc",), runs=(StudiedRun(name="a"),), profiles=("remix", "hipe"))
    >>> with_rules(study).tasks, with_rules(study).matchings
    (('A2KB', 'NEL-LIT'), ('strong', 'fuzzy@1'))
    """
    tasks, matchings = [*study.tasks], [*study.matchings]
    for name in study.profiles:
        rules = PROFILES[name]
        every = study.matchings or (rules.headline[1], *rules.matchings)
        if not study.tasks and not _counts_any(name, tasks, every):
            tasks.append(rules.headline[0])
        for task in () if study.matchings else tasks:
            if not _counts_any(name, [task], matchings):
                matchings += [one for one in every if is_counted(name, task, one)][:1]
    first = study.profiles[0]
    tasks.sort(key=lambda task: not _counts_any(first, [task], matchings))
    matchings.sort(key=lambda matching: not is_counted(first, tasks[0], matching))
    return replace(study, tasks=tuple(tasks), matchings=tuple(matchings))


def _counts_any(profile: str, tasks: Sequence[str], matchings: Sequence[str]) -> bool:
    return any(is_counted(profile, task, matching) for task in tasks for matching in matchings)


def tasks_of(study: Study, profile: str) -> tuple[str, ...]:
    """Return the tasks of a study that a profile counts by any of its matchings."""
    return tuple(task for task in study.tasks if _counts_any(profile, [task], study.matchings))


def matchings_of(study: Study, profile: str) -> tuple[str, ...]:
    """Return the matchings of a study by which a profile counts any of its tasks."""
    return tuple(matching for matching in study.matchings if _counts_any(profile, study.tasks, [matching]))


def tell_left_out(study: Study, profile: str) -> str:
    """Return which tasks and matchings of a study a profile does not count, nothing where it counts all.

    >>> from remix.studies.definition import StudiedRun
    >>> study = Study(name="mine", datasets=("ajmc",), runs=(StudiedRun(name="a"),), profiles=("remix", "hipe"))
    >>> tell_left_out(with_rules(study), "hipe")
    'hipe does not count the task A2KB and the matching strong: it has scores of NEL-LIT by fuzzy@1'
    """
    tasks, matchings = tasks_of(study, profile), matchings_of(study, profile)
    others = [f"task {one}" for one in study.tasks if one not in tasks]
    others += [f"matching {one}" for one in study.matchings if one not in matchings]
    own = f"it has scores of {', '.join(tasks)} by {', '.join(matchings)}"
    return f"{profile} does not count the {' and the '.join(others)}: {own}" if others else ""


def faults_of_rules(study: Study) -> Iterator[str]:
    """Yield what is wrong with the tasks and matchings that a study names, whose profiles there are."""
    settled, known = with_rules(study), True
    for task in study.tasks:
        if not any(_counts_any(name, [task], study.matchings or PROFILES[name].matchings) for name in study.profiles):
            known = False
            yield f"tasks: {_refuse_task(study, task)}"
    for matching in study.matchings:
        if not any(_counts_any(name, study.tasks or PROFILES[name].tasks, [matching]) for name in study.profiles):
            known = False
            yield f"matchings: {_refuse_matching(study, matching)}"
    for name in study.profiles if known else ():
        if not tasks_of(settled, name):
            rules = PROFILES[name]
            yield (
                f"profiles: '{name}' has no score of {', '.join(settled.tasks)} by {', '.join(settled.matchings)} "
                f"matching: name of its tasks ({', '.join(rules.tasks)}) and of its matchings "
                f"({', '.join(rules.matchings)}), too, or leave `tasks` and `matchings` out"
            )


def _refuse_task(study: Study, task: str) -> Error | str:
    own = {name: PROFILES[name].tasks for name in study.profiles if not {*PROFILES[name].tasks} <= {*TASKS.names()}}
    try:
        if not any(task in PROFILES[name].tasks for name in study.profiles):
            task_named(task)
    except UnknownName as error:
        # The tasks that a profile has alone are nearer than those of all others.
        return next((_unknown("task", name, task, every) for name, every in own.items()), error)
    except Error as error:
        return error
    by = f" by {', '.join(study.matchings)} matching" if study.matchings else ""
    every = dict.fromkeys(one for name in study.profiles for one in PROFILES[name].tasks)
    return f"no score of '{task}'{by} is made by {' or '.join(study.profiles)}; known: {', '.join(every)}"


def _refuse_matching(study: Study, matching: str) -> Error | str:
    own = {name: [*PROFILES[name].meanings] for name in study.profiles if PROFILES[name].meanings}
    try:
        matching_named(matching)
    except UnknownName as error:
        return next((_unknown("matching", name, matching, every) for name, every in own.items()), error)
    except Error as error:
        return error
    of = ", ".join(study.tasks) or "any task"
    every = dict.fromkeys(one for name in study.profiles for one in PROFILES[name].matchings)
    return f"no score of {of} by '{matching}' is made by {' or '.join(study.profiles)}; known: {', '.join(every)}"


def _unknown(kind: str, profile: str, given: str, known: Sequence[str]) -> Error:
    return UnknownName(f"{kind} of profile '{profile}'", given, known, f"remix show profile:{profile}")
