import { JOB_STAGES, type Job } from "../../domain/job.ts";
import type { ImagePrice, Rate } from "../../domain/price.ts";
import type { ClaimedJob, JobLease, JobTerms } from "../../jobs/ports.ts";
import { storeTime, toColumn } from "../database/expressions.ts";
import type { Database, Sql } from "../database/sql.ts";
import {
  bit,
  integer,
  json,
  nullable,
  table,
  text,
  time,
  type Columns,
  type Row,
} from "../database/table.ts";

/** Columns of a job that its organization may see. */
export const JOB: Columns<Omit<Job, "readAt">> = {
  id: text(),
  organizationId: text(),
  model: text(),
  status: text(),
  stage: integer(),
  typicalMs: integer(),
  createdAt: time(),
  startedAt: nullable(time()),
  endedAt: nullable(time()),
  isCancelRequested: bit(),
  outputs: json(),
  error: nullable(json()),
};

const jobs = table("jobs", JOB);

/** True for a text that can be the id of a job. Other texts are not looked up: PostgreSQL refuses a NUL character. */
export function isJobId(text: string): boolean {
  return /^job_\w+$/.test(text);
}

/** Returns the columns of `JOB` and the time of the reading, for SELECT or RETURNING. */
export function jobColumns(kind: Database["kind"], sql: Sql) {
  return sql`${sql.unsafe(jobs.columns)}, ${storeTime(kind, sql)} AS read_at`;
}

export function readJob(row: Row): Job {
  return Object.assign(jobs.read(row), { readAt: Number(row["read_at"]) });
}

/** The part of an unfinished job that only its worker needs, without the names of the job's files. */
export const jobRequests = table<Pick<ClaimedJob, "terms" | "request" | "sent">>("job_requests", {
  terms: { read: (stored) => readTerms(String(stored)), write: writeTerms },
  request: text(),
  sent: nullable(json()),
});

/** Returns the condition that a lease is still valid and that its job has not ended. */
export function isHeld(sql: Sql, { jobId, fence }: JobLease) {
  return sql`id = ${jobId} AND fence = ${fence} AND lease_until IS NOT NULL
    AND status IN ('pending', 'in_progress')`;
}

/** Texts of prices. Many jobs share one price, and writing its text costs as much as the rest of a job's row. */
const priceTexts = new WeakMap<ImagePrice, string>();

/** Writes terms in the form of `toColumn`. */
export function writeTerms({ admittedAt, price, ceiling, budgets, source, client }: JobTerms): string {
  const priceText = priceTexts.get(price) ?? toColumn(price);
  priceTexts.set(price, priceText);
  return `{"admittedAt":${admittedAt},"price":${priceText},"ceiling":"${ceiling}","budgets":${JSON.stringify(budgets)},"source":${JSON.stringify(source)},"client":${JSON.stringify(client)}}`;
}

/** Reads terms that `writeTerms` has written. */
function readTerms(text: string): JobTerms {
  const { admittedAt, price, ceiling, budgets, source = null, client = null } = JSON.parse(text);
  return { admittedAt, price: readPrice(price), ceiling: BigInt(ceiling), budgets, source, client };
}

type WrittenRate = Omit<Rate, "amount"> & { amount: string };

function readPrice({ unit, currency, perImage }: ImagePrice): ImagePrice {
  const tiers = Object.entries(perImage as Record<string, Record<string, WrittenRate>>).map(
    ([tier, cells]) => {
      const rates = Object.entries(cells).map(([quality, rate]): [string, Rate] => [
        quality,
        { ...rate, amount: BigInt(rate.amount) },
      ]);
      return [tier, Object.fromEntries(rates)];
    },
  );
  return { unit, currency, perImage: Object.fromEntries(tiers) };
}

/** Returns the later of `stage` and the present stage of a job, as an SQL expression. */
export function atLeast(sql: Sql, stage: keyof typeof JOB_STAGES) {
  const bound = JOB_STAGES[stage];
  return sql`CASE WHEN stage > ${bound} THEN stage ELSE ${bound} END`;
}
