import type { z } from "zod";
import { AdminError } from "../admin-error.ts";
import type { OperationContext } from "../context.ts";
import { csvLine, type Cell } from "./csv.ts";
import { noteExport } from "./note.ts";
import { MAX_GROUPS } from "../usage/usage.ts";
import { LEDGER_COLUMNS } from "./ledger-columns.ts";
import { runOperation, type Operation } from "../operation.ts";
import { operationNamed } from "../operations.ts";

/** Names of exports: lists, and the groups of usage. */
export const EXPORTS = ["ledger", "audit", "keys", "prices", "budgets", "jobs", "requests", "usage"] as const;

export type ExportName = (typeof EXPORTS)[number];
export type ExportFormat = "csv" | "json";

/**
 * Number of rows of a page. It is small, because a page is checked and written within one turn of the event loop, and
 * several exports may run at the same time.
 */
const PAGE = 250;

interface ListedPage {
  data: object[];
  next: string | null;
}

/**
 * Returns a list as text in pieces: CSV with headings, or one JSON object on each line. Takes the filter of the list
 * and exports all its pages (of usage, at most `MAX_GROUPS` groups), with one page in memory at a time. At the end,
 * even when the reader stops early, writes an audit row. Errors of the first page are thrown before the first piece.
 */
export async function exportList(
  context: OperationContext,
  name: ExportName,
  { format, ...filter }: { format: ExportFormat } & Record<string, unknown>,
): Promise<AsyncGenerator<string>> {
  const first = await readPage(context, name, filter);
  return pieces(first);

  async function* pieces(page: ListedPage): AsyncGenerator<string> {
    const columns = columnsOf(name);
    let rows = 0;
    let isWhole = false;
    try {
      if (format === "csv") yield csvLine(columns.map(([heading]) => heading));
      for (;;) {
        rows += page.data.length;
        if (page.data.length > 0)
          yield page.data.map((item) => (format === "csv" ? rowOf(columns, item) : jsonLine(item))).join("");
        if (page.next === null) break;
        page = await readPage(context, name, { ...filter, cursor: page.next });
      }
      isWhole = true;
    } finally {
      await noteExport(context, name, { format, filter, rows, isWhole });
    }
  }
}

/** Returns the operation whose filter and role an export uses. */
export function listOperation(name: string): Operation {
  const known = EXPORTS.find((each) => each === name);
  if (!known)
    throw new AdminError(400, "name", `there is no export "${name}"; there are ${EXPORTS.join(", ")}`);
  return operationNamed(`${known}.list`);
}

async function readPage(context: OperationContext, name: ExportName, filter: object): Promise<ListedPage> {
  if (name !== "usage") {
    const list: Operation<z.ZodType, z.ZodType<object, ListedPage>> = operationNamed(`${name}.list`);
    return await runOperation(list, context, { ...filter, limit: PAGE });
  }
  const { groups } = await runOperation(operationNamed("usage.list"), context, {
    limit: MAX_GROUPS,
    ...filter,
  });
  return { data: groups, next: null };
}

type Columns = readonly (readonly [heading: string, cell: (item: never) => Cell])[];

/** Returns the columns of the ledger, or for other exports the fields of the list's items. */
function columnsOf(name: ExportName): Columns {
  if (name === "ledger") return LEDGER_COLUMNS.map(([heading, cell]) => [heading, cell] as const);
  const { shape } = listOperation(name).output as z.ZodObject<Record<string, z.ZodArray<z.ZodObject>>>;
  const fields = (shape["data"] ?? shape["groups"])?.element.shape ?? {};
  return Object.keys(fields).map(
    (field) => [field, (item: Record<string, unknown>) => cellOf(item[field])] as const,
  );
}

/** Returns a value as a cell. Lists and objects are written as JSON. */
function cellOf(value: unknown): Cell {
  return typeof value === "object" && value !== null ? JSON.stringify(value) : (value as Cell);
}

function rowOf(columns: Columns, item: object): string {
  return csvLine(columns.map(([, cell]) => cell(item as never)));
}

function jsonLine(item: object): string {
  return `${JSON.stringify(item)}\n`;
}
