import { keyOperations } from "./key-operations.ts";
import { requestOperations } from "./request-operations.ts";
import { usageOperations } from "./usage-operations.ts";

/** Every operation of administration, by name. */
export const operations = { ...keyOperations, ...usageOperations, ...requestOperations };

export type Operations = typeof operations;
