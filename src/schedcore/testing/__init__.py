"""The test door: manual clock, fresh ledgers, hosts, conformance suites. Only tests import it."""
