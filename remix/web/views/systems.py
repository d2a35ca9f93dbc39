"""Systems on datasets or slices: a matrix of scores with intervals and tests, figures, and what the profile changes."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache, lru_cache

import polars as pl

from remix.errors import UnknownName, UsageError
from remix.measures.labels import words_of_column, words_of_measures
from remix.question import OPTIONS, several
from remix.remixes.manifest import tell_lost_origins
from remix.reports.doubts import tell_unanswered
from remix.reports.score_cache import Scored
from remix.runs.known import KnownRun, compared_systems, kinds_of
from remix.scoring.matching import MATCHINGS
from remix.scoring.profiles import PROFILES, Profile
from remix.scoring.tasks import TASKS, task_named
from remix.vocabularies import COARSE_TYPE
from remix.web import forms, page
from remix.web.addresses import address, split_names
from remix.web.answers import count_inherited, list_known
from remix.web.error_choice import find_matching
from remix.web.score_columns import list_columns, read_column
from remix.web.score_matrix import BEST
from remix.web.score_tables import show_scores

_BY = (COARSE_TYPE, "pagerankSegment", "isRare", "ambiguitySurfaceForm:quantiles:4", "nameRelation", "is_nil")
"""Columns by which scores are sliced most often; any other can be chosen."""
_HAVE = {"any": "that any of the systems has answered", "all": "that all of the systems have answered"}
"""Which datasets are columns, of those that are chosen."""
_NAMES = ("datasets", "systems", "have", "by", "profile", "task", "match", "against", "spider")
_NAMED = 4
"""Systems that are named one by one; of more their number is said."""
_PROPOSED = 3
"""Choices of datasets that are led to where these are not answered by all systems."""
_FIRST = ("datasets", "systems", "by")
"""Choices that are made most often; the others are folded."""


def _show(work: page.Explored, parameters: page.Parameters) -> page.Page:
    loaded = [entry.name for entry in page.list_datasets(work)]
    named = split_names(parameters.get("datasets", "") or parameters.get("dataset", ""))
    runs = list_known(work, named)
    if not runs or (named and not any(one.run.dataset in named for one in runs)):
        for name in named:
            work.store.dataset(name)
        return _tell_empty(work, loaded, ",".join(named))
    asked, form, columns = _ask(work, runs, {**parameters, "datasets": ",".join(named)})
    chosen = _choose_datasets(asked, runs)
    if not chosen:
        said = f"No dataset is one {_HAVE['all']}: choose others, or datasets {_HAVE['any']}."
        if len(alone := split_names(asked["systems"])) == 1:
            said = f"{alone[0]} has no answers on {' or '.join(split_names(asked['datasets']))}: choose another."
        return page.Page("Systems", [form, page.Note(said, links=_lead_to_shared(asked, runs))])
    held, left = _hold_to_datasets(asked, runs, chosen)
    if not held:
        return page.Page("Systems", [form, *left])
    counted = {**asked, "systems": ",".join(held)} if left else asked
    parts: list[str | list[str]] = [chosen] if asked["by"] else [*chosen]
    found = _score(work, parts, counted)
    if asked["by"] and found.problems and not found.ended and found.rows.is_empty():
        # Which columns cut into too many parts, or into none, is known once they are cut.
        raise page.WrongValue("; ".join(found.problems), parameters["by"], "by")
    scored = _choose_systems(found, split_names(counted["systems"]))
    told = [*left, *(page.Note(said) for said in [*scored.problems, *_tell_inherited(runs, chosen)])]
    if waiting := scored.done < scored.of:
        told.append(_tell_waiting(scored, address("systems", **asked)))
    told += _tell_without_nil(asked, found.rows)
    blocks = [] if scored.rows.is_empty() else show_scores(work, asked, scored, columns, chosen, kinds_of(runs))
    cited = "To cite these scores: the address of this page, and the signature of each system, which comes with its "
    cited += "intervals. It tells version, "
    cited += "conventions, and by their content gold, run and knowledge base; the command below prints it whole. "
    cited += (
        "The page of a dataset that the catalogue knows has its BibTeX. Who cannot reach this server opens the file "
    )
    cited += "that `remix report` writes."
    signed = f"{address('systems', **asked, open='scores')}#scores"
    cite = page.Note(cited, links={"scores with signatures": signed})
    note = page.Note("The same in a terminal:", _commands(counted, chosen, all_of=sorted(chosen) == _list_named(runs)))
    told += _tell_hidden(asked, runs, chosen)
    blocks += _tell_unanswered(work, counted, runs, chosen)
    missing = scored.problems if found.rows.is_empty() else scored.ended
    shown = [form, *told, *blocks, _lead_to_slices(asked, columns), _tell_conventions(asked["profile"]), cite, note]
    return page.Page("Systems", shown, refresh=_seconds_until(scored) * waiting, missing=missing)


def _hold_to_datasets(
    asked: Mapping[str, str], runs: Sequence[KnownRun], datasets: Sequence[str]
) -> tuple[list[str], list[page.Note]]:
    """Return the systems that have scores on these datasets, and what is said of those that are left out.

    A slice of several datasets is of the mentions of all of them: whose answers are to some alone has another slice,
    cut at other boundaries, that none can be held against.
    """
    systems = split_names(asked["systems"]) or [*kinds_of(runs)]
    answered = sorted({one.run.system for one in runs if one.run.system in systems and one.run.dataset in datasets})
    if not asked["by"] or len(datasets) < 2:
        return answered, []
    held = [name for name in compared_systems(runs, datasets, ()) if name in answered]
    if not (left := [name for name in answered if name not in held]):
        return held, []
    said = f"Slices are of the mentions of {len(datasets)} datasets together. {' and '.join(left)} "
    said += f"{'has' if len(left) == 1 else 'have'} answers to only some of these, and "
    said += f"{'its' if len(left) == 1 else 'their'} slices would be of fewer mentions: left out here."
    if asked["against"] in left:
        said += f" So is {asked['against']}, which others are held against: no pair is tested."
    return held, [page.Note(said, links=_lead_to_shared(asked, runs))]


def _lead_to_shared(asked: Mapping[str, str], runs: Sequence[KnownRun]) -> dict[str, str]:
    """Return the same page on other datasets that systems have answered all of; only of slices."""
    proper = [name for name, kind in kinds_of(runs).items() if kind == "system"]
    systems = split_names(asked["systems"]) or proper
    own = {name: frozenset(one.run.dataset for one in runs if one.run.system == name) for name in systems}
    shared = {frozenset.intersection(*own.values()), *own.values()} if own and asked["by"] else set()
    named, links = {*split_names(asked["datasets"])}, {}
    found = {each: sorted(name for name in systems if own[name] >= each) for each in shared if each and each != named}

    def rank(each: frozenset[str]) -> tuple[object, ...]:
        """Put datasets of which more are chosen first, then those that more systems have answered, then more."""
        return -len(each & named), -len(found[each]), -len(each), sorted(each)

    for each in sorted(found, key=rank)[:_PROPOSED]:
        names, on = found[each], sorted(each)
        who = f"{len(names)} systems" if len(names) > _NAMED else " and ".join(names)
        told = f"the {len(on)} datasets that" if len(on) > 1 else f"{on[0]}, which"
        links[f"{told} {who} answered"] = address("systems", **{**asked, "datasets": ",".join(on), "have": ""})
    return links


def _tell_inherited(runs: Sequence[KnownRun], chosen: Sequence[str]) -> list[str]:
    """Return which of the chosen datasets are remixes that systems answer by their runs on what these were cut from."""
    own = {one.run.dataset for one in runs if not one.inherited}
    systems: dict[str, set[str]] = {}
    for one in runs:
        if one.inherited and one.run.dataset in chosen:
            systems.setdefault(one.run.dataset, set()).add(one.run.system)
    told = []
    if whole := sorted(systems.keys() - own):
        cut = "it was" if len(whole) == 1 else "they were"
        told.append(f"The answers to {' and '.join(whole)} are those to what {cut} cut from.")
    for name in sorted(systems.keys() & own):
        of = " and ".join(sorted(systems[name]))
        told.append(
            f"The answers of {of} to {name} are those to what it was cut from, the others those to {name} itself."
        )
    return told


def _tell_unanswered(
    work: page.Explored, asked: Mapping[str, str], runs: Sequence[KnownRun], chosen: Sequence[str]
) -> list[page.Shown]:
    """Return which of the systems that are asked for leave documents of the chosen datasets without an answer."""
    sizes = {entry.name: entry.documents for entry in page.list_datasets(work) if entry.name in chosen}
    systems = split_names(asked["systems"])
    own = (one.run for one in runs if not one.inherited and (not systems or one.run.system in systems))
    return [page.Note(said) for said in tell_unanswered(own, sizes)]


def _lead_to_slices(asked: Mapping[str, str], columns: Mapping[str, str]) -> page.Note:
    """Return the addresses of the same page by the parts of the columns that are asked for most often."""
    links = {
        words_of_column(name): address("systems", **{**asked, "by": name})
        for name in _BY
        if name in columns and name != asked["by"]
    }
    links |= {"whole datasets": address("systems", **{**asked, "by": ""})} if asked["by"] else {}
    return page.Note("The scores by", links=links)


def _tell_without_nil(asked: Mapping[str, str], rows: pl.DataFrame) -> list[page.Note]:
    """Return why scores by `kb` have no parts, where they have none."""
    if asked["by"] != "kb" or rows.is_empty() or "kb" in rows["column"]:
        return []
    why = (
        "neither gold nor an answer is NIL"
        if PROFILES[asked["profile"]].kb_rows
        else (f"the profile {asked['profile']} does not count them apart")
    )
    return [page.Note(f"InKB, EE and GSInKB are no parts here: {why}.")]


def _list_named(runs: Sequence[KnownRun]) -> list[str]:
    return sorted({one.run.dataset for one in runs})


def _list_by_answers(asked: Mapping[str, str], runs: Sequence[KnownRun]) -> list[str]:
    """Return the datasets by name, as columns those first that most of the systems have answered."""
    systems = {*split_names(asked["systems"])}
    counts = Counter(one.run.dataset for one in runs if not systems or one.run.system in systems)
    return sorted(_list_named(runs), key=lambda name: 0 if asked["by"] else -counts[name])


def _choose_datasets(asked: Mapping[str, str], runs: Sequence[KnownRun]) -> list[str]:
    """Return the datasets that are asked for, those alone that all systems answer where that is asked, too."""
    names = split_names(asked["datasets"]) or _list_by_answers(asked, runs)
    systems = {*split_names(asked["systems"])} or {name for name, kind in kinds_of(runs).items() if kind == "system"}
    answered = {(one.run.system, one.run.dataset) for one in runs}
    if asked["have"] == "all":
        return [name for name in names if all((system, name) in answered for system in systems)]
    chosen = {*split_names(asked["systems"])} or {one.run.system for one in runs}
    return [name for name in names if any((system, name) in answered for system in chosen)]


def _tell_hidden(asked: Mapping[str, str], runs: Sequence[KnownRun], chosen: Sequence[str]) -> list[page.Note]:
    """Return how many datasets are no columns as no chosen system, or not all of them, answered them."""
    named = split_names(asked["datasets"]) or _list_named(runs)
    if not (hidden := len({*named} - {*chosen})):
        return []
    which = "no chosen system has" if asked["have"] == "any" else "not every chosen system has"
    which = which if asked["systems"] else which.replace("chosen ", "")
    told = "is not shown" if hidden == 1 else "are not shown"
    said = f"{hidden} of {len(named)} datasets {told}: {which} answers on {'it' if hidden == 1 else 'them'}."
    # Where one of the chosen systems is enough, others are needed for more.
    several = asked["have"] == "all" and len(split_names(asked["systems"])) > 1
    more = {**asked, "have": "any", "systems": asked["systems"] if several else ""}
    return [page.Note(said, links={"show all": address("systems", **more)})]


def _choose_systems(scored: Scored, systems: Sequence[str]) -> Scored:
    """Return the scores of these systems, by default of all."""
    if not systems:
        return scored
    rows, pairs = scored.rows, scored.pairs
    rows = rows.filter(pl.col("system").is_in(systems)) if "system" in rows.columns else rows
    if "other" in pairs.columns:
        pairs = pairs.filter(pl.col("system").is_in(systems), pl.col("other").is_in(systems))
    return replace(scored, rows=rows, pairs=pairs)


def _seconds_until(scored: Scored) -> int:
    """Return after how many seconds there is more to show: scores come soon, intervals and tests behind them."""
    return 1 if scored.scored < scored.of else 2


def _tell_waiting(scored: Scored, again: str) -> page.Note:
    """Return how much is computed, in few words: the table is to be on the first screen while it waits, too."""
    done = f"{scored.done} of {scored.of}"
    said = f"Intervals and tests are there for {done}."
    if scored.scored < scored.of:
        said = f"Scores are there for {scored.scored} of {scored.of}, intervals and tests for {done}."
    seconds = "second" if _seconds_until(scored) == 1 else "2 seconds"
    return page.Note(f"{said} This page asks again every {seconds}.", links={"ask again": again})


def compare_systems(
    work: page.Explored, datasets: Sequence[str], systems: Sequence[str] = (), by: str = ""
) -> list[page.Shown]:
    """Return matrix, figures, tests and scores of systems, by default all, on loaded datasets; what is not computed is.

    They are those of the profile that is remix's own, in its task and matching; with `by` of the slices of a column in
    all datasets together.
    """
    headline = PROFILES["remix"].headline
    asked = {"datasets": ",".join(datasets), "systems": ",".join(systems), "by": by, "profile": "remix"}
    asked |= {"task": headline[0], "match": headline[1], "against": "", "spider": "", "have": "any"}
    runs = list_known(work, datasets)
    held, left = _hold_to_datasets(asked, runs, datasets)
    told: list[page.Shown] = [page.Note(one.text) for one in left]
    if not held:
        return told
    asked |= {"systems": ",".join(held)} if left else {}
    parts: list[str | list[str]] = [[*datasets]] if by else [*datasets]
    scored = _choose_systems(_score(work, parts, asked), split_names(asked["systems"]))
    told += [page.Note(said) for said in scored.problems]
    if scored.rows.is_empty():
        return told
    return [*told, *show_scores(work, asked, scored, {}, datasets, kinds_of(runs))]


def _score(work: page.Explored, datasets: Sequence[str | list[str]], asked: Mapping[str, str]) -> Scored:
    """Return the scores that are asked for, as far as they are computed.

    Which documents a slice is tested over depends on the systems that are asked for, on whole datasets nothing does.
    """
    by, run = several(asked["by"] or ()), split_names(asked["systems"]) if asked["by"] else ()
    told = {"profile": asked["profile"], "task": asked["task"], "match": asked["match"]}
    return work.scores(datasets, **told, by=by, run=run)


def _tell_empty(work: page.Explored, loaded: Sequence[str], dataset: str) -> page.Page:
    if not loaded:
        return page.Page("Systems", [page.NOTHING])
    on = dataset or "DATASET"
    lost = [page.Note(f"{one}.") for one in tell_lost_origins(work.store, [dataset])]
    said = f"No run is registered {f'on {dataset} ' if dataset else ''}yet: add a system's answers, or have one answer."
    return page.Page(
        "Systems",
        [page.Note(said, [f"remix run add NAME FILE --on {on}", f"remix annotate {on} --system NAME"]), *lost],
    )


def _ask(
    work: page.Explored, runs: Sequence[KnownRun], parameters: page.Parameters
) -> tuple[dict[str, str], forms.Form, dict[str, str]]:
    """Return what is asked, with the task and matching of the profile, its form, and the columns to slice by."""
    asked = {name: parameters.get(name, "") for name in _NAMES}
    profile = PROFILES[asked["profile"] or "remix"]
    usual_match = _choose_counted(profile, {**asked, "match": ""})[1]
    asked["profile"] = profile.name
    asked["task"], asked["match"] = _choose_counted(profile, asked)
    datasets, systems = _list_named(runs), sorted(kinds := kinds_of(runs))
    asked["datasets"] = asked["datasets"] or (datasets[0] if asked["by"] and len(datasets) == 1 else "")
    # Slices of several datasets are those of systems that have answered all of them.
    usual_have = "all" if asked["systems"] or (asked["by"] and not asked["datasets"]) else "any"
    asked["have"] = asked["have"] or usual_have
    for kind, known in (("datasets", datasets), ("systems", systems)):
        for name in split_names(asked[kind]):
            if name not in known:
                raise UnknownName(f"{kind.removesuffix('s')} with a run", name, known, "remix run list")
    columns = list_columns(work, profile, split_names(asked["datasets"]))
    if asked["by"] and asked["by"] not in columns:
        asked["by"], said = read_column(work, asked["by"], profile, columns, _choose_datasets(asked, runs), runs)
        columns[asked["by"]] = said
    held = [name for name in split_names(asked["systems"]) or systems if kinds[name] != "oracle"]
    usual = {"have": usual_have, "profile": "remix"}
    usual |= {"task": profile.headline[0], "match": usual_match}
    fields = [
        field if field.name in _FIRST else replace(field, rare=True, default=usual.get(field.name, ""))
        for field in _list_fields(asked, sorted({*datasets, *count_inherited(work)}), systems, held, columns)
    ]
    return asked, forms.Form(fields), columns


@cache
def _list_counted(profile: str) -> Mapping[str, Sequence[str]]:
    return PROFILES[profile].list_counted()


@lru_cache(maxsize=256)
def _list_matchings(profile: str, task: str) -> Sequence[str]:
    """Return the matchings by which a profile counts a task, which may have settings, as `ERec(filter=nil)`.

    Raises `UnknownName` for a task that it does not count, `page.WrongValue` for settings that the task does not take.
    """
    counted = _list_counted(profile)
    if task in counted:
        return counted[task]
    plain = task.partition("(")[0]
    if plain == task or plain not in counted:
        raise UnknownName(f"task of the profile {profile}", task, counted, f"remix show profile:{profile}")
    found = [one for one in counted[plain] if PROFILES[profile].takes(task, one)]
    if not found:
        try:
            PROFILES[profile].check(task, counted[plain][0])
        except UsageError as error:
            raise page.WrongValue(str(error), task, "task") from None
    return found


def _choose_counted(profile: Profile, asked: Mapping[str, str]) -> tuple[str, str]:
    """Return the task and the matching that are asked for, else those by which a profile is held against others.

    Where it does not count a task by that matching another one stands for it, its own before those of remix. Raises
    `UnknownName` and `page.WrongValue` for what the profile does not count.
    """
    task, said = asked["task"] or profile.headline[0], asked["match"]
    matchings = _list_matchings(profile.name, task)
    usual = profile.headline[1] if profile.headline[1] in matchings else matchings[0]
    if said in profile.groups:
        raise page.WrongValue(f"{said} names several matchings, and a page shows scores by one", said, "match")
    if said and said not in profile.meanings and said.partition("(")[0] in MATCHINGS:
        said = find_matching(said).name
    try:
        profile.check(task, said or usual)
    except UnknownName as error:
        error.name = asked["match"] or error.name  # as the address spells it
        raise
    except UsageError as error:
        raise page.WrongValue(str(error), asked["match"], "match") from None
    return task, said or usual


def _list_fields(
    asked: Mapping[str, str],
    datasets: Sequence[str],
    systems: Sequence[str],
    held: Sequence[str],
    columns: Mapping[str, str],
) -> Iterator[forms.Field]:
    """Give the fields of the form; `held` are what others can be held against."""
    profile = PROFILES[asked["profile"]]
    for name, values in (("datasets", datasets), ("systems", systems)):
        yield forms.choose_several(name, name, values, split_names(asked[name]))
    answered = "datasets that are columns"
    yield forms.choose("have", "answered by", [*_HAVE], asked["have"], _explain_have(), what=answered)
    yield forms.choose(
        "by",
        "slices by",
        ["", *columns],
        asked["by"],
        columns.get(asked["by"], "a column of annotations or documents"),
        what="column to slice by",
        command="remix list columns",
        words=words_of_measures(columns),
        nothing="(none)",
    )
    yield forms.choose("profile", "conventions of", PROFILES.names(), profile.name, profile.summary)
    tasks = dict.fromkeys([*_list_counted(profile.name), asked["task"]])
    of_task = task_named(asked["task"]).summary if asked["task"].partition("(")[0] in TASKS else ""
    yield forms.choose("task", "task", tasks, asked["task"], of_task)
    matchings = dict.fromkeys([*_list_matchings(profile.name, asked["task"]), asked["match"]])
    yield forms.choose("match", "matching", matchings, asked["match"], profile.meaning(asked["match"]))
    yield forms.choose(
        "against",
        "held against",
        ["", *held],
        asked["against"],
        f"by default {BEST}",
        what="system that others are held against",
        command="remix run list",
        nothing="(the best)",
    )
    spiders, over = ["", "scores"], "the columns, or the scores of all"
    yield forms.choose(
        "spider", "spider plot over", spiders, asked["spider"], over, what="spider plot", nothing="columns"
    )


def _explain_have() -> str:
    return "columns are datasets " + ", or those ".join(f"{said} ({name})" for name, said in _HAVE.items())


def _tell_conventions(profile: str) -> page.Shown:
    """Return the rules in which a profile differs from that of remix, with the place where its tool has them."""
    if profile == "remix":
        said = "These are the conventions of remix; another profile shows here in what it differs."
        return page.Note(said, ["remix show remix", "remix evaluate --profile all"])
    own, ours = PROFILES[profile].rules(), PROFILES["remix"].rules()
    rows = [
        (name, ours.get(name, ""), own.get(name, ""))
        for name in dict.fromkeys([*own, *ours])
        if own.get(name) != ours.get(name)
    ]
    table = pl.DataFrame(rows, schema=dict.fromkeys(["convention", "remix", profile], pl.String), orient="row")
    words = f"{PROFILES[profile].summary}. In numbers: `remix evaluate --profile remix,{profile}`."
    return page.Table("conventions", table, words=words, folded=True)


def _commands(asked: Mapping[str, str], datasets: Sequence[str], *, all_of: bool) -> list[str]:
    options = [f"--{name} {shlex.quote(asked[name])}" for name in OPTIONS if name != "against" and asked.get(name)]
    named = [] if all_of and len(datasets) > 8 else [*datasets]
    told = " ".join([*named, *(f"--run {name}" for name in split_names(asked["systems"])), *options])
    return [f"remix evaluate {told} --intervals", f"remix compare {told}"]


systems = page.View("systems", "Systems", _show, menu=2, parameters=("dataset", *_NAMES))
