-- Nothing looks a charge up by its caller's request id, and keeping the order of those costs every charge.
DROP INDEX ledger_by_request;
