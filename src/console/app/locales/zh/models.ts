import type { models as english } from "../en/models.ts";

export const models: Record<keyof typeof english, string> = {
  title: "模型",
};
