import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestGateway, type TestGateway } from "../support/gateway.ts";
import { untilStatus, type WireJob } from "../support/job-calls.ts";
import { makePng } from "../support/pictures.ts";

/* The commands of docs/build/jobs.md, with only the address changed. The gateway is killed after the first. */
const SHOWN_ADDRESS = "http://127.0.0.1:8080";
const page = await Bun.file(new URL("../../docs/build/jobs.md", import.meta.url)).text();
const commands = [...page.matchAll(/test\/e2e\/jobs-page.test.ts -->\n\n```sh\n(curl [\s\S]*?)```/g)].map(
  ([, command]) => command ?? "",
);

let gateway: TestGateway;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "gateway-page-"));
  await Bun.write(join(folder, "lighthouse.png"), makePng(64, 48));
  gateway = await startTestGateway();
}, 30_000);
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

async function run(command: string, job = ""): Promise<unknown> {
  const child = Bun.spawn(["sh", "-c", command.replaceAll(SHOWN_ADDRESS, gateway.url)], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", GATEWAY_KEY: gateway.key, JOB: job },
  });
  return JSON.parse(await new Response(child.stdout).text());
}

test.skipIf(!Bun.which("curl"))(
  "the commands of the page work, also when the gateway is killed in between",
  async () => {
    expect(commands).toHaveLength(5);
    const [submit = "", look = "", list = "", cancel = "", edit = ""] = commands;
    const submitted = (await run(submit)) as WireJob;
    expect(submitted).toMatchObject({ status: "pending", progress: 5, progress_message: "Queued" });
    await gateway.kill();
    await gateway.restart();
    const ended = await untilStatus(gateway, submitted.id);
    // A job that the sandbox was drawing at the kill fails, because this job cannot be looked up.
    expect(["completed", "failed"]).toContain(ended.status);
    expect(await run(look, submitted.id)).toMatchObject({ id: submitted.id, status: ended.status });
    const edited = (await run(edit)) as WireJob;
    const done = await untilStatus(gateway, edited.id);
    expect(done).toMatchObject({ status: "completed", outputs_count: 1 });
    expect((await fetch(done.outputs[0]!.url)).status).toBe(200);
    const listed = (await run(list)) as { jobs: WireJob[] };
    expect(listed.jobs[0]?.id).toBe(edited.id);
    expect(await run(cancel, edited.id)).toMatchObject({ error: { code: "job_already_ended" } });
  },
);
