import type { LoopCase } from "./case.ts";

/** Reports, exports and other readings of administration, by the number of rows that they read. */
export const ADMINISTRATION_CASES: readonly LoopCase[] = [];
