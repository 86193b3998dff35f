import type { jobs as english } from "../en/jobs.ts";

export const jobs: Record<keyof typeof english, string> = {
  title: "任务",
};
