import { ADMINISTRATION_CASES } from "./administration.ts";
import type { LoopCase } from "./case.ts";
import { OTHER_CASES } from "./other-cases.ts";
import { PROVIDER_CASES } from "./provider-cases.ts";
import { TEXT_CASES } from "./text-cases.ts";

export const CASES: readonly LoopCase[] = [
  ...TEXT_CASES,
  ...OTHER_CASES,
  ...PROVIDER_CASES,
  ...ADMINISTRATION_CASES,
];
