import type { overview as english } from "../en/overview.ts";

export const overview: Record<keyof typeof english, string> = {
  title: "概览",
};
