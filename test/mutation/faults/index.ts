import type { Fault } from "../fault.ts";
import { ADMINISTRATION_FAULTS } from "./administration.ts";
import { CHAT_FAULTS } from "./chat.ts";
import { DATABASE_FAULTS } from "./database.ts";
import { END_TO_END_FAULTS } from "./end-to-end.ts";
import { HTTP_CLIENT_FAULTS } from "./http-client.ts";
import { JOB_FAULTS } from "./jobs.ts";
import { JOURNAL_FAULTS } from "./journal.ts";
import { LIMIT_FAULTS } from "./limits.ts";
import { MESSAGES_FAULTS } from "./messages.ts";
import { METERING_FAULTS } from "./metering.ts";
import { PRICE_FAULTS } from "./prices.ts";
import { REQUEST_FAULTS } from "./requests.ts";
import { RESPONSES_FAULTS } from "./responses.ts";
import { ROUTING_FAULTS } from "./routing.ts";
import { STORE_FAULTS } from "./stores.ts";

/** All faults, by what they damage. */
export const ALL_FAULTS: readonly Fault[] = [
  ...ADMINISTRATION_FAULTS,
  ...METERING_FAULTS,
  ...PRICE_FAULTS,
  ...REQUEST_FAULTS,
  ...CHAT_FAULTS,
  ...MESSAGES_FAULTS,
  ...RESPONSES_FAULTS,
  ...ROUTING_FAULTS,
  ...LIMIT_FAULTS,
  ...HTTP_CLIENT_FAULTS,
  ...JOURNAL_FAULTS,
  ...JOB_FAULTS,
  ...STORE_FAULTS,
  ...DATABASE_FAULTS,
  ...END_TO_END_FAULTS,
];
