import { formBody, jsonBody } from "./w5-samples.ts";
import { compareTransfers, openImageStage, transferRows } from "./w5-transfer.ts";
import type { Outcome, Workload } from "./workload.ts";

const FORMS = [
  { figure: "16 x 8 MB by multipart", body: formBody, bars: { share: 0.75, megabytesEach: 32 } },
  { figure: "16 x 8 MB as data URLs", body: jsonBody, bars: { share: 0.6, megabytesEach: 64 } },
];
const CONNECTIONS = 2;

/** Edits with large references, as forms and as JSON: bytes per second from the client, and memory per upload. */
export const uploadWorkload: Workload = {
  id: "W5",
  title: "edit with 16 references of 8 MB",
  async run(stage) {
    const outcome: Outcome = { rows: [], cpuSamples: [], latencySamples: [] };
    const servers = await openImageStage(stage);
    try {
      for (const { figure, body: makeBody, bars } of FORMS) {
        const body = makeBody();
        const rounds = await compareTransfers(servers, stage.options.rounds, {
          path: "/v1/images/edits",
          key: servers.gateway.key,
          body,
          connections: CONNECTIONS,
          transfers: 1,
          megabytes: body.bytes.byteLength / 1e6,
        });
        outcome.rows.push(...transferRows({ workload: "W5", figure }, rounds, bars));
      }
    } finally {
      await servers.stop();
    }
    return outcome;
  },
};
