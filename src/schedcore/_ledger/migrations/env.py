"""How Alembic is run here: on the caller's connection, inside the caller's transaction, no logging set up."""

from alembic import context

from schedcore._ledger.schema import metadata

given = context.config.attributes
step = given["step"]
options = {
    "target_metadata": metadata,
    "version_table": given["version_table"],
    "version_table_schema": given["version_schema"],
    "render_as_batch": True,
    "on_version_apply": [] if step is None else [lambda **_: step()],
}
if context.is_offline_mode():
    context.configure(dialect_name=given["connection"].dialect.name, literal_binds=True, **options)
else:
    context.configure(connection=given["connection"], **options)
with context.begin_transaction():
    context.run_migrations()
