import { chat } from "./chat/index.ts";
import type { TextDialect } from "./dialect.ts";
import { messages } from "./messages/index.ts";
import type { TextDialectName } from "./name.ts";
import { native } from "./native/text/index.ts";
import { responses } from "./responses/index.ts";

/** Every wire format of text models. */
const DIALECTS: ReadonlyMap<TextDialectName, TextDialect> = new Map<TextDialectName, TextDialect>([
  ["chat", chat],
  ["messages", messages],
  ["responses", responses],
  ["native", native],
]);

/** Their names. */
export const TEXT_DIALECTS: readonly TextDialectName[] = [...DIALECTS.keys()];

export function textDialect(name: TextDialectName): TextDialect {
  const dialect = DIALECTS.get(name);
  if (!dialect) throw new Error(`no dialect ${name}`);
  return dialect;
}
