import type { Output } from "../../api/call.ts";

/** What the pages of the settings show, as the gateway returns it. */
export type Organization = Output<"organizations.get">;
export type Member = Output<"members.list">["data"][number];
export type Endpoint = Output<"webhooks.list">["data"][number];
export type AuditEntry = Output<"audit.list">["data"][number];
export type Setting = Output<"settings.list">["data"][number];
