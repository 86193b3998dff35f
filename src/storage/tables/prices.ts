import type { Nanos } from "../../lib/money.ts";
import { padded } from "../database/expressions.ts";
import { makeChange } from "./change.ts";
import type { Database } from "../database/sql.ts";
import type { PriceRecord, PriceStore } from "../../admin/prices/store-port.ts";
import { moneyJson, nullable, table, text, time, type Row } from "../database/table.ts";

const prices = table<PriceRecord>("prices", {
  id: text(),
  organizationId: nullable(text()),
  model: text(),
  currency: text(),
  price: moneyJson(readPrice),
  effectiveFrom: time(),
  effectiveUntil: nullable(time()),
  createdAt: time(),
});

/** Price rows. They are added and ended, but their amounts never change. */
export function priceStore(database: Database): PriceStore {
  return {
    async add(price, by, replaced) {
      const change = { by, kind: "price", action: "create", subject: price.id } as const;
      await makeChange(database, change, async (sql, revision) => {
        await sql`INSERT INTO prices ${sql({ ...prices.write(price), revision })}`;
        return { before: replaced ? { currency: price.currency, price: replaced } : null, after: price };
      });
    },
    async end(id, until, by) {
      const change = { by, kind: "price", action: "remove", subject: id } as const;
      return await makeChange(database, change, async (sql, revision) => {
        const before = prices.first(
          await sql<Row[]>`SELECT * FROM prices
            WHERE id = ${id} AND (effective_until IS NULL OR effective_until > ${until})`,
        );
        if (!before) return null;
        await sql`UPDATE prices SET effective_until = ${until}, revision = ${revision} WHERE id = ${id}`;
        return { before, after: { ...before, effectiveUntil: until } };
      });
    },
    async list({ organizationId, model } = {}) {
      const rows = await database.read(
        (sql) => sql<Row[]>`SELECT * FROM prices WHERE 1 = 1
          ${model === undefined ? sql`` : sql`AND model = ${model}`}
          ${organizationId === null ? sql`AND organization_id IS NULL` : sql``}
          ${typeof organizationId === "string" ? sql`AND organization_id = ${organizationId}` : sql``}
          ORDER BY model, effective_from, id`,
      );
      return rows.map(prices.read);
    },
    page: ({ organizationId, organizationIds, model, after, limit }) =>
      database.read(async (sql) => {
        const last =
          after === undefined
            ? null
            : prices.first(await sql<Row[]>`SELECT * FROM prices WHERE id = ${after}`);
        if (after !== undefined && !last) return null;
        const rows = await sql<Row[]>`SELECT * FROM prices WHERE 1 = 1
          ${organizationId === undefined ? sql`` : sql`AND organization_id = ${organizationId}`}
          ${
            organizationIds === undefined
              ? sql``
              : sql`AND (organization_id IS NULL OR organization_id IN ${sql(padded(organizationIds))})`
          }
          ${model === undefined ? sql`` : sql`AND model = ${model}`}
          ${last ? sql`AND (model, effective_from, id) > (${last.model}, ${last.effectiveFrom}, ${last.id})` : sql``}
          ORDER BY model, effective_from, id LIMIT ${limit}`;
        return rows.map(prices.read);
      }),
  };
}

/** A price as it is parsed from the column `price`: every amount is a decimal string. */
type WrittenPrice =
  | { unit: "image"; perImage: Record<string, Record<string, string>> }
  | {
      unit: "token";
      perMillion: Record<string, string>;
      longContext?: { above: number; perMillion: Record<string, string> };
      perUse?: Record<string, string>;
    };

function readPrice(written: WrittenPrice): PriceRecord["price"] {
  if (written.unit === "token") {
    const { perMillion, longContext, perUse } = written;
    return {
      unit: "token",
      perMillion: readAmounts(perMillion),
      ...(perUse && { perUse: readAmounts(perUse) }),
      ...(longContext && {
        longContext: { above: longContext.above, perMillion: readAmounts(longContext.perMillion) },
      }),
    };
  }
  const tiers = Object.entries(written.perImage).map(([tier, row]) => [tier, readAmounts(row)]);
  return { unit: "image", perImage: Object.fromEntries(tiers) };
}

function readAmounts(written: Record<string, string>): Record<string, Nanos> {
  return Object.fromEntries(Object.entries(written).map(([name, amount]) => [name, BigInt(amount)]));
}
