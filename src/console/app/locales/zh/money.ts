import type { money as english } from "../en/money.ts";

export const money: Record<keyof typeof english, string> = {
  title: "费用",
};
