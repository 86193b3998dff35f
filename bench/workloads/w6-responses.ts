import { responseBody, requestBody } from "./w5-samples.ts";
import { compareTransfers, openImageStage, transferRows } from "./w5-transfer.ts";
import type { Outcome, Workload } from "./workload.ts";

const FORMS = [
  { figure: "4 x 12 MB base64, through", delivery: "b64_json", share: 0.85 },
  { figure: "4 x 12 MB base64, to links", delivery: "url", share: 0.6 },
] as const;
const MEGABYTES_EACH = 8;
const CONNECTIONS = 4;

/** Responses with large pictures, as base64 or as links: bytes per second from the vendor, and memory. */
export const responseWorkload: Workload = {
  id: "W6",
  title: "answers with 4 pictures of 12 MB",
  async run(stage) {
    const outcome: Outcome = { rows: [], cpuSamples: [], latencySamples: [] };
    const servers = await openImageStage(stage);
    try {
      for (const { figure, delivery, share } of FORMS) {
        const rounds = await compareTransfers(servers, stage.options.rounds, {
          path: "/v1/images/generations",
          key: servers.gateway.key,
          body: requestBody(delivery),
          connections: CONNECTIONS,
          transfers: 2,
          megabytes: responseBody(true).length / 1e6,
        });
        const bars = { share, megabytesEach: MEGABYTES_EACH };
        outcome.rows.push(...transferRows({ workload: "W6", figure }, rounds, bars));
      }
    } finally {
      await servers.stop();
    }
    return outcome;
  },
};
