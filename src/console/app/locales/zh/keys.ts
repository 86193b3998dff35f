import type { keys as english } from "../en/keys.ts";

export const keys: Record<keyof typeof english, string> = {
  title: "密钥",
};
