/** Matches a joiner inside of an emoji, where it is visible: a family is several people with joiners between them. */
const EMOJI_JOINER =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})/gu;
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/**
 * True when a name is as it appears: it has no control, zero-width or direction characters, which make two names look
 * alike or a line read backwards, and no halves of characters.
 */
export function isPlainName(name: string): boolean {
  return !INVISIBLE.test(name.replaceAll(EMOJI_JOINER, ""));
}

export const NOT_PLAIN = "must be without control, zero-width and direction characters";
