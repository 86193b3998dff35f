import type { Output } from "../../api/call.ts";
import { operatorText } from "../../texts/operator-text.ts";

export type Delivery = Output<"deliveries.list">["data"][number];

/** Returns the result of a message's last attempt in the reader's language; empty before the first attempt. */
export function resultOf({ lastResult, resultCode, resultFigures }: Delivery): string {
  return operatorText({ message: lastResult ?? "", code: resultCode, figures: resultFigures });
}
