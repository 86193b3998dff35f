import { expect, test } from "bun:test";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import packageFile from "../package.json";
import { DEPLOY_FILES } from "./deploy-files.ts";
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

test("a release packs every file of this folder that the operators' pages mention", async () => {
  const pages = join(import.meta.dir, "../docs/run");
  const texts = await Promise.all(
    (await readdir(pages))
      .filter((name) => name.endsWith(".md"))
      .map((name) => readFile(join(pages, name), "utf8")),
  );
  const named = new Set(
    texts.flatMap((text) => [...text.matchAll(/deploy\/([\w.-]+)/g)].map(([, name]) => name)),
  );
  // A release has no Dockerfile, because building the image needs the sources.
  named.delete("Dockerfile");
  expect([...named].toSorted()).toEqual([...DEPLOY_FILES].toSorted());
  for (const text of texts)
    if (/deploy\/(?!Dockerfile)/.test(text))
      expect(text).toMatch(/-deploy\.tar\.gz|#files-of-the-folder-deploy/);
});
