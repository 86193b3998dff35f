import type { ownKey as english } from "../en/own-key.ts";

export const ownKey: Record<keyof typeof english, string> = {
  title: "我的密钥",
};
