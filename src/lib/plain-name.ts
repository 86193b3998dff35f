/**
 * Matches invisible characters that a name may contain only within an emoji: the joiner (as in a family of several
 * people), and the selector for a coloured form or a keycap.
 */
const WITHIN_EMOJI =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})|(?<=(?!\p{Emoji_Presentation})\p{Extended_Pictographic})\uFE0F|(?<=[0-9#*])\uFE0F(?=\u20E3)/gu;
/**
 * Matches an invisible character. Unicode counts the last three characters of the pattern as visible although they are
 * blank: a Braille pattern, a musical symbol and a Khitan filler.
 */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}\u{16FE4}]/u;
/** Matches a combining mark at a name's start, and five of them in a row: no script needs over four on a letter. */
const STRAY_MARKS = /^\p{M}|[\p{Mn}\p{Me}]{5}/u;

/**
 * True when a name contains nothing that hides how it is written. Control, invisible and direction characters are not
 * allowed: they make two names look alike or reverse a line. Half of a surrogate pair, and stacked marks that cover
 * other lines, are not allowed either.
 */
export function isPlainName(name: string): boolean {
  return !INVISIBLE.test(name.replaceAll(WITHIN_EMOJI, "")) && !STRAY_MARKS.test(name);
}
