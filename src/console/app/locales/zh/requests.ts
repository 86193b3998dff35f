import type { requests as english } from "../en/requests.ts";

export const requests: Record<keyof typeof english, string> = {
  title: "请求",
};
