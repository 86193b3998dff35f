import { z } from "zod";
import type { OperationContext } from "../context.ts";
import type { DocumentChange } from "./change.ts";

export type Item = Record<string, unknown>;

/** One kind of records in the document, with the functions of administration that read and change these records. */
export interface Section {
  kind: DocumentChange["kind"];
  /** The schema of one object. It refuses unknown fields. */
  schema: z.ZodType<Item>;
  read(context: OperationContext): Promise<Map<string, Item>>;
  /** Creates an object. Returns its secret, which is shown only once; null when it has none. */
  create(context: OperationContext, id: string, item: Item): Promise<string | null>;
  update(context: OperationContext, id: string, change: { before: Item; after: Item }): Promise<void>;
  /** Removes an object; absent when objects of this kind are never removed. */
  remove?(context: OperationContext, id: string): Promise<void>;
}

/** Returns a schema that checks only the names of fields. The functions that change the record check the values. */
export const namesOf = (schema: z.ZodObject, extra: readonly string[], without: readonly string[] = []) => {
  const names = [...Object.keys(schema.shape).filter((name) => !without.includes(name)), ...extra];
  return z.strictObject(Object.fromEntries(names.map((name) => [name, z.unknown().optional()])));
};
