import type { Output } from "../../lib/api.ts";

export type Overview = Output<"overview.get">;
