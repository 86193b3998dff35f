/**
 * Matches what a name may have within an emoji alone, where it is visible: a joiner, as in a family of several people,
 * and the choice of the coloured form of a character that also has a black one, or of a keycap.
 */
const WITHIN_EMOJI =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})|(?<=(?!\p{Emoji_Presentation})\p{Extended_Pictographic})\uFE0F|(?<=[0-9#*])\uFE0F(?=\u20E3)/gu;
/** The last three are blank although Unicode calls them visible: Braille, a musical and a Khitan filler. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800\u{1D159}\u{16FE4}]/u;
/** No script needs more than four marks above and below one letter; a mark at the start has no letter. */
const STRAY_MARKS = /^\p{M}|[\p{Mn}\p{Me}]{5}/u;

/**
 * True when a name is as it appears: it has no control, invisible or direction characters, which make two names look
 * alike or a line read backwards, no halves of characters, and no marks that pile up over other lines.
 */
export function isPlainName(name: string): boolean {
  return !INVISIBLE.test(name.replaceAll(WITHIN_EMOJI, "")) && !STRAY_MARKS.test(name);
}

export const NOT_PLAIN =
  "must be without control, invisible and direction characters and have at most four combining marks on a letter";
