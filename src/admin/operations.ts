import { keyOperations } from "./key-operations.ts";

/** Every operation of administration, by name. */
export const operations = { ...keyOperations };

export type Operations = typeof operations;
