import type { Attack } from "./attack.ts";
import { MEMORY_ATTACKS } from "./attacks-memory.ts";
import { RULE_ATTACKS } from "./attacks-rules.ts";
import { TIME_ATTACKS } from "./attacks-time.ts";
import { BAD_INPUT_ATTACKS } from "./bad-inputs.ts";

export const ATTACKS: readonly Attack[] = [
  ...TIME_ATTACKS,
  ...MEMORY_ATTACKS,
  ...RULE_ATTACKS,
  ...BAD_INPUT_ATTACKS,
].toSorted((one, other) => one.name.localeCompare(other.name, "en", { numeric: true }));
