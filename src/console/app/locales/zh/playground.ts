import type { playground as english } from "../en/playground.ts";

export const playground: Record<keyof typeof english, string> = {
  title: "试用",
};
