import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import packageFile from "../package.json";
import { PROGRAM_ROOT } from "../src/lib/program-files.ts";
import { run } from "./run.ts";
import { runImage } from "./run-image.ts";
import { runUnit } from "./run-unit.ts";

/*
 * Checks the output of `npm run release` and the files of this folder with real tools: `npm run release:check`.
 * Arguments select checks by name. When a tool is missing, its check fails and says how to install the tool.
 */

const RELEASE = join(PROGRAM_ROOT, "dist/release");
const NAME = `gateway-${packageFile.version}`;
const PLATFORM = `${process.platform}-${process.arch}`;
const MAX_INSTALLED_MB = 200;
/** Maximum exposure by `systemd-analyze security`, from 0 to 10. systemd rates a unit below 2.0 as OK. */
const MAX_EXPOSURE = 2;
const KUBERNETES = "1.34.1";
const PROMETHEUS_OPERATOR = "0.85.0";

/** Checks by name. Each check returns a summary of its result, or throws on a fault. */
const CHECKS: Readonly<Record<string, () => Promise<string>>> = {
  async checksums() {
    await run(["sha256sum", "--check", "--strict", "SHA256SUMS"], RELEASE);
    return `${(await readdir(RELEASE)).length - 1} files`;
  },

  async executable() {
    const program = join(RELEASE, `${NAME}-${PLATFORM}`);
    const smoked = await smoke(program);
    // A service manager sends signals to the gateway's process or to its process group.
    await suite(program, "test/e2e/npm-start.test.ts", "-t", "by npm: false");
    return smoked;
  },

  async package() {
    const folder = await mkdtemp(join(tmpdir(), "gateway-installed-"));
    try {
      const archive = join(RELEASE, `${packageFile.name}-${packageFile.version}.tgz`);
      await Bun.write(
        join(folder, "package.json"),
        JSON.stringify({ private: true, allowScripts: { bun: true } }),
      );
      await run(["npm", "install", "--omit=dev", "--no-audit", "--no-fund", archive], folder);
      const size = await run(["du", "-sm", "--apparent-size", join(folder, "node_modules")]);
      const installed = Number.parseInt(size, 10);
      if (installed > MAX_INSTALLED_MB) throw new Error(`the installed package has ${installed} MB`);
      return `${installed} MB installed; ${await smoke(join(folder, "node_modules/.bin/gateway"))}`;
    } finally {
      await rm(folder, { recursive: true });
    }
  },

  image: () => runImage(join(RELEASE, `${NAME}-image-${process.arch}.tar`)),

  async chart() {
    const chart = join(import.meta.dir, "chart");
    const values = (await readdir(join(chart, "ci"))).map((name) => ["--values", join(chart, "ci", name)]);
    const schemas = await writeSchemas();
    try {
      for (const each of [[], ...values]) {
        await run(["helm", "lint", "--strict", chart, ...each]);
        const rendered = join(schemas, "rendered.yaml");
        const version = ["--kube-version", KUBERNETES];
        await Bun.write(rendered, await run(["helm", "template", "check", chart, ...version, ...each]));
        const location = ["-schema-location", `${schemas}/{{.ResourceKind}}.json`];
        await run(["kubeconform", "-strict", "-summary", ...location, rendered]);
      }
    } finally {
      await rm(schemas, { recursive: true });
    }
    return `${values.length + 1} sets of values`;
  },

  async compose() {
    const file = join(import.meta.dir, "compose.yaml");
    const secrets = { POSTGRES_PASSWORD: "change-me", S3_SECRET: "change-me-too" };
    const services = await run(
      ["docker-compose", "--file", file, "config", "--services"],
      undefined,
      secrets,
    );
    return `services ${services.trim().split("\n").toSorted().join(", ")}`;
  },

  async unit() {
    const folder = await mkdtemp(join(tmpdir(), "gateway-unit-"));
    try {
      // The executable is not at its installed path on this machine.
      const text = await readFile(join(import.meta.dir, "gateway.service"), "utf8");
      const unit = join(folder, "gateway.service");
      const executable = join(RELEASE, `${NAME}-${PLATFORM}`);
      await Bun.write(unit, text.replaceAll("/usr/local/bin/gateway", executable));
      await run(["systemd-analyze", "verify", unit]);
      const table = await run(["systemd-analyze", "security", "--offline=true", unit]);
      const exposure = Number(/exposure level for \S+: ([\d.]+)/.exec(table)?.[1] ?? 10);
      if (exposure > MAX_EXPOSURE) throw new Error(`the unit's exposure is ${exposure}`);
      return `exposure ${exposure}; ${await runUnit(executable)}`;
    } finally {
      await rm(folder, { recursive: true });
    }
  },
};

