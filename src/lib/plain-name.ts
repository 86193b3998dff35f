/** Inside of one picture character a joiner is visible: a family is several people with joiners between them. */
const EMOJI_JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})/gu;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * Whether a name is what a reader sees: without control, zero-width and direction characters, by which two names look
 * alike or a line reads backwards, and without halves of characters.
 */
export function isPlainName(name: string): boolean {
  return !INVISIBLE.test(name.replaceAll(EMOJI_JOINER, ""));
}

export const NOT_PLAIN = "must be without control, zero-width and direction characters";
