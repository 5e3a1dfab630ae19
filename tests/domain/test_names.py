from __future__ import annotations

import pytest

from schedcore.domain import names
from schedcore.domain.errors import Refused
from schedcore.domain.names import fold
from schedcore.domain.run import RunState


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Échéance/Cron", "echeance/cron"),
        ("ÉCHÉANCE/CRON", "échéance/cron"),
        ("e\u0301cheance", "\u00e9cheance"),
        ("  Actif ", "actif"),
        ("ＡＣＴＩＦ", "actif"),
        ("STRASSE", "straße"),
        ("Dernière exécution", "derniere execution"),
    ],
)
def test_words_are_the_same_without_case_accents_width_and_outer_blanks(one: str, other: str):
    assert fold(one) == fold(other)


@pytest.mark.parametrize(("one", "other"), [("a b", "ab"), ("retry_delay", "retry delay"), ("cron", "cr on")])
def test_inner_blanks_and_letters_count(one: str, other: str):
    assert fold(one) != fold(other)


ALIASES = [
    (
        names.JOB_STATES,
        {"actif": "active", "scheduled": "active", "En Pause": "paused"},
    ),
    (
        names.JOB_STATES,
        {"en_pause": "paused", "a valider": "pending", "à valider": "pending", "a_valider": "pending"},
    ),
    (names.JOB_STATES, {"termine": "done", "terminé": "done", "completed": "done", "Retired": "retired"}),
    (names.RUN_STATES, {"pending": "queued", "success": "succeeded", "done": "succeeded", "no op": "no_op"}),
    (names.RUN_STATES, {"completed": "succeeded", "failure": "failed", "NO_OP": "no_op"}),
    (names.TRIGGER_KINDS, {"interval": "every", "once": "at", "one-shot": "at", "Cron": "cron"}),
    (names.CHANNELS, {"mail": "email", "imap": "email", "wa": "whatsapp", "twilio": "sms", "texto": "sms"}),
    (
        names.NOTIFICATION_FIELDS,
        {"canal": "channel", "destinataire": "to", "recipient": "to"},
    ),
    (names.NOTIFICATION_FIELDS, {"numero": "to", "numéro": "to", "sujet": "subject", "objet": "subject"}),
    (names.NOTIFICATION_FIELDS, {"corps": "body", "message": "body", "texte": "body"}),
    (
        names.NOTION_PROPERTIES,
        {"Nom": "name", "type": "kind", "Echeance/Cron": "schedule"},
    ),
    (
        names.NOTION_PROPERTIES,
        {"Statut": "state", "prochain run": "next_run", "derniere execution": "last_run"},
    ),
    (names.NOTION_PROPERTIES, {"raison de classif": "reason"}),
    (names.TOOL_ARGUMENTS, {"nom": "name", "statut": "state", "type": "kind"}),
    (names.INTAKE, {"chantier": "project", "bruit": "noise"}),
    (names.JOB_FIELDS, {"id": "key", "deliverTo": "deliver_to"}),
    (names.POLICY_FIELDS, {"catchUpPolicy": "catch_up", "deliveryKey": "delivery_key"}),
    (names.TRIGGER_FIELDS, {"expression": "text", "timezone": "zone", "interval": "every"}),
    (names.ROUTES, {"trigger": "run", "preview": "next", "usage": "costs"}),
    (names.CASTES, {"batisseurs": "Bâtisseurs", "VIGIES": "Vigies"}),
]


@pytest.mark.parametrize(
    ("table", "alias", "own"), [(t, alias, own) for t, pairs in ALIASES for alias, own in pairs.items()]
)
def test_an_alias_is_read_as_the_own_name(table: names.Names, alias: str, own: str):
    assert table.find(alias) == own


@pytest.mark.parametrize("table", [v for v in vars(names).values() if isinstance(v, names.Names)])
def test_every_own_name_is_read_as_itself(table: names.Names):
    assert [table.find(own) for own in table.own] == list(table.own)


def test_a_run_state_table_has_every_state():
    assert set(names.RUN_STATES.own) == {state.word for state in RunState}


def test_what_is_not_known_is_refused_with_the_nearest_or_the_list():
    with pytest.raises(Refused) as near:
        names.JOB_STATES.read("activ", "state")
    with pytest.raises(Refused) as far:
        names.JOB_STATES.read("qqq", "state")

    assert near.value.hint == "did you mean 'active'?"
    assert "retired" in (far.value.hint or "")


@pytest.mark.parametrize("value", [None, 3, ["active"]])
def test_what_is_no_text_is_refused_too(value: object):
    with pytest.raises(Refused):
        names.JOB_STATES.read(value, "state")
