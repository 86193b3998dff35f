import type { account as english } from "../en/account.ts";

export const account: Record<keyof typeof english, string> = {
  title: "账户",
};
