import packageFile from "../../package.json";

/** The variables that `npm start` sets for the runtime, so that tests and benchmarks start the gateway as users do. */
export const START_ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  Array.from(packageFile.scripts.start.matchAll(/(\w+)=(\S+)/g), ([, name = "", value = ""]) => [
    name,
    value,
  ]),
);