const INSTALL: Readonly<Record<string, string>> = {
  package: "npm comes with Node",
  image: "apt-get install umoci runc",
  chart:
    "go install helm.sh/helm/v3/cmd/helm@latest github.com/yannh/kubeconform/cmd/kubeconform@latest, in PATH; needs Go",
  compose: "Docker's docker-compose, version 2 or later, in PATH; it needs no engine for this",
  unit: "apt-get install systemd; the check needs root",
};

/** Runs the smoke tests with the given program. */
async function smoke(program: string): Promise<string> {
  const started = performance.now();
  await suite(program, "test/e2e/smoke.test.ts");
  return `smoke tests in ${Math.round((performance.now() - started) / 1000)} s`;
}

async function suite(program: string, ...args: string[]): Promise<void> {
  const command = [process.execPath, "test", "--timeout", "30000", ...args];
  await run(command, PROGRAM_ROOT, { GATEWAY_PROGRAM: program, BUN_CONFIG_MAX_HTTP_REQUESTS: "65000" });
}

/**
 * Writes JSON schemas of kinds of objects and returns the schemas' folder. Kubernetes's own kinds come from the OpenAPI
 * file in its Go module. The schemas refuse unknown fields, like the server's strict validation.
 */
async function writeSchemas(): Promise<string> {
  const kubernetes = await goModule(`k8s.io/kubernetes@v${KUBERNETES}`);
  const { definitions } = (await Bun.file(join(kubernetes, "api/openapi-spec/swagger.json")).json()) as {
    definitions: Record<string, Definition>;
  };
  for (const definition of Object.values(definitions)) {
    if (definition.properties && !definition.additionalProperties) definition.additionalProperties = false;
    if (definition.format === "int-or-string") Object.assign(definition, { type: ["string", "integer"] });
  }
  const quantity = definitions["io.k8s.apimachinery.pkg.api.resource.Quantity"];
  Object.assign(quantity ?? {}, { type: ["string", "number"] });
  const folder = await mkdtemp(join(tmpdir(), "gateway-schemas-"));
  for (const definition of Object.values(definitions)) {
    const [kind, second] = definition["x-kubernetes-group-version-kind"] ?? [];
    if (kind && !second && definition.properties?.["metadata"])
      await Bun.write(
        join(folder, `${kind.kind.toLowerCase()}.json`),
        JSON.stringify({ ...definition, definitions }),
      );
  }
  await writeOperatorSchemas(folder);
  return folder;
}

/** Writes the schemas of the Prometheus operator's kinds. The source is the operator's Go module. */
async function writeOperatorSchemas(folder: string): Promise<void> {
  const module = "github.com/prometheus-operator/prometheus-operator";
  const operator = await goModule(`${module}@v${PROMETHEUS_OPERATOR}`);
  for (const kind of ["servicemonitor", "prometheusrule"]) {
    const file = join(operator, `example/prometheus-operator-crd/monitoring.coreos.com_${kind}s.yaml`);
    const { spec } = Bun.YAML.parse(await readFile(file, "utf8")) as CustomResource;
    const schema = spec.versions.find(({ name }) => name === "v1")?.schema.openAPIV3Schema;
    if (!schema) throw new Error(`${kind} has no version v1`);
    const text = JSON.stringify(schema, (_, value) =>
      value?.properties && value.additionalProperties === undefined && value.type === "object"
        ? { ...value, additionalProperties: false }
        : value,
    );
    // The check of metadata is dropped, because the Kubernetes server adds the fields that every object has.
    const strict = JSON.parse(text);
    strict.properties.metadata = { type: "object" };
    await Bun.write(join(folder, `${kind}.json`), JSON.stringify(strict));
  }
}

/** Downloads a Go module and returns its folder. */
async function goModule(name: string): Promise<string> {
  const downloaded = await run(["go", "mod", "download", "-json", name], tmpdir());
  return (JSON.parse(downloaded) as { Dir: string }).Dir;
}

interface CustomResource {
  spec: { versions: { name: string; schema: { openAPIV3Schema: object } }[] };
}

interface Definition {
  properties?: Record<string, object>;
  additionalProperties?: unknown;
  format?: string;
  "x-kubernetes-group-version-kind"?: { kind: string }[];
}

const names = process.argv.slice(2);
for (const [name, check] of Object.entries(CHECKS)) {
  if (names.length > 0 && !names.includes(name)) continue;
  try {
    process.stdout.write(`${name}: ok, ${await check()}\n`);
  } catch (error) {
    process.exitCode = 1;
    const reason = error instanceof Error ? error.message : String(error);
    const hint = /ENOENT|not found in \$PATH/.test(reason)
      ? ` (${INSTALL[name] ?? "run npm run release"})`
      : "";
    process.stdout.write(`${name}: FAILED, ${reason}${hint}\n`);
  }
}
