"""Each service in a conversation that was written for the test, with the traps of its protocol."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from remix.errors import BadInput, UsageError
from remix.systems.asked import ADAPTERS, TextAnswer, TextAsked
from remix.systems.declared import read_declaration
from tests.systems.services import Asked, Refused, Said, ask, serving

FACE = "\N{GRINNING FACE}"
TEXT = f"{FACE} Ada met Bob, and Ada left."
ADA, AGAIN, BOB = (2, 5), (19, 22), (10, 13)


def answer(system: str, said: Said | Refused, text: str = TEXT, **options: Any) -> tuple[TextAnswer | str, Asked]:
    """What is made of one answer to a text, and the request."""
    spans = options.pop("spans", None)
    task = "A2KB" if spans is None else "D2KB"
    with serving(lambda _: said) as service:
        done = ask(system, service.address, TextAsked("d", text, spans), task=task, **options)
        return done.answers.get("d") or done.failed["d"], service.seen[0]


def spans(found: TextAnswer | str) -> list[tuple[int, int, str | None, float | None]]:
    assert isinstance(found, TextAnswer), found
    ends = [one.entities[0].rpartition("/")[2] if one.entities else None for one in found.spans]
    return [(one.begin, one.end, end, one.confidence) for one, end in zip(found.spans, ends, strict=True)]


def resource(name: str, offset: int, surface: str) -> dict[str, str]:
    return {
        "@URI": f"http://dbpedia.org/resource/{name}",
        "@support": "7",
        "@types": "",
        "@surfaceForm": surface,
        "@offset": str(offset),
        "@similarityScore": "0.99",
        "@percentageOfSecondRank": "0.1",
    }


def test_dbpedia_spotlight_counts_as_java_does_in_texts() -> None:
    # The face is two units of UTF-16: what stands at 2 stands at 3 there.
    found, asked = answer(
        "dbpedia-spotlight",
        {"@text": TEXT, "@confidence": "0.35", "Resources": [resource("Ada", 3, "Ada"), resource("Bob", 11, "Bob")]},
        confidence="0.35",
    )
    assert spans(found) == [(*ADA, "Ada", 0.99), (*BOB, "Bob", 0.99)]
    assert (asked.form, asked.headers["Accept"]) == (
        {"text": TEXT, "confidence": "0.35", "support": "0"},
        "application/json",
    )


def test_dbpedia_spotlight_has_no_resources_where_it_found_none() -> None:
    assert spans(answer("dbpedia-spotlight", {"@text": TEXT, "@confidence": "0.5"})[0]) == []
    assert "not [10" in str(answer("dbpedia-spotlight", {"Resources": "not [10"})[0])
    assert "is no JSON" in str(answer("dbpedia-spotlight", "<html>503 upstream</html>")[0])


def test_opentapioca_has_mentions_without_link() -> None:
    tags = [{"id": "Q7259", "label": ["Ada"], "rank": 1.2}]
    found, asked = answer(
        "opentapioca",
        {
            "text": TEXT,
            "annotations": [
                {"start": 2, "end": 5, "tags": tags, "best_qid": "Q7259", "log_likelihood": -3},
                {"start": 10, "end": 13, "tags": [], "best_qid": None},
            ],
        },
    )
    assert spans(found) == [(*ADA, "Q7259", None), (*BOB, None, None)]
    assert asked.form == {"query": TEXT}
    assert "without 'annotations'" in str(answer("opentapioca", {"text": TEXT})[0])


def test_entity_fishing_takes_json_in_a_part_and_scores_as_it_likes() -> None:
    said = {
        "entities": [
            {"rawName": "Ada", "offsetStart": 3, "offsetEnd": 6, "confidence_score": 0.8, "wikidataId": "Q7259"},
            {"rawName": "Bob", "offsetStart": 11, "offsetEnd": 14, "confidence_score": "0.5", "wikidataId": "Q392"},
        ]
    }
    found, asked = answer("entity-fishing", said, spans=(ADA, BOB))
    assert spans(found) == [(*ADA, "Q7259", 0.8), (*BOB, "Q392", 0.5)]
    assert asked.headers["Content-Type"].startswith("multipart/form-data")
    sent = re.search(rb'name="query"\r\n\r\n(.*?)\r\n--', asked.body, re.DOTALL)
    assert sent is not None
    query = json.loads(sent[1])
    assert (query["mentions"], query["language"]) == ([], {"lang": "en"})
    assert query["entities"][1] == {"rawName": "Bob", "offsetStart": 11, "offsetEnd": 14}


def test_rel_is_asked_with_a_tagger_and_lists_of_spans() -> None:
    found, asked = answer("rel", [["Ada", "Ada_Lovelace", 0.7], ["Bob", "Bob_Dylan", 0.6]], spans=(AGAIN, BOB))
    assert spans(found) == [(*AGAIN, "Ada_Lovelace", 0.7), (*BOB, "Bob_Dylan", 0.6)]
    assert asked.json == {"text": TEXT, "spans": [[19, 3], [10, 3]], "tagger": "ner-fast"}
    refused, _ = answer("rel", Refused(422, {"detail": "unknown tagger"}), tagger="x")
    assert str(refused).startswith("answered 422")


def test_rel_of_old_says_wrong_starts_of_what_comes_twice() -> None:
    rows = [[2, 3, "Ada", "Ada_Lovelace", 0.5, 0.9, "PER"], [2, 3, "Ada", "Ada_(name)", 0.5, 0.9, "PER"]]
    found, _ = answer("spans", rows)
    assert [one[:3] for one in spans(found)] == [(*ADA, "Ada_Lovelace"), (*AGAIN, "Ada_(name)")]
    assert isinstance(found, TextAnswer) and found.told == {"moved": 1}


def test_rel_of_old_counts_after_it_has_unescaped_the_text() -> None:
    text = "AT&amp;T met Ada"
    # In `AT&T met Ada`, which is what it linked, Ada stands at 9; here it does at 13.
    found, _ = answer("spans", [[9, 3, "Ada", "Ada_Lovelace", 0.5, 0.9, "PER"]], text)
    assert spans(found) == [(13, 16, "Ada_Lovelace", 0.5)]


def test_falcon_has_no_offsets() -> None:
    said = {"entities_wikidata": [["Ada", "<http://www.wikidata.org/entity/Q7259>"], ["Eve", "x"], ["Ada", "Q1"]]}
    found, asked = answer("falcon2", said)
    assert [one[:3] for one in spans(found)] == [(*ADA, "Q7259"), (*AGAIN, "Q1")]
    assert isinstance(found, TextAnswer) and found.told == {"not-in-text": 1}
    assert (asked.query, asked.json) == ({"mode": "long"}, {"text": TEXT})


def test_falcon_answers_objects_where_it_answered_pairs() -> None:
    said = [{"surface form": "Ada", "URI": "http://www.wikidata.org/entity/Q7259"}, {"surface form": "Eve", "URI": "x"}]
    found, _ = answer("falcon2", {"entities_wikidata": said})
    assert [one[:3] for one in spans(found)] == [(*ADA, "Q7259")]
    assert isinstance(found, TextAnswer) and found.told == {"not-in-text": 1}


def test_a_mention_of_another_shape_is_a_failure_and_no_answer_without_mentions() -> None:
    said = {"entities_wikidata": [{"mention": "Ada", "entity": "Q7259"}]}
    found, _ = answer("falcon2", said)
    assert found == (
        'answered a mention without begin and form where they should be: {"mention": "Ada", "entity": "Q7259"}'
    )


def annotation(begin: int, end: int, title: str | None, rho: float) -> dict[str, Any]:
    return {"start": begin, "end": end, "spot": "Ada" if begin == 3 else "Bob", "rho": rho, "id": 7, "title": title}


@pytest.mark.parametrize("system", ["wat", "tagme"])
def test_wat_and_tagme_answer_what_they_are_not_sure_of(system: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GCUBE_TOKEN", "hidden-token")
    said = {"annotations": [annotation(3, 6, "Ada Lovelace", 0.5), annotation(11, 14, "Bob", 0.1)]}
    found, asked = answer(system, said, rho="0.3")
    assert spans(found) == [(*ADA, "Ada_Lovelace", 0.5)]
    assert (asked.query or asked.form)["gcube-token"] == "hidden-token"
    refused, _ = answer(system, Refused(401, "the token hidden-token is not valid"))
    assert refused == "answered 401 Unauthorized: the token … is not valid"
    monkeypatch.delenv("GCUBE_TOKEN")
    with pytest.raises(UsageError, match="set GCUBE_TOKEN"):
        ask(system, "http://127.0.0.1:9/", TEXT)


def test_babelfy_ends_with_the_last_letter_and_errs_with_status_200(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BABELFY_KEY", "hidden-key")
    said: list[dict[str, Any]] = [
        {"charFragment": {"start": 3, "end": 5}, "DBpediaURL": "http://dbpedia.org/resource/Ada", "score": 0.9},
        {"charFragment": {"start": 11, "end": 13}, "DBpediaURL": "", "babelSynsetID": "bn:1n", "score": 0.9},
    ]
    found, asked = answer("babelfy", said)
    assert spans(found) == [(*ADA, "Ada", 0.9)]
    assert isinstance(found, TextAnswer) and found.told == {"without-entity": 1}
    assert asked.form == {"text": TEXT, "lang": "EN", "key": "hidden-key"}
    assert answer("babelfy", {"message": "Your key is not valid"})[0] == "answered an error: Your key is not valid"


def test_tokens_are_in_no_kept_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from remix.systems.kept import AnswerLog

    monkeypatch.setenv("BABELFY_KEY", "hidden-key")
    with serving(lambda _: []) as service, AnswerLog(tmp_path, "babelfy") as log:
        ask("babelfy", service.address, TEXT, log=log)
    [file] = tmp_path.iterdir()
    assert file.stat().st_size > 0 and b"hidden-key" not in file.read_bytes()


def test_declaration_that_is_none_says_what_is_wrong(tmp_path: Path) -> None:
    good = 'name = "x"\nsummary = "x"\naddress = "http://x/"\n[answer]\nentity = "list[].e"\nform = "list[].f"\n'
    (file := tmp_path / "x.toml").write_text(good)
    assert read_declaration(file).name == "x"
    for wrong, said in [
        (good.replace("form", "from"), "no key 'from'; did you mean 'form'?"),
        (good.replace('name = "x"\n', ""), "name"),
        (good.replace("entity", "begin"), "where mentions are"),
        (good + 'unit = "letters"\n', "a unit of code points, utf-16, bytes"),
        ("name = ", "is no declaration"),
    ]:
        file.write_text(wrong)
        with pytest.raises(BadInput, match=re.escape(said)):
            read_declaration(file)


# Chat endpoints


def completion(content: str | None, finish: str = "stop", **message: Any) -> dict[str, Any]:
    return {
        "choices": [{"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 9},
    }


def mentions(*pairs: tuple[str, str | None], **more: int) -> str:
    return json.dumps({"mentions": [{"mention": form, "title": title, **more} for form, title in pairs]})


def test_model_is_asked_for_json_and_its_offsets_are_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "hidden-key")
    # Ada is named three times and stands there twice, Eve stands nowhere.
    ada = [("Ada", "Ada (name)")] * 2
    said = mentions(("Ada", "Ada Lovelace"), ("Bob", None), *ada, ("Eve", "Eve"), begin=0, end=1)
    found, asked = answer("chat", completion(said), model="small", seed=3)
    assert [one[:3] for one in spans(found)] == [(*ADA, "Ada_Lovelace"), (*BOB, None), (*AGAIN, "Ada_(name)")]
    assert isinstance(found, TextAnswer)
    assert (found.input_tokens, found.output_tokens, found.finish) == (50, 9, "stop")
    assert found.told == {"not-in-text": 2}
    assert (asked.path, asked.headers["Authorization"]) == ("/chat/completions", "Bearer hidden-key")
    sent = asked.json
    assert (sent["model"], sent["temperature"], sent["seed"]) == ("small", 0.0, 3)
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["messages"][0]["content"].endswith(f"Text:\n{TEXT}\n")


def test_server_that_refuses_the_schema_is_asked_without() -> None:
    def server(asked: Asked) -> Said | Refused:
        if "response_format" in asked.json:
            return Refused(400, {"error": {"message": "Unsupported param: response_format json_schema"}})
        return completion(f"Sure!\n```json\n{mentions(('Ada', 'Ada Lovelace'))}\n```")

    with serving(server) as service:
        done = ask("chat", service.address, TEXT, TEXT + " ", model="old")
        assert [len(one.spans) for one in done.answers.values()] == [1, 1]
        assert ["response_format" in one.json for one in service.seen] == [True, False, False]
        forced = ask("chat", service.address, TEXT, model="old", schema="always")
        assert forced.failed["0"].startswith("answered 400")


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (completion("I am sorry, but I cannot help with that."), "answered prose: I am sorry"),
        (completion('{"mentions": [{"mention": "Ada"', "length"), "ended early (length) after 9 tokens"),
        (completion(""), "answered nothing (stop)"),
        (completion(None, refusal="No."), "refused: No."),
        (completion(mentions(("Jean", "Jean"), ("Robert", "Robert"))), "answered 2 mentions that the text does not"),
        (completion("[Jean]{Jean} a rencontré [Robert]{Robert}."), "answered with another text"),
        ({"error": "overloaded"}, "answered no completion"),
    ],
)
def test_what_a_model_says_besides_is_a_failed_document(said: dict[str, Any], reason: str) -> None:
    assert str(answer("chat", said, model="m")[0]).startswith(reason)


def test_model_that_finds_nothing_has_answered() -> None:
    for said in (mentions(), "[]", TEXT):
        assert spans(answer("chat", completion(said), model="m")[0]) == []


def test_echo_of_the_text_says_which_of_two_is_meant() -> None:
    said = f"{FACE} Ada met [Bob]{{NIL}}, and [Ada]{{Ada Lovelace}} left."
    found, asked = answer("chat", completion(said), model="m", answer="echo")
    assert [one[:3] for one in spans(found)] == [(*BOB, None), (*AGAIN, "Ada_Lovelace")]
    assert "response_format" not in asked.json and "[mention]{Title}" in asked.json["messages"][0]["content"]


def test_model_is_given_the_mentions_of_d2kb_and_linked_there() -> None:
    found, asked = answer("chat", completion(mentions(("Ada", "Ada Lovelace"))), model="m", spans=(AGAIN,))
    assert [one[:3] for one in spans(found)] == [(*AGAIN, "Ada_Lovelace")]
    assert "Mentions:\n- Ada\n" in asked.json["messages"][0]["content"]


def test_prompt_of_a_file_changes_what_is_kept(tmp_path: Path) -> None:
    from remix.systems.kept import AnswerLog

    (file := tmp_path / "prompt.txt").write_text("Link {text} of {braces}")
    log = AnswerLog(None, "chat")
    with serving(lambda _: completion(mentions())) as service:
        changes: list[dict[str, str]] = [
            {},
            {"input_price": "2.5"},  # which changes nothing but the record
            {"revision": "2"},
            {"temperature": "0.7"},
            {"max_tokens": "9"},
            {"schema": "never"},
            {"model": "other"},
            {"token": "OTHER_KEY"},  # nor does this
        ]
        asked = []
        for change in changes:
            before = len(service.seen)
            ask("chat", service.address, "x {text} y", log=log, **{"model": "m", "prompt": str(file), **change})
            asked.append(len(service.seen) - before)
        assert asked == [1, 0, 1, 1, 1, 1, 1, 0]
        assert service.seen[0].json["messages"][0]["content"] == "Link x {text} y of {braces}"
        file.write_text("Please link {text}")
        ask("chat", service.address, "x {text} y", log=log, model="m", prompt=str(file))
        assert len(service.seen) == 7
        file.write_text("Please link")
        with pytest.raises(UsageError, match=r"no \{text\} in it"):
            ask("chat", service.address, TEXT, model="m", prompt=str(file))
    with pytest.raises(UsageError, match="needs a model"):
        ask("chat", "http://127.0.0.1:9/", TEXT)


def test_every_service_has_a_place_in_the_documentation() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "systems.md").read_text(encoding="utf-8")
    assert [name for name in ADAPTERS.names() if f"`{name}`" not in page] == []
