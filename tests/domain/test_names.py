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
    (names.JOB_STATES, "active", "actif, scheduled, ACTIF"),
    (names.JOB_STATES, "paused", "en pause, en_pause, En Pause"),
    (names.JOB_STATES, "pending", "a valider, à valider, a_valider"),
    (names.JOB_STATES, "done", "termine, terminé, completed"),
    (names.RUN_STATES, "queued", "pending"),
    (names.RUN_STATES, "succeeded", "success, done, completed"),
    (names.RUN_STATES, "failed", "failure"),
    (names.RUN_STATES, "no_op", "no op, NO_OP"),
    (names.TRIGGER_KINDS, "every", "interval"),
    (names.TRIGGER_KINDS, "at", "once, one-shot"),
    (names.CHANNELS, "email", "mail, imap"),
    (names.CHANNELS, "whatsapp", "wa"),
    (names.CHANNELS, "sms", "twilio, texto"),
    (names.NOTIFICATION_FIELDS, "channel", "canal"),
    (names.NOTIFICATION_FIELDS, "to", "destinataire, recipient, numero, numéro"),
    (names.NOTIFICATION_FIELDS, "subject", "sujet, objet"),
    (names.NOTIFICATION_FIELDS, "body", "corps, message, texte"),
    (names.NOTION_PROPERTIES, "name", "Nom"),
    (names.NOTION_PROPERTIES, "kind", "type"),
    (names.NOTION_PROPERTIES, "schedule", "échéance/cron, ÉCHÉANCE/CRON, Echeance/Cron"),
    (names.NOTION_PROPERTIES, "state", "statut"),
    (names.NOTION_PROPERTIES, "next_run", "prochain run"),
    (names.NOTION_PROPERTIES, "last_run", "dernière exécution"),
    (names.NOTION_PROPERTIES, "reason", "raison de classif"),
    (names.TOOL_ARGUMENTS, "name", "nom"),
    (names.TOOL_ARGUMENTS, "state", "statut"),
    (names.TOOL_ARGUMENTS, "kind", "type"),
    (names.INTAKE, "project", "chantier"),
    (names.INTAKE, "noise", "bruit"),
    (names.JOB_FIELDS, "key", "id"),
    (names.JOB_FIELDS, "deliver_to", "deliverTo"),
    (names.POLICY_FIELDS, "catch_up", "catchUpPolicy"),
    (names.POLICY_FIELDS, "delivery_key", "deliveryKey"),
    (names.TRIGGER_FIELDS, "text", "expression"),
    (names.TRIGGER_FIELDS, "zone", "timezone"),
    (names.ROUTES, "run", "trigger"),
    (names.ROUTES, "next", "preview"),
    (names.ROUTES, "costs", "usage"),
    (names.CASTES, "Bâtisseurs", "batisseurs, BÂTISSEURS"),
]


@pytest.mark.parametrize(
    ("table", "alias", "own"),
    [(table, alias, own) for table, own, aliases in ALIASES for alias in aliases.split(", ")],
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
