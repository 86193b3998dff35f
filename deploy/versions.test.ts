import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import packageFile from "../package.json";
import { imageConfig } from "./image.ts";

const read = (name: string) => readFile(join(import.meta.dir, name), "utf8");

test("chart, compose file, Dockerfile and changelog have the version of the package", async () => {
  const { version } = packageFile;
  const chart = await read("chart/Chart.yaml");
  expect(chart).toContain(`\nversion: ${version}\n`);
  expect(chart).toContain(`\nappVersion: ${version}\n`);
  expect(await read("compose.yaml")).toContain(`image: ${packageFile.name}:${version}\n`);
  expect(await read("Dockerfile")).toContain(`-t ${packageFile.name}:${version} .`);
  expect(await read("../CHANGELOG.md")).toContain(`\n## [${version}] - 20`);
});

test("an image that Docker builds is configured as that of a release", async () => {
  const { User, Env, Entrypoint, WorkingDir, StopSignal, Healthcheck } = imageConfig();
  const dockerfile = await read("Dockerfile");
  const last = dockerfile.slice(dockerfile.indexOf("FROM scratch"));
  for (const line of [
    `USER ${User}`,
    `ENV ${Env.join(" ")}`,
    `WORKDIR ${WorkingDir}`,
    `STOPSIGNAL ${StopSignal}`,
    `ENTRYPOINT ${JSON.stringify(Entrypoint)}`,
    `CMD ["${Healthcheck.Test.slice(1).join('", "')}"]`,
  ])
    expect(last).toContain(line);
});
