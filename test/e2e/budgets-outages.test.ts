import { expect, test } from "bun:test";
import { outlast } from "../battery/money-outages.ts";
import { findPostgres } from "../support/postgres.ts";

const SECONDS = 2;

const postgres = findPostgres();
if ("missing" in postgres) console.warn(`SKIPPED outages of the database: ${postgres.missing}`);

for (const kind of ["stopped", "frozen"] as const) {
  test.skipIf("missing" in postgres).concurrent(
    `a database ${kind} for ${SECONDS} s rejects no request within a budget and loses no charge`,
    async () => {
      if (!("missing" in postgres)) expect(await outlast(kind, SECONDS, postgres.folder)).toBe(true);
    },
    90_000,
  );
}
