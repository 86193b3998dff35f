import type { Output } from "../../api/call.ts";

export type Alert = Output<"alerts.list">["data"][number];
export type AlertEventView = Output<"alerts.events">["data"][number];
