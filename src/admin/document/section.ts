import { z } from "zod";
import type { OperationContext } from "../context.ts";
import type { DocumentChange } from "./change.ts";

export type Item = Record<string, unknown>;

/** One kind of records in the document, over the functions that administration has for it. */
export interface Section {
  kind: DocumentChange["kind"];
  /** Strict: an unknown field is refused. */
  schema: z.ZodType<Item>;
  read(context: OperationContext): Promise<Map<string, Item>>;
  /** Returns a secret that is shown only now, where there is one. */
  create(context: OperationContext, id: string, item: Item): Promise<string | null>;
  update(context: OperationContext, id: string, change: { before: Item; after: Item }): Promise<void>;
  /** Absent where such an object is never removed. */
  remove?(context: OperationContext, id: string): Promise<void>;
}

/** Fields of a record are checked by its functions; here only their names. */
export const namesOf = (schema: z.ZodObject, extra: readonly string[], without: readonly string[] = []) => {
  const names = [...Object.keys(schema.shape).filter((name) => !without.includes(name)), ...extra];
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
};
