/** Replaces text that looks like a key, a bearer token, a data URL, or credentials in an address. */
export function redact(text: string): string {
  return text
    .replace(/:\/\/[^\s/@]{1,500}@/g, "://[redacted]@")
    .replace(/\b(?:gk_|sk-|Bearer\s+)[\w.~+/=-]{6,}/gi, "[redacted]")
    .replace(/data:[\w/+.;=-]*,[^\s"']{16,}/g, "[data]");
}

const EMAIL = /[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,5}/g;
/** Matches thirteen to nineteen digits, possibly in groups: a card number if their check digit is valid. */
const DIGITS = /\b\d(?:[ -]?\d){12,18}\b/g;
const PHONE = /(?<![\w.])\+\d{1,3}[ .-]?(?:\(\d{1,4}\)[ .-]?)?\d{2,4}(?:[ .-]?\d{2,4}){1,4}\b/g;

/** Removes secrets, inline pictures, e-mail addresses, card numbers and international phone numbers from a text. */
export function redactPersonal(text: string): string {
  return redact(text)
    .replace(EMAIL, "[e-mail]")
    .replace(DIGITS, (digits) => (hasCheckDigit(digits) ? "[card]" : digits))
    .replace(PHONE, "[phone]");
}

/** True when the check digit is valid by Luhn's algorithm (ISO/IEC 7812-1, annex B). */
function hasCheckDigit(text: string): boolean {
  const digits = text.replace(/\D/g, "");
  let sum = 0;
  for (let index = 0; index < digits.length; index += 1) {
    const digit = Number(digits[digits.length - 1 - index]);
    const doubled = index % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}
