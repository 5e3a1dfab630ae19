"""The only thing that is durable: tables, statements, migrations, on SQLAlchemy Core."""
