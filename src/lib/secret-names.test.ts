import { expect, test } from "bun:test";
import { isMaskedHeader, isSecretHeader } from "./secret-names.ts";

test.each([
  "authorization",
  "proxy-authorization",
  "cookie",
  "api-key",
  "x-api-key",
  "x-team-token",
  "x-client-secret",
  "X-Password",
])("the name of %s says that it is a secret", (name) => {
  expect([isSecretHeader(name), isMaskedHeader(name)]).toEqual([true, true]);
});

test.each([
  "cf-access-client-id",
  "helicone-auth",
  "x-auth",
  "x-bearer",
  "x-credential",
  "x-jwt",
  "x-pass",
  "x-portkey-config",
  "x-pwd",
  "x-secret-h",
  "x-session",
  "x-signature",
  "x-team",
  "x-titles",
  "toString",
])("%s may be a secret and is masked", (name) => {
  expect([isSecretHeader(name), isMaskedHeader(name)]).toEqual([false, true]);
});

test.each([
  "accept",
  "accept-language",
  "anthropic-beta",
  "anthropic-version",
  "http-referer",
  "HTTP-Referer",
  "openai-beta",
  "openai-organization",
  "openai-project",
  "user-agent",
  "x-goog-user-project",
  "x-openrouter-title",
  "X-Title",
])("%s is known to hold no secret", (name) => {
  expect([isSecretHeader(name), isMaskedHeader(name)]).toEqual([false, false]);
});
