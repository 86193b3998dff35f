import { expect, test } from "bun:test";
import { redact, redactPersonal } from "./redaction.ts";

test.each([
  ["key gk_abcdefgh12 is bad", "key [redacted] is bad"],
  ["sk-proj-abcdef123456", "[redacted]"],
  ["postgres://me:word@host/db is away", "postgres://[redacted]@host/db is away"],
  ["Authorization: bearer abc.def-ghi=", "Authorization: [redacted]"],
  [`see data:image/png;base64,${"A".repeat(40)}`, "see [data]"],
  ["a task and a risk", "a task and a risk"],
])("%p is told as %p", (text, told) => {
  expect(redact(text)).toBe(told);
});

test.each([
  ["write to jane.doe+x@mail.example.co.uk today", "write to [e-mail] today"],
  ["card 4111 1111 1111 1111, thanks", "card [card], thanks"],
  ["card 5500-0055-5555-5559", "card [card]"],
  ["order 4111 1111 1111 1112", "order 4111 1111 1111 1112"],
  ["call +49 30 901820 now", "call [phone] now"],
  ["key sk-abcdef0123456789 and gk_0123456789abcdef", "key [redacted] and [redacted]"],
  ['{"url":"data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB"}', '{"url":"[data]"}'],
  ["π is 3.14159265358979 and 2 + 2 = 4", "π is 3.14159265358979 and 2 + 2 = 4"],
])("%p is kept as %p", (text, kept) => {
  expect(redactPersonal(text)).toBe(kept);
});
