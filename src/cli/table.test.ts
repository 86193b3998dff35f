import { expect, test } from "bun:test";
import { formatTable } from "./table.ts";

const GREEN = "\u001B[32m";
const RED = "\u001B[31m";
const END = "\u001B[0m";

test("numbers, shares and amounts are aligned to the right, also beside gaps", () => {
  const rows = [
    { name: "one", amount: "0.60 USD", share: "9.5 %", tokens: "12", last: "" },
    { name: "a longer name", amount: "1200.00 USD", share: "90.5 %", tokens: "", last: "" },
    { name: "none", amount: "-0.000236 USD", share: "0.0 %", tokens: "none", last: "7" },
  ];
  expect(formatTable(rows)).toBe(
    [
      "NAME                  AMOUNT   SHARE  TOKENS  LAST",
      "one                 0.60 USD   9.5 %      12",
      "a longer name    1200.00 USD  90.5 %",
      "none           -0.000236 USD   0.0 %    none     7",
      "",
    ].join("\n"),
  );
});

test("dates, ids and texts stay on the left", () => {
  const rows = [
    { created: "2026-01-02", id: "key_1", models: "7 models" },
    { created: "never", id: "key_11", models: "all" },
  ];
  expect(formatTable(rows).split("\n")[2]).toBe("never       key_11  all");
});

test("colors change no column, and no text of a row can set one", () => {
  const rows = [
    { state: "active", name: `${GREEN}fake`, next: "1" },
    { state: "ejected (overload) for 3 s", name: "plain", next: "22" },
  ];
  const colored = formatTable(rows, { isColored: true });
  expect(colored).toContain(`${GREEN}active${END}`);
  expect(colored).toContain(`${RED}ejected (overload) for 3 s${END}`);
  expect(colored).toContain("?[32mfake");
  expect(Bun.stripANSI(colored)).toBe(formatTable(rows));
  expect(formatTable(rows)).not.toContain("\u001B");
});

test("no row is said in words", () => {
  expect(formatTable([])).toBe("(none)\n");
});
