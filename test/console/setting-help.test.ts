import { expect, test } from "bun:test";
import { describeProviders } from "../../src/providers/registry.ts";
import * as en from "../../src/console/texts/en/index.ts";
import {
  helpOf,
  settingFields,
  type SettingSchema,
} from "../../src/console/areas/providers/setting-fields.ts";

test("the help of each vendor's settings has a text, which is the gateway's in English", () => {
  const texts: Readonly<Record<string, string>> = en.providers;
  const missing = describeProviders().flatMap(({ name: provider, settings }) => {
    const schema: SettingSchema = settings;
    return settingFields(schema).flatMap(({ name, help }) =>
      help === null || texts[`setting.${helpOf(provider, name)}`] === help
        ? []
        : [`${provider}.${name}: ${help}`],
    );
  });
  expect(missing).toEqual([]);
});
